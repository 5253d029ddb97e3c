#include "protocol/insight/recollect.h"

#include "protocol/insight/finding.h"

static const struct {
	unsigned trait;
	const char *word;
} words[] = {
	{PATTERN_SCAN, "scan"},     {PATTERN_QUERY, "query"},
	{PATTERN_GET, "get"},       {PATTERN_WRITE, "write"},
	{PATTERN_FILTER, "filter"}, {PATTERN_CONSISTENT, "consistent"},
	{PATTERN_ONE, "one"},       {PATTERN_UPDATE, "update"},
	{PATTERN_SINGLE, "single"}, {PATTERN_EQUALITY, "equality"},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

struct str recollect_words(struct arena *arena, unsigned traits)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < WORDS; i++) {
		if (traits & words[i].trait)
			buf_printf(&buf, "%s%s", buf_str(&buf).n > 0 ? " " : "", words[i].word);
	}
	return buf_str(&buf);
}

static unsigned read_words(struct str text)
{
	unsigned traits = 0;

	while (text.n > 0) {
		struct str word = str_cut(&text, ' ');

		for (size_t i = 0; i < WORDS; i++)
			traits |= str_eq(word, str_of(words[i].word)) ? words[i].trait : 0;
	}
	return traits;
}

static const struct json *typed(const struct json *object, const char *name, enum json_type type)
{
	const struct json *value =
		object && json_type(object) == JSON_OBJECT ? json_member(object, name) : NULL;

	return value && json_type(value) == type ? value : NULL;
}

static double number(const struct json *object, const char *name)
{
	const struct json *value = typed(object, name, JSON_NUMBER);

	return value ? json_number(value) : 0;
}

static uint64_t count(const struct json *object, const char *name)
{
	double value = number(object, name);

	return value > 0 && value < 9e18 ? (uint64_t)value : 0;
}

static struct str text(struct arena *arena, const struct json *object, const char *name)
{
	const struct json *value = typed(object, name, JSON_STRING);

	return value ? json_string(arena, value) : STR("");
}

static const struct json *first_of(const struct json *object, const char *name)
{
	const struct json *list = typed(object, name, JSON_ARRAY);

	return list ? json_first(list) : NULL;
}

static size_t length_of(const struct json *object, const char *name)
{
	const struct json *list = typed(object, name, JSON_ARRAY);

	return list ? json_count(list) : 0;
}

static uint64_t read_id(struct str id)
{
	uint64_t value = 0;

	for (size_t i = 0; i < id.n; i++) {
		char c = id.p[i];

		value = value << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
	}
	return value;
}

static void read_sizes(const struct json *json, struct sketch *sizes)
{
	const struct json *sketch = typed(json, "item_bytes", JSON_OBJECT);

	sizes->sum = count(json, "item_bytes_sum");
	sizes->greatest = count(sketch, "max");
	for (const struct json *pair = first_of(sketch, "counts"); pair; pair = json_next(pair)) {
		const struct json *value = json_type(pair) == JSON_ARRAY ? json_first(pair) : NULL,
				  *times = value ? json_next(value) : NULL;

		if (times && json_type(times) == JSON_NUMBER && json_number(times) > 0)
			sizes->n += (uint64_t)json_number(times);
	}
}

static void read_pattern(struct arena *arena, const struct json *json, struct pattern *pattern)
{
	pattern->hash = read_id(text(arena, json, "id")) << 32;
	pattern->operation = str_copy(arena, text(arena, json, "operation")).p;
	pattern->example =
		(char *)(uintptr_t)(typed(json, "example", JSON_STRING)
					    ? str_copy(arena, text(arena, json, "example")).p
					    : NULL);
	pattern->traits = read_words(text(arena, json, "traits"));
	pattern->columns = (unsigned)count(json, "columns");
	pattern->changes = (unsigned)count(json, "changes");
	for (size_t i = 0; i < OUTLINE_PARTS; i++)
		pattern->parts[i] = text(arena, json, insight_part_names[i]);
	pattern->flow = (struct pattern_flow){
		.calls = count(json, "calls"),
		.members = count(json, "accesses"),
		.continued = count(json, "continued"),
		.more = count(json, "unfinished"),
		.scanned = count(json, "items_read"),
		.returned = count(json, "items_returned"),
		.bytes = count(json, "bytes_read"),
		.burst = count(json, "burst"),
		.in_bursts = count(json, "in_bursts"),
		.read = number(json, "read_units"),
		.write = number(json, "write_units"),
	};
	read_sizes(json, &pattern->sizes);
}

static const struct pattern *pattern_of(const struct insight *insight, struct str id)
{
	const struct pattern *pattern = id.n > 0 ? insight->newest : NULL;
	uint64_t hash = read_id(id) << 32;

	while (pattern && pattern->hash != hash)
		pattern = pattern->next;
	return pattern;
}

static void read_index(struct arena *arena, const struct json *json, struct index *index,
		       struct seen_index *seen)
{
	index->name = text(arena, json, "name");
	index->projection =
		str_eq(text(arena, json, "projection"), STR("ALL")) ? PROJECT_ALL : PROJECT_INCLUDE;
	seen->reads = count(json, "reads");
	seen->whole_reads = count(json, "whole_reads");
	seen->written = number(json, "write_units");
	seen->is_used_more = number(json, "more_attributes_read") > 0 ||
			     length_of(json, "attributes_read") > USED_MAX;
	for (const struct json *one = first_of(json, "attributes_read"); one && !seen->is_used_more;
	     one = json_next(one)) {
		if (json_type(one) == JSON_STRING)
			seen->used[seen->used_count++] = json_string(arena, one);
	}
}

