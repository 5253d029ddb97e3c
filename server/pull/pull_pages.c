#include "server/pull/pull_pages.h"

#include <pthread.h>
#include <stdio.h>

#include "core/buf.h"
#include "server/messages.h"
#include "server/seed/json_text.h"
#include "server/pull/pull_choice.h"
#include "server/pull/pull_mark.h"
#include "server/pull/pull_pace.h"
#include "server/pull/pull_page.h"
#include "storage/monotonic.h"

#define LINE_NS 10000000000ull
#define SAMPLE_SEGMENTS 16
#define ITEMS_FIRST 100.0 /* of a page, where nothing is known */

/* The next page of a segment, asked for by a thread of its own. */
struct fetch {
	const struct pull *pull;
	const struct pull_table *table;
	struct arena *arena, *keys; /* of the page; of the mark's key */
	struct pull_mark mark;
	uint64_t limit; /* items */
	struct str answer;
	double units;
	enum code code;
	struct err err;
	bool is_expired, has_thread;
	pthread_t thread;
};

/* All segments of a table. */
struct segments {
	const struct pull *pull;
	const struct pull_table *table;
	struct fetch all[PULL_SEGMENTS_MAX];
	size_t n;
	double items_a_unit;
	struct pull_pace pace;
	uint64_t began_ns, said_ns, before; /* before: items of earlier pulls */
};

/* Waits until the units are within the limit. */
static void keep_pace(struct pull_pace *pace, double units)
{
	int64_t ms = pull_pace_wait_ms(pace, units, monotonic_ns());

	if (ms > 0)
		monotonic_sleep_ms(ms);
}

static struct pull_pace pace_of(const struct pull_table *table)
{
	return pull_pace_begin(table->max_units, monotonic_ns());
}

/* Masks and writes the chosen items of a page; *n counts them. */
static enum code pull_write_page(const struct pull *pull, struct arena *arena,
				 const struct pull_table *table, struct str items, uint64_t *n,
				 struct err *err)
{
	struct pull_page page = {.pull = pull, .table = table, .arena = arena};
	struct str rest = json_text_inside(items), item;

	while (json_text_element(&rest, &item)) {
		if (!pull_choice_has(pull, table, arena, item))
			continue;
		enum code code = pull_page_add(&page, item, err);
		if (code != OK)
			return code;
	}
	*n += page.n;
	return pull_page_end(&page, err);
}

/* Read units of an answer; of a server that does not say, by its bytes. */
static double consumed(struct arena *arena, struct str answer)
{
	struct err ignored = err_in(arena);
	const struct json *root;
	struct str text = json_text_find(answer, STR("ConsumedCapacity"));

	return str_is_set(text) && json_parse(arena, text, &root, &ignored) == OK
		       ? json_text_number(root, "CapacityUnits")
		       : (double)answer.n / PULL_UNIT_BYTES;
}

