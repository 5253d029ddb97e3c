#include "server/pull/carry.h"

#include "server/mask/strict.h"
#include "server/pull/pull_page.h"
#include "server/pull/pull_work.h"
#include "server/seed/json_text.h"

static bool renew_nothing(void *context)
{
	(void)context;
	return false;
}

static struct pull carry_pull(const struct carry *carry)
{
	return (struct pull){.from = carry->from,
			     .target = carry->to,
			     .region = carry->to.region,
			     .mask = carry->mask,
			     .renew = renew_nothing,
			     .sample = 1};
}

/* The names of the source's tables, by ListTables. */
static enum code carry_list(struct pull *pull, struct arena *arena, struct err *err)
{
	struct str last = STR_ABSENT, answer, name;

	do {
		struct str body =
			str_is_set(last)
				? str_printf(arena, "{\"ExclusiveStartTableName\":" STR_FMT "}",
					     STR_ARG(last))
				: STR("{}");
		enum code code =
			pull_ask(pull, arena, STR("tables"), "ListTables", body, &answer, err);

		if (code != OK)
			return code;
		struct str rest = json_text_inside(json_text_find(answer, STR("TableNames")));
		while (json_text_element(&rest, &name)) {
			pull->tables = arena_room(arena, pull->tables, pull->table_count,
						  sizeof(*pull->tables));
			pull->tables[pull->table_count++] =
				(struct pull_table){.name = json_text_unquoted(arena, name)};
		}
		last = json_text_find(answer, STR("LastEvaluatedTableName"));
	} while (str_is_set(last));
	return OK;
}

static enum code carry_describe(struct pull *pull, struct arena *arena, struct err *err)
{
	enum code code = carry_list(pull, arena, err);

	for (size_t i = 0; code == OK && i < pull->table_count; i++)
		code = pull_work_describe(pull, arena, &pull->tables[i], err);
	return code;
}

typedef enum code carry_page(void *context, const struct pull_table *table, struct arena *arena,
			     struct str items, struct err *err);

/* One page from *key on; *key: where the next one begins, absent behind the last. */
static enum code carry_next_page(const struct pull *pull, const struct pull_table *table,
				 struct arena *arena, carry_page *each, void *context,
				 struct str *key, struct err *err)
{
	struct str answer, start = STR("");

	if (str_is_set(*key))
		start = str_printf(arena, ",\"ExclusiveStartKey\":" STR_FMT, STR_ARG(*key));
	enum code code = pull_ask(pull, arena, table->name, "Scan",
				  str_printf(arena, "{\"TableName\":\"" STR_FMT "\"" STR_FMT "}",
					     STR_ARG(table->name), STR_ARG(start)),
				  &answer, err);
	if (code != OK)
		return code;
	*key = json_text_find(answer, STR("LastEvaluatedKey"));
	return each(context, table, arena, json_text_find(answer, STR("Items")), err);
}

/* Calls with each page of a table's items. The arena is of one page. */
static enum code carry_scan(const struct pull *pull, const struct pull_table *table,
			    struct arena *arena, carry_page *each, void *context, struct err *err)
{
	struct arena *keys = arena_new(0);
	struct str key = STR_ABSENT;
	enum code code;

	do {
		code = carry_next_page(pull, table, arena, each, context, &key, err);
		if (code != OK)
			break;
		arena_reset(keys);
		if (str_is_set(key))
			key = str_copy(keys, key);
		arena_reset(arena);
	} while (str_is_set(key));
	arena_free(keys);
	return code;
}

static enum code carry_all(const struct pull *pull, carry_page *each, void *context,
			   struct err *err)
{
	struct arena *arena = arena_new(0);
	struct err own = err_in(arena);
	enum code code = OK;

	for (size_t i = 0; code == OK && i < pull->table_count; i++)
		code = carry_scan(pull, &pull->tables[i], arena, each, context, &own);
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(arena);
	return code;
}

struct checking {
	struct mask *mask;
	struct strict *strict;
};

static enum code check_page(void *context, const struct pull_table *table, struct arena *arena,
			    struct str items, struct err *err)
{
	const struct checking *checking = context;
	const struct json *keys = json_text_get(table->description, "KeySchema", JSON_ARRAY);
	struct str rest = json_text_inside(items), item, masked;

	while (json_text_element(&rest, &item)) {
		enum code code = strict_item(checking->strict, checking->mask, arena, table->name,
					     keys, item, &masked, err);

		if (code != OK)
			return code;
	}
	return OK;
}

static enum code carry_check_all(struct pull *pull, struct checking *checking, struct err *err)
{
	enum code code = carry_describe(pull, err->arena, err);

	if (code != OK)
		return code;
	code = carry_all(pull, check_page, checking, err);
	if (code != OK)
		return code;
	return strict_check(checking->mask, err);
}

enum code carry_check(const struct carry *carry, struct err *err)
{
	struct pull pull = carry_pull(carry);
	struct checking checking = {carry->mask, strict_new()};
	enum code code = carry_check_all(&pull, &checking, err);

	strict_free(checking.strict);
	return code;
}

struct writing {
	const struct pull *pull;
	uint64_t *n; /* items of the table under way */
};

static enum code write_page(void *context, const struct pull_table *table, struct arena *arena,
			    struct str items, struct err *err)
{
	const struct writing *writing = context;
	struct pull_page page = {.pull = writing->pull, .table = table, .arena = arena};
	struct str rest = json_text_inside(items), item;

	while (json_text_element(&rest, &item)) {
		enum code code = pull_page_add(&page, item, err);

		if (code != OK)
			return code;
	}
	*writing->n += page.n;
	return pull_page_end(&page, err);
}

static enum code carry_table(const struct pull *pull, struct pull_table *table, struct arena *arena,
			     struct err *err)
{
	struct writing writing = {pull, &table->read};
	enum code code = pull_work_prepare(pull, table, err);

	if (code != OK)
		return code;
	code = carry_scan(pull, table, arena, write_page, &writing, err);
	if (code != OK)
		return code;
	return pull_work_check(pull, table, err);
}

enum code carry_write(const struct carry *carry, struct carry_counts *counts, struct err *err)
{
	struct pull pull = carry_pull(carry);
	enum code code = carry_describe(&pull, err->arena, err);

	for (size_t i = 0; code == OK && i < pull.table_count; i++) {
		struct arena *arena = arena_new(0), *own = arena_new(0);
		struct err failed = err_in(own);

		code = carry_table(&pull, &pull.tables[i], arena, &failed);
		if (code != OK)
			err_copy(err, code, failed.message);
		counts->tables++;
		counts->items += pull.tables[i].read;
		arena_free(own);
		arena_free(arena);
	}
	return code;
}
