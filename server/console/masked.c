#include "server/console/masked.h"

#include "protocol/insight/mask.h"
#include "protocol/wire/json.h"

#define HIDDEN "…"
#define DEPTH_MAX 128  /* json_parse allows fewer */
#define REPEATED_MIN 3 /* bytes of a value that a message repeats; fewer are in many words */
#define REPEATED_RUN 8 /* of a longer value, any so many bytes in a row */
#define RUN_BITS 16

/* What a part of a body is, by the names above it. Below PLACE_CONDITIONS all are values but for
 * what a row of the tables here names. */
enum place {
	PLACE_PLAIN,      /* options and names */
	PLACE_TAGS,       /* the same; Key and Value are no attributes' */
	PLACE_CONDITIONS, /* the older form of expressions: names of attributes and conditions */
	PLACE_CONDITION,
	PLACE_ITEM,      /* names of attributes and their values */
	PLACE_TYPED,     /* {"S": ...} */
	PLACE_MAP,       /* names may be values */
	PLACE_TEXT,      /* may show a prefix */
	PLACE_FLAG,      /* true or false */
	PLACE_STATEMENT, /* PartiQL */
	PLACE_MESSAGE,   /* of an error; some repeat a value */
	PLACE_HIDDEN,
};

struct place_name {
	struct str name;
	enum place place;
};

static const struct place_name types[] = {
	{STR_INIT("S"), PLACE_TEXT},    {STR_INIT("SS"), PLACE_TEXT},
	{STR_INIT("N"), PLACE_HIDDEN},  {STR_INIT("NS"), PLACE_HIDDEN},
	{STR_INIT("B"), PLACE_HIDDEN},  {STR_INIT("BS"), PLACE_HIDDEN},
	{STR_INIT("M"), PLACE_MAP},     {STR_INIT("L"), PLACE_TYPED},
	{STR_INIT("BOOL"), PLACE_FLAG}, {STR_INIT("NULL"), PLACE_FLAG},
	{{NULL, 0}, PLACE_HIDDEN},
};

/* Members of conditions and of bodies; in any case of letters, for requests that are refused. */
static const struct place_name condition[] = {
	{STR_INIT("AttributeValueList"), PLACE_TYPED},
	{STR_INIT("Value"), PLACE_TYPED},
	{STR_INIT("ComparisonOperator"), PLACE_PLAIN},
	{STR_INIT("Action"), PLACE_PLAIN},
	{STR_INIT("Exists"), PLACE_PLAIN},
	{{NULL, 0}, PLACE_HIDDEN},
};

static const struct place_name members[] = {
	{STR_INIT("Item"), PLACE_ITEM},
	{STR_INIT("Items"), PLACE_ITEM},
	{STR_INIT("Key"), PLACE_ITEM},
	{STR_INIT("Keys"), PLACE_ITEM},
	{STR_INIT("ExclusiveStartKey"), PLACE_ITEM},
	{STR_INIT("LastEvaluatedKey"), PLACE_ITEM},
	{STR_INIT("ItemCollectionKey"), PLACE_ITEM},
	{STR_INIT("Attributes"), PLACE_ITEM},
	{STR_INIT("NewImage"), PLACE_ITEM},
	{STR_INIT("OldImage"), PLACE_ITEM},
	{STR_INIT("ExpressionAttributeValues"), PLACE_ITEM},
	{STR_INIT("Parameters"), PLACE_TYPED},
	{STR_INIT("SearchVector"), PLACE_TYPED},
	{STR_INIT("AttributeValueList"), PLACE_TYPED},
	{STR_INIT("Value"), PLACE_TYPED},
	{STR_INIT("Expected"), PLACE_CONDITIONS},
	{STR_INIT("AttributeUpdates"), PLACE_CONDITIONS},
	{STR_INIT("KeyConditions"), PLACE_CONDITIONS},
	{STR_INIT("QueryFilter"), PLACE_CONDITIONS},
	{STR_INIT("ScanFilter"), PLACE_CONDITIONS},
	{STR_INIT("Statement"), PLACE_STATEMENT},
	{STR_INIT("NextToken"), PLACE_HIDDEN}, /* holds a key */
	{STR_INIT("Message"), PLACE_MESSAGE},
	{STR_INIT("FailureMessage"), PLACE_MESSAGE},
	{STR_INIT("Tags"), PLACE_TAGS},
	{{NULL, 0}, PLACE_PLAIN},
};

struct masking {
	struct json_out *out;
	struct arena *arena;
	struct str *hidden; /* the texts that were, for messages, in small letters */
	size_t hidden_count;
	bool hides_messages;
	struct str message, shown; /* the last one; those of a transaction are often alike */
};