static double scanned(struct str answer)
{
	struct str text = json_text_find(answer, STR("ScannedCount"));
	double n = 0;

	for (size_t i = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
		n = n * 10 + (text.p[i] - '0');
	return n;
}

static struct str page_body(const struct fetch *fetch)
{
	struct buf body = buf_in(fetch->arena);
	struct str key;

	buf_printf(&body,
		   "{\"TableName\":\"" STR_FMT "\",\"ReturnConsumedCapacity\":\"TOTAL\","
		   "\"Limit\":%llu",
		   STR_ARG(fetch->table->name), (unsigned long long)fetch->limit);
	if (fetch->mark.total > 1)
		buf_printf(&body, ",\"TotalSegments\":%zu,\"Segment\":%zu", fetch->mark.total,
			   fetch->mark.segment);
	if (pull_choice_partition(fetch->pull, fetch->table, &key))
		buf_add_str(&body, pull_choice_condition(fetch->arena, fetch->table, key));
	if (fetch->mark.key.n > 0)
		buf_printf(&body, ",\"ExclusiveStartKey\":" STR_FMT, STR_ARG(fetch->mark.key));
	buf_add_byte(&body, '}');
	return buf_str(&body);
}

/* What a fetch's thread does; it touches nothing else. */
static void *fetch_page(void *context)
{
	struct fetch *fetch = context;
	struct str key;
	bool is_query = pull_choice_partition(fetch->pull, fetch->table, &key);

	fetch->code = pull_ask_once(fetch->pull, fetch->arena, fetch->table->name,
				    is_query ? "Query" : "Scan", page_body(fetch), &fetch->answer,
				    &fetch->is_expired, &fetch->err);
	return NULL;
}

/* One page of each of `n` segments, at the same time. */
static void fetch_together(struct fetch **fetches, size_t n)
{
	for (size_t i = 1; i < n; i++)
		fetches[i]->has_thread =
			pthread_create(&fetches[i]->thread, NULL, fetch_page, fetches[i]) == 0;
	for (size_t i = 0; i < n; i++) {
		if (!fetches[i]->has_thread)
			fetch_page(fetches[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (fetches[i]->has_thread)
			pthread_join(fetches[i]->thread, NULL);
	}
}

/* Asks again by other keys where the token is too old. */
static void fetch_renewed(const struct pull *pull, struct fetch **fetches, size_t n)
{
	bool is_expired = false;

	for (size_t i = 0; i < n; i++)
		is_expired = is_expired || fetches[i]->is_expired;
	if (!is_expired || !pull->renew(pull->context))
		return;
	for (size_t i = 0; i < n; i++) {
		if (fetches[i]->is_expired)
			fetch_page(fetches[i]);
	}
}

/* One partition as a whole, page by page. */
static enum code follow_partition(struct segments *segments, const struct pull_table *table,
				  struct str key, struct arena *arena, struct err *err)
{
	const struct pull *pull = segments->pull;
	struct pull_page page = {.pull = pull, .table = table, .arena = arena};
	struct str condition = pull_choice_condition(arena, table, key), start = STR(""), answer;

	for (bool is_more = true; is_more;) {
		struct str item,
			body = str_printf(arena,
					  "{\"TableName\":\"" STR_FMT "\",\"Return"
					  "ConsumedCapacity\":\"TOTAL\"" STR_FMT STR_FMT "}",
					  STR_ARG(table->name), STR_ARG(condition), STR_ARG(start));
		enum code code = pull_ask(pull, arena, table->name, "Query", body, &answer, err);

		if (code != OK)
			return code;
		struct str rest = json_text_inside(json_text_find(answer, STR("Items")));
		while (json_text_element(&rest, &item)) {
			code = pull_page_add(&page, item, err);
			if (code != OK)
				return code;
		}
		keep_pace(&segments->pace, consumed(arena, answer));
		struct str last = json_text_find(answer, STR("LastEvaluatedKey"));
		is_more = str_is_set(last);
		if (is_more)
			start = str_printf(arena, ",\"ExclusiveStartKey\":" STR_FMT, STR_ARG(last));
	}
	return pull_page_end(&page, err);
}

/* What the chosen items of a page point at: one step, and no further. */
static enum code follow_page(struct segments *segments, struct fetch *fetch)
{
	const struct pull *pull = segments->pull;
	struct str rest = json_text_inside(json_text_find(fetch->answer, STR("Items"))), item, key;
	struct pull_table *table;

	while (pull->follow_count > 0 && json_text_element(&rest, &item)) {
		if (!pull_choice_has(pull, segments->table, fetch->arena, item))
			continue;
		for (size_t i = 0; i < pull->follow_count; i++) {
			if (!pull_choice_follow(pull, fetch->arena, item, &pull->follows[i], &table,
						&key))
				continue;
			enum code code =
				follow_partition(segments, table, key, fetch->arena, &fetch->err);
			if (code != OK)
				return code;
		}
	}
	return OK;
}

/* Masks and writes a page that was read, and marks it as read; the last step makes it count. */
static enum code keep_page(struct segments *segments, struct fetch *fetch)
{
	const struct pull *pull = segments->pull;
	struct str name = segments->table->name;

	if (fetch->code != OK)
		return fetch->code;
	double n = scanned(fetch->answer);
	fetch->units = consumed(fetch->arena, fetch->answer);
	if (n > 0 && fetch->units > 0)
		segments->items_a_unit = n / fetch->units;
	enum code code = pull_write_page(pull, fetch->arena, segments->table,
					 json_text_find(fetch->answer, STR("Items")),
					 &fetch->mark.items, &fetch->err);
	if (code != OK)
		return code;
	code = follow_page(segments, fetch);
	if (code != OK)
		return code;
	struct str key = json_text_find(fetch->answer, STR("LastEvaluatedKey"));
	fetch->mark.is_done = !str_is_set(key);
	arena_reset(fetch->keys);
	fetch->mark.key = fetch->mark.is_done ? STR("") : str_copy(fetch->keys, key);
	return pull_mark_save(pull, fetch->arena, name, &fetch->mark, &fetch->err);
}

static uint64_t segments_items(const struct segments *segments)
{
	uint64_t n = 0;

	for (size_t i = 0; i < segments->n; i++)
		n += segments->all[i].mark.items;
	return n;
}

static void say_pull(struct segments *segments)
{
	const struct pull_table *table = segments->table;
	uint64_t now = monotonic_ns(), n = segments_items(segments);
	double since = (double)(now - segments->began_ns) / 1e9;
	double rate = (double)(n - segments->before) / (since > 0 ? since : 1);
	double left = table->items > (double)n && rate > 0 ? (table->items - (double)n) / rate : 0;

	if (now - segments->said_ns < LINE_NS)
		return;
	segments->said_ns = now;
	fprintf(stderr, STR_FMT ": %llu of about %.0f items, %.0f s left\n", STR_ARG(table->name),
		(unsigned long long)n, table->items, left);
}

/* One page of each segment that is not whole yet. A page takes a second's units at most. *is_done:
 * there is none. */
static enum code pull_round(struct segments *segments, bool *is_done, struct err *err)
{
	struct fetch *fetches[PULL_SEGMENTS_MAX];
	size_t n = 0;
	double units = 0;
	enum code first = OK;

	for (size_t i = 0; i < segments->n; i++) {
		if (!segments->all[i].mark.is_done)
			fetches[n++] = &segments->all[i];
	}
	*is_done = n == 0;
	double limit = segments->items_a_unit * segments->pace.per_second / (double)(n > 0 ? n : 1);
	for (size_t i = 0; i < n; i++) {
		arena_reset(fetches[i]->arena);
		fetches[i]->err = err_in(fetches[i]->arena);
		fetches[i]->has_thread = false;
		fetches[i]->limit = limit < 1 ? 1 : limit > 1e6 ? 1000000 : (uint64_t)limit;
	}
	fetch_together(fetches, n);
	fetch_renewed(segments->pull, fetches, n);
	for (size_t i = 0; i < n; i++) {
		enum code code = keep_page(segments, fetches[i]);

		if (code != OK && first == OK) {
			err_copy(err, code, fetches[i]->err.message);
			first = code;
		}
		units += fetches[i]->units;
	}
	if (first != OK || n == 0)
		return first;
	say_pull(segments);
	keep_pace(&segments->pace, units);
	return OK;
}

/* The marks of all segments; an earlier pull may have begun with another number of them. */
static enum code find_marks(struct segments *segments, struct err *err)
{
	struct str key;
	size_t total = pull_choice_partition(segments->pull, segments->table, &key)
			       ? 1 /* a Query has no segments */
			       : segments->pull->segments;

	for (size_t i = 0; i < total; i++) {
		struct fetch *fetch = &segments->all[i];

		*fetch = (struct fetch){.pull = segments->pull,
					.table = segments->table,
					.arena = arena_new(0),
					.keys = arena_new(0)};
		enum code code = pull_mark_find(segments->pull, fetch->arena, segments->table->name,
						i, total, &fetch->mark, err);

		if (code != OK)
			return code;
		total = fetch->mark.total < PULL_SEGMENTS_MAX ? fetch->mark.total
							      : PULL_SEGMENTS_MAX;
		fetch->mark.key = str_copy(fetch->keys, fetch->mark.key);
	}
	segments->n = total;
	return OK;
}

static enum code pull_segments(struct segments *segments, struct err *err)
{
	bool is_done = false;
	enum code code = find_marks(segments, err);

	if (code != OK)
		return code;
	segments->before = segments_items(segments);
	while (!is_done) {
		code = pull_round(segments, &is_done, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code pull_pages(const struct pull *pull, const struct pull_table *table, uint64_t *items,
		     struct err *err)
{
	struct segments *segments = arena_calloc(err->arena, 1, sizeof(*segments));
	bool is_known = table->items > 0 && table->bytes > 0;

	*segments = (struct segments){
		.pull = pull,
		.table = table,
		.items_a_unit = is_known ? PULL_UNIT_BYTES / (table->bytes / table->items)
					 : ITEMS_FIRST / table->max_units,
		.pace = pace_of(table),
		.began_ns = monotonic_ns(),
		.said_ns = monotonic_ns()};
	enum code code = pull_segments(segments, err);
	*items = segments_items(segments);
	for (size_t i = 0; i < PULL_SEGMENTS_MAX && segments->all[i].arena; i++) {
		arena_free(segments->all[i].keys);
		arena_free(segments->all[i].arena);
	}
	return code;
}

enum code pull_pages_sample(const struct pull *pull, const struct pull_table *table,
			    void (*each)(void *context, struct arena *arena, struct str item),
			    void *context, struct err *err)
{
	struct fetch fetch = {.pull = pull,
			      .table = table,
			      .arena = arena_new(0),
			      .mark = {.key = STR(""), .total = SAMPLE_SEGMENTS},
			      .limit = PULL_SAMPLE / SAMPLE_SEGMENTS};
	struct pull_pace pace = pace_of(table);
	struct str item;

	for (; fetch.mark.segment < SAMPLE_SEGMENTS && fetch.code == OK; fetch.mark.segment++) {
		arena_reset(fetch.arena);
		fetch.err = err_in(fetch.arena);
		fetch.code = pull_ask(pull, fetch.arena, table->name, "Scan", page_body(&fetch),
				      &fetch.answer, &fetch.err);
		if (fetch.code != OK) {
			err_copy(err, fetch.code, fetch.err.message);
			break;
		}
		struct str rest = json_text_inside(json_text_find(fetch.answer, STR("Items")));
		while (json_text_element(&rest, &item))
			each(context, fetch.arena, item);
		keep_pace(&pace, consumed(fetch.arena, fetch.answer));
	}
	arena_free(fetch.arena);
	return fetch.code;
}
