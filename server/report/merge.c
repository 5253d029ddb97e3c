#include "server/report/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/insight/recollect.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "server/report/declared.h"

#define BUCKETS_MAX 64

/* A description. */
struct source {
	double age, width, buckets; /* of its time, in milliseconds */
};

/* An object of one of them. */
struct entry {
	const struct json *object;
	const struct source *source;
	struct str key;             /* the same of objects that are about the same */
};

/* Those that are about the same. */
struct group {
	size_t n;
	const struct entry *v;
};

struct merge {
	struct view view;           /* without a root: for the arena */
	struct source time;         /* of the whole */
	struct json_out out;
};

static void number(struct merge *merge, const char *name, double value)
{
	if (name)
		json_out_name(&merge->out, str_of(name));
	if (value >= -9e15 && value <= 9e15 && value == floor(value))
		json_out_integer(&merge->out, (int64_t)value);
	else
		json_out_double(&merge->out, value);
}

static double in_thousandths(double number)
{
	return floor(number * 1000 + 0.5) / 1000;
}

static double sum_of(const struct group *group, const char *name)
{
	double sum = 0;

	for (size_t i = 0; i < group->n; i++)
		sum += view_number(group->v[i].object, name);
	return in_thousandths(sum);
}

/* Each sum of which one of them has a part. */
static void sums(struct merge *merge, const struct group *group, const char *const *names)
{
	for (; *names; names++) {
		bool is_there = false;

		for (size_t i = 0; i < group->n; i++)
			is_there = is_there || json_member(group->v[i].object, *names);
		if (is_there)
			number(merge, *names, sum_of(group, *names));
	}
}

static void greatest(struct merge *merge, const struct group *group, const char *name)
{
	double most = 0;

	for (size_t i = 0; i < group->n; i++)
		most = view_greater(most, view_number(group->v[i].object, name));
	number(merge, name, most);
}

/* The greatest of each that one of them has. */
static void greatest_of(struct merge *merge, const struct group *group, const char *const *names)
{
	for (; *names; names++) {
		bool is_there = false;

		for (size_t i = 0; i < group->n; i++)
			is_there = is_there || json_member(group->v[i].object, *names);
		if (is_there)
			greatest(merge, group, *names);
	}
}

/* The first text that there is. */
static void texts(struct merge *merge, const struct group *group, const char *const *names,
		  size_t n)
{
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < group->n; i++) {
			struct str text = view_text(&merge->view, group->v[i].object, names[k]);

			if (text.n == 0)
				continue;
			json_out_name(&merge->out, str_of(names[k]));
			json_out_string(&merge->out, text);
			break;
		}
	}
}

static int compare_parts(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = str_cmp(x->key, y->key);

	return order ? order : x->source < y->source ? -1 : x->source > y->source;
}

static struct str key_of(const struct merge *merge, const struct json *object,
			 const char *const *names, size_t n)
{
	struct buf key = buf_in(merge->view.arena);

	for (size_t i = 0; i < n; i++) {
		buf_add_str(&key, view_text(&merge->view, object, names[i]));
		buf_add_byte(&key, '\0');
	}
	return buf_str(&key);
}

/* The entries of their lists of that name, in groups by their members `names`. Returns how many
 * groups. */
static size_t gather(struct merge *merge, const struct group *from, const char *list,
		     const char *const *names, size_t name_count, struct group **out)
{
	size_t n = 0, count = 0;

	for (size_t i = 0; i < from->n; i++) {
		const struct json *entries = json_member(from->v[i].object, list);

		n += entries ? json_count(entries) : 0;
	}
	struct entry *parts = ARENA_ARRAY(merge->view.arena, struct entry, n + 1);
	struct group *groups = ARENA_ARRAY(merge->view.arena, struct group, n + 1);
	n = 0;
	for (size_t i = 0; i < from->n; i++) {
		const struct json *entries = json_member(from->v[i].object, list);

		for (const struct json *e = entries ? json_first(entries) : NULL; e;
		     e = json_next(e))
			parts[n++] = (struct entry){e, from->v[i].source,
						    key_of(merge, e, names, name_count)};
	}
	qsort(parts, n, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !str_eq(parts[i].key, parts[i - 1].key))
			groups[count++] = (struct group){0, &parts[i]};
		groups[count - 1].n++;
	}
	*out = groups;
	return count;
}

static double units_of(const struct group *group)
{
	return sum_of(group, "read_units") + sum_of(group, "write_units");
}

/* The dearest first, else by their keys. */
static int compare_groups(const void *a, const void *b)
{
	double x = units_of(a), y = units_of(b);

	return x != y ? (x > y ? -1 : 1)
		      : str_cmp(((const struct group *)a)->v[0].key,
				((const struct group *)b)->v[0].key);
}

