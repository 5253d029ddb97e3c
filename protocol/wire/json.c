#include "protocol/wire/json_internal.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/utf8.h"
#include "protocol/wire/messages.h"

/*
 * cJSON's allocation hooks are global to the process. They allocate from the arena of the parse
 * under way on this thread, so trees live in arenas and are never freed. Without such a parse it is
 * another user of cJSON in this process (libdynalith).
 */
static _Thread_local struct arena *parse_arena;
static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;

/* cJSON ends where it gets nothing. */
static void *hook_malloc(size_t size)
{
	if (!parse_arena)
		return malloc(size);
	return arena_is_over(parse_arena) ? NULL : arena_alloc(parse_arena, size);
}

static void hook_free(void *p)
{
	if (!parse_arena)
		free(p);
}

static void install_hooks(void)
{
	cJSON_Hooks hooks = {hook_malloc, hook_free};

	cJSON_InitHooks(&hooks);
}

/*
 * cJSON ends strings at U+0000. The escape becomes the bytes C0 80, which valid UTF-8 cannot hold,
 * and json_string() turns them back. Returns the text itself where there is nothing to rewrite.
 */
static struct str hide_zeros(struct arena *arena, struct str text)
{
	if (!memchr(text.p, '\\', text.n) || !str_contains(text, STR("\\u0000")))
		return text;
	char *out = arena_bytes(arena, text.n);
	size_t n = 0;
	for (size_t i = 0; i < text.n;) {
		if (text.p[i] == '\\' && i + 6 <= text.n && memcmp(text.p + i, "\\u0000", 6) == 0) {
			out[n++] = (char)0xC0;
			out[n++] = (char)0x80;
			i += 6;
		} else if (text.p[i] == '\\' && i + 1 < text.n) {
			out[n++] = text.p[i++];
			out[n++] = text.p[i++];
		} else {
			out[n++] = text.p[i++];
		}
	}
	return (struct str){out, n};
}

static struct str show_zeros(struct arena *arena, const char *text)
{
	struct str s = str_of(text);

	if (!memchr(s.p, 0xC0, s.n))
		return s;
	char *out = arena_bytes(arena, s.n);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++) {
		bool is_zero = (unsigned char)s.p[i] == 0xC0;

		out[n++] = is_zero ? '\0' : s.p[i];
		i += is_zero;
	}
	return (struct str){out, n};
}

static bool is_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p == end;
}

static struct json *convert(struct arena *arena, const cJSON *from);

/* The depth is bounded by cJSON's. */
static void convert_children(struct arena *arena, const cJSON *from, struct json *to)
{
	struct json **link = &to->child;

	for (const cJSON *child = from->child; child && !arena_is_over(arena);
	     child = child->next) {
		*link = convert(arena, child);
		link = &(*link)->next;
	}
	*link = NULL;
}

static struct json *convert(struct arena *arena, const cJSON *from)
{
	struct json *to = arena_alloc(arena, sizeof(*to));

	*to = (struct json){.name = from->string ? show_zeros(arena, from->string) : STR("")};
	switch (from->type & 0xFF) {
	case cJSON_True:
	case cJSON_False:
		to->type = JSON_BOOLEAN;
		to->boolean = (from->type & 0xFF) == cJSON_True;
		break;
	case cJSON_Number:
		to->type = JSON_NUMBER;
		to->number = from->valuedouble;
		to->is_decimal = from->valuedouble != floor(from->valuedouble);
		break;
	case cJSON_String:
		to->type = JSON_STRING;
		to->text = show_zeros(arena, from->valuestring);
		break;
	case cJSON_Array:
	case cJSON_Object:
		to->type = (from->type & 0xFF) == cJSON_Array ? JSON_ARRAY : JSON_OBJECT;
		convert_children(arena, from, to);
		break;
	default:
		to->type = JSON_NULL;
	}
	return to;
}

static bool has_four_digits(struct str text, size_t at)
{
	for (size_t i = at; i < at + 4; i++) {
		if (i >= text.n || !isxdigit((unsigned char)text.p[i]))
			return false;
	}
	return true;
}

