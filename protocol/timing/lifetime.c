#include "protocol/timing/internal.h"

#include "protocol/wire/messages.h"

/* How long after CreateTable a back end learns of the table, and how long before the end of
 * DeleteTable it forgets it (TIMING_COUNT: never). */
static const struct {
	enum timing known, leaves;
	enum absent_table words;
} backends[] = {
	[TIMING_BY_TTL] = {TIMING_SETTINGS_KNOWN, TIMING_COUNT, ABSENT_TABLE},
	[TIMING_BY_INSIGHTS] = {TIMING_SETTINGS_KNOWN, TIMING_COUNT, ABSENT_TABLE},
	[TIMING_BY_BACKUPS] = {TIMING_SETTINGS_KNOWN, TIMING_BACKUPS_LEAVE, ABSENT_BACKUP},
	[TIMING_BY_POLICIES] = {TIMING_POLICY_KNOWN, TIMING_COUNT, ABSENT_TABLE},
	[TIMING_BY_KINESIS] = {TIMING_POLICY_KNOWN, TIMING_COUNT, ABSENT_TABLE},
};

static bool has_global(const struct table *table)
{
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (!table->indexes.v[i].is_local)
			return true;
	}
	return false;
}

/* Whether the table was deleted at least so long ago. */
static bool is_past_deletion(const struct call *call, const struct table *table, enum timing what)
{
	return table->state.status == STATUS_DELETING &&
	       call->now_ms >= table->state.settles_ms - timing_ms(TIMING_DELETE) + timing_ms(what);
}

static bool knows(const struct call *call, const struct table *table, enum timing_backend backend)
{
	if (!timing_is_on(call))
		return true;
	if (table->state.status == STATUS_CREATING)
		return call->now_ms >=
		       table->identity.created_ms + timing_ms(backends[backend].known);
	return backends[backend].leaves == TIMING_COUNT ||
	       !is_past_deletion(call, table, backends[backend].leaves);
}

enum code timing_table(struct call *call, struct str name_or_arn, enum timing_backend backend,
		       struct table **out, struct err *err)
{
	enum absent_table words = backends[backend].words;
	enum code code = call_table(call, name_or_arn, words, out, err);

	if (code != OK || knows(call, *out, backend))
		return code;
	return words == ABSENT_BACKUP
		       ? err_set(err, MSG_TABLE_NOT_FOUND_BACKUP, STR_ARG((*out)->identity.name))
		       : err_set(err, MSG_TABLE_NOT_FOUND, STR_ARG((*out)->identity.name));
}

bool timing_tags_know(const struct call *call, const struct table *table, bool is_change)
{
	if (!timing_is_on(call))
		return table->state.status != STATUS_CREATING &&
		       table->state.status != STATUS_DELETING;
	if (table->state.status == STATUS_CREATING)
		return call->now_ms >= table->state.settles_ms - timing_ms(TIMING_TAGS_KNOWN);
	return !is_past_deletion(call, table, is_change ? TIMING_TAGS_CLOSE : TIMING_TAGS_LEAVE);
}

bool timing_accepts_still(const struct call *call, const struct table *table)
{
	return timing_is_on(call) && table->state.status == STATUS_DELETING &&
	       !is_past_deletion(call, table, TIMING_DELETE_ACCEPTS);
}

bool timing_tags_repeat(const struct call *call, const struct table *table,
			const struct tag_list *tags)
{
	size_t found = 0;

	if (!timing_is_on(call) || table->state.status != STATUS_DELETING ||
	    is_past_deletion(call, table, TIMING_TAGS_LEAVE))
		return false;
	for (size_t i = 0; i < tags->n; i++) {
		for (size_t k = 0; k < table->settings->tags.n; k++)
			found += str_eq(tags->v[i].key, table->settings->tags.v[k].key) &&
				 str_eq(tags->v[i].value, table->settings->tags.v[k].value);
	}
	return found == tags->n;
}

bool timing_policy_repeats(const struct call *call, const struct table *table)
{
	return !timing_is_on(call) || !is_past_deletion(call, table, TIMING_POLICY_CLOSE);
}

bool timing_knows_index(const struct call *call, const struct table *table, struct str index_name)
{
	const struct moment *moment = timing_is_on(call) && str_is_set(index_name)
					      ? timing_last(table, TIMING_INDEX_CREATE, index_name)
					      : NULL;

	return !moment || !timing_within(call, moment, TIMING_INDEX_KNOWN);
}

int64_t timing_deletion_ms(void)
{
	return timing_ms(TIMING_DELETE);
}

void timing_create(const struct call *call, struct table *table)
{
	enum timing what = has_global(table) || table->indexes.vector_n ? TIMING_CREATE_INDEXED
									: TIMING_CREATE;

	if (!timing_is_on(call))
		return;
	table->state.settles_ms = call->now_ms + timing_ms(what);
	timing_add(call, table, what, STR_ABSENT, NULL, 0);
}

/* Whether the table is not ACTIVE yet, or became so less than the row's milliseconds ago. Its
 * indexes decide which row counts. */
static bool is_young(const struct call *call, const struct table *table, enum timing plain,
		     enum timing indexed)
{
	const struct moment *moment = timing_last(table, TIMING_CREATE_INDEXED, STR_ABSENT);
	int64_t ms = moment ? timing_ms(TIMING_CREATE_INDEXED) + timing_ms(indexed)
			    : timing_ms(TIMING_CREATE) + timing_ms(plain);

	if (!timing_is_on(call) || table->state.status == STATUS_CREATING)
		return table->state.status == STATUS_CREATING;
	moment = moment ? moment : timing_last(table, TIMING_CREATE, STR_ABSENT);
	return moment && moment->at_ms <= call->now_ms && call->now_ms < moment->at_ms + ms;
}

bool timing_backups_are_ready(const struct call *call, const struct table *table)
{
	return !is_young(call, table, TIMING_BACKUPS_READY, TIMING_BACKUPS_READY_INDEXED);
}

bool timing_backups_are_shown(const struct call *call, const struct table *table)
{
	return table->settings->recovery_days > 0 ||
	       !is_young(call, table, TIMING_BACKUPS_SHOWN, TIMING_BACKUPS_SHOWN);
}

int64_t timing_ttl_opens_ms(const struct call *call, const struct table *table)
{
	if (!timing_is_on(call))
		return table->ttl.settles_ms;
	return table->ttl.changed_ms && table->ttl.changed_ms <= call->now_ms
		       ? table->ttl.changed_ms + timing_ms(TIMING_TTL)
		       : 0;
}
