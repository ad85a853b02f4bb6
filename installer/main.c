/*
 * main.c - dray-install: installs a signed upgrade bundle on a machine that has no network.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/os.h"

#include "tool/look.h"
#include "tool/tool.h"

#include "installer/cmd.h"
#include "installer/fence.h"
#include "installer/rescue.h"

static const struct tool_cmd cmds[] = {
	TOOL_LOOK_CMDS("dray-install"),
	{ "plan", "BUNDLE [--root DIR] [--keyring FILE]", "show what apply would do, and change nothing",
	  "dray-install plan up.dray --root /mnt --keyring ops.pub\n", inst_cmd_plan },
	{ "conflicts", "BUNDLE [PATH]... | --list",
	  "files edited here that no merge settles: list, show, decide",
	  "dray-install conflicts up.dray\ndray-install conflicts up.dray --show etc/rc.conf\n"
	  "dray-install conflicts up.dray etc/rc.conf etc/motd --take mine\n"
	  "dray-install conflicts up.dray --edit etc/rc.conf\ndray-install conflicts --list\n", inst_cmd_conflicts },
	{ "apply", "BUNDLE [--root DIR] [--keyring FILE] [--plan ID]", "install: all of it or none of it",
	  "dray-install apply up.dray --root /mnt --keyring ops.pub\n", inst_cmd_apply },
	{ "check", "[BUNDLE] [--root DIR] [--quick] [--strict] [--extra] [--mtree]", "compare the tree with the release, entry by entry",
	  "dray-install check --root /mnt\ndray-install check up.dray --root /mnt --keyring ops.pub\n", inst_cmd_check },
	{ "repair", "BUNDLE [PATH]... [--root DIR] [--dry-run]", "bring back what differs from the release that is installed",
	  "dray-install repair full.dray --root /mnt --keyring ops.pub --dry-run\n"
	  "dray-install repair full.dray etc/motd --root /mnt --keyring ops.pub\n", inst_cmd_repair },
	{ "rollback", "[--root DIR]", "go back to the state before the last upgrade",
	  "dray-install rollback --root /mnt\n", inst_cmd_rollback },
	{ "resume", "[--root DIR] [--back]", "finish what was interrupted",
	  "dray-install resume --root /mnt\ndray-install resume --root /mnt --back\n", inst_cmd_resume },
	{ "status", "[--root DIR] [--log | --paths N | --export FILE | --needs-restart]",
	  "what is installed, pending, and kept for going back; what was done here",
	  "dray-install status --root /mnt\ndray-install status --log\ndray-install status --export /media/stick/site-7.evidence\n"
	  "dray-install status --needs-restart\n", inst_cmd_status },
	{ "triggers", "[ID]... [--root DIR] [--allow-chroot | --done]", "run what has to be run since upgrades changed files",
	  "dray-install triggers\ndray-install triggers --root /mnt --allow-chroot\ndray-install triggers ldconfig --done\n", inst_cmd_triggers },
	{ "forget", "[--root DIR] [--parked]", "free the old objects; rollback is over then",
	  "dray-install forget --root /mnt\n", inst_cmd_forget },
	{ "hook install", "[--root DIR] [--init NAME]", "have each boot finish an interrupted upgrade first",
	  "dray-install hook install\ndray-install hook install --root /mnt\n", inst_cmd_hook_install },
	{ "hook remove", "[--root DIR]", "take that away again", "dray-install hook remove\n", inst_cmd_hook_remove },
	{ "hook status", "[--root DIR]", "is there such a hook?", "dray-install hook status\n", inst_cmd_hook_status },
	{ "trust init", "KEY --fingerprint GROUPS", "trust a first key, whose fingerprint came another way",
	  "dray-install trust init ops.pub --fingerprint \"9d3a 77c0 1be2 5f04 ...\"\n", inst_cmd_trust_init },
	{ "trust show", "", "whom this system trusts", "dray-install trust show\n", inst_cmd_trust_show },
	{ "help", "[TOPIC]", "a page of the manual, or which there are", "dray-install help recovery\n", inst_cmd_help },
	{ NULL, NULL, NULL, NULL, NULL },
};

/* those that both commands share look at a bundle and nothing else */
static bool
looks(int argc, char **argv)
{
	static const struct tool_cmd shared[] = { TOOL_LOOK_CMDS("dray-install"), { .name = NULL } };

	for (const struct tool_cmd *c = shared; argc > 1 && c->name != NULL; c++)
		if (strcmp(c->name, argv[1]) == 0)
			return true;
	return false;
}

static int
run(int argc, char **argv)
{
	struct dray_err e;

	os_lean_heap();
	tool_prog = "dray-install";
	if (looks(argc, argv))
		inst_fence_only(NULL);
	if (dray_crypto_init(&e) != 0)
		return tool_error(NULL, NULL, &e);
	return tool_main("dray-install", "installs a signed upgrade bundle, offline, all of it or none of it", cmds, argc,
	    argv);
}

/* is it one of ours, and no word of the kernel's command line? */
static bool
names_command(int argc, char **argv)
{
	static const char *const others[] = { "--help", "-h", "--version" };
	size_t n;

	if (argc < 2)
		return false;
	for (const struct tool_cmd *c = cmds; c->name != NULL; c++) {
		n = strcspn(c->name, " ");
		if (strncmp(c->name, argv[1], n) == 0 && argv[1][n] == '\0')
			return true;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(argv[1], others[i]) == 0)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	umask(022);	/* our own folders need their modes whatever the caller's says; releases' modes are set, not masked */
	if (inst_rescue_wanted(argc, argv, names_command(argc, argv)))
		inst_rescue(argv, run);
	return run(argc, argv);
}
