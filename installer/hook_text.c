/*
 * hook_text.c - what the boot hook's files say, for each init.
 */
#include <stdio.h>
#include <string.h>

#include "dray/os.h"

#include "installer/hook.h"

/*
 * After the file systems, because slots may lie on any of them; before sysinit.target, and so before every service that
 * does not ask for less. A failure is told on the console and does not stop the boot: every prefix of a switch boots.
 */
static const char systemd_text[] =
    "# Written by dray-install hook install; dray-install hook remove takes it away.\n"
    "[Unit]\n"
    "Description=Finish an interrupted dray upgrade\n"
    "Documentation=man:dray-install(8)\n"
    "DefaultDependencies=no\n"
    "RequiresMountsFor=/%s\n"
    "Wants=local-fs.target\n"
    "After=local-fs.target\n"
    "Before=sysinit.target shutdown.target\n"
    "Conflicts=shutdown.target\n"
    "ConditionFileIsExecutable=/%s/dray-install\n"
    "ConditionDirectoryNotEmpty=/%s/tx\n"
    "\n"
    "[Service]\n"
    "Type=oneshot\n"
    "RemainAfterExit=yes\n"
    "ExecStart=/%s/dray-install resume%s%s\n"
    "TimeoutSec=infinity\n"
    "StandardOutput=journal+console\n"
    "StandardError=inherit\n"
    "\n"
    "[Install]\n"
    "WantedBy=sysinit.target\n";

/* rcorder(8) reads the first lines; scripts of /usr/local come later than this one may */
static const char rc_text[] =
    "#!/bin/sh\n"
    "# Written by dray-install hook install; dray-install hook remove takes it away.\n"
    "#\n"
    "# PROVIDE: dray_resume\n"
    "# REQUIRE: FILESYSTEMS\n"
    "# BEFORE: ldconfig netif NETWORKING\n"
    "\n"
    ". /etc/rc.subr\n"
    "\n"
    "name=\"dray_resume\"\n"
    "desc=\"Finish an interrupted dray upgrade\"\n"
    "rcvar=\"dray_resume_enable\"\n"
    "start_cmd=\"dray_resume_start\"\n"
    "stop_cmd=\":\"\n"
    "\n"
    "dray_resume_start()\n"
    "{\n"
    "\t[ -x \"/%s/dray-install\" ] || return 0\n"
    "\t\"/%s/dray-install\" resume%s%s\n"
    "}\n"
    "\n"
    "load_rc_config $name\n"
    ": ${dray_resume_enable:=\"YES\"}\n"
    "run_rc_command \"$1\"\n";

/* characters that mean nothing to a unit file or a shell, so that nothing has to be quoted */
static bool
plain(const char *path)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";

	return path[strspn(path, fine)] == '\0' && path[0] != '-';
}

int
inst_hook_fill(const struct inst_state *s, enum inst_hook_kind kind, struct inst_hook *h, struct dray_err *e)
{
	const char *option = s->is_default ? "" : " --state ", *value = s->is_default ? "" : s->rel, *d = s->rel;
	int n = 0;

	memset(h, 0, sizeof(*h));
	h->kind = kind;
	if (kind != INST_HOOK_NONE && !plain(s->rel)) {
		dray_fail(e, DRAY_E_SYSTEM, "a boot hook cannot hold the path of this state folder");
		return dray_hint(e, "take one of letters, digits and . _ + - for --state");
	}
	switch (kind) {
	case INST_HOOK_SYSTEMD:
		h->n = 2;
		h->files[0].path = "etc/systemd/system/dray-resume.service";
		h->files[0].mode = 0644;
		h->files[1].path = "etc/systemd/system/sysinit.target.wants/dray-resume.service";
		h->files[1].target = "../dray-resume.service";
		n = snprintf(h->text, sizeof(h->text), systemd_text, d, d, d, d, option, value);
		break;
	case INST_HOOK_RC:
		h->n = 1;
		h->files[0].path = "etc/rc.d/dray_resume";
		h->files[0].mode = 0555;
		n = snprintf(h->text, sizeof(h->text), rc_text, d, d, option, value);
		break;
	case INST_HOOK_NONE:
		break;
	}
	if (n < 0 || (size_t)n >= sizeof(h->text))
		return dray_fail(e, DRAY_E_SYSTEM, "the path of the state folder is too long for a boot hook");
	return 0;
}
