#!/usr/bin/perl
# judge.pl - what a run wrote, made, removed and opened, from its system calls
#   judge.pl TRACE CWD OUTPUT STATE ALLOWED... -- NAME
# TRACE: of strace -f -y. CWD: where it was started. OUTPUT: the file that standard output and error are. STATE: the state folder
# beneath the root. ALLOWED: the root, and whatever else may be written; a folder stands for all beneath it.
#
# Every call that changes something, or could, is judged by the place it names, successful or not. A name relative to a handle
# is resolved by the handle's path as the kernel tells it; one that a process names after a chroot, by that; /proc/self/fd/N by
# what N is. A file that is opened for writing is judged by what the kernel says was opened. Outside its own folders the
# installer (not the programs it runs) has to name one part beneath a handle: a name of several could lead through a symlink.
#
# Prints "wrong: ..." for each finding, "NAME socketpair ..." for each pair of local sockets, and one line of numbers:
#   NAME DESCRIPTORS PROCESSES THREADS WRITTEN MADE TEMPORARY CALLS
# DESCRIPTORS: most that one process had open (a new one gets the lowest free number, so that is the highest one, plus one).
# WRITTEN: files opened for writing. MADE: names made. TEMPORARY: those of them that are gone at the end.
use strict;
use warnings;

my ($trace, $cwd, $output, $state, @allowed) = @ARGV;
my $name = pop @allowed;
pop @allowed;

my $STR = qr/"((?:[^"\\]|\\.)*)"(?:\.\.\.)?/;
my $FD = qr/(AT_FDCWD|\d+)(?:<((?:[^<>\\]|\\.)*)>(?:\(deleted\))?)?/;
my $AT = qr/$FD, $STR/;

# calls by name that change something: by a handle, and without one
my %at = map { $_ => 1 } qw(mkdirat mknodat symlinkat linkat unlinkat renameat renameat2 fchmodat fchmodat2 fchownat utimensat
    futimesat setxattrat removexattrat move_mount open_tree mount_setattr);
my %plain = map { $_ => 1 } qw(creat mkdir mknod symlink link unlink rmdir rename chmod chown lchown truncate setxattr lsetxattr
    removexattr lremovexattr utime utimes mount umount2 pivot_root swapon acct quotactl);
my %handle = map { $_ => 1 } qw(write pwrite64 writev pwritev pwritev2 ftruncate fallocate copy_file_range sendfile splice fchmod
    fchown fsetxattr fremovexattr);
my %makes = map { $_ => 1 } qw(mkdirat mknodat symlinkat linkat renameat renameat2 mkdir mknod symlink link rename);
my %net = map { $_ => 1 } qw(socket connect bind listen accept accept4 sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg getsockname
    getpeername setsockopt getsockopt shutdown io_uring_setup bpf ptrace);

my (%part, @lines);
open my $t, '<', $trace or die "$trace: $!\n";
while (<$t>) {
	chomp;
	my ($pid, $rest) = /^(\d+) +(.*)$/ or next;
	if ($rest =~ s/ <unfinished \.\.\.>$//) {
		$part{$pid} = $rest;
	} elsif ($rest =~ /^<\.\.\. \w+ resumed>(.*)$/) {
		push @lines, [$pid, delete($part{$pid}) . $1] if defined $part{$pid};
	} else {
		push @lines, [$pid, $rest];
	}
}
push @lines, [$_, $part{$_}] for keys %part;	# never came back: it ended in it

