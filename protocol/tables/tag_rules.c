#include "protocol/tables/tag_rules.h"

#include <strings.h>

#include "protocol/tables/arn.h"
#include "protocol/wire/messages.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

#define KEY_LENGTH_MAX                                                                             \
	128 /* characters. AWS: Developer Guide, "Tagging restrictions in DynamoDB" */
#define VALUE_LENGTH_MAX 256
#define SIZE_MAX_BYTES ((size_t)10240) /* of all keys and values */

/* The next character of valid UTF-8. */
static uint32_t next_character(struct str s, size_t *at)
{
	unsigned char first = (unsigned char)s.p[(*at)++];
	unsigned rest = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
	uint32_t c = rest == 0 ? first : first & (0x3Fu >> rest);

	for (; rest > 0 && *at < s.n; rest--)
		c = c << 6 | ((unsigned char)s.p[(*at)++] & 0x3F);
	return c;
}

/*
 * Letters, digits and spaces of any script, and + - = . _ : / @. Beyond ASCII the blocks of
 * punctuation, symbols and private use are refused. A character of another block that is no letter
 * passes here, unlike at AWS.
 */
static bool is_allowed(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} refused[] = {
		{0x80, 0x9F},     {0xA1, 0xA9},     {0xAB, 0xB1},       {0xB4, 0xB4},
		{0xB6, 0xB8},     {0xBB, 0xBB},     {0xBF, 0xBF},       {0xD7, 0xD7},
		{0xF7, 0xF7},     {0x2010, 0x2027}, {0x2030, 0x205E},   {0x20A0, 0x20CF},
		{0x2190, 0x245F}, {0x249C, 0x24E9}, {0x2500, 0x2775},   {0x2794, 0x2BFF},
		{0x2E00, 0x2E7F}, {0x3001, 0x3004}, {0x3008, 0x3020},   {0xE000, 0xF8FF},
		{0xFE00, 0xFE6F}, {0xFF01, 0xFF0F}, {0x1F000, 0x1FAFF}, {0xF0000, 0x10FFFF},
	};

	if (c < 0x80)
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		       (c && strchr(" +-=._:/@", (int)c));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (c >= refused[i].first && c <= refused[i].last)
			return false;
	}
	return true;
}

static bool is_valid(struct str s, size_t length_max)
{
	size_t length = 0;

	if (!str_is_set(s))
		return false;
	for (size_t at = 0; at < s.n; length++) {
		if (!is_allowed(next_character(s, &at)))
			return false;
	}
	return length <= length_max;
}

/* How messages show a missing value. */
static struct str shown(struct str s)
{
	return str_is_set(s) ? s : STR("null");
}

static bool is_reserved(struct str key)
{
	return key.n >= 4 && strncasecmp(key.p, "aws:", 4) == 0;
}

static enum code check_key(struct str key, struct err *err)
{
	if (key.n == 0 || !is_valid(key, KEY_LENGTH_MAX))
		return err_set(err, MSG_TAG_KEY, STR_ARG(shown(key)));
	return is_reserved(key) ? err_set(err, MSG_TAG_RESERVED, STR_ARG(key)) : OK;
}

enum code tag_rules_check(const struct tag_list *tags, struct err *err)
{
	if (tags->n > TAGS_MAX)
		return err_set(err, MSG_TAG_MANY);
	for (size_t i = 0; i < tags->n; i++) {
		enum code code = check_key(tags->v[i].key, err);

		if (code != OK)
			return code;
		if (!is_valid(tags->v[i].value, VALUE_LENGTH_MAX))
			return err_set(err, MSG_TAG_VALUE, STR_ARG(shown(tags->v[i].value)));
		for (size_t k = 0; k < i; k++) {
			if (str_eq(tags->v[k].key, tags->v[i].key))
				return err_set(err, MSG_TAG_TWICE, STR_ARG(tags->v[i].key));
		}
	}
	return OK;
}

enum code tag_rules_check_keys(const struct tag_key_list *keys, struct err *err)
{
	enum code code = OK;