static void over_time(struct merge *merge, const struct group *group)
{
	double buckets[BUCKETS_MAX] = {0};
	unsigned n = 0;

	for (size_t i = 0; i < group->n; i++) {
		const struct json *list = json_member(group->v[i].object, "over_time");
		double at = merge->time.age - group->v[i].source->age;

		for (const struct json *e = list ? json_first(list) : NULL; e;
		     e = json_next(e), at += group->v[i].source->width) {
			unsigned bucket =
				(unsigned)view_lesser(at / merge->time.width, BUCKETS_MAX - 1);

			buckets[bucket] += json_type(e) == JSON_NUMBER ? json_number(e) : 0;
			n = bucket + 1 > n ? bucket + 1 : n;
		}
	}
	if (n == 0)
		return;
	json_out_name(&merge->out, STR("over_time"));
	json_out_open(&merge->out, '[');
	for (unsigned i = 0; i < n; i++)
		number(merge, NULL, in_thousandths(buckets[i]));
	json_out_close(&merge->out, ']');
}

/* How often a value was counted. */
struct count {
	double value, n;
};

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/* As sketch_quantile(). */
static double quantile(const struct count *counts, size_t n, double share, double least,
		       double most)
{
	double all = 0, seen = 0;

	for (size_t i = 0; i < n; i++)
		all += counts[i].n;
	for (size_t i = 0; i < n; i++) {
		seen += counts[i].n;
		if (seen >= share * all)
			return view_greater(least, view_lesser(most, counts[i].value));
	}
	return most;
}

/* Takes the counts of one of them in. Returns how many values there are. */
static size_t read_counts(struct merge *merge, const struct json *sketch, struct count **counts,
			  size_t n)
{
	const struct json *list = json_member(sketch, "counts");

	for (const struct json *pair = list ? json_first(list) : NULL; pair;
	     pair = json_next(pair)) {
		const struct json *value = json_type(pair) == JSON_ARRAY ? json_first(pair) : NULL,
				  *times = value ? json_next(value) : NULL;

		if (!times || json_type(value) != JSON_NUMBER || json_type(times) != JSON_NUMBER)
			continue;
		*counts = arena_room(merge->view.arena, *counts, n, sizeof(**counts));
		(*counts)[n++] = (struct count){json_number(value), json_number(times)};
	}
	return n;
}

static void sketch(struct merge *merge, const struct group *group, const char *name)
{
	struct count *counts = NULL;
	double least = INFINITY, most = 0;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < group->n; i++) {
		const struct json *one = json_member(group->v[i].object, name);

		if (!one)
			continue;
		least = view_lesser(least, view_number(one, "min"));
		most = view_greater(most, view_number(one, "max"));
		n = read_counts(merge, one, &counts, n);
	}
	if (n == 0)
		return;
	qsort(counts, n, sizeof(*counts), compare_counts);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && counts[kept - 1].value == counts[i].value)
			counts[kept - 1].n += counts[i].n;
		else
			counts[kept++] = counts[i];
	}
	json_out_name(&merge->out, str_of(name));
	json_out_open(&merge->out, '{');
	number(merge, "min", least);
	number(merge, "median", quantile(counts, kept, 0.5, least, most));
	number(merge, "p99", quantile(counts, kept, 0.99, least, most));
	number(merge, "max", most);
	json_out_name(&merge->out, STR("counts"));
	json_out_open(&merge->out, '[');
	for (size_t i = 0; i < kept; i++) {
		json_out_open(&merge->out, '[');
		number(merge, NULL, counts[i].value);
		number(merge, NULL, counts[i].n);
		json_out_close(&merge->out, ']');
	}
	json_out_close(&merge->out, ']');
	json_out_close(&merge->out, '}');
}

static void errors(struct merge *merge, const struct group *group)
{
	json_out_name(&merge->out, STR("errors"));
	json_out_open(&merge->out, '{');
	for (size_t i = 0; i < group->n; i++) {
		const struct json *own = json_member(group->v[i].object, "errors");

		for (const struct json *e = own ? json_first(own) : NULL; e; e = json_next(e)) {
			struct str name = json_name(merge->view.arena, e);
			const char *text = str_printf(merge->view.arena, STR_FMT, STR_ARG(name)).p;
			double sum = 0;
			bool is_seen = false;

			for (size_t k = 0; k < group->n; k++) {
				const struct json *others =
					json_member(group->v[k].object, "errors");

				is_seen = is_seen || (k < i && others && json_member(others, text));
				sum += others ? view_number(others, text) : 0;
			}
			if (!is_seen)
				number(merge, text, sum);
		}
	}
	json_out_close(&merge->out, '}');
}