my (%parent, %thread);
for (@lines) {
	if (my ($child) = $_->[1] =~ /^(?:clone3?|v?fork)\(.* = (\d+)$/) {
		$parent{$child} = $_->[0];
		$thread{$child} = 1 if $_->[1] =~ /CLONE_THREAD/;
	}
}

my (%seen, %apart, %top, %here, %of, %path, %foreign, %wrong, %made, %written);
my ($fds, $calls) = (0, 0);

sub wrong { $wrong{$_[0]}++ }

sub clean {	# /a/./b/../c without its dots; what a symlink makes of it is asked for in opens, and ruled out in names
	my @p;
	for (split m{/+}, $_[0]) {
		next if $_ eq '' || $_ eq '.';
		if ($_ eq '..') { pop @p } else { push @p, $_ }
	}
	return '/' . join '/', @p;
}

sub may {
	my ($p) = @_;
	for (@allowed) { return 1 if $p eq $_ || index($p, "$_/") == 0 }
	if (my ($dir) = $p =~ m{^(.*)/\.dray-export-\d+$}) { return !!grep { m{^\Q$dir\E/[^/]+$} } @allowed[1 .. $#allowed] }
	return 0;
}

sub own {	# the state folder, staging on another mount, the mark beside them: nobody else may write there
	my ($p) = @_;
	return $p eq $state || index($p, "$state/") == 0 || $p =~ m{^\Q$allowed[0]\E/(?:.*/)?\.dray(?:/|$|-pending)};
}

sub begin {	# a process that is seen first: it has what its parent has now
	my ($pid) = @_;
	return if $seen{$pid}++;
	my $up = $parent{$pid};
	begin($up) if defined $up;
	$of{$pid} = defined $up && $thread{$pid} ? $of{$up} : $pid;
	$top{$pid} = defined $up ? $top{$up} : '';
	$here{$pid} = defined $up ? $here{$up} : $cwd;
	$foreign{$pid} = 1 if defined $up && $foreign{$up};
	$apart{$pid} = 1 if defined $up && $apart{$up};
	if (defined $up && $of{$pid} eq $pid) { $path{$pid}{$_} = $path{$of{$up}}{$_} for keys %{$path{$of{$up}} // {}} }
}

sub place {	# PID FD FDPATH NAME
	my ($pid, $fd, $dir, $n) = @_;
	if ($n =~ m{^/proc/(?:self|thread-self|\d+)/fd/(\d+)$}) { return $path{$of{$pid}}{$1} // "unknown descriptor $1" }
	return clean("$top{$pid}$n") if $n =~ m{^/};
	$dir = $fd eq 'AT_FDCWD' ? $here{$pid} : 'unknown' if !defined $dir;
	return $n eq '' ? $dir : clean("$dir/$n");
}

sub changed {	# PID CALL PLACE NAME: the call changes that place
	my ($pid, $call, $p, $n) = @_;
	wrong("$call $p") if !may($p);
	wrong("$call names more than one part: $n")
	    if !$foreign{$pid} && $n =~ m{[^/]/+[^/]} && !own($p) && $n !~ m{^/proc/(?:self|thread-self)/fd/\d+$};
}

for (@lines) {
	my ($pid, $l) = @$_;
	my ($call, $args) = $l =~ /^(\w+)\((.*)$/ or next;
	my $ret = $args =~ s/\) += (.*)$// ? $1 : '?';
	my $done = $ret !~ /^(-1|\?)/;
	begin($pid);
	$calls++;
	(my $bare = $l) =~ s/$STR/""/g;	# what was read may look like anything
	while ($bare =~ /(?<![\w])(\d+)<((?:[^<>\\]|\\.)*)>/g) {
		$path{$of{$pid}}{$1} = $2;
		$fds = $1 + 1 if $1 + 1 > $fds && !$foreign{$pid};
	}
	if ($net{$call}) {
		wrong("$call($args") if !$foreign{$pid} || $call !~ /^(getsockname|getpeername)$/;
	} elsif ($call eq 'socketpair') {
		if ($args =~ /^AF_UNIX,/) { print "$name socketpair($args)\n" } else { wrong("$call($args") }
	} elsif ($call eq 'unshare' && $done) {
		$apart{$pid} = 1 if $args =~ /CLONE_NEWNS/;
	} elsif ($call eq 'mount' && $apart{$pid}) {
		print "$name mount($args)\n";	# in a name space that goes with the process
	} elsif ($call eq 'chroot' && $done) {
		my ($n) = $args =~ $STR;
		$top{$pid} = place($pid, 'AT_FDCWD', undef, $n);
		$top{$pid} = '' if $top{$pid} eq '/';
	} elsif ($call eq 'chdir' && $done) {
		my ($n) = $args =~ $STR;
		$here{$pid} = place($pid, 'AT_FDCWD', undef, $n);
	} elsif ($call eq 'fchdir' && $done) {
		$here{$pid} = $1 if $args =~ /^\d+<((?:[^<>\\]|\\.)*)>/;
	} elsif ($call =~ /^execve(at)?$/ && $done) {
		$foreign{$pid} = 1 if $seen{exec}++;	# the first one is the installer
	} elsif ($call =~ /^open(at2?)?$/) {
		next if $args !~ /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE/;
		my ($fd, $dir, $n) = $args =~ /^$AT/ ? ($1, $2, $3) : ('AT_FDCWD', undef, $args =~ $STR ? $1 : '');
		my $p = place($pid, $fd, $dir, $n);
		my $real = $ret =~ /^\d+<((?:[^<>\\]|\\.)*)>/ ? $1 : $p;
		next if $real eq '/dev/null';
		changed($pid, $call, $real, $n);
		$written{$real} = 1 if $done;
		$made{$p} = $foreign{$pid} ? 'program' : 'ours' if $done && $args =~ /O_CREAT/;
		wrong("$call O_TMPFILE $p") if $args =~ /O_TMPFILE/ && !may($p);
	} elsif ($at{$call}) {
		my @pairs;
		push @pairs, [$1, $2, $3] while $args =~ /$AT/g;
		push @pairs, [$1, $2, ''] if !@pairs && $args =~ /^$FD, (?:NULL|"")/;
		wrong("$call that is not understood: $args") if !@pairs;
		changed($pid, $call, place($pid, @$_), $_->[2]) for @pairs;
		$made{place($pid, @{$pairs[-1]})} = $foreign{$pid} ? 'program' : 'ours' if $done && $makes{$call} && $args !~ /RENAME_EXCHANGE/;
	} elsif ($plain{$call}) {
		my @n;
		push @n, $1 while $args =~ /$STR/g;
		@n = @n[0 .. 0] if $call !~ /^(link|rename|pivot_root|mount)$/;
		@n = $args =~ /^$STR, $STR/ ? ($2) : () if $call eq 'symlink';
		changed($pid, $call, place($pid, 'AT_FDCWD', undef, $_), $_) for @n;
		$made{place($pid, 'AT_FDCWD', undef, $n[-1])} = $foreign{$pid} ? 'program' : 'ours' if $done && $makes{$call} && @n;
	} elsif ($handle{$call} || ($call eq 'ioctl' && $args =~ /FS_IOC_SETFLAGS|FSSETXATTR|FICLONE/) ||
	    ($call eq 'mmap' && $args =~ /PROT_WRITE/ && $args =~ /MAP_SHARED/)) {
		my @on = $args =~ /\d+<((?:[^<>\\]|\\.)*)>/g;
		@on = ($on[-1]) if $call eq 'sendfile' || $call eq 'splice' || $call eq 'copy_file_range';
		@on = ($1) if $call eq 'sendfile' && $args =~ /^\d+<((?:[^<>\\]|\\.)*)>/;
		@on = @on[0 .. 0] if @on > 1;
		for my $p (@on) {
			next if $p eq $output || $p eq '/dev/null' || $p =~ /^(pipe|anon_inode):/;
			changed($pid, $call, $p, '');
		}
	}
}

my $temporary = 0;
for (sort keys %made) {
	next if lstat;
	$temporary++;
	my $p = $_;
	wrong("temporary $p") if !own($p) && $p !~ m{/\.dray-[^/]+$} && $made{$p} ne 'program';
}
print "wrong: $name: $_", ($wrong{$_} > 1 ? " ($wrong{$_} times)" : ''), "\n" for sort keys %wrong;
my $processes = grep { !$thread{$_} } grep { /^\d+$/ } keys %seen;
my $threads = grep { /^\d+$/ && !$foreign{$_} } keys %seen;
printf "%s %d %d %d %d %d %d %d\n", $name, $fds, $processes, $threads, scalar keys %written, scalar keys %made, $temporary, $calls;
exit(%wrong ? 1 : 0);
