/*
 * main.c - the `dray` command: the table of its subcommands.
 */
#include <stddef.h>

#include "builder/build.h"
#include "builder/diff.h"
#include "builder/export_read.h"
#include "builder/extract.h"
#include "builder/media.h"
#include "builder/sign.h"
#include "tool/look.h"
#include "tool/tool.h"

static const struct tool_cmd cmds[] = {
	{ "quickstart", "DIR", "two small systems, a key and a bundle in a new folder, for a first look",
	  "dray quickstart demo\n", build_cmd_quickstart },
	{ "build", "--to SOURCE --product NAME --version V --counter N -o FILE [--from SOURCE]... [--key FILE]...",
	  "make a bundle that leads from the old states to the new one",
	  "dray build --from dir:old --to dir:new --product demo --version 1.1 \\\n"
	  "    --counter 2 --key ops.key -o up.dray\n",
	  cmd_build },
	{ "key new", "NAME", "make a key pair: NAME.key to sign with, NAME.pub for the machines",
	  "dray key new ops\n", build_cmd_key_new },
	{ "key show", "FILE", "the fingerprint of a key", "dray key show ops.pub\n", build_cmd_key_show },
	{ "sign", "BUNDLE --key FILE...", "add signatures to a bundle, here or by way of a signing room",
	  "dray sign up.dray --key ops.key\ndray sign up.dray --request -o up.request\n"
	  "dray sign --make up.request --key ops.key -o up.sig\ndray sign up.dray --add up.sig\n", build_cmd_sign },
	{ "resign", "BUNDLE --key FILE...", "replace all signatures of a bundle", "dray resign up.dray --key new.key\n",
	  build_cmd_resign },
	TOOL_LOOK_CMDS("dray"),
	{ "split", "BUNDLE --size SIZE [-d DIR]...", "cut a bundle into volumes, for media that are smaller than it",
	  "dray split up.dray --size fat32 -d /media/s1 -d /media/s2\n", build_cmd_split },
	{ "join", "VOLUME -o FILE [-d DIR]...", "make one file of the volumes of a bundle; to install it needs no joining",
	  "dray join /media/s1 -d /media/s2 -o up.dray\n", build_cmd_join },
	{ "copy", "BUNDLE DIR [--check]", "put a bundle on a medium, with the installer and a sheet that tells how; read it back",
	  "dray copy up.dray /media/stick --check\n", build_cmd_copy },
	{ "extract", "BUNDLE [PATH]... -C DIR [--base SOURCE]... [--keyring FILE]...",
	  "write paths of the release beneath a folder",
	  "dray extract up.dray -C new --base dir:old --keyring ops.pub\ndray extract up.dray etc/fstab -C /tmp/look\n",
	  build_cmd_extract },
	{ "diff", "A B [-a]", "the first difference between two bundles, trees or archives (exit 20), or none (0)",
	  "dray diff mine.dray theirs.dray\ndray diff -a up.dray dir:/srv/new\n", build_cmd_diff },
	{ "fetch", "freebsd-update:RELEASE/ARCH... [--mirror DIR]",
	  "bring releases of a freebsd-update server here, and make a server's folder of them",
	  "dray fetch freebsd-update:14.0-RELEASE/amd64 --mirror /media/usb/update\n", build_cmd_fetch },
	{ "policy", "FILE", "what a freebsd-update.conf says about paths, as a policy file for dray-install",
	  "dray policy /etc/freebsd-update.conf >site.policy\n", build_cmd_policy },
	{ "report", "FILE [--paths N] [--earlier FILE]",
	  "what was done on a machine: a file of `dray-install status --export`, checked",
	  "dray report site-7.evidence\ndray report site-7.evidence --earlier last-year.evidence\n", build_cmd_report },
	{ .name = NULL },
};

int
main(int argc, char **argv)
{
	tool_signals();
	return tool_main("dray", "dray makes signed bundles for upgrades without a network.", cmds, argc, argv);
}
