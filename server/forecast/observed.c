#include "server/forecast/observed.h"

#include "protocol/wire/json_out.h"

#define SHARE_LEAST 0.001 /* of a key that stands out: spread.h counts in thousandths */
#define REQUESTS_LEAST 5
#define SECONDS_LEAST 1.0
#define HOUR_MS ((int64_t)3600000)

struct observed_pattern *observed_pattern_for(struct observed *observed,
					      const struct observed_pattern *wanted)
{
	for (size_t i = 0; i < observed->pattern_count; i++) {
		struct observed_pattern *one = &observed->patterns[i];

		if (str_eq(one->name, wanted->name) && str_eq(one->table, wanted->table) &&
		    str_eq(one->index, wanted->index) && one->is_write == wanted->is_write)
			return one;
	}
	observed->patterns = arena_room(observed->arena, observed->patterns,
					observed->pattern_count, sizeof(*wanted));
	struct observed_pattern *added = &observed->patterns[observed->pattern_count++];
	*added = *wanted;
	added->name = str_copy(observed->arena, wanted->name);
	added->table = str_copy(observed->arena, wanted->table);
	added->index = str_copy(observed->arena, wanted->index);
	added->group = str_copy(observed->arena, wanted->group);
	return added;
}

struct observed_part *observed_part_for(struct observed *observed, struct str group,
					struct str table, struct str index)
{
	for (size_t i = 0; i < observed->part_count; i++) {
		struct observed_part *one = &observed->parts[i];

		if (str_eq(one->group, group) && str_eq(one->table, table) &&
		    str_eq(one->index, index))
			return one;
	}
	observed->parts = arena_room(observed->arena, observed->parts, observed->part_count,
				     sizeof(*observed->parts));
	struct observed_part *added = &observed->parts[observed->part_count++];
	*added = (struct observed_part){.group = str_copy(observed->arena, group),
					.table = str_copy(observed->arena, table),
					.index = str_copy(observed->arena, index)};
	return added;
}

void observed_add_units(struct observed *observed, struct observed_pattern *pattern,
			struct str index, double units)
{
	size_t i = 0;

	if (units <= 0)
		return;
	observed_part_for(observed, pattern->group, pattern->table, index)->units += units;
	while (i < pattern->n && !str_eq(pattern->demands[i].index, index))
		i++;
	if (i == PLAN_PARTS_MAX)
		return;
	if (i == pattern->n)
		pattern->demands[pattern->n++] =
			(struct observed_demand){.index = str_copy(observed->arena, index)};
	pattern->demands[i].units += units;
}

void observed_spread(double hours[PLAN_HOURS], int64_t from_ms, int64_t to_ms, double amount)
{
	for (int64_t at = from_ms; at < to_ms;) {
		int64_t next = (at / HOUR_MS + 1) * HOUR_MS;

		next = next < to_ms ? next : to_ms;
		hours[(at / HOUR_MS) % PLAN_HOURS] +=
			amount * (double)(next - at) / (double)(to_ms - from_ms);
		at = next;
	}
}

void observed_cover(struct observed *observed, int64_t from_ms, int64_t to_ms)
{
	observed->seconds = (double)(to_ms - from_ms) / 1000;
	if (to_ms - from_ms >= PLAN_HOURS * HOUR_MS)
		observed_spread(observed->hours, from_ms, to_ms, observed->seconds);
}

static void observed_number(struct json_out *out, struct str name, double value)
{
	json_out_name(out, name);
	json_out_double(out, value);
}

/* Keys below a thousandth, or that a few requests have, are none that stand out: the rest is spread
 * evenly. */
static void observed_keys(struct observed *observed, const struct observed_pattern *pattern,
			  struct str index, struct json_out *out)
{
	const struct observed_part *part =
		observed_part_for(observed, pattern->group, pattern->table, index);
	double left = 1;
	double mean = pattern->counted > 0 ? part->units / pattern->counted : 0;
	size_t shown = 0;

