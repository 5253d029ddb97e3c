#include "server/forecast/seen.h"

#include "protocol/wire/json_out.h"
#include "server/forecast/messages.h"
#include "server/seed/json_text.h"

bool seen_is_insight(const struct json *root)
{
	return json_text_get(root, "patterns", JSON_ARRAY) &&
	       json_text_get(root, "read_units", JSON_NUMBER) &&
	       json_text_get(root, "time", JSON_OBJECT);
}

static const struct json *first_of_list(const struct json *object, const char *name)
{
	const struct json *list = json_text_get(object, name, JSON_ARRAY);

	return list ? json_first(list) : NULL;
}

static const struct json *seen_table(struct arena *arena, const struct json *root, struct str name)
{
	for (const struct json *one = first_of_list(root, "tables"); one; one = json_next(one)) {
		if (str_eq(json_text_string(arena, one, "table"), name))
			return one;
	}
	return NULL;
}

/* Empty where the plan has the table without such an index: units of local indexes are the
 * table's. */
static struct str seen_index(struct observed *observed, struct str table, struct str index)
{
	struct plan *plan = observed->plan;
	size_t t = plan_table_at(plan, table), i = 1;

	if (t == plan->table_count)
		return index;
	while (i < plan->tables[t].n && !str_eq(plan->tables[t].parts[i].name, index))
		i++;
	return i < plan->tables[t].n ? index : STR("");
}

/* The units that were written to the table and to its indexes. */
static double all_writes(const struct json *table)
{
	double units = json_text_number(table, "write_units");

	for (const struct json *one = first_of_list(table, "indexes"); one; one = json_next(one))
		units += json_text_number(one, "write_units");
	return units;
}

/* Its writes are those of the table and of all indexes, in the table's proportions. */
static void share_writes(struct observed *observed, const struct json *table,
			 struct observed_pattern *pattern, double units)
{
	double own = json_text_number(table, "write_units"), all = all_writes(table);

	observed_add_units(observed, pattern, STR(""), all > 0 ? units * own / all : units);
	for (const struct json *one = first_of_list(table, "indexes"); one && all > 0;
	     one = json_next(one))
		observed_add_units(observed, pattern,
				   seen_index(observed, pattern->table,
					      json_text_string(observed->arena, one, "name")),
				   units * json_text_number(one, "write_units") / all);
}

/* What a pattern reads or writes of one of its tables: that part of the whole. */
static void take_side(struct observed *observed, const struct json *root, const struct json *one,
		      struct str table, bool is_write, double part)
{
	struct arena *arena = observed->arena;
	double units = part * json_text_number(one, is_write ? "write_units" : "read_units");
	struct str index = json_text_string(arena, one, "index"),
		   traits = json_text_string(arena, one, "traits"),
		   key = json_text_string(arena, one, "key"),
		   id = json_text_string(arena, one, "id");
	struct observed_pattern wanted = {
		.table = table,
		.group = is_write ? STR("write") : STR("read"),
		.index = str_is_set(index) && !is_write ? seen_index(observed, table, index)
							: STR(""),
		.is_write = is_write,
		.is_strong = str_is_set(traits) && str_contains(traits, STR("consistent"))};

	if (units <= 0)
		return;
	wanted.name = str_printf(arena, STR_FMT " " STR_FMT ": " STR_FMT " [" STR_FMT "]",
				 STR_ARG(json_text_string(arena, one, "operation")), STR_ARG(table),
				 STR_ARG(key), STR_ARG(id));
	struct observed_pattern *pattern = observed_pattern_for(observed, &wanted);
	pattern->requests = part * json_text_number(one, "accesses");
	pattern->counted = pattern->requests;
	if (is_write)
		share_writes(observed, seen_table(arena, root, table), pattern, units);
	else
		observed_add_units(observed, pattern, pattern->index, units);
}

/* The next of the tables in "a + b", as insight names those of a transaction or a batch. False:
 * there is none. */
static bool next_table(struct str *tables, struct str *table)
{
	do
		*table = str_cut(tables, ' ');
	while (str_eq(*table, STR("+")));
	return table->n > 0;
}

/* The units that requests of several tables wrote to this one and its indexes. */
static double shared_writes(struct observed *observed, const struct json *root, struct str name)
{
	double units = all_writes(seen_table(observed->arena, root, name));

	for (const struct json *one = first_of_list(root, "patterns"); one; one = json_next(one)) {
		if (str_eq(json_text_string(observed->arena, one, "table"), name))
			units -= json_text_number(one, "write_units");
	}
	return units > 0 ? units : 0;
}

/* The units of a pattern of several tables are divided among these: reads in equal parts, writes in
 * proportion to shared_writes(). */
static void take_shared_pattern(struct observed *observed, const struct json *root,
				const struct json *one, struct str tables)
{
	double written = 0;
	size_t n = 0;
	struct str rest, table;

	for (rest = tables; next_table(&rest, &table); n++)
		written += shared_writes(observed, root, table);
	for (rest = tables; next_table(&rest, &table);) {
		double equal = 1.0 / (double)n;

		take_side(observed, root, one, table, false, equal);
		take_side(observed, root, one, table, true,
			  written > 0 ? shared_writes(observed, root, table) / written : equal);
	}
}

