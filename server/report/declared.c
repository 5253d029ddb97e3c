#include "server/report/declared.h"

#include <string.h>

#include "protocol/insight/mask.h"
#include "server/messages.h"
#include "server/seed/json_text.h"
#include "server/seed/yaml.h"

#define MASKED "\xE2\x80\xA6"

const char *const declared_members[] = {"operation", "kind",       "table",  "index",     "key",
					"filter",    "projection", "update", "condition", "how"};
const size_t declared_member_count = sizeof(declared_members) / sizeof(declared_members[0]);

/* The keys of an item as an outline shows them. */
struct shape {
	struct str table, index;       /* index: or empty */
	struct str facet;              /* its name */
	struct str partition, sort;    /* names of attributes; sort: or empty */
	struct str start;              /* of an outline that has it: "PK = " */
	struct str of_partition, of_sort; /* "CUSTOMER#" in front of what is masked; "?" */
};

struct declared {
	const struct json *list; /* of entries; NULL: a model */
	bool is_partial;         /* entries have the members that matter */
	size_t n;                /* of a model */
	struct shape *shapes;
};

/* "..." as outlines have it. */
static struct str spelled(const struct view *view, struct str text)
{
	struct buf buf = buf_in(view->arena);

	for (size_t i = 0; i < text.n; i++) {
		if (text.n - i >= 3 && memcmp(text.p + i, "...", 3) == 0) {
			buf_add_lit(&buf, MASKED);
			i += 2;
		} else {
			buf_add_byte(&buf, (unsigned char)text.p[i]);
		}
	}
	return buf_str(&buf);
}

/* A prefix that this run had too few values to show is "?" in what was seen. */
static bool agrees(struct str wanted, struct str seen)
{
	while (wanted.n > 0 && seen.n > 0) {
		const char *end = wanted.n > 1 ? memchr(wanted.p + 1, '"', wanted.n - 1) : NULL;
		size_t skipped = 1;

		if (seen.p[0] == '?' && wanted.p[0] == '"' && end)
			skipped = (size_t)(end - wanted.p) + 1;
		else if (seen.p[0] != wanted.p[0])
			return false;
		wanted = (struct str){wanted.p + skipped, wanted.n - skipped};
		seen = (struct str){seen.p + 1, seen.n - 1};
	}
	return wanted.n == 0 && seen.n == 0;
}

static bool is_same(const struct view *view, const struct json *entry, const struct json *pattern,
		    bool is_partial)
{
	for (size_t i = 0; i < declared_member_count; i++) {
		struct str wanted = view_text(view, entry, declared_members[i]),
			   seen = view_text(view, pattern, declared_members[i]);

		if (is_partial ? wanted.n > 0 && !agrees(spelled(view, wanted), seen)
			       : !agrees(wanted, seen))
			return false;
	}
	return true;
}

static bool is_member(struct str name)
{
	for (size_t i = 0; i < declared_member_count; i++) {
		if (str_eq(name, str_of(declared_members[i])))
			return true;
	}
	return str_eq(name, STR("name")) || str_eq(name, STR("description"));
}

/* A slip in a name would declare everything. */
static enum code check_entries(const struct view *view, const struct json *list, struct err *err)
{
	size_t number = 0;

	for (const struct json *entry = json_first(list); entry; entry = json_next(entry)) {
		number++;
		if (json_type(entry) != JSON_OBJECT || view_text(view, entry, "operation").n == 0 ||
		    view_text(view, entry, "table").n == 0)
			return err_set(err, MSG_REPORT_ENTRY, number);
		for (const struct json *member = json_first(entry); member;
		     member = json_next(member)) {
			struct str name = json_name(view->arena, member);

			if (!is_member(name) || json_type(member) != JSON_STRING)
				return err_set(err, MSG_REPORT_MEMBER, number, STR_ARG(name));
		}
	}
	return OK;
}

/* What an outline shows of an attribute's value; absent where the row lacks it. */
static struct str shown(const struct view *view, const struct json *row, struct str attribute)
{
	const struct json *value =
		attribute.n ? json_text_get(row, str_copy(view->arena, attribute).p, JSON_OBJECT)
			    : NULL;
	struct str text = json_text_string(view->arena, value, "S");

	if (!value)
		return STR_ABSENT;
	struct mask mask = str_is_set(text) ? mask_text(text) : (struct mask){STR(""), false};
	return mask.prefix.n > 0 ? mask.prefix : STR("?");
}

