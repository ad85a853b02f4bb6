/*
 * command.c - commands that are printed for a person to run next: the same options as in this run, quoted for a shell.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "installer/cmd.h"

#define COLUMNS 76u

/* append to a growing text; quoted for a shell when it holds anything but plain characters */
static void
add_word(char **text, const char *word, bool quote)
{
	size_t len = *text == NULL ? 0 : strlen(*text);
	size_t need = len + 1 + TOOL_SHELL_CAP(strlen(word));
	char *p;

	if ((p = realloc(*text, need)) == NULL) {
		free(*text);
		*text = NULL;
		return;
	}
	*text = p;
	p += len;
	if (len > 0)
		*p++ = ' ';
	if (quote)
		tool_shell(word, p);
	else
		memcpy(p, word, strlen(word) + 1);
}

/* an option that was given, with its value */
static void
add_option(char **text, const char *option, const char *value)
{
	if (value == NULL)
		return;
	add_word(text, option, false);
	add_word(text, value, true);
}

/* what was decided beforehand is part of the plan: the next command has to say it again */
static void
add_policy(char **text, const struct inst_front *f)
{
	char number[48];

	if (f->allow_downgrade != 0) {
		snprintf(number, sizeof(number), "--allow-downgrade %" PRIu64, f->allow_downgrade);
		add_word(text, number, false);
	}
	add_option(text, "--phase", f->phase);
	add_option(text, "--components", f->components);
	add_option(text, "--without", f->without);
	add_option(text, "--profile", f->profile);
	add_option(text, "--policy", f->policy_file);
	for (size_t i = 0; i < f->symlinks.n; i++)
		add_option(text, "--symlink", f->symlinks.v[i]);
	if (f->policy.park)
		add_word(text, "--park", false);
	if (f->no_owner || f->owner)
		add_word(text, f->owner ? "--owner" : "--no-owner", false);
	if (f->policy.no_sync)
		add_word(text, "--no-sync", false);
}

/* a name that looks like an option must not be one */
static void
add_path(char **text, const char *path)
{
	char safe[DRAY_PATH_MAX + 2];

	snprintf(safe, sizeof(safe), "%s%s", path[0] == '-' ? "./" : "", path);
	add_word(text, safe, true);
}

char *
inst_command(const struct inst_front *f, const char *verb, const char *more)
{
	char *text = strdup("dray-install");

	if (text == NULL)
		return NULL;
	add_word(&text, verb, false);
	if (f->bundle != NULL)
		add_word(&text, f->bundle, true);
	for (size_t i = 0; f->bundle != NULL && i < f->n_paths; i++)
		add_path(&text, f->paths[i]);
	if (strcmp(f->root, "/") != 0) {
		add_word(&text, "--root", false);
		add_word(&text, f->root, true);
	}
	if (f->state != NULL) {
		add_word(&text, "--state", false);
		add_word(&text, f->state, true);
	}
	for (size_t i = 0; f->bundle != NULL && i < f->dirs.n; i++) {
		add_word(&text, "--dir", false);
		add_word(&text, f->dirs.v[i], true);
	}
	for (size_t i = 0; f->bundle != NULL && i < f->keyring.n; i++) {
		add_word(&text, "--keyring", false);
		add_word(&text, f->keyring.v[i], true);
	}
	if (strcmp(verb, "plan") == 0 || strcmp(verb, "apply") == 0 || strcmp(verb, "repair") == 0)
		add_policy(&text, f);
	if (more != NULL)
		add_word(&text, more, false);
	return text;
}

char *
inst_command_of(const struct inst_front *f, const struct dray_json *trigger)
{
	char *text = strdup(strcmp(f->root, "/") == 0 ? "" : "chroot"), *quoted;
	const struct dray_json *argv;
	struct dray_err ignored;
	const char *word;
	size_t n, len;

	if (text == NULL || dray_json_arr(trigger, "argv", &argv, &n, "", &ignored) != 0) {
		free(text);
		return NULL;
	}
	if (text[0] != '\0')
		add_word(&text, f->root, true);
	for (size_t i = 0; i < n && text != NULL; i++) {
		if ((word = dray_json_text(dray_json_at(argv, i), &len)) == NULL)
			continue;
		if ((quoted = malloc(DRAY_QUOTE_CAP(len))) == NULL) {
			free(text);
			return NULL;
		}
		add_word(&text, dray_quote(word, len, quoted, DRAY_QUOTE_CAP(len)), true);
		free(quoted);
	}
	return text;
}

/* a command in lines of at most 76 columns that a shell joins again; words and quoted texts stay whole */
void
inst_say_command(const struct inst_front *f, const char *label, const char *verb, const char *more)
{
	char *text = inst_command(f, verb, more), *p = text, *line;
	size_t at = strlen(label) + 2, len;
	bool first = true, quoted;
	FILE *to = f->common.json ? stderr : stdout;

	if (f->common.quiet || text == NULL) {
		free(text);
		return;
	}
	fprintf(to, "%s: ", label);
	while (*p != '\0') {
		line = p;
		/* an option and its value are one piece */
		for (quoted = false; *p != '\0' && (quoted || *p != ' ' || (line[0] == '-' && p[1] != '-' &&
		    memchr(line, ' ', (size_t)(p - line)) == NULL)); p++)
			quoted ^= *p == '\'';
		len = (size_t)(p - line);
		if (!first && at + 1 + len + 2 > COLUMNS) {
			fprintf(to, " \\\n    ");
			at = 4;
		} else if (!first) {
			fputc(' ', to);
			at++;
		}
		fwrite(line, 1, len, to);
		at += len;
		first = false;
		p += *p == ' ';
	}
	fputc('\n', to);
	free(text);
}
