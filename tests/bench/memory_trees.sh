#!/bin/sh
# memory_trees.sh - two trees of N small files each, all of them changed: memory_trees.sh N DIR makes DIR/old, DIR/new
set -eu
n=$1 dir=$2
for t in old new; do
	mkdir -p "$dir/$t"
	(cd "$dir/$t" && perl -e '
		my ($t, $n) = @ARGV;
		for my $i (0 .. $n - 1) {
			my $d = sprintf "usr/share/d%04d", $i / 100;
			if ($i % 100 == 0) { -d $_ or mkdir $_ or die "$_: $!\n" for "usr", "usr/share", $d }
			open my $f, ">", sprintf("%s/file-%03d.txt", $d, $i % 100) or die "$d: $!\n";
			print $f "$t $i\n" or die "$d: $!\n";
			close $f or die "$d: $!\n";
		}' $t "$n")
done
