#!/usr/bin/perl
# doc-messages.pl - are the messages of the troubleshooting page those of the sources, and are the refusals of the sources on it?
#   doc-messages.pl TOP PAGE        prints what is not so; exit 1
use strict;
use warnings;

my ($top, $page) = @ARGV;
my $bad = 0;

# a format as a person sees it: what is filled in is "..."
sub plain {
	my ($text) = @_;
	$text =~ s/%(?:[-+ #0]*)(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|ll|[hlzjt])?[a-zA-Z]/.../g;
	$text =~ s/\\(["\\])/$1/g;
	return $text;
}

# literals that stand side by side are one, and so are macros between them: those are filled in
my %refused;
my @said;
for my $file (glob "$top/format/*.c $top/format/tool/*.c $top/installer/*.c $top/builder/*.c") {
	open(my $in, '<', $file) or die "$file: $!\n";
	my $all = do { local $/; <$in> };
	$all =~ s/(?<!\\)"\s*PRI[a-zA-Z0-9]+(\s*")?/defined $1 ? 'u' : 'u"'/ge;
	$all =~ s/(?<!\\)"\s*[A-Z][A-Z_]+\s*"/.../g;
	$all =~ s/(?<!\\)"\s*\n?\s*"//g;
	push @said, map { plain($_) } $all =~ /"((?:[^"\\\n]|\\.)*)"/g;
	next unless $file =~ m{/installer/};
	while ($all =~ /dray_fail\([^;]*?DRAY_E_(CONFLICT|ROOM|FLOOR|DRIFT|BUSY|NEWER|WENT_BACK),\s*"((?:[^"\\\n]|\\.)*)"/g) {
		$refused{ plain($2) } = "$file: $1";
	}
}
my $all = join "\n", @said;

open(my $in, '<', "$top/$page") or die "$page: $!\n";
my (%told, $n);
while (<$in>) {
	next unless /^\| (`.*?) \|/;
	my $first = $1;
	$first =~ s/\\\|/|/g;
	while ($first =~ /`([^`]+)`/g) {
		my $message = $1;
		next if $message =~ /^[.: ]+$/ || $message =~ /^\.\.\. (?:conflicts?|on \.\.\.)$/;	# made of parts
		$n++;
		$told{$message} = 1;
		next if index($all, $message) >= 0;
		my $re = join '.*', map { quotemeta } split /\.\.\.(?:\.\.\.)*/, $message, -1;
		next if $all =~ /^.*$re.*$/m;
		$bad++;
		print "$page:$.: no such message: $message\n";
	}
}
for my $message (sort keys %refused) {
	next if $message =~ /^[.: ]+$/;
	my $there = grep { index($message, $_) >= 0 || index($_, $message) >= 0 } keys %told;
	next if $there;
	$bad++;
	print "$refused{$message}: not on the page: $message\n";
}
print "$n messages, ", scalar keys %refused, " refusals\n";
exit($bad || !$n || !%refused ? 1 : 0);
