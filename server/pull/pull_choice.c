#include "server/pull/pull_choice.h"

#include <string.h>

#include "core/buf.h"
#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

#define HASH_DIGITS 8 /* of the hash that chooses a partition */

static bool is_like_all(const struct pull *pull, struct arena *arena, struct str item)
{
	for (size_t i = 0; i < pull->only_count; i++) {
		if (!rule_condition_holds(arena, item, &pull->only[i]))
			return false;
	}
	return true;
}

static bool is_in_sample(const struct pull *pull, struct arena *arena, struct str key)
{
	struct str hash = fake_hash(pull->faker, arena, key);
	uint64_t number = 0;

	if (pull->sample >= 1)
		return true;
	for (size_t i = 0; i < HASH_DIGITS; i++)
		number = number * 16 +
			 (uint64_t)(hash.p[i] <= '9' ? hash.p[i] - '0' : hash.p[i] - 'a' + 10);
	return (double)number < pull->sample * 4294967296.0;
}

bool pull_choice_has(const struct pull *pull, const struct pull_table *table, struct arena *arena,
		     struct str item)
{
	struct str key;

	return is_like_all(pull, arena, item) &&
	       rule_text_of(arena, item, table->partition, &key) && is_in_sample(pull, arena, key);
}

bool pull_choice_partition(const struct pull *pull, const struct pull_table *table, struct str *key)
{
	for (size_t i = 0; i < pull->only_count; i++) {
		*key = pull->only[i].pattern;
		if (str_eq(pull->only[i].name, table->partition) && !memchr(key->p, '*', key->n))
			return true;
	}
	return false;
}

struct str pull_choice_condition(struct arena *arena, const struct pull_table *table,
				 struct str key)
{
	struct json_out value = json_out_in(arena), name = json_out_in(arena);

	json_out_string(&value, key);
	json_out_string(&name, table->partition);
	return str_printf(arena,
			  ",\"KeyConditionExpression\":\"#p = :p\",\"ExpressionAttributeNames\":"
			  "{\"#p\":" STR_FMT "},\"ExpressionAttributeValues\":{\":p\":{\"" STR_FMT
			  "\":" STR_FMT "}}",
			  STR_ARG(json_out_str(&name)), STR_ARG(table->type),
			  STR_ARG(json_out_str(&value)));
}

struct pull_table *pull_choice_table(const struct pull *pull, struct str name)
{
	for (size_t i = 0; i < pull->table_count; i++) {
		if (str_eq(pull->tables[i].name, name))
			return &pull->tables[i];
	}
	return NULL;
}

bool pull_choice_follow(const struct pull *pull, struct arena *arena, struct str item,
			const struct pull_follow *follow, struct pull_table **table,
			struct str *key)
{
	struct str text;
	struct buf whole = buf_in(arena);

	*table = pull_choice_table(pull, follow->table);
	if (!*table || !rule_text_of(arena, item, follow->attribute, &text))
		return false;
	*key = str_printf(arena, STR_FMT STR_FMT STR_FMT, STR_ARG(follow->before), STR_ARG(text),
			  STR_ARG(follow->behind));
	if (pull->only_count == 0 && is_in_sample(pull, arena, *key))
		return false;
	buf_add_str(&whole, follow->table);
	buf_add_byte(&whole, 0);
	buf_add_str(&whole, *key);
	return hashes_add(pull->followed, buf_str(&whole));
}