static enum place place_named(const struct place_name *names, struct str name)
{
	while (str_is_set(names->name) && !str_eq_nocase(names->name, name))
		names++;
	return names->place;
}

static bool is_type(struct str name)
{
	size_t i = 0;

	while (str_is_set(types[i].name) && !str_eq(types[i].name, name))
		i++;
	return str_is_set(types[i].name);
}

static bool is_shown(enum place place)
{
	return place == PLACE_PLAIN || place == PLACE_TAGS;
}

static enum place masked_place_of(enum place above, struct str name, const struct json *json)
{
	bool is_of_tag = above == PLACE_TAGS && json_type(json) == JSON_STRING &&
			 (str_eq(name, STR("Key")) || str_eq(name, STR("Value")));

	if (is_of_tag)
		return PLACE_PLAIN;
	switch (above) {
	case PLACE_TAGS:
	case PLACE_PLAIN:
		return place_named(is_type(name) ? types : members, name);
	case PLACE_CONDITIONS:
		return PLACE_CONDITION;
	case PLACE_CONDITION:
		return place_named(is_type(name) ? types : condition, name);
	case PLACE_ITEM:
	case PLACE_MAP:
		return PLACE_TYPED;
	case PLACE_TYPED:
		return is_type(name) ? place_named(types, name) : PLACE_HIDDEN;
	case PLACE_TEXT:
	case PLACE_FLAG:
	case PLACE_STATEMENT:
	case PLACE_MESSAGE:
	case PLACE_HIDDEN:
		break;
	}
	return PLACE_HIDDEN;
}

/* Whether a member's name may be shown. */
static bool is_name_shown(enum place above, struct str name)
{
	switch (above) {
	case PLACE_PLAIN:
	case PLACE_TAGS:
	case PLACE_CONDITIONS:
	case PLACE_ITEM:
		return true;
	case PLACE_CONDITION:
		return is_type(name) || place_named(condition, name) != PLACE_HIDDEN;
	case PLACE_TYPED:
		return is_type(name);
	case PLACE_MAP:
		return mask_is_word(name);
	case PLACE_TEXT:
	case PLACE_FLAG:
	case PLACE_STATEMENT:
	case PLACE_MESSAGE:
	case PLACE_HIDDEN:
		break;
	}
	return false;
}

/* PartiQL's messages name tokens in small letters. */
static struct str masked_lower(struct arena *arena, struct str text)
{
	char *lower = arena_bytes(arena, text.n);

	for (size_t i = 0; i < text.n; i++)
		lower[i] =
			(char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] + 32 : text.p[i]);
	return (struct str){lower, text.n};
}

static void note_hidden(struct masking *masking, struct str text)
{
	if (text.n < REPEATED_MIN)
		return;
	masking->hidden = arena_room(masking->arena, masking->hidden, masking->hidden_count,
				     sizeof(*masking->hidden));
	masking->hidden[masking->hidden_count++] = masked_lower(masking->arena, text);
}

/* A single value teaches no prefix (prefixes.h): only one in capitals is surely a kind's name. What
 * base64 has before its '/' is none. */
