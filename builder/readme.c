/*
 * readme.c - README.txt. tests/cli/verify-by-hand.sh runs the commands of this text as they stand here: lines that
 * begin with four blanks are commands, and they may use tar, openssl, zstd and POSIX tools only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/readme.h"

static const char text_of_all[] =
    "This file is a dray bundle: everything that is needed to bring a machine to\n"
    "%s %s. It is a plain tar archive. The program for it is\n"
    "dray-install; this page tells how to check and read it without that program.\n"
    "\n"
    "Put the bundle's name into B and the file with the public key of its maker\n"
    "(you must have that from somewhere else than this medium) into K, for example\n"
    "B=up.dray K=ops.pub. Lines that begin with four blanks are for a shell.\n"
    "\n"
    "1. Is it signed by that key?\n"
    "\n"
    "    tar -xf \"$B\" dray.json dray.sig\n"
    "    set -- $(od -An -tu1 -j8 -N4 dray.sig)\n"
    "    T=$(($1 + 256 * $2)) N=$(($3 + 256 * $4))\n"
    "    tail -c +17 dray.sig | head -c $T > signed.txt\n"
    "    ID=$(openssl pkey -pubin -in \"$K\" -outform DER | openssl dgst -sha256 -r | cut -d' ' -f1)\n"
    "    i=0 found=no\n"
    "    while [ $i -lt $N ]; do\n"
    "      at=$((17 + T + 100 * i)) i=$((i + 1))\n"
    "      key=$(tail -c +$((at + 4)) dray.sig | head -c 32 | od -An -v -tx1 | tr -d ' \\n')\n"
    "      [ $key = $ID ] || continue\n"
    "      tail -c +$((at + 36)) dray.sig | head -c 64 > one.sig\n"
    "      openssl pkeyutl -verify -pubin -inkey \"$K\" -rawin -in signed.txt -sigfile one.sig && found=yes\n"
    "    done\n"
    "    echo \"signed by this key: $found\"\n"
    "\n"
    "dray.sig holds the text that was signed and signatures of 100 bytes each:\n"
    "4 bytes, the SHA-256 of the key, an Ed25519 signature of 64 bytes.\n"
    "\n"
    "2. Is the rest what was signed?\n"
    "\n"
    "    cat signed.txt\n"
    "    openssl dgst -sha256 -r dray.json\n"
    "    wc -c < \"$B\"\n"
    "\n"
    "The hash must be the one after sha256= and the number the one after size=.\n"
    "\n"
    "    tar -xOf \"$B\" README.txt | openssl dgst -sha256 -r\n"
    "    tar -xOf \"$B\" index/00 | openssl dgst -sha256 -r\n"
    "\n"
    "These and the hashes of all notes stand in dray.json, under \"members\".\n"
    "index/00 holds the hashes of the parts of index/01; index/01 holds those of\n"
    "all frames in blocks/.\n"
    "\n"
    "3. What is in it?\n"
    "\n"
    "    tar -tvf \"$B\"\n"
    "    tar -xOf \"$B\" index/01 | zstd -dc > tables.bin\n"
    "    tar -xOf \"$B\" blocks/000000 | zstd -dc > contents.bin\n"
    "\n"
    "tables.bin begins with all paths, back to back; contents.bin holds contents of\n"
    "files, back to back, as far as their frames are plain. The tables that say\n"
    "which bytes are which file are described in spec/bundle-format.md of dray,\n"
    "format version 1.\n";

int
build_readme_text(const struct dray_desc *d, char **text, size_t *len, struct dray_err *e)
{
	int n;

	if ((n = asprintf(text, text_of_all, d->product, d->version)) < 0) {
		*text = NULL;
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*len = (size_t)n;
	return 0;
}
