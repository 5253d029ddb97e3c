/*
 * data_fixture - tables, items and expressions in few words, for the tests of the storage room
 * above the store.
 *
 * Values are written as text, the type first: "Sabc", "N-12", "Bxyz", "Z" (NULL). Lists of names
 * and values end with NULL.
 */
#ifndef DYNALITH_TEST_DATA_FIXTURE_H
#define DYNALITH_TEST_DATA_FIXTURE_H

#include <stdarg.h>

#include "core/image.h"
#include "core/number.h"
#include "storage/catalog/catalog.h"
#include "storage/catalog/mark_walk.h"
#include "storage/item_key.h"
#include "storage/read.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/trace/trace_store.h"
#include "storage/write/write.h"
#include "tests/unit/storage/scan_index.h"
#include "tests/unit/test.h"
#include "tests/unit/times_fixture.h"

#define DATA_NS ((struct ns){STR("000000000000"), STR("us-east-1")})

struct data {
	struct arena *arena;
	struct err err;
	struct store *store;     /* a tracing one, in memory */
	struct catalog *catalog;
	struct table *table;     /* of data_table, created */
};

static inline struct value data_value(struct data *data, const char *text)
{
	struct str rest = str_of(text + 1);
	size_t length = 0;

	if (text[0] == 'Z')
		return (struct value){.type = TYPE_NULL};
	if (text[0] != 'N')
		return value_of_str(text[0] == 'S' ? TYPE_S : TYPE_B, rest);
	char *bytes = arena_bytes(data->arena, NUMBER_MAX);
	CHECK(number_parse(rest, bytes, &length, &data->err) == OK);
	return value_of_str(TYPE_N, (struct str){bytes, length});
}

/* `type` and `n` letters x. */
static inline const char *data_long(struct data *data, char type, size_t n)
{
	char *text = arena_bytes(data->arena, n + 2);

	memset(text, 'x', n + 1);
	text[0] = type;
	text[n + 1] = '\0';
	return text;
}

static inline const struct value *data_vitem(struct data *data, va_list ap)
{
	struct member *members = ARENA_ARRAY(data->arena, struct member, 16);
	struct value *item = ARENA_NEW(data->arena, struct value);
	uint32_t n = 0;

	for (const char *name = va_arg(ap, const char *); name; name = va_arg(ap, const char *)) {
		members[n].name = str_of(name);
		members[n++].value = data_value(data, va_arg(ap, const char *));
	}
	value_sort_members(members, n, NULL);
	*item = (struct value){.type = TYPE_M, .n = n, .members = members};
	return item;
}

/* data_item(data, "pk", "Sa", "sk", "N1", NULL) */
static inline const struct value *data_item(struct data *data, ...)
{
	va_list ap;

	va_start(ap, data);
	const struct value *item = data_vitem(data, ap);
	va_end(ap);
	return item;
}

static inline struct str data_image(struct data *data, const struct value *item)
{
	struct buf buf = buf_in(data->arena);

	image_encode(item, &buf);
	return buf_str(&buf);
}

/* Whether an image is exactly the item. */
static inline bool data_is(struct data *data, struct str image, const struct value *item)
{
	return str_eq(image, data_image(data, item));
}

static inline struct expr_env data_env(struct data *data, va_list ap)
{
	const struct value *values = data_vitem(data, ap);
	struct expr_value *list = ARENA_ARRAY(data->arena, struct expr_value, values->n);

	for (uint32_t i = 0; i < values->n; i++)
		list[i] = (struct expr_value){values->members[i].name, values->members[i].value,
					      false};
	return (struct expr_env){.arena = data->arena,
				 .name_count = 0,
				 .names = NULL,
				 .value_count = values->n,
				 .values = list};
}

/* data_condition(data, EXPR_FILTER, "a = :a", ":a", "N1", NULL) */
static inline const struct node *data_condition(struct data *data, enum expr_kind kind,
						const char *text, ...)
{
	const struct node *node = NULL;
	va_list ap;

	va_start(ap, text);
	struct expr_env env = data_env(data, ap);
	va_end(ap);
	CHECK(expr_parse_condition(&env, kind, str_of(text), &node, &data->err) == OK);
	return node;
}

