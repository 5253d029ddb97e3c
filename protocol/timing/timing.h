/*
 * timing - AWS's timing, on request (--timing aws): how long changes take, what clients see
 * meanwhile, and when one change may follow another.
 *
 * A change is made at once. This shelf decides what shows later: the table keeps the moment of the
 * change and the value before it, and each operation that shows or changes something asks this
 * shelf. Everything follows from the table's record and the service's clock, so it survives a
 * restart, and a test can turn the clock instead of waiting. With instant timing, the default, no
 * moment is kept, and the functions give what catalog_options.transient_status_ms says.
 */
#ifndef DYNALITH_PROTOCOL_TIMING_TIMING_H
#define DYNALITH_PROTOCOL_TIMING_TIMING_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

/* The rows of timing.def. */
enum timing {
#define TIMING(id, ms, kept_ms, what, meanwhile, sources) TIMING_##id,
#include "protocol/timing/timing.def"
#undef TIMING
	TIMING_COUNT
};

static inline bool timing_is_on(const struct call *call)
{
	return call->service->is_timed;
}

/* The row's milliseconds; with instant timing, how long a transient status lasts. */
int64_t timing_lasts(const struct call *call, enum timing what);

/* The back ends that learn of a new table, and forget a deleted one, each in its own time. */
enum timing_backend {
	TIMING_BY_TTL,
	TIMING_BY_INSIGHTS,
	TIMING_BY_BACKUPS,
	TIMING_BY_POLICIES,
	TIMING_BY_KINESIS
};

/* call_table as a back end knows the table: ERR_RESOURCE_NOT_FOUND or ERR_TABLE_NOT_FOUND though it
 * is there. */
enum code timing_table(struct call *call, struct str name_or_arn, enum timing_backend backend,
		       struct table **out, struct err *err) WARN_UNUSED;
/* Whether tags know a table that is being created or deleted. */
bool timing_tags_know(const struct call *call, const struct table *table, bool is_change);
/* Whether a table that is being deleted still takes settings, which have no effect. */
bool timing_accepts_still(const struct call *call, const struct table *table);
/* Whether a table that is being deleted still takes tags that it has, or the policy that it has. */
bool timing_tags_repeat(const struct call *call, const struct table *table,
			const struct tag_list *tags);
bool timing_policy_repeats(const struct call *call, const struct table *table);
/* Whether insights know the index: not so just after UpdateTable created it. */
bool timing_knows_index(const struct call *call, const struct table *table, struct str index_name);
/* Whether recovery can be switched on, and whether backups are shown as ENABLED. */
bool timing_backups_are_ready(const struct call *call, const struct table *table);
bool timing_backups_are_shown(const struct call *call, const struct table *table);

/* How long a deleted table is DELETING: the catalog's transient_status_ms. */
int64_t timing_deletion_ms(void);

/* Gives a new table, before catalog_create, its time of creation. */
void timing_create(const struct call *call, struct table *table);

/* Whether UpdateTable may make the change now: jobs under way, cooldowns, budgets. Errors as AWS
 * gives them. */
enum code timing_admits(const struct call *call, const struct table *table,
			const struct update_table_input *input, struct err *err) WARN_UNUSED;
/* Gives what `next` changes of `table` its time, in place of catalog_schedule; takes back what AWS
 * drops. */
void timing_schedule(const struct call *call, const struct update_table_input *input,
		     const struct table *table, struct table *next);
/* Whether DeleteTable may delete the table. */
enum code timing_deletable(const struct call *call, const struct table *table,
			   struct err *err) WARN_UNUSED;

/* Tags: whether a change to `tags` (NULL: an UntagResource) is admitted; and that `next` has others
 * than `table`. */
enum code timing_tags_admit(const struct call *call, const struct table *table,
			    const struct tag_list *tags, struct err *err) WARN_UNUSED;
void timing_tags_changed(const struct call *call, const struct table *table, struct table *next);

/* The same of resource policies. */
enum code timing_policy_admits(const struct call *call, const struct table *table, bool is_stream,
			       struct err *err) WARN_UNUSED;
void timing_policy_changed(const struct call *call, const struct table *table, struct table *next,
			   bool is_stream);

/* When TTL can be changed again. */
int64_t timing_ttl_opens_ms(const struct call *call, const struct table *table);

/* The table as it is shown now: `table` itself, or a copy that the call holds. */
struct table *timing_seen(struct call *call, struct table *table);
/* Whether the stream, one of the table's, is being enabled or disabled. */
bool timing_stream_changes(const struct call *call, const struct table *table,
			   const struct stream *stream);

#endif