static void take_pattern(struct observed *observed, const struct json *root, const struct json *one)
{
	struct str tables = json_text_string(observed->arena, one, "table");

	if (!str_is_set(tables))
		return;
	if (str_contains(tables, STR("+"))) {
		take_shared_pattern(observed, root, one, tables);
		return;
	}
	take_side(observed, root, one, tables, false, 1);
	take_side(observed, root, one, tables, true, 1);
}

/* The latest time that any pattern names. */
static int64_t last_ms(const struct json *root)
{
	double last = 0;

	for (const struct json *one = first_of_list(root, "patterns"); one; one = json_next(one)) {
		double s = json_text_number(json_text_get(one, "last", JSON_OBJECT), "time");

		last = s > last ? s : last;
	}
	return (int64_t)(last * 1000);
}

/* A pattern's requests by the hour of the day, where a day or more was seen. */
static void take_hours(struct observed_pattern *pattern, const struct json *one, int64_t from_ms,
		       int64_t bucket_ms)
{
	double all = 0;

	for (const struct json *units = first_of_list(one, "over_time"); units;
	     units = json_next(units))
		all += json_type(units) == JSON_NUMBER ? json_number(units) : 0;
	for (const struct json *units = first_of_list(one, "over_time"); units && all > 0;
	     units = json_next(units), from_ms += bucket_ms) {
		double share = json_type(units) == JSON_NUMBER ? json_number(units) / all : 0;

		observed_spread(pattern->hours, from_ms, from_ms + bucket_ms,
				pattern->requests * share);
	}
}

/* Of a side; a partition's write units have those of indexes in them. */
static void take_partitions(struct observed *observed, const struct json *table, bool is_write)
{
	struct arena *arena = observed->arena;
	const struct json *list = json_text_get(table, "partitions", JSON_ARRAY);
	struct observed_part *part =
		observed_part_for(observed, is_write ? STR("write") : STR("read"),
				  json_text_string(arena, table, "table"), STR(""));
	double writes = all_writes(table);

	part->units = is_write ? writes : json_text_number(table, "partition_units") - writes;
	part->keys = ARENA_ARRAY(arena, struct observed_key, list ? json_count(list) : 0);
	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one))
		part->keys[part->n++] = (struct observed_key){
			json_text_string(arena, one, "partition"),
			json_text_number(one, is_write ? "write_units" : "read_units")};
}

static void write_seen_tables(struct observed *observed, const struct json *root,
			      struct json_out *out)
{
	struct arena *arena = observed->arena;

	for (const struct json *table = first_of_list(root, "tables"); table;
	     table = json_next(table)) {
		struct str name = json_text_string(arena, table, "table");

		if (plan_table_at(observed->plan, name) < observed->plan->table_count)
			continue;
		plan_note(arena, observed->plan,
			  str_printf(arena,
				     "table " STR_FMT " is taken as on demand and empty: "
				     "--tables FILE says otherwise",
				     STR_ARG(name)));
		json_out_open(out, '{');
		json_out_field_string(out, "name", name);
		json_out_field_string(out, "billing", STR("PAY_PER_REQUEST"));
		json_out_name(out, STR("indexes"));
		json_out_open(out, '[');
		for (const struct json *one = first_of_list(table, "indexes"); one;
		     one = json_next(one)) {
			json_out_open(out, '{');
			json_out_field_string(out, "name", json_text_string(arena, one, "name"));
			json_out_close(out, '}');
		}
		json_out_close(out, ']');
		json_out_close(out, '}');
	}
}

enum code seen_plan(struct arena *arena, const char *path, const struct json *root,
		    struct observed *observed, struct str *plan, struct err *err)
{
	const struct json *time = json_text_get(root, "time", JSON_OBJECT);
	int64_t age_ms = (int64_t)json_text_number(time, "age_ms"),
		from_ms = last_ms(root) - age_ms;
	struct json_out tables = json_out_in(arena);

	observed_cover(observed, from_ms, from_ms + age_ms);
	for (const struct json *one = first_of_list(root, "patterns"); one; one = json_next(one)) {
		size_t before = observed->pattern_count;

		take_pattern(observed, root, one);
		for (size_t i = before; i < observed->pattern_count; i++)
			take_hours(&observed->patterns[i], one, from_ms,
				   (int64_t)json_text_number(time, "bucket_ms"));
	}
	if (observed->pattern_count == 0)
		return err_set(err, MSG_FORECAST_NOTHING, path);
	for (const struct json *one = first_of_list(root, "tables"); one; one = json_next(one)) {
		take_partitions(observed, one, false);
		take_partitions(observed, one, true);
	}
	write_seen_tables(observed, root, &tables);
	*plan = observed_plan(observed, json_out_str(&tables));
	return OK;
}
