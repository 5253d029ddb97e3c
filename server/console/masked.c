#include "server/console/masked.h"

#include "protocol/insight/mask.h"
#include "protocol/wire/json.h"

#define HIDDEN "…"
#define DEPTH_MAX 128 /* json_parse allows fewer */

/* What a string or number is, by the names above it. */
enum place {
	PLACE_PLAIN,     /* an option, a name */
	PLACE_VALUE,     /* of an attribute */
	PLACE_MAP,       /* members' names may be values */
	PLACE_STATEMENT, /* PartiQL */
	PLACE_MESSAGE,   /* of an error; some repeat a value */
};

static enum place masked_place_of(struct str name, const struct json *json)
{
	static const struct str scalars[] = {STR_INIT("S"), STR_INIT("N"), STR_INIT("B")},
				sets[] = {STR_INIT("SS"), STR_INIT("NS"), STR_INIT("BS")};
	bool is_string = json_type(json) == JSON_STRING, is_array = json_type(json) == JSON_ARRAY;

	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
		if ((is_string && str_eq(name, scalars[i])) || (is_array && str_eq(name, sets[i])))
			return PLACE_VALUE;
	}
	if (json_type(json) == JSON_OBJECT && str_eq(name, STR("M")))
		return PLACE_MAP;
	if (is_string && str_eq_nocase(name, STR("message")))
		return PLACE_MESSAGE;
	return is_string && (str_eq(name, STR("Statement")) || str_eq(name, STR("NextToken")))
		       ? PLACE_STATEMENT
		       : PLACE_PLAIN;
}

/* A single value teaches no prefix (prefixes.h): only one in capitals is surely a kind's name. What
 * base64 has before its '/' is none. */
static void write_hidden(struct json_out *out, struct arena *arena, struct str text)
{
	struct mask mask = mask_text(text);
	bool is_shown = !mask.is_whole && mask.prefix.n > 0 && mask_is_capitals(mask.prefix) &&
			mask.prefix.p[mask.prefix.n - 1] != '/';

	json_out_string(out, is_shown ? str_printf(arena, STR_FMT HIDDEN, STR_ARG(mask.prefix))
				      : STR(HIDDEN));
}

static bool is_of_word(char c)
{
	return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Literals become a question mark: texts in quotes, and words that begin with a digit. Names in
 * double quotes stay. */
static struct str without_literals(struct arena *arena, struct str text)
{
	struct buf buf = buf_in(arena);
	bool is_in_word = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		size_t end = i + 1;

		if (c == '\'' || c == '"') {
			while (end < text.n && text.p[end] != c)
				end++;
		} else if (!is_in_word && c >= '0' && c <= '9') {
			while (end < text.n && is_of_word(text.p[end]))
				end++;
			end--;
		} else {
			is_in_word = is_of_word(c);
			buf_add_byte(&buf, c);
			continue;
		}
		if (c == '"')
			buf_add(&buf, text.p + i, (end < text.n ? end + 1 : end) - i);
		else
			buf_add_byte(&buf, '?');
		is_in_word = false;
		i = end;
	}
	return buf_str(&buf);
}

/* AWS repeats numbers that are none, sets with duplicates, and tokens of statements. */
static struct str without_repeated(struct arena *arena, struct str text)
{
	static const struct str repeats[] = {STR_INIT("numeric value: "), STR_INIT("collection ["),
					     STR_INIT("Statement ")};

	for (size_t at = 0; at < text.n; at++) {
		struct str rest = {text.p + at, text.n - at};

		for (size_t i = 0; i < sizeof(repeats) / sizeof(repeats[0]); i++) {
			if (str_starts_with(rest, repeats[i]))
				return str_printf(
					arena, STR_FMT HIDDEN,
					STR_ARG(((struct str){text.p, at + repeats[i].n})));
		}
	}
	return text;
}

static void write_string(struct json_out *out, struct arena *arena, struct str text,
			 enum place place)
{
	switch (place) {
	case PLACE_VALUE:
		write_hidden(out, arena, text);
		return;
	case PLACE_STATEMENT:
		text = without_literals(arena, text);
		break;
	case PLACE_MESSAGE:
		text = without_repeated(arena, text);
		break;
	case PLACE_PLAIN:
	case PLACE_MAP:
		break;
	}
	json_out_string(out, text);
}

static void write_masked_json(struct json_out *out, struct arena *arena, const struct json *json,
			      enum place place, unsigned depth);

static void write_members(struct json_out *out, struct arena *arena, const struct json *json,
			  enum place place, unsigned depth)
{
	json_out_open(out, '{');
	for (const struct json *member = json_first(json); member; member = json_next(member)) {
		struct str name = json_name(arena, member);

		json_out_name(out, place == PLACE_MAP && !mask_is_word(name) ? STR(HIDDEN) : name);
		write_masked_json(out, arena, member, masked_place_of(name, member), depth + 1);
	}
	json_out_close(out, '}');
}

static void write_elements(struct json_out *out, struct arena *arena, const struct json *json,
			   enum place place, unsigned depth)
{
	json_out_open(out, '[');
	for (const struct json *element = json_first(json); element; element = json_next(element))
		write_masked_json(out, arena, element, place, depth + 1);
	json_out_close(out, ']');
}

static void write_masked_json(struct json_out *out, struct arena *arena, const struct json *json,
			      enum place place, unsigned depth)
{
	int64_t integer;

	if (depth > DEPTH_MAX) {
		json_out_null(out);
		return;
	}
	switch (json_type(json)) {
	case JSON_OBJECT:
		write_members(out, arena, json, place, depth);
		break;
	case JSON_ARRAY:
		write_elements(out, arena, json, place, depth);
		break;
	case JSON_STRING:
		write_string(out, arena, json_string(arena, json), place);
		break;
	case JSON_NUMBER:
		if (json_integer(json, &integer))
			json_out_integer(out, integer);
		else
			json_out_double(out, json_number(json));
		break;
	case JSON_BOOLEAN:
		json_out_boolean(out, json_boolean(json));
		break;
	case JSON_NULL:
		json_out_null(out);
		break;
	}
}

void masked_write(struct json_out *out, struct arena *arena, struct str body)
{
	struct err err = err_in(arena);
	const struct json *root;

	if (json_parse(arena, body, &root, &err) == OK)
		write_masked_json(out, arena, root, PLACE_PLAIN, 0);
	else
		json_out_null(out);
}