	if (str_is_set(observed->keys)) {
		json_out_name(out, STR("keys"));
		buf_add_str(&out->buf, observed->keys);
		out->needs_comma = true;
		return;
	}
	for (size_t i = 0; i < part->n && part->units > 0; i++) {
		double share = part->keys[i].units / part->units;

		share = share < left ? share : left;
		if (share < SHARE_LEAST || part->keys[i].units < REQUESTS_LEAST * mean)
			continue;
		if (shown++ == 0) {
			json_out_name(out, STR("keys"));
			json_out_open(out, '{');
			json_out_name(out, STR("values"));
			json_out_open(out, '{');
		}
		observed_number(out, part->keys[i].name, share);
		left -= share;
	}
	if (shown > 0) {
		json_out_close(out, '}');
		json_out_close(out, '}');
	}
}

static void observed_rate(const struct observed *observed, const struct observed_pattern *pattern,
			  struct json_out *out)
{
	bool has_hours = false;

	for (size_t h = 0; h < PLAN_HOURS; h++)
		has_hours = has_hours || observed->hours[h] > 0;
	if (!has_hours) {
		observed_number(out, STR("rate"),
				pattern->requests / (observed->seconds > SECONDS_LEAST
							     ? observed->seconds
							     : SECONDS_LEAST));
		return;
	}
	json_out_name(out, STR("rate"));
	json_out_open(out, '[');
	for (size_t h = 0; h < PLAN_HOURS; h++)
		json_out_double(out, observed->hours[h] > 0 ? pattern->hours[h] / observed->hours[h]
							    : 0);
	json_out_close(out, ']');
}

/* The units of the table, or of the index that is read; an index of a write has its own entry. */
static double units_of_first(const struct observed_pattern *pattern)
{
	double least = pattern->is_write ? 1 : 0.5;

	for (size_t i = 0; i < pattern->n; i++) {
		if (str_eq(pattern->demands[i].index, pattern->index) && pattern->counted > 0)
			return pattern->demands[i].units / pattern->counted;
	}
	return least;
}

static void observed_indexes(struct observed *observed, const struct observed_pattern *pattern,
			     struct json_out *out)
{
	json_out_name(out, STR("indexes"));
	json_out_open(out, '[');
	for (size_t i = 0; i < pattern->n; i++) {
		const struct observed_demand *demand = &pattern->demands[i];

		if (demand->index.n == 0)
			continue;
		json_out_open(out, '{');
		json_out_field_string(out, "name", demand->index);
		observed_number(out, STR("units"), demand->units / pattern->counted);
		observed_keys(observed, pattern, demand->index, out);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void observed_pattern(struct observed *observed, const struct observed_pattern *pattern,
			     struct json_out *out)
{
	json_out_open(out, '{');
	json_out_field_string(out, "name", pattern->name);
	json_out_field_string(out, "table", pattern->table);
	json_out_field_string(out, "does", pattern->is_write ? STR("write") : STR("read"));
	if (pattern->index.n > 0)
		json_out_field_string(out, "index", pattern->index);
	if (pattern->is_strong)
		json_out_field_boolean(out, "strong", true);
	if (pattern->is_transaction)
		json_out_field_boolean(out, "transaction", true);
	observed_number(out, STR("units"), units_of_first(pattern));
	observed_rate(observed, pattern, out);
	observed_keys(observed, pattern, pattern->index, out);
	if (pattern->is_write)
		observed_indexes(observed, pattern, out);
	json_out_close(out, '}');
}

struct str observed_plan(struct observed *observed, struct str tables)
{
	struct json_out out = json_out_in(observed->arena);

	json_out_open(&out, '{');
	json_out_name(&out, STR("tables"));
	json_out_open(&out, '[');
	buf_add_str(&out.buf, tables);
	json_out_close(&out, ']');
	json_out_name(&out, STR("patterns"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < observed->pattern_count; i++)
		observed_pattern(observed, &observed->patterns[i], &out);
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	return json_out_str(&out);
}
