#!/usr/bin/perl
# bend.pl - a bundle of bad will: bytes of its path table are replaced, and everything that hangs on them is made right
# again, so that only a reader's own checks stand in the way. What a key holder, or anybody where no key is asked for,
# could make.
#   [ENCODER=ID] bend.pl IN OUT FROM TO
# FROM and TO are of equal length; \0 and \n are understood. ENCODER: the id of zstd that it claims. Unsigned; sign it after.
# Source: spec/bundle-format.md 1, 3, 4, 5.1, 6.1.
use strict;
use warnings;
use Digest::SHA qw(sha256 sha256_hex);
use JSON::PP;

my ($in, $out, $from, $to) = @ARGV;
die "usage: bend.pl IN OUT FROM TO\n" unless defined $to;
for ($from, $to) { s/\\0/\0/g; s/\\n/\n/g; }
die "lengths differ\n" if length $from != length $to;

sub slurp { local $/; open my $f, '<:raw', $_[0] or die "$_[0]: $!\n"; my $s = <$f>; close $f; return $s }
sub pad { return $_[0] . "\0" x (-length($_[0]) % 512) }
sub header {
	my ($name, $size) = @_;
	my $h = pack 'a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 a32 a32 a8 a8 a155 x12', $name, "0000644\0", "0000000\0",
	    "0000000\0", sprintf("%011o\0", $size), "00000000000\0", '', '0', '', "ustar\0", '00', '', '', "0000000\0",
	    "0000000\0", '';
	substr($h, 148, 8) = sprintf "%06o\0 ", unpack '%32C*', $h;
	return $h;
}
sub unpack_frame {
	my $tmp = "$out.frame";
	open my $f, '>:raw', $tmp or die;
	print $f $_[0];
	close $f;
	my $s = `zstd -dcq $tmp`;
	unlink $tmp;
	return $s;
}
sub raw_frame {		# one segment, content size of 4 bytes, raw blocks
	my ($s) = @_;
	my $z = "\x28\xb5\x2f\xfd\xa0" . pack 'V', length $s;
	for (my $at = 0; $at < length $s; $at += 65536) {
		my $part = substr $s, $at, 65536;
		my $last = $at + length($part) == length $s ? 1 : 0;
		$z .= substr(pack('V', $last | length($part) << 3), 0, 3) . $part;
	}
	return $z;
}

my $b = slurp($in);
my $json_len = oct substr $b, 124, 11;
my $d = JSON::PP->new->utf8->decode(substr $b, 512, $json_len);
my %m = map { $_->{name} => $_ } @{$d->{members}};
my ($i0, $i1) = @m{'index/00', 'index/01'};
my $dir = substr $b, $i0->{offset}, $i0->{size};
my $chunks = substr $b, $i1->{offset}, $i1->{size};
my $blocks = substr $b, $d->{members}[-1]{offset} + $d->{members}[-1]{size};
$blocks = substr $blocks, (-($d->{members}[-1]{offset} + $d->{members}[-1]{size})) % 512;

my ($tables, $n) = unpack 'V V', substr $dir, 8, 8;
my ($new, $at, $hits) = ('', 0, 0);
for my $i (0 .. $n - 1) {
	my $rec = 16 + 16 * $tables + 48 * $i;
	my ($stored, $plain) = unpack 'V V', substr $dir, $rec, 8;
	my $z = substr $chunks, $at, $stored;
	$at += $stored;
	if ($i < unpack 'V', substr $dir, 16 + 12, 4) {		# a chunk of STRINGS
		my $s = unpack_frame($z);
		die "chunk $i does not unpack\n" if length $s != $plain;
		$hits += ($s =~ s/\Q$from\E/$to/g) || 0;
		$z = raw_frame($s);
		substr($dir, $rec, 4) = pack 'V', length $z;
		substr($dir, $rec + 16, 32) = sha256($z);
	}
	$new .= $z;
}
die "\"$from\" is not in the path table\n" unless $hits;

my %body = ('index/00' => $dir, 'index/01' => $new);
for (@{$d->{members}}) {
	$body{$_->{name}} //= substr $b, $_->{offset}, $_->{size};
	$_->{size} = length $body{$_->{name}};
	$_->{sha256} = sha256_hex($body{$_->{name}}) if exists $_->{sha256};
}
$d->{encoders}{zstd} = $ENV{ENCODER} if defined $ENV{ENCODER};
my $js = JSON::PP->new->utf8->canonical;
my $json = '';
for (;;) {
	my $pos = 512 + length(pad($json)) + 512 + $d->{slot};
	for (@{$d->{members}}) {
		$_->{offset} = $pos + 512;
		$pos += 512 + length pad($body{$_->{name}});
	}
	$d->{length} = $pos + length $blocks;
	my $next = $js->encode($d);
	last if $next eq $json;
	$json = $next;
}
my $text = sprintf "dray-bundle-v1\nproduct=%s\nversion=%s\ncounter=%s\nsize=%s\nsha256=%s\n", $d->{product},
    $d->{version}, $d->{counter}, $d->{length}, sha256_hex($json);
my $slot = pack 'a8 v v V a*', 'DRAYSIG1', length $text, 0, 0, $text;
$slot .= "\0" x ($d->{slot} - length $slot);
open my $f, '>:raw', $out or die "$out: $!\n";
print $f header('dray.json', length $json), pad($json), header('dray.sig', $d->{slot}), $slot;
print $f header($_->{name}, $_->{size}), pad($body{$_->{name}}) for @{$d->{members}};
print $f $blocks;
close $f or die "$out: $!\n";
