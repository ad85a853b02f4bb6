/*
 * main.c - dray-install: installs a signed upgrade bundle on a machine that has no network.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>

#include "dray/digest.h"

#include "tool/look.h"
#include "tool/tool.h"

#include "installer/cmd.h"

static const struct tool_cmd cmds[] = {
	TOOL_LOOK_CMDS("dray-install"),
	{ "plan", "BUNDLE [--root DIR] [--keyring FILE]", "show what apply would do, and change nothing",
	  "dray-install plan up.dray --root /mnt --keyring ops.pub\n", inst_cmd_plan },
	{ "apply", "BUNDLE [--root DIR] [--keyring FILE] [--plan ID]", "install: all of it or none of it",
	  "dray-install apply up.dray --root /mnt --keyring ops.pub\n", inst_cmd_apply },
	{ "check", "[BUNDLE] [--root DIR]", "compare the tree with the release, entry by entry",
	  "dray-install check --root /mnt\ndray-install check up.dray --root /mnt --keyring ops.pub\n", inst_cmd_check },
	{ "rollback", "[--root DIR]", "go back to the state before the last upgrade",
	  "dray-install rollback --root /mnt\n", inst_cmd_rollback },
	{ "resume", "[--root DIR] [--back]", "finish what was interrupted",
	  "dray-install resume --root /mnt\ndray-install resume --root /mnt --back\n", inst_cmd_resume },
	{ "status", "[--root DIR]", "what is installed, pending, and kept for going back",
	  "dray-install status --root /mnt\n", inst_cmd_status },
	{ "forget", "[--root DIR] [--parked]", "free the old objects; rollback is over then",
	  "dray-install forget --root /mnt\n", inst_cmd_forget },
	{ NULL, NULL, NULL, NULL, NULL },
};

int
main(int argc, char **argv)
{
	struct dray_err e;

	tool_prog = "dray-install";
	umask(022);	/* our own folders need their modes whatever the caller's says; releases' modes are set, not masked */
	if (dray_crypto_init(&e) != 0)
		return tool_error(NULL, NULL, &e);
	return tool_main("dray-install", "installs a signed upgrade bundle, offline, all of it or none of it", cmds, argc,
	    argv);
}