/* The first or last call of all. */
static void seen_at(struct merge *merge, const struct group *group, const char *name, bool is_last)
{
	const struct json *found = NULL;

	for (size_t i = 0; i < group->n; i++) {
		const struct json *own = json_member(group->v[i].object, name);

		if (own &&
		    (!found || (view_number(own, "time") > view_number(found, "time")) == is_last))
			found = own;
	}
	if (!found)
		return;
	json_out_name(&merge->out, str_of(name));
	json_out_open(&merge->out, '{');
	json_out_field_string(&merge->out, "caller", view_text(&merge->view, found, "caller"));
	number(merge, "time", view_number(found, "time"));
	json_out_close(&merge->out, '}');
}

static void pattern(struct merge *merge, const struct group *group)
{
	static const char *const names[] = {
		"calls",          "accesses",       "continued",  "unfinished",  "items_read",
		"items_returned", "bytes_read",     "read_units", "write_units", "folded_patterns",
		"in_bursts",      "item_bytes_sum", NULL};
	static const char *const most[] = {"columns", "changes", "burst", NULL};
	static const char *const id[] = {"id", "traits"}, *const example[] = {"example"};

	json_out_open(&merge->out, '{');
	texts(merge, group, id, 2);
	texts(merge, group, declared_members, declared_member_count);
	sums(merge, group, names);
	greatest_of(merge, group, most);
	over_time(merge, group);
	sketch(merge, group, "units");
	sketch(merge, group, "latency_ms");
	sketch(merge, group, "item_bytes");
	errors(merge, group);
	seen_at(merge, group, "first", false);
	seen_at(merge, group, "last", true);
	texts(merge, group, example, 1);
	json_out_close(&merge->out, '}');
}

/* Texts of a list that any of them has. */
static void names_read(struct merge *merge, const struct group *group)
{
	struct entry *v = NULL;
	size_t n = 0;

	for (size_t i = 0; i < group->n; i++) {
		const struct json *list = json_member(group->v[i].object, "attributes_read");

		for (const struct json *e = list ? json_first(list) : NULL; e; e = json_next(e)) {
			v = arena_room(merge->view.arena, v, n, sizeof(*v));
			v[n++] = (struct entry){e, group->v[i].source,
						json_string(merge->view.arena, e)};
		}
	}
	if (n > 0)
		qsort(v, n, sizeof(*v), compare_parts);
	json_out_name(&merge->out, STR("attributes_read"));
	json_out_open(&merge->out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !str_eq(v[i].key, v[i - 1].key))
			json_out_string(&merge->out, v[i].key);
	}
	json_out_close(&merge->out, ']');
}

static void table(struct merge *merge, const struct group *group)
{
	static const char *const name[] = {"table", "account", "region", "ttl_attribute"},
				 *const own[] = {"name", "projection"};
	static const char *const place[] = {"partition", "index"};
	static const char *const written[] = {"write_units", "partition_units", "ttl_wrong",
					      "ttl_milliseconds", NULL};
	static const char *const keys[] = {"sort_keys", NULL};
	static const char *const more[] = {"more_attributes_read", NULL};
	static const char *const reads[] = {"reads", "whole_reads", "write_units", NULL};
	static const char *const flow[] = {"requests",    "requests_at_least", "read_units",
					   "write_units", "items_added",       NULL};
	struct group *groups;

	json_out_open(&merge->out, '{');
	texts(merge, group, name, 4);
	sums(merge, group, written);
	greatest_of(merge, group, keys);
	over_time(merge, group);
	json_out_name(&merge->out, STR("indexes"));
	json_out_open(&merge->out, '[');
	size_t n = gather(merge, group, "indexes", own, 1, &groups);
	for (size_t i = 0; i < n; i++) {
		json_out_open(&merge->out, '{');
		texts(merge, &groups[i], own, 2);
		sums(merge, &groups[i], reads);
		names_read(merge, &groups[i]);
		greatest_of(merge, &groups[i], more);
		json_out_close(&merge->out, '}');
	}
	json_out_close(&merge->out, ']');
	json_out_name(&merge->out, STR("partitions"));
	json_out_open(&merge->out, '[');
	n = gather(merge, group, "partitions", place, 2, &groups);
	for (size_t i = 0; i < n; i++) {
		json_out_open(&merge->out, '{');
		texts(merge, &groups[i], place, 2);
		sums(merge, &groups[i], flow);
		greatest(merge, &groups[i], "peak_read_units");
		greatest(merge, &groups[i], "peak_write_units");
		over_time(merge, &groups[i]);
		json_out_close(&merge->out, '}');
	}
	json_out_close(&merge->out, ']');
	json_out_close(&merge->out, '}');
}