static void write_text(struct masking *masking, struct str text)
{
	struct mask mask = mask_text(text);
	bool has_prefix = !mask.is_whole && mask.prefix.n > 0 && mask_is_capitals(mask.prefix) &&
			  mask.prefix.p[mask.prefix.n - 1] != '/';

	note_hidden(masking, text);
	json_out_string(masking->out, has_prefix ? str_printf(masking->arena, STR_FMT HIDDEN,
							      STR_ARG(mask.prefix))
						 : STR(HIDDEN));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_of_word(char c)
{
	return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Behind the next `mark` at or after `from`, or the end. */
static size_t behind(struct str text, size_t from, struct str mark, bool *is_there)
{
	size_t at = from;

	while (at < text.n && !str_starts_with((struct str){text.p + at, text.n - at}, mark))
		at++;
	*is_there = at < text.n;
	return *is_there ? at + mark.n : text.n;
}

/* Whether text that PartiQL's lexer skips or takes whole begins there: a comment, a text in quotes,
 * or a number where no word goes before. *end is behind it. */
static bool takes_whole(struct str text, size_t at, bool is_in_word, size_t *end)
{
	char c = text.p[at], next = '\0';
	bool is_closed;

	if (at + 1 < text.n)
		next = text.p[at + 1];
	if (c == '-' && next == '-') {
		*end = behind(text, at + 2, STR("\n"), &is_closed);
	} else if (c == '/' && next == '*') {
		*end = behind(text, at + 2, STR("*/"), &is_closed);
	} else if (c == '\'' || c == '"' || c == '`') {
		*end = behind(text, at + 1, (struct str){text.p + at, 1}, &is_closed);
	} else if ((is_digit(c) && !is_in_word) || (c == '.' && is_digit(next))) {
		*end = at + 1;
		while (*end < text.n && (is_of_word(text.p[*end]) || text.p[*end] == '.'))
			(*end)++;
	} else {
		return false;
	}
	return true;
}

/*
 * Literals become a question mark, comments a space: what partiql_lex() takes for one, also where
 * it refuses the statement. Names in double quotes stay. A byte that begins nothing hides the rest.
 */
static struct str without_literals(struct masking *masking, struct str text)
{
	static const struct str signs = STR_INIT("()[]{}:,*;?.=<>+-/%@^&~|!$ \t\n\r\f\v");
	struct buf buf = buf_in(masking->arena);
	bool is_in_word = false;

	for (size_t at = 0, end; at < text.n; at = end) {
		char c = text.p[at];

		if (takes_whole(text, at, is_in_word, &end)) {
			struct str part = {text.p + at, end - at};
			bool is_name = c == '"' && part.n > 1 && part.p[part.n - 1] == '"';

			if (is_name)
				buf_add_str(&buf, part);
			else
				buf_add_byte(&buf, c == '-' || c == '/' ? ' ' : '?');
			if (c == '\'' || c == '"' || c == '`') /* what is between them */
				part = (struct str){
					part.p + 1,
					part.n - 1 - (part.n > 1 && part.p[part.n - 1] == c)};
			if (!is_name)
				note_hidden(masking, part);
			is_in_word = false;
			continue;
		}
		if (!is_of_word(c) && !memchr(signs.p, c, signs.n)) {
			note_hidden(masking, (struct str){text.p + at, text.n - at});
			buf_add_str(&buf, STR(HIDDEN));
			break;
		}
		is_in_word = is_of_word(c);
		buf_add_byte(&buf, c);
		end = at + 1;
	}
	return buf_str(&buf);
}

/* Which bit stands for a run of `n` bytes, REPEATED_RUN at most. */
static size_t bit_of_run(const char *p, size_t n)
{
	uint64_t bytes = 0;

	if (n == REPEATED_RUN)
		memcpy(&bytes, p, REPEATED_RUN); /* one instruction */
	else
		memcpy(&bytes, p, n);
	return (size_t)(bytes * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RUN_BITS));
}

/* Where `part` is in the text, before `end`; else `end`. */
static size_t find_part(struct str text, struct str part, size_t end)
{
	for (size_t at = 0; at < end && at + part.n <= text.n; at++) {
		if (memcmp(text.p + at, part.p, part.n) == 0)
			return at;
	}
	return end;
}

/* Where the text first repeats a hidden one, back to the space before it; else its end. */
static size_t find_repeated(const struct masking *masking, struct str text)
{
	unsigned char runs[(1 << RUN_BITS) / 8] = {0}; /* of the text: few of a value's are there */
	size_t found = text.n;

	for (size_t run = REPEATED_MIN; run <= REPEATED_RUN; run++) {
		for (size_t at = 0; at + run <= text.n; at++) {
			size_t bit = bit_of_run(text.p + at, run);

			runs[bit / 8] |= (unsigned char)(1U << bit % 8);
		}
	}
	for (size_t i = 0; i < masking->hidden_count; i++) {
		struct str value = masking->hidden[i];
		size_t run = value.n < REPEATED_RUN ? value.n : REPEATED_RUN;

		for (size_t at = 0; at + run <= value.n; at++) {
			size_t bit = bit_of_run(value.p + at, run);

			if (runs[bit / 8] & 1U << bit % 8)
				found = find_part(text, (struct str){value.p + at, run}, found);
		}
	}
	while (found < text.n && found > 0 && text.p[found - 1] != ' ')
		found--;
	return found;
}

/* Messages repeat values in other forms too: numbers, sets and operands as they are kept, texts
 * with escapes, literals of fewer bytes than REPEATED_MIN. Behind these words all is hidden. */
static size_t find_words(struct str text)
{
	static const struct str words[] = {
		STR_INIT("numeric value: "),           STR_INIT("collection ["),
		STR_INIT("AttributeValue: {"),         STR_INIT("invalid type: "),
		STR_INIT("invalid value: integer "),   STR_INIT("invalid value: string "),
		STR_INIT("in tuple. Key: "),           STR_INIT("under key "),
		STR_INIT("type name found; "),         STR_INIT("token in expression: "),
		STR_INIT("VariableReference. Type: "),
	};
	size_t found = text.n;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t at = find_part(text, words[i], text.n);

		if (at < text.n && at + words[i].n < found)
			found = at + words[i].n;
	}
	return found;
}