static struct str key_name(const struct view *view, const struct json *of, const char *role)
{
	struct str name = json_text_string(
		view->arena,
		json_text_get(json_text_get(of, "KeyAttributes", JSON_OBJECT), role, JSON_OBJECT),
		"AttributeName");

	return str_is_set(name) ? name : STR("");
}

static void add_shape(const struct view *view, struct declared *declared, struct shape shape,
		      const struct json *keys, const struct json *row)
{
	shape.partition = key_name(view, keys, "PartitionKey");
	shape.sort = key_name(view, keys, "SortKey");
	shape.start = str_printf(view->arena, STR_FMT " = ", STR_ARG(shape.partition));
	shape.of_partition = shown(view, row, shape.partition);
	shape.of_sort = shape.sort.n ? shown(view, row, shape.sort) : STR("");
	if (!str_is_set(shape.of_partition) || !str_is_set(shape.of_sort))
		return;
	for (size_t i = 0; i < declared->n; i++) {
		const struct shape *other = &declared->shapes[i];

		if (str_eq(other->table, shape.table) && str_eq(other->index, shape.index) &&
		    str_eq(other->of_partition, shape.of_partition) &&
		    str_eq(other->of_sort, shape.of_sort))
			return;
	}
	declared->shapes =
		arena_room(view->arena, declared->shapes, declared->n, sizeof(*declared->shapes));
	declared->shapes[declared->n++] = shape;
}

static void add_rows(const struct view *view, struct declared *declared, const struct json *table,
		     struct str facet, const struct json *rows)
{
	const struct json *indexes = json_text_get(table, "GlobalSecondaryIndexes", JSON_ARRAY);
	struct shape shape = {.table = json_text_string(view->arena, table, "TableName"),
			      .index = STR(""),
			      .facet = facet};

	for (const struct json *row = rows ? json_first(rows) : NULL; row; row = json_next(row)) {
		shape.index = STR("");
		add_shape(view, declared, shape, table, row);
		for (const struct json *index = indexes ? json_first(indexes) : NULL; index;
		     index = json_next(index)) {
			shape.index = json_text_string(view->arena, index, "IndexName");
			if (str_is_set(shape.index))
				add_shape(view, declared, shape, index, row);
		}
	}
}

static enum code read_model(const struct view *view, struct declared *declared,
			    const struct json *tables, struct err *err)
{
	for (const struct json *table = json_first(tables); table; table = json_next(table)) {
		const struct json *facets = json_text_get(table, "TableFacets", JSON_ARRAY);

		if (!json_text_get(table, "TableName", JSON_STRING))
			return err_set(err, MSG_REPORT_MODEL);
		for (const struct json *facet = facets ? json_first(facets) : NULL; facet;
		     facet = json_next(facet)) {
			struct str name = json_text_string(view->arena, facet, "FacetName");

			add_rows(view, declared, table, str_is_set(name) ? name : STR("?"),
				 json_text_get(facet, "TableData", JSON_ARRAY));
		}
		add_rows(view, declared, table, STR("TableData"),
			 json_text_get(table, "TableData", JSON_ARRAY));
	}
	return declared->n > 0 ? OK : err_set(err, MSG_REPORT_MODEL);
}

enum code declared_read(const struct view *view, struct str text, struct declared **out,
			struct err *err)
{
	struct declared *declared = *out = ARENA_NEW(view->arena, struct declared);
	struct err own = err_in(view->arena);
	const struct json *root = NULL;

	if (!str_is_set(text))
		return err_set(err, MSG_REPORT_REVIEWED);
	if (json_parse(view->arena, text, &root, &own) != OK) {
		struct str json;
		struct yaml_lines lines;

		if (yaml_to_json(view->arena, text, &json, &lines, &own) != OK)
			return err_set(err, MSG_REPORT_YAML, lines.problem, STR_ARG(own.message));
		declared->is_partial = true;
		if (json_parse(view->arena, json, &root, &own) != OK)
			return err_set(err, MSG_REPORT_REVIEWED);
	}
	if (json_text_get(root, "DataModel", JSON_ARRAY))
		return read_model(view, declared, json_text_get(root, "DataModel", JSON_ARRAY),
				  err);
	declared->list = json_text_get(root, "patterns", JSON_ARRAY);
	if (!declared->list)
		return err_set(err, MSG_REPORT_REVIEWED);
	return declared->is_partial ? check_entries(view, declared->list, err) : OK;
}

/* Takes the next value out of an outline of a key: what stands in front of what is masked, or "?".
 * Absent at the end. */