/*
 * Whether the text has what RFC 8259 refuses and cJSON takes: control bytes in strings and, but for
 * white space, between tokens; escapes without four digits, which cJSON takes for U+0000. Jackson,
 * which AWS uses, refuses all of them. `at`: where that is; else not of use.
 */
static bool is_taken_by_mistake(struct str text, size_t *at)
{
	bool is_in_string = false;

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		*at = i;
		if (c < 0x20 && (is_in_string || (c != '\t' && c != '\n' && c != '\r')))
			return true;
		if (c == '"')
			is_in_string = !is_in_string;
		if (c == '\\' && is_in_string && i + 1 < text.n && text.p[++i] == 'u' &&
		    !has_four_digits(text, i + 1))
			return true;
	}
	return false;
}

/* *end: where cJSON stopped. */
static const cJSON *parse_by_library(struct arena *arena, struct str text, const char **end)
{
	pthread_once(&hooks_once, install_hooks);
	parse_arena = arena;
	const cJSON *root = cJSON_ParseWithLengthOpts(text.p, text.n, end, false);
	parse_arena = NULL;
	return root;
}

struct json *json_by_library(struct arena *arena, struct str text)
{
	const char *end = NULL;
	size_t at;

	if (is_taken_by_mistake(text, &at))
		return NULL;
	text = hide_zeros(arena, text);
	const cJSON *root = parse_by_library(arena, text, &end);
	return root && is_blank(end, text.p + text.n) ? convert(arena, root) : NULL;
}

enum code json_parse(struct arena *arena, struct str text, const struct json **root,
		     struct err *err)
{
	struct json *tree = NULL;
	enum code code = OK;

	if (text.n > 0 && utf8_is_valid(text) && !str_has_zero(text)) {
		tree = json_quickly(arena, text);
		if (!tree)
			tree = json_by_library(arena, text);
		code = err_if_over(arena, err);
	}
	if (code != OK)
		return code;
	if (!tree)
		return err_set(err, MSG_JSON_MALFORMED);
	*root = tree;
	return OK;
}

size_t json_stops_at(struct arena *arena, struct str text)
{
	const char *end = NULL;
	size_t at = 0;

	if (is_taken_by_mistake(text, &at))
		return at;
	parse_by_library(arena, text, &end);
	return end ? (size_t)(end - text.p) : 0;
}

enum json_type json_type(const struct json *value)
{
	return value->type;
}

bool json_boolean(const struct json *value)
{
	return value->type == JSON_BOOLEAN && value->boolean;
}

double json_number(const struct json *value)
{
	return value->type == JSON_NUMBER ? value->number : 0;
}

bool json_is_decimal(const struct json *value)
{
	return value->type == JSON_NUMBER && value->is_decimal;
}

bool json_integer(const struct json *value, int64_t *out)
{
	double number = json_number(value);

	if (!(number >= -9007199254740992.0 && number <= 9007199254740992.0) ||
	    (double)(int64_t)number != number)
		return false;
	*out = (int64_t)number;
	return true;
}

struct str json_string(struct arena *arena, const struct json *value)
{
	(void)arena;
	return value->text;
}

const char *json_c_string(struct arena *arena, const struct json *value)
{
	(void)arena;
	return str_has_zero(value->text) ? NULL : value->text.p;
}

const struct json *json_first(const struct json *container)
{
	return container->type == JSON_OBJECT || container->type == JSON_ARRAY ? container->child
									       : NULL;
}

const struct json *json_next(const struct json *child)
{
	return child->next;
}

size_t json_count(const struct json *container)
{
	size_t n = 0;

	for (const struct json *child = json_first(container); child; child = json_next(child))
		n++;
	return n;
}

struct str json_name(struct arena *arena, const struct json *member)
{
	(void)arena;
	return member->name;
}

const struct json *json_find(const struct json *object, struct str name)
{
	const struct json *found = NULL;

	for (const struct json *child = json_first(object); child; child = json_next(child)) {
		if (str_eq(child->name, name))
			found = child;
	}
	return found;
}

const struct json *json_member(const struct json *object, const char *name)
{
	return json_find(object, str_of(name));
}