/* Items of a kind, which one server may have seen written blindly and another with a condition. */
static void entity(struct merge *merge, const struct group *group)
{
	static const char *const names[] = {"entity", "blind", "guarded"};

	json_out_open(&merge->out, '{');
	texts(merge, group, names, 3);
	json_out_close(&merge->out, '}');
}

/* Groups of a list of the whole, each written by `write`. */
static void list(struct merge *merge, const struct group *roots, const char *name,
		 const char *const *names, size_t count,
		 void (*write)(struct merge *merge, const struct group *group))
{
	struct group *groups;
	size_t n = gather(merge, roots, name, names, count, &groups);

	if (write == pattern && n > 0)
		qsort(groups, n, sizeof(*groups), compare_groups);
	json_out_name(&merge->out, str_of(name));
	json_out_open(&merge->out, '[');
	for (size_t i = 0; i < n; i++)
		write(merge, &groups[i]);
	json_out_close(&merge->out, ']');
}

/* Buckets as wide as the widest, or wider, so that all times have room. */
static void measure(struct merge *merge, const struct source *sources, size_t n)
{
	struct source *time = &merge->time;
	double end = 0; /* after the first began */

	for (size_t i = 0; i < n; i++) {
		time->age = view_greater(time->age, sources[i].age);
		time->width = view_greater(time->width, sources[i].width);
	}
	for (size_t i = 0; i < n; i++)
		end = view_greater(end, time->age - sources[i].age +
						sources[i].width * sources[i].buckets);
	while (time->width > 0 && end / time->width > BUCKETS_MAX)
		time->width *= 2;
	time->buckets = time->width > 0 ? ceil(end / time->width) : 0;
}

static void write_time(struct merge *merge)
{
	json_out_name(&merge->out, STR("time"));
	json_out_open(&merge->out, '{');
	number(merge, "age_ms", merge->time.age);
	number(merge, "bucket_ms", merge->time.width);
	number(merge, "buckets", merge->time.buckets);
	json_out_close(&merge->out, '}');
}

static struct source source_of(const struct json *root)
{
	const struct json *time = json_member(root, "time");

	if (!time || json_type(time) != JSON_OBJECT)
		return (struct source){0, 0, 0};
	return (struct source){view_number(time, "age_ms"), view_number(time, "bucket_ms"),
			       view_number(time, "buckets")};
}

static struct str merge_roots(struct merge *merge, const struct group *roots)
{
	static const char *const whole[] = {"requests", "read_units", "write_units", NULL};
	static const char *const table_names[] = {"account", "region", "table"},
				 *const entity_names[] = {"entity"};
	double servers = 0;

	for (size_t i = 0; i < roots->n; i++)
		servers += view_greater(1, view_number(roots->v[i].object, "servers"));
	json_out_open(&merge->out, '{');
	number(merge, "servers", servers);
	sums(merge, roots, whole);
	write_time(merge);
	list(merge, roots, "patterns", declared_members, declared_member_count, pattern);
	list(merge, roots, "tables", table_names, 3, table);
	list(merge, roots, "entities", entity_names, 1, entity);
	json_out_close(&merge->out, '}');
	return json_out_str(&merge->out);
}

/* The same with what is to be said of the whole. */
static enum code judge(struct arena *arena, struct str merged, struct str *judged, struct err *err)
{
	struct json_out out = json_out_in(arena);
	const struct json *root;
	enum code code = json_parse(arena, merged, &root, err);

	if (code != OK)
		return code;
	recollect_findings(arena, root, &out);
	*judged = str_printf(arena, STR_FMT ",\"findings\":" STR_FMT "}", (int)merged.n - 1,
			     merged.p, STR_ARG(json_out_str(&out)));
	return OK;
}

enum code merge_descriptions(struct arena *arena, const struct str *descriptions, size_t n,
			     struct str *merged, struct err *err)
{
	struct merge merge = {.view = {.arena = arena}, .out = json_out_in(arena)};
	struct entry *parts = ARENA_ARRAY(arena, struct entry, n);
	struct source *sources = ARENA_ARRAY(arena, struct source, n);
	struct err own = err_in(arena);

	*merged = descriptions[0];
	if (n == 1)
		return OK;
	for (size_t i = 0; i < n; i++) {
		const struct json *root;

		if (json_parse(arena, descriptions[i], &root, &own) != OK ||
		    json_type(root) != JSON_OBJECT || !json_member(root, "patterns"))
			return err_set(err, MSG_REPORT_NONE);
		sources[i] = source_of(root);
		parts[i] = (struct entry){root, &sources[i], STR("")};
	}
	measure(&merge, sources, n);
	return judge(arena, merge_roots(&merge, &(struct group){n, parts}), merged, err);
}
