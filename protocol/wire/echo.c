#include "protocol/wire/echo.h"

#include <stdlib.h>

#include "core/base64.h"
#include "core/buf.h"
#include "protocol/wire/java_order.h"
#include "protocol/wire/json_out.h"
#include "protocol/wire/shape_tables.h"

struct echo {
	struct arena *arena;
	struct buf out;
};

/* Where AWS's own model differs from the public one. */
static const struct special {
	const char *name;
	bool has_profile; /* a member of AWS's own, workloadProfileName, comes last */
	const char
		*last; /* this member stands behind the others, though it is checked before them */
} specials[] = {
	{"ConditionCheck", true, NULL},
	{"Delete", true, NULL},
	{"DeleteRequest", true, NULL},
	{"Get", true, NULL},
	{"Put", true, NULL},
	{"PutRequest", true, NULL},
	{"Update", true, NULL},
	{"BatchStatementRequest", false, "ReturnValuesOnConditionCheckFailure"},
	{"ParameterizedStatement", false, "ReturnValuesOnConditionCheckFailure"},
};

/* The members of AWS's AttributeValue; `wire` is NULL where no request can set one. */
static const struct field {
	const char *name, *wire;
} fields[] = {
	{"s", "S"},        {"n", "N"},       {"b", "B"},           {"iNT", NULL},
	{"dECIMAL", NULL}, {"dOUBLE", NULL}, {"sS", "SS"},         {"nS", "NS"},
	{"bS", "BS"},      {"iNTSET", NULL}, {"dECIMALSET", NULL}, {"dOUBLESET", NULL},
	{"m", "M"},        {"l", "L"},       {"nULL", "NULL"},     {"bOOL", "BOOL"},
};

static bool is_full(const struct echo *echo)
{
	return echo->out.n > ECHO_MAX || arena_is_over(echo->arena);
}

static const struct special *special_of(const struct shape *shape)
{
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		if (strcmp(specials[i].name, shape->name) == 0)
			return &specials[i];
	}
	return NULL;
}

/* As deep as the request's JSON, which json_parse() bounds. */
static void echo_value(struct echo *echo, const struct shape *shape, const struct json *json);
static void show_value(struct echo *echo, const struct json *json);

/* A scalar's text; of a binary one the Java object. */
static void show_scalar(struct echo *echo, const struct json *json, bool is_binary)
{
	struct str text, bytes;
	int64_t integer;

	switch (json_type(json)) {
	case JSON_STRING:
		text = json_string(echo->arena, json);
		if (is_binary && base64_decode(echo->arena, text, &bytes))
			buf_printf(&echo->out, "java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]",
				   bytes.n, bytes.n);
		else
			buf_add_str(&echo->out, text);
		return;
	case JSON_BOOLEAN:
		buf_printf(&echo->out, "%s", json_boolean(json) ? "true" : "false");
		return;
	case JSON_NUMBER:
		if (json_integer(json, &integer))
			buf_printf(&echo->out, "%lld", (long long)integer);
		else
			buf_printf(&echo->out, "%g", json_number(json));
		return;
	default:
		buf_add_lit(&echo->out, "null");
	}
}

/* A member of an object. */
struct entry {
	struct str name;
	size_t i; /* where it stands in the text */
	const struct json *json;
};

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	return order ? order : (x->i > y->i) - (x->i < y->i);
}

/* The members of an object in byte order of their names; of a name given twice the last counts.
 * Sets *n. */
static struct entry *entries_of(struct echo *echo, const struct json *object, size_t *n)
{
	struct entry *entries = ARENA_ARRAY(echo->arena, struct entry, json_count(object) + 1);
	size_t count = 0, kept = 0;

	for (const struct json *child = json_first(object); child;
	     child = json_next(child), count++)
		entries[count] = (struct entry){json_name(echo->arena, child), count, child};
	qsort(entries, count, sizeof(*entries), by_name);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 == count || !str_eq(entries[i].name, entries[i + 1].name))
			entries[kept++] = entries[i];
	}
	*n = kept;
	return entries;
}

static int by_name_alone(const void *name, const void *entry)
{
	return str_cmp(*(const struct str *)name, ((const struct entry *)entry)->name);
}

/* `element` NULL: attribute values. */
static void show_map(struct echo *echo, const struct shape *element, const struct json *json)
{
	size_t count, n;
	const struct entry *entries = entries_of(echo, json, &count);
	struct str *all = ARENA_ARRAY(echo->arena, struct str, json_count(json) + 1);
	size_t total = 0;

	for (const struct json *child = json_first(json); child; child = json_next(child))
		all[total++] = json_name(echo->arena, child);
	const struct str *names = java_order(echo->arena, all, total, true, &n);
	buf_add_byte(&echo->out, '{');
	for (size_t i = 0; i < n && !is_full(echo); i++) {
		const struct entry *entry =
			bsearch(&names[i], entries, count, sizeof(*entries), by_name_alone);
		const struct json *child = entry->json;

		buf_printf(&echo->out, "%s" STR_FMT "=", i ? ", " : "", STR_ARG(names[i]));
		if (element)
			echo_value(echo, element, child);
		else
			show_value(echo, child);
	}
	buf_add_byte(&echo->out, '}');
}

static void echo_list(struct echo *echo, const struct json *json, const struct shape *element,
		      enum type type)
{
	const char *between = "";

