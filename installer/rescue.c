/*
 * rescue.c - a system that does not boot any more: the kernel starts the copy of this program that lies beside the journal
 * in the place of init. It needs no other file, mounts nothing, makes the root writable if it is not, has `resume` run,
 * puts the root back as it was and becomes init. Written to be read in one go by somebody in a cold room.
 */
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"

#include "installer/rescue.h"

static const char *const inits[] = { "/sbin/init", "/etc/init", "/bin/init" };

/* the folder of @path, which begins with '/'; malloc'ed, without that slash */
static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strndup(path + 1, slash > path ? (size_t)(slash - path - 1) : 0);
}

bool
inst_rescue_wanted(int argc, char **argv, bool command)
{
	const char *slash;
	struct stat st;
	char *folder, tx[4200];
	bool state;

	if (getpid() != 1 || command || argc < 1 || argv[0] == NULL || argv[0][0] != '/')
		return false;
	slash = strrchr(argv[0], '/');
	if (strcmp(slash + 1, "dray-install") != 0 || (folder = folder_of(argv[0])) == NULL)
		return false;
	snprintf(tx, sizeof(tx), "/%s/tx", folder);
	state = folder[0] != '\0' && stat(tx, &st) == 0 && S_ISDIR(st.st_mode);
	free(folder);
	return state;
}

/* the kernel opens the console for us when there is one; otherwise words must not end up in the next file we open */
static void
hold_console(void)
{
	int fd;

	for (int want = 0; want <= 2; want++) {
		if (fcntl(want, F_GETFD) != -1)
			continue;
		fd = open("/dev/console", O_RDWR | O_NOCTTY);
		if (fd == -1)
			fd = open("/", O_RDONLY);
		if (fd != -1 && fd != want) {
			(void)dup2(fd, want);
			close(fd);
		}
	}
}

static void
say(const char *text)
{
	fprintf(stderr, "dray-install: %s\n", text);
}

/* exit status of resume in a process of its own: whatever happens to it, the first process lives on */
static int
run_resume(const char *state, int (*resume)(int argc, char **argv))
{
	/* what triggers run may need /proc, devices, other file systems: they wait for the boot. So may hooks, which do not */
	char name[] = "dray-install", verb[] = "resume", option[] = "--state", later[] = "--no-triggers", never[] = "--no-hooks";
	char *own = strdup(state), *args[] = { name, verb, later, never, option, own, NULL };
	pid_t child, got;
	int status = 0;

	if (own == NULL || (child = fork()) == -1) {
		say("there is no memory for it");
		free(own);
		return 1;
	}
	if (child == 0)
		_exit(resume(6, args));
	free(own);
	do
		got = waitpid(-1, &status, 0);
	while ((got == -1 && errno == EINTR) || (got != -1 && got != child));
	return got == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void
become(const char *program, char **argv)
{
	char *was = argv[0];
	struct stat self, other;

	/* a system whose init is this program would go round for ever */
	if (stat(was, &self) == 0 && stat(program, &other) == 0 && self.st_dev == other.st_dev && self.st_ino == other.st_ino)
		return;
	if ((argv[0] = strdup(program)) != NULL)
		execv(program, argv);
	free(argv[0]);
	argv[0] = was;
}

static _Noreturn void
advise(const char *state)
{
	char shell[] = "/bin/sh", *args[] = { shell, NULL };

	fprintf(stderr,
	    "dray-install: the upgrade is not finished. Read what is said above, repair the cause, then:\n"
	    "    /%s/dray-install resume --state %s           forward\n"
	    "    /%s/dray-install resume --state %s --back    to the old state\n"
	    "  and start the machine without init=. Here is a shell, if there is one:\n", state, state, state, state);
	fflush(stderr);
	execv(shell, args);
	say("there is no /bin/sh. Start the machine from another medium, mount this disk, and use --root");
	for (;;) {	/* a first process that ends is a panic, which would push these lines off the screen */
		while (waitpid(-1, NULL, 0) > 0)
			;
		pause();
	}
}

_Noreturn void
inst_rescue(char **argv, int (*resume)(int argc, char **argv))
{
	char *state = folder_of(argv[0]);
	struct statvfs vfs;
	bool was_ro;
	int status = 1;

	hold_console();
	say("started in the place of init: finishing what was interrupted");
	was_ro = statvfs("/", &vfs) == 0 && (vfs.f_flag & ST_RDONLY) != 0;
	if (was_ro && os_remount("/", false) == -1)
		fprintf(stderr, "dray-install: the root cannot be made writable: %s\n", strerror(errno));
	else if (state != NULL)
		status = run_resume(state, resume);
	sync();
	if (was_ro)
		(void)os_remount("/", true);	/* init does with it what it always does; writable is no harm */
	if (status == 0) {
		say("starting the system");
		fflush(NULL);
		for (size_t i = 0; i < sizeof(inits) / sizeof(inits[0]); i++)
			become(inits[i], argv);
		say("there is no init to start");
	}
	advise(state == NULL ? os_state_dir() : state);
}
