/* insight_view - the description of insight.h as JSON. */
#include <stdlib.h>

#include "protocol/insight/finding.h"
#include "protocol/insight/recollect.h"
#include "protocol/insight/settle.h"
#include "storage/monotonic.h"

const char *const insight_part_names[OUTLINE_PARTS] = {
	"kind", "table", "index", "key", "filter", "projection", "update", "condition", "how"};

struct listing {
	size_t n;
	struct pattern **v;
};

static void list(void *context, struct pattern *pattern)
{
	struct listing *listing = context;

	listing->v[listing->n++] = pattern;
}

/* The dearest first. */
static int compare(const void *a, const void *b)
{
	const struct pattern *x = *(struct pattern *const *)a, *y = *(struct pattern *const *)b;
	double left = x->flow.read + x->flow.write, right = y->flow.read + y->flow.write;

	if (left != right)
		return left > right ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static void number(struct json_out *out, const char *name, double value)
{
	json_out_name(out, str_of(name));
	json_out_double(out, (double)(int64_t)(value * 1000 + 0.5) / 1000);
}

static void integer(struct json_out *out, const char *name, uint64_t value)
{
	json_out_name(out, str_of(name));
	json_out_integer(out, (int64_t)value);
}

/* With three digits behind the point where it needs them; most do not, and those are cheap. */
static void decimal(struct json_out *out, double value)
{
	int64_t thousandths = (int64_t)(value * 1000 + 0.5);

	if (thousandths % 1000 == 0)
		json_out_integer(out, thousandths / 1000);
	else
		json_out_double(out, (double)thousandths / 1000);
}

/* As far as there is something in it. */
static void series(struct json_out *out, const struct series *series)
{
	unsigned n = SERIES_BUCKETS;

	while (n > 0 && series->units[n - 1] <= 0)
		n--;
	if (n == 0)
		return;
	json_out_name(out, STR("over_time"));
	json_out_open(out, '[');
	for (unsigned i = 0; i < n; i++)
		decimal(out, (double)series->units[i]);
	json_out_close(out, ']');
}

/* Of numbers that were counted in `unit`. */
static void sketch(struct json_out *out, const char *name, const struct sketch *sketch, double unit)
{
	if (sketch->n == 0)
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	number(out, "min", (double)sketch->least * unit);
	number(out, "median", (double)sketch_quantile(sketch, 0.5) * unit);
	number(out, "p99", (double)sketch_quantile(sketch, 0.99) * unit);
	number(out, "max", (double)sketch->greatest * unit);
	json_out_name(out, STR("counts"));
	json_out_open(out, '[');
	for (unsigned i = 0; i < SKETCH_RANGES; i++) {
		if (sketch->counts[i] == 0)
			continue;
		json_out_open(out, '[');
		decimal(out, (double)sketch_value(i) * unit);
		json_out_integer(out, sketch->counts[i]);
		json_out_close(out, ']');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static void seen_at(struct json_out *out, const char *name, const struct seen_at *seen)
{
	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	json_out_field_string(out, "caller", seen->caller->name);
	json_out_name(out, STR("time"));
	json_out_time_ms(out, seen->ms);
	json_out_close(out, '}');
}

static void flow(struct json_out *out, const struct pattern *pattern)
{
	const struct pattern_flow *flow = &pattern->flow;

	integer(out, "calls", flow->calls);
	integer(out, "accesses", flow->members);
	if (pattern->traits & (PATTERN_QUERY | PATTERN_SCAN)) {
		integer(out, "continued", flow->continued);
		integer(out, "unfinished", flow->more);
	}
	integer(out, "items_read", flow->scanned);
	integer(out, "items_returned", flow->returned);
	integer(out, "bytes_read", flow->bytes);
	number(out, "read_units", flow->read);
	number(out, "write_units", flow->write);
}

/* For recollect.h. */
static void show_grounds(struct json_out *out, struct arena *arena, const struct pattern *pattern)
{
	json_out_field_string(out, "traits", recollect_words(arena, pattern->traits));
	integer(out, "columns", pattern->columns);
	integer(out, "changes", pattern->changes);
	integer(out, "burst", pattern->flow.burst);
	integer(out, "in_bursts", pattern->flow.in_bursts);
	integer(out, "item_bytes_sum", pattern->sizes.sum);
}

static void show_pattern(struct json_out *out, struct arena *arena, const struct pattern *pattern)
{
	json_out_open(out, '{');
	json_out_field_string(out, "id", finding_pattern_id(arena, pattern));
	json_out_field_string(out, "operation", str_of(pattern->operation));
	for (size_t i = 0; i < OUTLINE_PARTS; i++) {
		if (pattern->parts[i].n > 0 &&
		    (i != OUTLINE_KIND || !str_eq(pattern->parts[i], str_of(pattern->operation)))) {
			json_out_name(out, str_of(insight_part_names[i]));
			json_out_string(out, pattern->parts[i]);
		}
	}
	flow(out, pattern);
	show_grounds(out, arena, pattern);
	series(out, &pattern->series);
	sketch(out, "units", &pattern->units, 0.5);
	sketch(out, "latency_ms", &pattern->latency, 0.001);
	sketch(out, "item_bytes", &pattern->sizes, 1);
	json_out_name(out, STR("errors"));
	json_out_open(out, '{');
	for (size_t i = 0; i < ERRORS_MAX && pattern->errors[i].n > 0; i++)
		integer(out, err_info(pattern->errors[i].code)->name, pattern->errors[i].n);
	json_out_close(out, '}');
	if (pattern->folded > 0)
		integer(out, "folded_patterns", pattern->folded);
	if (pattern->first.caller)
		seen_at(out, "first", &pattern->first);
	if (pattern->last.caller)
		seen_at(out, "last", &pattern->last);
	if (pattern->example)
		json_out_field_string(out, "example", str_of(pattern->example));
	json_out_close(out, '}');
}

static void show_index(struct json_out *out, const struct index *index,
		       const struct seen_index *seen)
{
	static const char *const projections[] = {[PROJECT_ALL] = "ALL",
						  [PROJECT_KEYS_ONLY] = "KEYS_ONLY",
						  [PROJECT_INCLUDE] = "INCLUDE"};

	json_out_open(out, '{');
	json_out_field_string(out, "name", index->name);
	json_out_field_string(out, "projection", str_of(projections[index->projection]));
	integer(out, "reads", seen->reads);
	integer(out, "whole_reads", seen->whole_reads);
	number(out, "write_units", seen->written);
	json_out_name(out, STR("attributes_read"));
	json_out_open(out, '[');
	for (size_t i = 0; i < seen->used_count; i++)
		json_out_string(out, seen->used[i]);
	json_out_close(out, ']');
	if (seen->is_used_more)
		integer(out, "more_attributes_read", 1);
	json_out_close(out, '}');
}

static void show_partition(struct json_out *out, struct arena *arena,
			   const struct partition *partition)
{
	json_out_open(out, '{');
	json_out_field_string(out, "partition", partition_label(arena, partition));
	if (partition->index)
		json_out_field_string(out, "index", partition->index->name);
	integer(out, "requests", partition->requests);
	integer(out, "requests_at_least", partition->requests - partition->doubtful);
	number(out, "read_units", partition->read);
	number(out, "write_units", partition->write);
	number(out, "peak_read_units", partition->peak_read);
	number(out, "peak_write_units", partition->peak_write);
	json_out_name(out, STR("items_added"));
	json_out_integer(out, partition->items);
	series(out, &partition->series);
	json_out_close(out, '}');
}

static void show_table(struct json_out *out, struct arena *arena, const struct seen_table *seen)
{
	json_out_open(out, '{');
	json_out_field_string(out, "table", seen->table->identity.name);
	json_out_field_string(out, "account", seen->table->identity.account);
	json_out_field_string(out, "region", seen->table->identity.region);
	number(out, "write_units", seen->base);
	number(out, "partition_units", seen->partitions.units);
	series(out, &seen->partitions.series);
	integer(out, "sort_keys", seen->table->keys.range_count);
	if (str_is_set(seen->table->ttl.attribute))
		json_out_field_string(out, "ttl_attribute", seen->table->ttl.attribute);
	integer(out, "ttl_wrong", seen->ttl_wrong);
	integer(out, "ttl_milliseconds", seen->ttl_milliseconds);
	json_out_name(out, STR("indexes"));
	json_out_open(out, '[');
	for (size_t i = 0; i < seen->table->indexes.n; i++)
		show_index(out, &seen->table->indexes.v[i], &seen->indexes[i]);
	json_out_close(out, ']');
	json_out_name(out, STR("partitions"));
	json_out_open(out, '[');
	for (size_t i = 0; i < seen->partitions.n; i++)
		show_partition(out, arena, &seen->partitions.v[i]);
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static void show_entity(struct json_out *out, struct arena *arena, const struct entity *entity)
{
	json_out_open(out, '{');
	json_out_field_string(out, "entity",
			      str_printf(arena, "%016llx", (unsigned long long)entity->hash));
	if (entity->blind)
		json_out_field_string(out, "blind", finding_pattern_id(arena, entity->blind));
	if (entity->guarded)
		json_out_field_string(out, "guarded", finding_pattern_id(arena, entity->guarded));
	json_out_close(out, '}');
}

/* When the buckets of each "over_time" were: all are as wide, and the first began that long ago. */
static void show_time(struct json_out *out, const struct timeline *timeline)
{
	bool has_begun = timeline->width_ms > 0;

	json_out_name(out, STR("time"));
	json_out_open(out, '{');
	json_out_field_integer(out, "age_ms", has_begun ? monotonic_ms() - timeline->began_ms : 0);
	json_out_field_integer(out, "bucket_ms", timeline->width_ms);
	json_out_field_integer(out, "buckets", has_begun ? timeline->at + 1 : 0);
	json_out_close(out, '}');
}

struct str insight_describe(struct insight *own, struct arena *arena)
{
	struct json_out out = json_out_in(arena);
	struct listing listing;

	pthread_mutex_lock(&own->lock);
	struct insight *insight = settle(own, arena, false);
	listing = (struct listing){0, ARENA_ARRAY(arena, struct pattern *, insight->n + 1)};
	insight_each(insight, list, &listing);
	if (listing.n > 0)
		qsort(listing.v, listing.n, sizeof(struct pattern *), compare);
	json_out_open(&out, '{');
	integer(&out, "requests", insight->all.calls);
	number(&out, "read_units", insight->all.read);
	number(&out, "write_units", insight->all.write);
	show_time(&out, &insight->timeline);
	json_out_name(&out, STR("patterns"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < listing.n; i++)
		show_pattern(&out, arena, listing.v[i]);
	json_out_close(&out, ']');
	json_out_name(&out, STR("tables"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < insight->table_count; i++)
		show_table(&out, arena, insight->tables[i]);
	json_out_close(&out, ']');
	json_out_name(&out, STR("entities"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < insight->entity_count; i++)
		show_entity(&out, arena, &insight->entities[i]);
	json_out_close(&out, ']');
	json_out_name(&out, STR("findings"));
	finding_all(insight, arena, &out);
	json_out_close(&out, '}');
	pthread_mutex_unlock(&own->lock);
	return json_out_str(&out);
}

void insight_show_request(struct insight *own, struct arena *arena, bool is_short,
			  struct json_out *out)
{
	struct listing listing = {0, ARENA_ARRAY(arena, struct pattern *, 2)};

	pthread_mutex_lock(&own->lock);
	struct insight *insight = settle(own, arena, true);
	insight_each(insight, list, &listing);
	if (listing.n > 0)
		json_out_field_string(out, "pattern", finding_pattern_id(arena, listing.v[0]));
	json_out_name(out, STR("findings"));
	finding_of_request(insight, arena, is_short, out);
	pthread_mutex_unlock(&own->lock);
}