	buf_add_byte(&echo->out, '[');
	for (const struct json *child = json_first(json); child && !is_full(echo);
	     child = json_next(child), between = ", ") {
		buf_printf(&echo->out, "%s", between);
		if (element)
			echo_value(echo, element, child);
		else if (type == TYPE_L)
			show_value(echo, child);
		else
			show_scalar(echo, child, type == TYPE_BS);
	}
	buf_add_byte(&echo->out, ']');
}

static void show_content(struct echo *echo, const struct json *json, enum type type)
{
	if (json && json_type(json) == JSON_OBJECT)
		show_map(echo, NULL, json);
	else if (json && json_type(json) == JSON_ARRAY)
		echo_list(echo, json, NULL, type);
	else if (json)
		show_scalar(echo, json, type == TYPE_B);
	else
		buf_add_lit(&echo->out, "null");
}

static void show_value(struct echo *echo, const struct json *json)
{
	bool is_object = json && json_type(json) == JSON_OBJECT;

	buf_add_lit(&echo->out, "AttributeValue(");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !is_full(echo); i++) {
		const char *wire = fields[i].wire;

		buf_printf(&echo->out, "%s%s=", i ? ", " : "", fields[i].name);
		show_content(echo, is_object && wire ? json_member(json, wire) : NULL,
			     wire ? type_of_name(str_of(wire)) : TYPE_NONE);
	}
	buf_add_byte(&echo->out, ')');
}

static void show_member(struct echo *echo, const struct shape_member *member,
			const struct json *json, bool is_first)
{
	const char *name = member->name;

	buf_printf(&echo->out, "%s%c%s=", is_first ? "" : ", ",
		   *name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name, name + 1);
	echo_value(echo, member->shape, json_member(json, name));
}

static void show_structure(struct echo *echo, const struct shape *shape, const struct json *json)
{
	const struct special *special = special_of(shape);
	const struct shape_member *last = NULL;
	bool is_first = true;

	buf_printf(&echo->out, "%s(", shape->name);
	for (size_t i = 0; i < shape->count && !is_full(echo); i++) {
		if (special && special->last &&
		    strcmp(special->last, shape->members[i].name) == 0) {
			last = &shape->members[i];
			continue;
		}
		show_member(echo, &shape->members[i], json, is_first);
		is_first = false;
	}
	if (last)
		show_member(echo, last, json, is_first);
	if (special && special->has_profile)
		buf_add_lit(&echo->out, ", workloadProfileName=null");
	buf_add_byte(&echo->out, ')');
}

static void echo_value(struct echo *echo, const struct shape *shape, const struct json *json)
{
	bool is_object = json && json_type(json) == JSON_OBJECT;

	if (!json || json_type(json) == JSON_NULL)
		buf_add_lit(&echo->out, "null");
	else if (shape->kind == SHAPE_VALUE || shape->kind == SHAPE_PARAMETER)
		show_value(echo, json);
	else if (shape->kind == SHAPE_STRUCTURE && is_object)
		show_structure(echo, shape, json);
	else if (shape->kind == SHAPE_ITEM && is_object)
		show_map(echo, NULL, json);
	else if (shape->kind == SHAPE_MAP && is_object)
		show_map(echo, shape->element, json);
	else if (shape->kind == SHAPE_LIST && json_type(json) == JSON_ARRAY)
		echo_list(echo, json, shape->element, TYPE_NONE);
	else
		show_scalar(echo, json, false);
}

/* Not within a character. */
static struct str cut_echo(struct arena *arena, struct str text)
{
	size_t n = ECHO_MAX;

	if (text.n <= ECHO_MAX)
		return text;
	while (n > 0 && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n--;
	return str_printf(arena, STR_FMT "...", (int)n, text.p);
}

struct str echo_java(struct arena *arena, const struct shape *shape, const struct json *json)
{
	struct echo echo = {arena, buf_in(arena)};

	echo_value(&echo, shape, json);
	return cut_echo(arena, buf_str(&echo.out));
}

static void write_sorted(struct echo *echo, struct json_out *out, const struct json *json)
{
	if (json_type(json) == JSON_OBJECT) {
		size_t n;
		const struct entry *entries = entries_of(echo, json, &n);

		json_out_open(out, '{');
		for (size_t i = 0; i < n && out->buf.n <= ECHO_MAX && !is_full(echo); i++) {
			if (json_type(entries[i].json) == JSON_NULL)
				continue;
			json_out_name(out, entries[i].name);
			write_sorted(echo, out, entries[i].json);
		}
		json_out_close(out, '}');
	} else if (json_type(json) == JSON_ARRAY) {
		json_out_open(out, '[');
		for (const struct json *child = json_first(json);
		     child && out->buf.n <= ECHO_MAX && !is_full(echo); child = json_next(child))
			write_sorted(echo, out, child);
		json_out_close(out, ']');
	} else if (json_type(json) == JSON_STRING) {
		json_out_string(out, json_string(echo->arena, json));
	} else if (json_type(json) == JSON_BOOLEAN) {
		json_out_boolean(out, json_boolean(json));
	} else if (json_type(json) == JSON_NUMBER) {
		json_out_double(out, json_number(json));
	} else {
		json_out_null(out);
	}
}

struct str echo_json(struct arena *arena, const struct json *json)
{
	struct echo echo = {arena, buf_in(arena)};
	struct json_out out = json_out_in(arena);

	write_sorted(&echo, &out, json);
	return cut_echo(arena, json_out_str(&out));
}