static inline const struct update *data_update(struct data *data, const char *text, ...)
{
	struct update *update = NULL;
	va_list ap;

	va_start(ap, text);
	struct expr_env env = data_env(data, ap);
	va_end(ap);
	CHECK(expr_parse_update(&env, str_of(text), &update, &data->err) == OK);
	return update;
}

static inline const struct projection *data_projection(struct data *data, const char *text)
{
	struct expr_env env = {.arena = data->arena,
			       .name_count = 0,
			       .names = NULL,
			       .value_count = 0,
			       .values = NULL};
	struct projection *projection = NULL;

	CHECK(expr_parse_projection(&env, str_of(text), &projection, &data->err) == OK);
	return projection;
}

/* pk S, sk N; local (pk, l N) keys only; all (g S, h S); some (g S) with a. */
static inline struct table *data_table(const char *name)
{
	struct table *table = table_new(NULL);
	struct key_attribute pk = {STR("pk"), TYPE_S}, sk = {STR("sk"), TYPE_N},
			     l = {STR("l"), TYPE_N}, g = {STR("g"), TYPE_S};
	struct key_attribute h = {STR("h"), TYPE_S};

	table->identity.name = str_copy(table->arena, str_of(name));
	table->keys = (struct key_schema){1, 1, {pk, sk}};
	table->indexes.n = 3;
	table->indexes.v = ARENA_ARRAY(table->arena, struct index, 4);
	table->indexes.v[0] = (struct index){.name = STR("local"),
					     .is_local = true,
					     .keys = {1, 1, {pk, l}},
					     .projection = PROJECT_KEYS_ONLY};
	table->indexes.v[1] = (struct index){
		.name = STR("all"), .keys = {1, 1, {g, h}}, .projection = PROJECT_ALL};
	table->indexes.v[2] = (struct index){
		.name = STR("some"), .keys = {1, 0, {g}}, .projection = PROJECT_INCLUDE};
	table->indexes.v[2].included_count = 1;
	table->indexes.v[2].included = ARENA_ARRAY(table->arena, struct str, 1);
	table->indexes.v[2].included[0] = STR("a");
	return table;
}

enum { LOCAL, ALL, SOME }; /* its indexes */

/* An empty store with a catalog of these options (NULL: the defaults), no table. */
static inline struct data data_open(const struct catalog_options *options)
{
	struct sqlite_store_options store_options = {.readers = 1, .cache_bytes = 1 << 20};
	struct catalog_options defaults = {0};
	struct data data = {.arena = arena_new(1 << 20)};
	struct store *inner;

	data.err = err_in(data.arena);
	CHECK(sqlite_store_open(&store_options, &inner, &data.err) == OK);
	data.store = trace_store_new(inner);
	CHECK(catalog_open(data.store, options ? options : &defaults, &data.catalog, &data.err) ==
	      OK);
	return data;
}

/* The same with the table of data_table. */
static inline struct data data_new(void)
{
	struct data data = data_open(NULL);

	CHECK(catalog_create(data.catalog, DATA_NS, data_table("data"), 1000, &data.table,
			     &data.err) == OK);
	return data;
}

/* The same in a store whose indexes have copies of the items only. */
static inline struct data data_new_copying(void)
{
	struct data data = data_open(NULL);

	trace_store_copy(data.store);
	CHECK(catalog_create(data.catalog, DATA_NS, data_table("data"), 1000, &data.table,
			     &data.err) == OK);
	CHECK(!data.table->indexes.v[ALL].is_by_reference);
	return data;
}

static inline void data_free(struct data *data)
{
	table_unref(data->table);
	catalog_close(data->catalog);
	store_close(data->store);
	arena_free(data->arena);
}

/* Prepares and runs one write; what it did stays in *write. */
static inline enum code data_write(struct data *data, struct write *write)
{
	if (!write->table)
		write->table = data->table;
	enum code code = write_prepare(data->arena, write, &data->err);

	return code != OK ? code
			  : write_run(data->catalog, data->arena, write, 1, WRITE_ALONE, NULL, 2000,
				      &data->err);
}

