#!/usr/bin/perl
# json-schema.pl - is a document as its schema tells? The words of JSON Schema that spec/json uses, and no others:
# type, properties, required, items, enum, pattern, minimum, $ref to another file there
#   json-schema.pl SCHEMA DOCUMENT      prints what differs; exit 1. A key that the schema does not know differs, too
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP;

my ($schema_file, $file) = @ARGV;
my $bad = 0;
my $json = JSON::PP->new->utf8->allow_nonref;

sub slurp {
	my ($name) = @_;
	open(my $in, '<', $name) or die "$name: $!\n";
	local $/;
	return <$in>;
}

sub is_not {
	my ($where, $what) = @_;
	$bad++;
	print "$where: $what\n";
}

sub type_of {
	my ($v) = @_;
	return 'null' if !defined $v;
	return 'boolean' if JSON::PP::is_bool($v);
	return ref $v eq 'HASH' ? 'object' : ref $v eq 'ARRAY' ? 'array' : do {
		my $flags = B::svref_2object(\$v)->FLAGS;
		$flags & (B::SVf_IOK() | B::SVf_NOK()) && !($flags & B::SVf_POK()) ? ($v =~ /^-?\d+$/ ? 'integer' : 'number') : 'string';
	};
}

sub check {
	my ($schema, $v, $where) = @_;
	if (my $ref = $schema->{'$ref'}) {
		my $other = $json->decode(slurp(dirname($schema_file) . "/$ref"));
		return check($other, $v, $where);
	}
	for (keys %$schema) {
		die "$schema_file: $where: $_ is not known here\n"
		    unless /^(type|properties|required|items|enum|pattern|minimum|title|description|\$schema|\$id)$/;
	}
	my $type = type_of($v);
	return is_not($where, "$type, not $schema->{type}") if $schema->{type} && $schema->{type} ne $type;
	is_not($where, "\"$v\" is none of @{$schema->{enum}}") if $schema->{enum} && !grep { $_ eq $v } @{$schema->{enum}};
	is_not($where, "\"$v\" does not match $schema->{pattern}") if $schema->{pattern} && $v !~ /$schema->{pattern}/;
	is_not($where, "$v is below $schema->{minimum}") if defined $schema->{minimum} && $v < $schema->{minimum};
	if ($type eq 'array' && $schema->{items}) {
		check($schema->{items}, $v->[$_], "$where\[$_]") for 0 .. $#$v;
	} elsif ($type eq 'object') {
		exists $v->{$_} or is_not($where, "$_ is missing") for @{ $schema->{required} || [] };
		return if !$schema->{properties};
		for (sort keys %$v) {
			# bytes that are no UTF-8 stand beside their text
			my $s = $schema->{properties}{ /^(.*)_hex$/ ? $1 : $_ };
			$s ? check($s, $v->{$_}, "$where.$_") : is_not($where, "$_ is not in the schema");
		}
	}
}

require B;
check($json->decode(slurp($schema_file)), $json->decode(slurp($file)), 'document');
exit($bad ? 1 : 0);