/* A message up to the first place that may hold a value. */
static struct str shown_of_message(struct masking *masking, struct str text)
{
	size_t words, repeated;

	if (masking->hides_messages)
		return STR(HIDDEN);
	if (str_is_set(masking->message) && str_eq(masking->message, text))
		return masking->shown;
	words = find_words(text);
	repeated = find_repeated(masking, masked_lower(masking->arena, text));
	if (repeated < words)
		words = repeated;
	masking->message = text;
	masking->shown = words == text.n ? text
					 : str_printf(masking->arena, STR_FMT HIDDEN,
						      STR_ARG(((struct str){text.p, words})));
	return masking->shown;
}

static void write_string(struct masking *masking, struct str text, enum place place)
{
	if (place == PLACE_TEXT) {
		write_text(masking, text);
	} else if (place == PLACE_STATEMENT) {
		json_out_string(masking->out, without_literals(masking, text));
	} else if (place == PLACE_MESSAGE) {
		json_out_string(masking->out, shown_of_message(masking, text));
	} else if (is_shown(place)) {
		json_out_string(masking->out, text);
	} else {
		note_hidden(masking, text);
		json_out_string(masking->out, STR(HIDDEN));
	}
}

static void write_number(struct masking *masking, const struct json *json, enum place place)
{
	struct json_out text = json_out_in(masking->arena),
			*out = is_shown(place) ? masking->out : &text;
	int64_t integer;

	if (json_integer(json, &integer))
		json_out_integer(out, integer);
	else
		json_out_double(out, json_number(json));
	if (!is_shown(place))
		write_string(masking, json_out_str(&text), PLACE_HIDDEN);
}

/* `place` is that of its members or elements. */
static void write_masked_json(struct masking *masking, const struct json *json, enum place place,
			      unsigned depth);

static void write_members(struct masking *masking, const struct json *json, enum place place,
			  unsigned depth)
{
	json_out_open(masking->out, '{');
	for (const struct json *member = json_first(json); member; member = json_next(member)) {
		struct str name = json_name(masking->arena, member);

		if (is_name_shown(place, name)) {
			json_out_name(masking->out, name);
		} else {
			note_hidden(masking, name);
			json_out_name(masking->out, STR(HIDDEN));
		}
		write_masked_json(masking, member, masked_place_of(place, name, member), depth + 1);
	}
	json_out_close(masking->out, '}');
}

static void write_elements(struct masking *masking, const struct json *json, enum place place,
			   unsigned depth)
{
	json_out_open(masking->out, '[');
	for (const struct json *element = json_first(json); element; element = json_next(element))
		write_masked_json(masking, element, place, depth + 1);
	json_out_close(masking->out, ']');
}

static void write_masked_json(struct masking *masking, const struct json *json, enum place place,
			      unsigned depth)
{
	if (depth > DEPTH_MAX) {
		json_out_null(masking->out);
		return;
	}
	switch (json_type(json)) {
	case JSON_OBJECT:
		write_members(masking, json, place, depth);
		break;
	case JSON_ARRAY:
		write_elements(masking, json, place, depth);
		break;
	case JSON_STRING:
		write_string(masking, json_string(masking->arena, json), place);
		break;
	case JSON_NUMBER:
		write_number(masking, json, place);
		break;
	case JSON_BOOLEAN:
		if (is_shown(place) || place == PLACE_FLAG)
			json_out_boolean(masking->out, json_boolean(json));
		else
			json_out_string(masking->out, STR(HIDDEN));
		break;
	case JSON_NULL:
		json_out_null(masking->out);
		break;
	}
}

/* False: it is no JSON, and null stands for it. */
static bool write_masked_body(struct masking *masking, struct str body)
{
	struct err err = err_in(masking->arena);
	const struct json *root;

	if (json_parse(masking->arena, body, &root, &err) != OK) {
		json_out_null(masking->out);
		return false;
	}
	write_masked_json(masking, root,
			  json_type(root) == JSON_OBJECT ? PLACE_PLAIN : PLACE_HIDDEN, 0);
	return true;
}

void masked_write(struct json_out *out, struct arena *arena, struct str request)
{
	struct masking masking = {.out = out, .arena = arena};

	(void)write_masked_body(&masking, request);
}

void masked_write_answer(struct json_out *out, struct arena *arena, struct str request,
			 struct str answer)
{
	struct json_out ignored = json_out_in(arena);
	struct masking masking = {.out = &ignored, .arena = arena};

	if (!str_is_set(request) || request.n > 0)
		masking.hides_messages = !write_masked_body(&masking, request);
	masking.out = out;
	masking.message = STR_ABSENT;
	(void)write_masked_body(&masking, answer);
}
