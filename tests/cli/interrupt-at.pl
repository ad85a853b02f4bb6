#!/usr/bin/perl
# interrupt-at.pl - run a command until its standard error says something, send it a signal, tell what that cost it
#	perl interrupt-at.pl TEXT SIGNAL ERR COMMAND ARG...
# The command's standard error goes to the file ERR. As soon as TEXT stands there the command is stopped, its processor
# time is noted, and it goes on with the signal waiting for it. Prints the processor time that it used from then on, in
# milliseconds; a busy machine does not make it more. Exit status: the command's; 98 if it ended before it said TEXT.
use strict;
use warnings;
use POSIX ();
use Time::HiRes ();

my ($text, $signal, $err, @command) = @ARGV;
my $tick = POSIX::sysconf(POSIX::_SC_CLK_TCK());

sub slurp {
	open(my $f, '<', $_[0]) or return '';
	local $/;
	my $all = <$f>;
	return defined $all ? $all : '';
}

# state, and processor time in milliseconds; fields 3, 14 and 15, counted behind the name, which may hold anything
sub look {
	my @f = split ' ', slurp("/proc/$_[0]/stat") =~ s/^.*\)//sr;
	return ($f[0], ($f[11] + $f[12]) * 1000 / $tick);
}

sub status {
	return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

unlink $err;
my $pid = fork();
die "fork: $!\n" unless defined $pid;
if ($pid == 0) {
	open(STDIN, '<', '/dev/null');
	open(STDERR, '>', $err);
	exec(@command) or POSIX::_exit(127);
}
while (index(slurp($err), $text) < 0) {
	if (waitpid($pid, POSIX::WNOHANG()) == $pid) {
		exit 98;
	}
	Time::HiRes::sleep(0.005);
}
kill 'STOP', $pid;
my ($state, $before) = look($pid);
while ($state ne 'T' && $state ne 'Z') {
	Time::HiRes::sleep(0.002);
	($state, $before) = look($pid);
}
kill $signal, $pid;
kill 'CONT', $pid;
waitpid($pid, 0);
my $rc = status();
my (undef, undef, undef, $user, $system) = POSIX::times();
printf "%d\n", ($user + $system) * 1000 / $tick - $before;
exit $rc;