	if (keys->n > TAGS_MAX)
		return err_set(err, MSG_TAG_MANY);
	for (size_t i = 0; i < keys->n && code == OK; i++)
		code = check_key(keys->v[i], err);
	return code;
}

enum code tag_rules_check_set(const struct tag_set *tags, struct err *err)
{
	size_t size = 0;

	if (tags->n > TAGS_MAX)
		return err_set(err, MSG_TAG_MANY);
	for (size_t i = 0; i < tags->n; i++)
		size += tags->v[i].key.n + tags->v[i].value.n;
	return size <= SIZE_MAX_BYTES ? OK : err_set(err, MSG_TAG_SIZE, size, SIZE_MAX_BYTES);
}

/* Which part of the ARN is wrong decides the error. `part` is the part behind the table's name. */
static enum code read_tag_arn(struct str arn, struct arn *parts, struct str *name, struct str *part,
			      struct err *err)
{
	if (!str_is_set(arn))
		return err_set(err, MSG_TAG_ARN_MISSING);
	if (!str_starts_with(arn, STR("arn:")))
		return err_set(err, MSG_TAG_ARN_PREFIX, STR_ARG(arn));
	*parts = arn_split(arn);
	if (!str_starts_with(parts->partition, STR("aws")) ||
	    !str_eq(parts->service, STR("dynamodb")))
		return err_set(err, MSG_DENIED);
	if (!str_starts_with(parts->resource, STR("table/")))
		return err_set(err, MSG_TAG_ARN_KIND, STR_ARG(arn));
	*part = arn_table_part(parts->resource, name);
	if (str_starts_with(*part, STR("index/")))
		return err_set(err, MSG_TAG_ARN_PART, STR_ARG(arn));
	if (part->n > 0 && !str_starts_with(*part, STR("stream/")))
		return err_set(err, MSG_TAG_ARN_KIND, STR_ARG(arn));
	return call_is_name(*name) ? OK : err_set(err, MSG_TAG_ARN, STR_ARG(arn));
}

static bool find_tagged_stream(const struct call *call, struct str label, struct tagged *tagged)
{
	const struct table *table = tagged->table;

	for (size_t i = 0; i < table->streams.n; i++) {
		if (str_eq(table->streams.v[i].label, label) &&
		    !stream_is_gone(&table->streams.v[i], call->now_ms)) {
			tagged->stream = i;
			return true;
		}
	}
	return false;
}

static enum code find_tagged(struct call *call, struct str arn, bool is_change, struct tagged *out,
			     struct err *err)
{
	struct str name, part;
	struct arn parts;
	enum code code = read_tag_arn(arn, &parts, &name, &part, err);

	if (code != OK)
		return code;
	if (!call_owns(call, parts.account, call->ns.region))
		return err_set(err, MSG_DENIED);
	if (!call_owns(call, parts.account, parts.region))
		return err_set(err, MSG_TAG_ARN, STR_ARG(arn));
	code = call_table(call, name, ABSENT_TABLE, &out->table, err);
	if (code != OK && code != ERR_RESOURCE_NOT_FOUND)
		return code;
	out->is_stream = part.n > 0;
	if (code != OK || !timing_tags_know(call, out->table, is_change) ||
	    (out->is_stream &&
	     !find_tagged_stream(call, (struct str){part.p + 7, part.n - 7}, out)))
		return err_set(err, MSG_TAG_ARN_ABSENT, STR_ARG(arn));
	return OK;
}

enum code tag_rules_find(struct call *call, struct str arn, bool is_change, struct tagged *out,
			 struct err *err)
{
	struct tagged tagged = {.table = NULL};
	enum code code = find_tagged(call, arn, is_change, &tagged, err);

	return RESULT(code, out, tagged);
}

struct tag_set *tag_rules_of(const struct tagged *tagged, struct table *table)
{
	return tagged->is_stream ? &table->streams.v[tagged->stream].settings->tags
				 : &table->settings->tags;
}