static inline enum code data_put(struct data *data, const struct value *item)
{
	struct write write = {.kind = WRITE_PUT, .item = item};

	return data_write(data, &write);
}

/* The image under a key; absent where there is none. */
static inline struct str data_get(struct data *data, const struct value *key)
{
	struct read_item item = {.table = data->table, .key = key, .mode = READ_CONSISTENT};

	CHECK(read_prepare(data->arena, &item, &data->err) == OK);
	CHECK(read_items(data->catalog, data->arena, &item, 1, &data->err) == OK);
	return item.image;
}

/* A snapshot like the table's with one more index: on z, with everything. */
static inline struct table *data_with_index(const struct table *table)
{
	struct table *next = table_clone(table);
	struct key_attribute z = {STR("z"), TYPE_S};
	struct index *indexes = ARENA_ARRAY(next->arena, struct index, next->indexes.n + 1);
	struct index *index = &indexes[next->indexes.n];

	memcpy(indexes, next->indexes.v, next->indexes.n * sizeof(*indexes));
	*index = (struct index){.name = STR("later"),
				.keys = {1, 0, {z}},
				.projection = PROJECT_ALL,
				.number = next->indexes.next++};
	next->indexes.v = indexes;
	next->indexes.n++;
	table_index_derive(next, index);
	return next;
}

/* Takes up the snapshot that is current now. */
static inline void data_take_current(struct data *data)
{
	table_unref(data->table);
	CHECK_INT(catalog_get(data->catalog, DATA_NS, STR("data"), 1, &data->table, &data->err),
		  OK);
}

struct data_rows {
	struct arena *arena;
	size_t n;
	struct str keys[64], images[64];
};

static inline bool data_add_row(void *context, struct str key, struct str value)
{
	struct data_rows *rows = context;

	rows->keys[rows->n] = str_copy(rows->arena, key);
	rows->images[rows->n++] = str_copy(rows->arena, value);
	return rows->n < 64;
}

/* Every row of the table's items or of an index as the store has it. */
static inline struct data_rows data_rows(struct data *data, const struct index *index)
{
	struct data_rows rows = {.arena = data->arena};
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	struct store_txn *txn;

	CHECK(store_begin(data->store, STORE_READ, &txn, &data->err) == OK);
	CHECK((index ? scan_index(txn, data->table, index, data_add_row, &rows, &data->err)
		     : scan_rows(txn, table_items(data->table), &range, data_add_row, &rows,
				 &data->err)) == OK);
	CHECK(store_commit(txn, &data->err) == OK);
	return rows;
}

static inline size_t data_list(struct catalog *catalog, struct ns ns, struct str after,
			       size_t limit, int64_t now_ms, struct arena *arena,
			       struct str **names, bool *more)
{
	struct name_page page;
	struct err err = err_in(arena);

	CHECK(catalog_list(catalog, ns, after, limit, now_ms, arena, &page, &err) == OK);
	*names = page.v;
	*more = page.is_more;
	return page.n;
}

static inline uint64_t data_count(struct catalog *catalog, struct ns ns, int64_t now_ms)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	uint64_t n = 0;

	CHECK(catalog_count(catalog, ns, now_ms, &n, &err) == OK);
	arena_free(arena);
	return n;
}

struct table_list {
	size_t n;
	struct table *v[64]; /* a reference each */
};

/* The tables of a kind of marks, each once: of the name (absent: of any). */
static inline struct table_list data_marked(struct catalog *catalog, enum mark_kind kind,
					    struct str name)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct mark_walk walk = mark_walk_begin(catalog, kind);
	struct table_list list = {0};
	const struct mark *mark;
	uint64_t last = 0;

	while (mark_walk_next(&walk, &mark, &err)) {
		if (mark->number == last || (str_is_set(name) && !str_eq(mark->name, name)))
			continue;
		last = mark->number;
		CHECK(catalog_marked(catalog, mark, &list.v[list.n], &err) == OK);
		list.n += list.v[list.n] != NULL;
	}
	CHECK(mark_walk_end(&walk) == OK);
	arena_free(arena);
	return list;
}

#endif
