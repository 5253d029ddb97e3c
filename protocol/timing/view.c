#include "protocol/timing/internal.h"

/* What the moment keeps at that place; empty where a damaged record lacks it. */
static struct str text_of(const struct moment *moment, size_t i)
{
	return i < moment->before_count ? moment->before[i] : STR("");
}

static struct index *index_of(struct table *seen, struct str name)
{
	for (size_t i = 0; i < seen->indexes.n; i++) {
		if (str_eq(seen->indexes.v[i].name, name))
			return &seen->indexes.v[i];
	}
	return NULL;
}

/* Moments of capacity begin with the warm throughput that was. */
static struct throughput_pair warm_of(const struct moment *moment)
{
	return (struct throughput_pair){true, timing_number_of(moment, 0),
					timing_number_of(moment, 1)};
}

static void show_units(struct throughput *units, const struct moment *moment)
{
	units->read = timing_number_of(moment, 2);
	units->write = timing_number_of(moment, 3);
	units->decreases_today = timing_number_of(moment, 4);
}

static void see_throughput(const struct call *call, struct table *seen, const struct moment *moment)
{
	(void)call;
	seen->settings->warm = warm_of(moment);
	show_units(&seen->settings->throughput, moment);
}

static void see_index_update(const struct call *call, struct table *seen,
			     const struct moment *moment)
{
	struct index *index = index_of(seen, moment->subject);

	(void)call;
	if (!index)
		return;
	index->status = index->status == STATUS_ACTIVE ? STATUS_UPDATING : index->status;
	index->settings->warm = warm_of(moment);
	show_units(&index->settings->throughput, moment);
}

static void see_on_demand(const struct call *call, struct table *seen, const struct moment *moment)
{
	(void)call;
	seen->settings->warm = warm_of(moment);
	seen->settings->on_demand_since_ms =
		timing_number_of(moment, 2) ? timing_number_of(moment, 2) : ON_DEMAND_PENDING;
}

static void see_limits(const struct call *call, struct table *seen, const struct moment *moment)
{
	(void)call;
	seen->settings->on_demand = warm_of(moment);
}

/* Kept strings live as long as the copy, which has them too. */
static void see_class(const struct call *call, struct table *seen, const struct moment *moment)
{
	(void)call;
	seen->settings->table_class = text_of(moment, 0).n ? text_of(moment, 0) : STR_ABSENT;
	seen->settings->class_changed_ms = timing_number_of(moment, 1);
}

static void see_encryption(const struct call *call, struct table *seen, const struct moment *moment)
{
	seen->settings->is_sse_updating = true;
	if (!timing_within(call, moment, TIMING_ENCRYPTION_KEY))
		return;
	seen->settings->sse_enabled = timing_number_of(moment, 0) != 0;
	seen->settings->sse_key = text_of(moment, 1);
}

static void see_warm(const struct call *call, struct table *seen, const struct moment *moment)
{
	struct index *index = index_of(seen, moment->subject);

	(void)call;
	if (moment->subject.n == 0) {
		seen->settings->warm = warm_of(moment);
		seen->settings->is_warm_updating = true;
	} else if (index) {
		index->settings->warm = warm_of(moment);
		index->settings->is_warm_updating = true;
	}
}

static void see_tags(const struct call *call, struct table *seen, const struct moment *moment)
{
	(void)call;
	seen->settings->tags.n = moment->before_count / 2;
	seen->settings->tags.v = ARENA_ARRAY(seen->arena, struct tag, seen->settings->tags.n);
	for (size_t i = 0; i < seen->settings->tags.n; i++)
		seen->settings->tags.v[i] =
			(struct tag){moment->before[2 * i], moment->before[2 * i + 1]};
}

static void see_policy(const struct call *call, struct table *seen, const struct moment *moment)
{
	(void)call;
	*(moment->subject.n ? &seen->settings->stream_policy : &seen->settings->policy) =
		(struct policy){moment->before_count > 1 ? moment->before[1] : STR_ABSENT,
				timing_number_of(moment, 0)};
}

/* How each row changes the table that is shown. Rows without a function show in statuses only. */
static void (*const sights[TIMING_COUNT])(const struct call *call, struct table *seen,
					  const struct moment *moment) = {
	[TIMING_THROUGHPUT] = see_throughput,
	[TIMING_BILLING_ON_DEMAND] = see_on_demand,
	[TIMING_BILLING_ON_DEMAND_AGAIN] = see_on_demand,
	[TIMING_ON_DEMAND] = see_limits,
	[TIMING_CLASS] = see_class,
	[TIMING_ENCRYPTION] = see_encryption,
	[TIMING_WARM] = see_warm,
	[TIMING_WARM_AGAIN] = see_warm,
	[TIMING_INDEX_UPDATE] = see_index_update,
	[TIMING_TAGS] = see_tags,
	[TIMING_POLICY_PUT] = see_policy,
	[TIMING_POLICY_REPLACE] = see_policy,
	[TIMING_POLICY_DELETE] = see_policy,
};

/* Whether it changes what is shown now; then *row is its row. */
static bool is_seen(const struct call *call, const struct moment *moment, enum timing *row)
{
	*row = timing_row(moment);
	return *row < TIMING_COUNT && sights[*row] && timing_within(call, moment, *row);
}

struct table *timing_seen(struct call *call, struct table *table)
{
	struct table *seen = NULL;
	enum timing row;

	/* the newest first: of two changes under way the oldest has the value before both */
	for (size_t i = timing_is_on(call) ? table->settings->moment_count : 0; i-- > 0;) {
		if (!is_seen(call, &table->settings->moments[i], &row))
			continue;
		if (!seen) {
			seen = table_clone(table);
			call_hold(call, seen);
		}
		sights[row](call, seen, &seen->settings->moments[i]);
	}
	return seen ? seen : table;
}

bool timing_stream_changes(const struct call *call, const struct table *table,
			   const struct stream *stream)
{
	int64_t changed_ms = stream->disabled_ms ? stream->disabled_ms : stream->created_ms;

	if (!timing_is_on(call))
		return false;
	for (size_t i = 0; i < table->settings->moment_count; i++) {
		if (timing_row(&table->settings->moments[i]) == TIMING_STREAM &&
		    table->settings->moments[i].at_ms == changed_ms)
			return timing_within(call, &table->settings->moments[i], TIMING_STREAM);
	}
	/* UpdateTable did not change it: it came with its table, or went with it */
	return stream->disabled_ms && changed_ms <= call->now_ms &&
	       call->now_ms < changed_ms + timing_ms(TIMING_STREAM_LEAVES);
}
