#!/usr/bin/perl
# doc.pl - runs the transcripts of a manual in its order, so that what people are told to type is what works
#   DRAY= INSTALL= unshare -m doc.pl FILE.md FOLDER       FOLDER is empty; as root, in mounts of its own
#
# A transcript is an indented block whose first line begins with a prompt. Words behind a prompt are a command; a backslash at
# the end takes the next line along, and so does "> " at the beginning of it. The lines up to the next prompt are what it says, in this order, and other lines may stand
# between them. In such a line
#	...		is any text
#	<word>		is any text too, which may be used as <word> in later commands and lines
# and a line "exit status N" tells how the command ends, if not with 0. All other blocks are only read.
#
# NAME$ is a machine of the connected side: the folder hosts/NAME; plain $ is one without a name. NAME# is root on a machine
# that is upgraded: machines/NAME, a copy of the old system of `dray quickstart`, where dray-install runs by chroot(2). Of
# other programs paths beneath / are taken there too. /media and /mnt are the same for all of them, as sticks and shares are.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Path qw(make_path);

my ($file, $top) = @ARGV;
$top = abs_path($top);
my ($dray, $install) = @ENV{qw(DRAY INSTALL)};
my ($commands, $bad) = (0, 0);
my (%known, %there);

sub run_in {	# folder, command: its words on both outputs, its exit status
	my ($dir, $command) = @_;
	my $pid = open(my $from, '-|') // die "fork: $!\n";
	if ($pid == 0) {
		open(STDIN, '<', '/dev/null');
		open(STDERR, '>&', \*STDOUT);
		chdir $dir or die "$dir: $!\n";
		exec '/bin/sh', '-c', $command;
		exit 127;
	}
	my @lines = <$from>;
	close $from;
	return ($? & 127 ? 128 + ($? & 127) : $? >> 8, map { s/\s+$//r } @lines);
}

sub must {
	my ($command) = @_;
	my ($status, @lines) = run_in($top, $command);
	die "$command: status $status\n@lines\n" if $status;
}

sub host {
	my ($name) = @_;
	my $dir = "$top/hosts/$name";
	return $dir if $there{$dir}++;
	make_path($dir);
	must("cp -a fixture/old hosts/$name/release-1.0 && cp -a fixture/new hosts/$name/release-1.1 && " .
	    "cp -p fixture/plain.conf hosts/$name/release-1.0/etc/app/app.conf") if $name ne 'here';
	return $dir;
}

sub machine {
	my ($name) = @_;
	my $dir = "$top/machines/$name";
	return $dir if $there{$dir}++;
	make_path("$top/machines");
	must("cp -a fixture/old machines/$name && mkdir -p machines/$name/media machines/$name/mnt machines/$name/proc " .
	    "machines/$name/usr/sbin && mount -t proc proc machines/$name/proc && " .
	    "for d in media mnt; do mount --bind $top/\$d machines/$name/\$d; done");
	return $dir;
}

# a command at a machine's root prompt, as one for this machine's shell
sub as_root {
	my ($name, $command) = @_;
	my $m = machine($name);
	return "chroot $m $1$2" if $command =~ m{^(\S*/)?(dray-install\b.*)$}s && defined $1;
	return "chroot $m /usr/sbin/$command" if $command =~ /^dray-install\b/;
	$command =~ s{(^|[\s>"'=])/}{$1$m/}g;
	return $command;
}

sub said {	# is this line of the manual among what is left to be looked at? then what follows it is left
	my ($wanted, $lines) = @_;
	my @names;
	my $re = join '', map {
		my $part = $_;
		if ($part eq '...') { '.*?' }
		elsif ($part =~ /^<([a-z][a-z0-9-]*)>$/) {
			if (exists $known{$1}) { quotemeta $known{$1} } else { push @names, $1; '(\S.*?)' }
		} else { join '\s+', map { quotemeta } split /\s+/, $part, -1 }
	} split /(\.\.\.|<[a-z][a-z0-9-]*>)/, $wanted;
	while (@$lines) {
		my $line = shift @$lines;
		next unless my @found = $line =~ /^\s*$re\s*$/;
		@known{@names} = @found if @names;
		return 1;
	}
	return 0;
}

sub step {
	my ($at, $prompt, $command, @wanted) = @_;
	my $status = 0;
	$command =~ s/<([a-z][a-z0-9-]*)>/exists $known{$1} ? $known{$1} : "<$1>"/ge;
	my ($name, $kind) = $prompt =~ /^([a-z0-9-]*)([\$#])$/;
	my ($got, @lines) = $kind eq '$' ? run_in(host($name || 'here'), $command) : run_in(machine($name || 'machine'),
	    as_root($name || 'machine', $command));
	$commands++;
	my @left = @lines;
	my @missing;
	for (@wanted) {
		if (/^exit status (\d+)$/) { $status = $1 }
		elsif (!said($_, \@left)) { push @missing, $_ }
	}
	return if $got == $status && !@missing;
	$bad++;
	print "NOT OK $file:$at: $prompt $command\n";
	print "  status $got, the manual tells $status\n" if $got != $status;
	print "  it does not say, or not in this place: $_\n" for @missing;
	print "  said: $_\n" for @lines;
}

make_path("$top/media/stick", "$top/media/stick2", "$top/mnt/share", "$top/bin");
symlink $dray, "$top/bin/dray";
symlink $install, "$top/bin/dray-install";
# a session on a machine of this manual
open(my $ssh, '>', "$top/bin/ssh") or die;
print $ssh "#!/bin/sh\nhost=\${1#root\@}; shift\nexec chroot $top/machines/\$host \"\$@\"\n";
close $ssh;
chmod 0755, "$top/bin/ssh";
$ENV{PATH} = "$top/bin:/usr/sbin:/usr/bin:/sbin:/bin";
$ENV{HOME} = $top;
must("$dray quickstart fixture -q && cp -p fixture/old/etc/app/app.conf edited.conf");
must("mkdir x && $dray extract fixture/up.dray etc/app/app.conf -C x -q && " .
    "grep -v -e '^# since' -e '^rotate' x/etc/app/app.conf >fixture/plain.conf; true");
must("mount --bind $top/media /media && mount --bind $top/mnt /mnt");

open(my $in, '<', $file) or die "$file: $!\n";
my (@step, $inside, $more);
my $flush = sub { step(@step) if @step; @step = () };
while (my $line = <$in>) {
	chomp $line;
	if ($line !~ /^    (?:    )?(.*)/) {
		$flush->();
		$inside = 0;
		next;
	}
	my $text = $1;
	my $prompt = $text =~ /^([a-z0-9-]*[\$#]) (.*)$/ ? $1 : undef;
	my $words = $2;
	if ($more || ($inside && @step == 3 && $text =~ s/^> //)) {
		$step[2] .= "\n$text";
	} elsif (defined $prompt) {
		$flush->();
		@step = ($., $prompt, $words);
		$inside = 1;
	} elsif ($inside) {
		push @step, $text if $text ne '...';
	}
	$more = $inside && $text =~ /\\$/ && @step == 3 && ($more || defined $prompt);
}
$flush->();
print "$file: $commands commands, $bad not as told\n";
system "umount /media /mnt; for m in $top/machines/*/media $top/machines/*/mnt $top/machines/*/proc; do umount \$m; done 2>/dev/null";
exit($bad || !$commands ? 1 : 0);