static struct str next_value(struct str *rest)
{
	for (size_t i = 0; i < rest->n; i++) {
		size_t from = i + 1;
		const char *end = rest->p[i] == '"'   ? memchr(rest->p + from, '"', rest->n - from)
				  : rest->p[i] == '?' ? rest->p + i
						      : NULL;

		if (!end)
			continue;
		struct str value = rest->p[i] == '?' ? STR("?")
						     : (struct str){rest->p + from,
								    (size_t)(end - rest->p) - from};
		*rest = (struct str){end + 1, rest->n - (size_t)(end - rest->p) - 1};
		if (value.n >= sizeof(MASKED) - 1 &&
		    memcmp(value.p + value.n - (sizeof(MASKED) - 1), MASKED, sizeof(MASKED) - 1) ==
			    0)
			value.n -= sizeof(MASKED) - 1;
		return value;
	}
	return STR_ABSENT;
}

/* Of a sort key a pattern may have a part. */
static bool fits(struct str declared, struct str seen)
{
	return str_eq(seen, STR("?")) || str_starts_with(declared, seen) ||
	       str_starts_with(seen, declared);
}

/* Whether the outline of one key is of the shape. */
static bool is_of_shape(const struct shape *shape, struct str key)
{
	struct str rest = key;

	if (!str_starts_with(key, shape->start))
		return false;
	struct str partition = next_value(&rest);
	if (!str_eq(partition, STR("?")) && !str_eq(partition, shape->of_partition))
		return false;
	for (struct str value = next_value(&rest); str_is_set(value); value = next_value(&rest)) {
		if (!fits(shape->of_sort, value))
			return false;
	}
	return true;
}

static bool is_of_model(const struct view *view, const struct declared *declared,
			const struct json *pattern)
{
	struct str table = view_text(view, pattern, "table"),
		   index = view_text(view, pattern, "index"),
		   rest = view_text(view, pattern, "key");
	bool is_all = rest.n > 0;

	while (rest.n > 0 && is_all) { /* of a batch or a transaction: each kind of members once */
		const char *plus = memmem(rest.p, rest.n, " + ", 3);
		struct str key = {rest.p, plus ? (size_t)(plus - rest.p) : rest.n};
		bool is_found = false;

		for (size_t i = 0; i < declared->n && !is_found; i++) {
			const struct shape *shape = &declared->shapes[i];

			is_found = str_contains(table, shape->table) &&
				   str_eq(index, shape->index) && is_of_shape(shape, key);
		}
		is_all = is_found;
		rest = plus ? (struct str){plus + 3, rest.n - key.n - 3} : STR("");
	}
	return is_all;
}

bool declared_has(const struct view *view, const struct declared *declared,
		  const struct json *pattern)
{
	if (!declared->list)
		return is_of_model(view, declared, pattern);
	for (const struct json *entry = json_first(declared->list); entry;
	     entry = json_next(entry)) {
		if (json_type(entry) == JSON_OBJECT &&
		    is_same(view, entry, pattern, declared->is_partial))
			return true;
	}
	return false;
}

static bool is_seen(const struct view *view, const struct declared *declared,
		    const struct json *entry)
{
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		if (is_same(view, entry, p, declared->is_partial))
			return true;
	}
	return false;
}

static bool is_shape_seen(const struct view *view, const struct shape *shape)
{
	const struct declared one = {.n = 1, .shapes = (struct shape *)(uintptr_t)shape};

	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		if (is_of_model(view, &one, p))
			return true;
	}
	return false;
}

void declared_each_unseen(const struct view *view, const struct declared *declared,
			  void (*tell)(void *context, struct str line), void *context)
{
	for (const struct json *entry = declared->list ? json_first(declared->list) : NULL; entry;
	     entry = json_next(entry)) {
		struct str name = view_text(view, entry, "name");

		if (json_type(entry) == JSON_OBJECT && !is_seen(view, declared, entry))
			tell(context, name.n > 0 ? name : view_line(view, entry));
	}
	for (size_t i = 0; i < declared->n; i++) {
		const struct shape *shape = &declared->shapes[i];

		if (shape->index.n == 0 && !is_shape_seen(view, shape))
			tell(context,
			     str_printf(view->arena,
					STR_FMT " (" STR_FMT "): " STR_FMT " " STR_FMT "%s" STR_FMT
						" " STR_FMT,
					STR_ARG(shape->table), STR_ARG(shape->facet),
					STR_ARG(shape->partition), STR_ARG(shape->of_partition),
					shape->sort.n ? ", " : "", STR_ARG(shape->sort),
					STR_ARG(shape->of_sort)));
	}
}
