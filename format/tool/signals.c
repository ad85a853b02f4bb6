/*
 * signals.c - signals only set a flag: what they interrupt is ended in good order by those who poll it.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "tool.h"

static atomic_int seen;

static void
note(int sig)
{
	int none = 0;

	/* the first one stays */
	atomic_compare_exchange_strong(&seen, &none, sig);
}

void
tool_signals(void)
{
	static const int stop[] = { SIGINT, SIGTERM, SIGHUP };
	static const int ignored[] = { SIGPIPE, SIGXFSZ };
	struct sigaction sa, old;
	size_t i;

	memset(&sa, 0, sizeof(sa));
	sigemptyset(&sa.sa_mask);
	sa.sa_handler = note;
	sa.sa_flags = SA_RESTART;
	for (i = 0; i < sizeof(stop) / sizeof(stop[0]); i++) {
		/* what the caller ignores (nohup) stays ignored */
		if (sigaction(stop[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(stop[i], &sa, NULL);
	}
	sa.sa_handler = SIG_IGN;
	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaction(ignored[i], &sa, NULL);
}

int
tool_signal_seen(void)
{
	return atomic_load(&seen);
}