static double units_of(const struct partition *partition)
{
	return partition->read + partition->write;
}

static void read_series(const struct json *json, struct series *series)
{
	unsigned n = 0;

	for (const struct json *one = first_of(json, "over_time"); one && n < SERIES_BUCKETS;
	     one = json_next(one))
		series->units[n++] = json_type(one) == JSON_NUMBER ? (float)json_number(one) : 0;
}

static void read_timeline(const struct json *json, struct timeline *timeline)
{
	const struct json *time = json_member(json, "time");
	double width = 0, n = 0;

	if (time && json_type(time) == JSON_OBJECT) {
		width = number(time, "bucket_ms");
		n = number(time, "buckets");
	}
	if (width >= 1 && n >= 1)
		*timeline = (struct timeline){.width_ms = (int64_t)width,
					      .at = n < SERIES_BUCKETS ? (unsigned)n - 1
								       : SERIES_BUCKETS - 1};
}

/* All, or those that got the most. */
static void read_partitions(struct arena *arena, const struct json *json, const struct table *table,
			    struct partitions *partitions)
{
	double all = 0;

	for (const struct json *one = first_of(json, "partitions"); one; one = json_next(one)) {
		struct partition partition = {
			.requests = count(one, "requests"),
			.read = number(one, "read_units"),
			.write = number(one, "write_units"),
			.peak_read = number(one, "peak_read_units"),
			.peak_write = number(one, "peak_write_units"),
			.items = (int64_t)number(one, "items_added"),
		};
		struct str label = text(arena, one, "partition"), index = text(arena, one, "index");
		size_t least = 0;

		read_series(one, &partition.series);
		partition.is_whole = partition.is_shown = true; /* the label as it is */
		for (size_t i = 0; index.n > 0 && i < table->indexes.n; i++)
			partition.index = str_eq(table->indexes.v[i].name, index)
						  ? &table->indexes.v[i]
						  : partition.index;
		memcpy(partition.prefix, label.p,
		       label.n < PARTITION_LABEL ? label.n : PARTITION_LABEL - 1);
		for (size_t i = 1; i < partitions->n; i++)
			least = units_of(&partitions->v[i]) < units_of(&partitions->v[least])
					? i
					: least;
		if (partitions->n < PARTITIONS_MAX)
			partitions->v[partitions->n++] = partition;
		else if (units_of(&partition) > units_of(&partitions->v[least]))
			partitions->v[least] = partition;
		all += units_of(&partition);
		partitions->requests += partition.requests;
	}
	read_series(json, &partitions->series);
	partitions->units = number(json, "partition_units");
	partitions->units = all > partitions->units ? all : partitions->units;
}

static void read_table(struct arena *arena, const struct json *json, struct seen_table *seen)
{
	struct table *table = ARENA_NEW(arena, struct table);
	size_t n = length_of(json, "indexes");

	table->identity.name = text(arena, json, "table");
	table->ttl.attribute = text(arena, json, "ttl_attribute");
	table->keys.hash_count = 1;
	table->keys.range_count = number(json, "sort_keys") > 0;
	table->indexes.v = ARENA_ARRAY(arena, struct index, n + 1);
	seen->indexes = ARENA_ARRAY(arena, struct seen_index, n + 1);
	for (const struct json *one = first_of(json, "indexes"); one;
	     one = json_next(one), table->indexes.n++)
		read_index(arena, one, &table->indexes.v[table->indexes.n],
			   &seen->indexes[table->indexes.n]);
	seen->table = table;
	seen->base = number(json, "write_units");
	seen->ttl_wrong = count(json, "ttl_wrong");
	seen->ttl_milliseconds = count(json, "ttl_milliseconds");
	read_partitions(arena, json, table, &seen->partitions);
}

void recollect_findings(struct arena *arena, const struct json *description, struct json_out *out)
{
	struct insight *insight = ARENA_NEW(arena, struct insight);
	struct pattern **last = &insight->newest;

	read_timeline(description, &insight->timeline);
	insight->tables =
		ARENA_ARRAY(arena, struct seen_table *, length_of(description, "tables") + 1);
	insight->entities =
		ARENA_ARRAY(arena, struct entity, length_of(description, "entities") + 1);
	for (const struct json *one = first_of(description, "patterns"); one;
	     one = json_next(one)) {
		*last = ARENA_NEW(arena, struct pattern);
		read_pattern(arena, one, *last);
		last = &(*last)->next;
	}
	for (const struct json *one = first_of(description, "tables"); one; one = json_next(one)) {
		insight->tables[insight->table_count] = ARENA_NEW(arena, struct seen_table);
		read_table(arena, one, insight->tables[insight->table_count++]);
	}
	for (const struct json *one = first_of(description, "entities"); one; one = json_next(one))
		insight->entities[insight->entity_count++] = (struct entity){
			.blind = pattern_of(insight, text(arena, one, "blind")),
			.guarded = pattern_of(insight, text(arena, one, "guarded")),
		};
	finding_all(insight, arena, out);
}
