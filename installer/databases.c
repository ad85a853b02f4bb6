/*
 * databases.c - databases that a program builds from a text. They are never merged, and where the text is or becomes the
 * machine's own, the release's database would not fit it: the one that is here stays until it is built again.
 */
#include <string.h>

#include "installer/planning.h"

static const struct { const char *db, *text; } built[] = {
	{ "etc/pwd.db", "etc/master.passwd" }, { "etc/spwd.db", "etc/master.passwd" },
	{ "etc/login.conf.db", "etc/login.conf" }, { "var/db/services.db", "etc/services" },
};

const char *
inst_database_text(const char *path, size_t len)
{
	for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++)
		if (strlen(built[i].db) == len && memcmp(built[i].db, path, len) == 0)
			return built[i].text;
	return NULL;
}

/* is or will the text be another than the release's? */
static bool
own_text(const struct inst_planning *pl, const char *text)
{
	uint32_t row = dray_index_find(pl->ix, text, strlen(text));
	const struct inst_item *it;

	if (row == DRAY_NONE || pl->at[row] == DRAY_NONE)
		return false;
	it = &pl->items[pl->at[row]];
	return it->id.type == DRAY_FILE && !it->is_target && (it->merged || it->edited || it->decision == INST_D_KEEP || it->decision == INST_D_CONFLICT);
}

void
inst_databases(struct inst_planning *pl)
{
	for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++) {
		uint32_t row = dray_index_find(pl->ix, built[i].db, strlen(built[i].db));
		struct inst_item *it;

		if (row == DRAY_NONE || pl->at[row] == DRAY_NONE || inst_wants_strict(pl, row) || pl->policy->repair != NULL)
			continue;
		it = &pl->items[pl->at[row]];
		/* one that no release had was built here, from a text that no release had */
		if (it->decision != INST_D_UPDATE || it->id.type != DRAY_FILE || (it->bases != 0 && !own_text(pl, built[i].text)))
			continue;
		inst_keep(it, INST_NOTE_KEPT_DB);
		it->park = it->lost = it->own_attrs = false;
	}
}
