/*
 * The storage room against a naive model: random puts, updates, deletes and transactions on a table
 * with a global and a local index, in memory and on disk; after every round the table, its indexes
 * and its counters must be what the model says, also after reopening.
 */
#include <unistd.h>

#include "core/image.h"
#include "core/number.h"
#include "storage/catalog/catalog_size.h"
#include "storage/item_key.h"
#include "storage/read.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/trace/trace_store.h"
#include "storage/write/write.h"
#include "tests/unit/storage/scan_index.h"
#include "tests/unit/test.h"

#define PARTITIONS 8
#define SORTS 12
#define GROUPS 4
#define ROUNDS 12
#define OPERATIONS 250

struct slot {
	bool exists;
	int group; /* -1: the item lacks the index's attribute */
	int value;
};

static struct slot model[PARTITIONS][SORTS];
static struct arena *arena;
static unsigned long long seed = 42;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static struct value text(const char *format, int i)
{
	char buffer[32];

	snprintf(buffer, sizeof(buffer), "%s%d", format, i);
	return value_of_str(TYPE_S, str_copy(arena, str_of(buffer)));
}

static struct value number(int i)
{
	char *bytes = arena_bytes(arena, NUMBER_MAX);

	return value_of_str(TYPE_N, (struct str){bytes, number_from_int(i, bytes)});
}

/* {g, pk, sk, v}: in byte order. */
static const struct value *make_item(int p, int s, int group, int value)
{
	struct member *members = ARENA_ARRAY(arena, struct member, 4);
	struct value *item = ARENA_NEW(arena, struct value);
	uint32_t n = 0;

	if (group >= 0)
		members[n++] = (struct member){STR("g"), text("g", group)};
	members[n++] = (struct member){STR("pk"), text("p", p)};
	members[n++] = (struct member){STR("sk"), number(s)};
	if (value >= 0)
		members[n++] = (struct member){STR("v"), number(value)};
	*item = (struct value){.type = TYPE_M, .n = n, .members = members};
	return item;
}

static struct table *make_table(void)
{
	struct table *table = table_new(NULL);
	struct key_attribute pk = {STR("pk"), TYPE_S}, sk = {STR("sk"), TYPE_N},
			     g = {STR("g"), TYPE_S}, v = {STR("v"), TYPE_N};

	table->identity.name = STR("model");
	table->keys = (struct key_schema){1, 1, {pk, sk}};
	table->indexes.v = ARENA_ARRAY(table->arena, struct index, 2);
	table->indexes.n = 2;
	table->indexes.v[0] = (struct index){.name = STR("local"),
					     .is_local = true,
					     .keys = {1, 1, {pk, v}},
					     .projection = PROJECT_KEYS_ONLY};
	table->indexes.v[1] = (struct index){
		.name = STR("global"), .keys = {1, 1, {g, v}}, .projection = PROJECT_ALL};
	return table;
}

static struct expr_env environment(void)
{
	struct expr_value *values = ARENA_ARRAY(arena, struct expr_value, 1);

	values[0] = (struct expr_value){STR(":one"), number(1), false};
	return (struct expr_env){
		.arena = arena, .name_count = 0, .names = NULL, .value_count = 1, .values = values};
}

static void fill_write(struct write *write, struct table *table, int p, int s, struct slot *after)
{
	struct slot *slot = &model[p][s];
	struct err err = err_in(arena);
	struct expr_env env = environment();
	struct update *update;

	*write = (struct write){.table = table, .key = make_item(p, s, -1, -1)};
	*after = *slot;
	switch (draw(4)) {
	case 0:
		write->kind = WRITE_DELETE;
		after->exists = false;
		break;
	case 1:
		write->kind = WRITE_UPDATE;
		CHECK(expr_parse_update(&env, STR("SET v = v + :one"), &update, &err) == OK);
		CHECK(expr_parse_condition(&env, EXPR_CONDITION, STR("attribute_exists(pk)"),
					   &write->condition, &err) == OK);
		write->update = update;
		after->value = slot->exists ? slot->value + 1 : slot->value;
		break;
	case 2:
		write->kind = WRITE_UPDATE;
		CHECK(expr_parse_update(&env, STR("REMOVE g"), &update, &err) == OK);
		CHECK(expr_parse_condition(&env, EXPR_CONDITION, STR("attribute_exists(g)"),
					   &write->condition, &err) == OK);
		write->update = update;
		after->group = slot->exists ? -1 : slot->group;
		break;
	default:
		*after = (struct slot){true, (int)draw(GROUPS + 1) - 1, (int)draw(1000)};
		write->kind = WRITE_PUT;
		write->item = make_item(p, s, after->group, after->value);
	}
}

/* Whether the condition of the write holds in the model. */
static bool holds(const struct write *write, const struct slot *slot)
{
	if (!write->condition)
		return true;
	return slot->exists &&
	       (write->condition->args[0]->path->steps[0].name.p[0] == 'p' || slot->group >= 0);
}

static void write_once(struct catalog *catalog, struct table *table)
{
	struct write writes[3];
	struct slot after[3];
	struct err err = err_in(arena);
	unsigned n = 1 + draw(3);
	int p[3], s = (int)draw(SORTS);
	bool all_hold = true;

	for (unsigned i = 0; i < n; i++) {
		p[i] = (int)((draw(PARTITIONS / 4) * 4 + i) % PARTITIONS);
		fill_write(&writes[i], table, p[i], s, &after[i]);
		for (unsigned k = 0; k < i; k++) {
			if (p[k] == p[i])
				n = i; /* a transaction names an item once */
		}
		if (i < n) {
			CHECK(write_prepare(arena, &writes[i], &err) == OK);
			all_hold = all_hold && holds(&writes[i], &model[p[i]][s]);
		}
	}
	enum code code = write_run(catalog, arena, writes, n,
				   n > 1 ? WRITE_TRANSACTION : WRITE_ALONE, NULL, 0, &err);
	CHECK_INT(code, all_hold ? OK
			: n > 1  ? ERR_TRANSACTION_CANCELED
				 : ERR_CONDITIONAL_CHECK_FAILED);
	for (unsigned i = 0; i < n && all_hold; i++)
		model[p[i]][s] = after[i];
}

struct found {
	size_t n;
	struct str last;
	bool in_order;
};

static void see(struct found *found, struct str image)
{
	struct value pk, sk, v, g;
	int64_t s = -1, value = -1;

	CHECK(image_get(arena, image, STR("pk"), &pk) && image_get(arena, image, STR("sk"), &sk) &&
	      image_get(arena, image, STR("v"), &v) && image_get(arena, image, STR("g"), &g));
	CHECK(number_to_int(value_str(&sk), &s) && pk.n == 2 && s >= 0 && s < SORTS);
	struct slot *slot = &model[pk.bytes[1] - '0'][s];
	CHECK(slot->exists);
	CHECK(number_to_int(value_str(&v), &value));
	CHECK_INT(value, slot->value);
	CHECK(value_is_set(&g) == (slot->group >= 0) || !value_is_set(&g));
	found->n++;
}

/* Reads all pages of a Scan or Query by Limit; returns how many items. */
static size_t read_all(struct catalog *catalog, struct table *table, const struct index *index,
		       const struct key_condition *keys, bool is_reverse)
{
	struct found found = {0};
	struct read_page page = {.table = table,
				 .index = index,
				 .keys = keys,
				 .limit = 1 + draw(20),
				 .is_reverse = is_reverse,
				 .select = READ_ALL_ATTRIBUTES,
				 .is_consistent = true};
	struct err err = err_in(arena);
	bool more = true;

	while (more) {
		CHECK_INT(read_page(catalog, arena, &page, &err), OK);
		for (size_t i = 0; i < page.found.count; i++)
			see(&found, page.found.rows[i].image);
		more = value_is_set(&page.found.last_key);
		if (more)
			CHECK_INT(read_start_key(arena, &page, &page.found.last_key,
						 &page.start_after, &err),
				  OK);
	}
	return found.n;
}

struct expected {
	size_t n, met;
	struct str *keys, *images;
};

static bool compare_row(void *context, struct str key, struct str image)
{
	struct expected *expected = context;
	bool is_found = false;

	for (size_t i = 0; i < expected->n && !is_found; i++)
		is_found = str_eq(expected->keys[i], key) && str_eq(expected->images[i], image);
	CHECK(is_found);
	expected->met++;
	return true;
}

/* Row by row: what each item of the model has in an index (NULL: the table), and nothing else. */
static void check_rows(struct catalog *catalog, struct table *table, const struct index *index)
{
	struct expected expected = {0, 0, ARENA_ARRAY(arena, struct str, PARTITIONS * SORTS),
				    ARENA_ARRAY(arena, struct str, PARTITIONS * SORTS)};
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct err err = err_in(arena);
	struct store_txn *txn;

	for (int i = 0; i < PARTITIONS * SORTS; i++) {
		const struct slot *slot = &model[i / SORTS][i % SORTS];
		const struct value *item =
			make_item(i / SORTS, i % SORTS, slot->group, slot->value);
		struct buf image = buf_in(arena);

		if (!slot->exists || (index && !index->is_local && slot->group < 0))
			continue;
		if (index && index->is_local) /* keys only: without g */
			item = make_item(i / SORTS, i % SORTS, -1, slot->value);
		image_encode(item, &image);
		expected.keys[expected.n] = item_key_of_row(arena, table, index, item);
		expected.images[expected.n++] = buf_str(&image);
	}
	CHECK(store_begin(catalog_store(catalog), STORE_READ, &txn, &err) == OK);
	CHECK((index ? scan_index(txn, table, index, compare_row, &expected, &err)
		     : scan_rows(txn, table_items(table), &all, compare_row, &expected, &err)) ==
	      OK);
	CHECK(store_commit(txn, &err) == OK);
	CHECK_INT(expected.met, expected.n);
}

static void check_all(struct catalog *catalog, struct table *table)
{
	size_t items = 0, grouped = 0;
	struct err err = err_in(arena);
	uint64_t count, bytes;

	for (int p = 0; p < PARTITIONS; p++) {
		for (int s = 0; s < SORTS; s++) {
			items += model[p][s].exists;
			grouped += model[p][s].exists && model[p][s].group >= 0;
		}
	}
	check_rows(catalog, table, NULL);
	check_rows(catalog, table, &table->indexes.v[0]);
	check_rows(catalog, table, &table->indexes.v[1]);
	CHECK_INT(read_all(catalog, table, NULL, NULL, false), items);
	CHECK_INT(read_all(catalog, table, &table->indexes.v[0], NULL, false), items);
	CHECK_INT(read_all(catalog, table, &table->indexes.v[1], NULL, false), grouped);
	CHECK_INT(catalog_size(catalog, table, NULL, &count, &bytes, &err), OK);
	CHECK_INT(count, items);
	CHECK_INT(catalog_size(catalog, table, &table->indexes.v[1], &count, &bytes, &err), OK);
	CHECK_INT(count, grouped);
	for (int p = 0; p < PARTITIONS; p++) {
		struct expr_value value = {STR(":p"), text("p", p), false};
		struct expr_env env = {.arena = arena,
				       .name_count = 0,
				       .names = NULL,
				       .value_count = 1,
				       .values = &value};
		struct key_condition keys;
		const struct node *node;
		size_t expected = 0;

		for (int s = 0; s < SORTS; s++)
			expected += model[p][s].exists;
		CHECK(expr_parse_condition(&env, EXPR_KEY_CONDITION, STR("pk = :p"), &node, &err) ==
		      OK);
		CHECK(key_condition_resolve(arena, table, NULL, node, &keys, &err) == OK);
		CHECK_INT(read_all(catalog, table, NULL, &keys, p % 2), expected);
	}
}

static void run_model(const char *path)
{
	struct sqlite_store_options options = {
		.path = path, .durability = DURABILITY_OFF, .readers = 1, .cache_bytes = 1 << 20};
	struct catalog_options catalog_options = {0};
	struct ns ns = {STR("000000000000"), STR("us-east-1")};
	struct store *store;
	struct catalog *catalog;
	struct table *table;
	struct err err = err_in(arena);

	memset(model, 0, sizeof(model));
	CHECK(sqlite_store_open(&options, &store, &err) == OK);
	CHECK(catalog_open(store, &catalog_options, &catalog, &err) == OK);
	CHECK(catalog_create(catalog, ns, make_table(), 1, &table, &err) == OK);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < OPERATIONS; i++)
			write_once(catalog, table);
		check_all(catalog, table);
		if (path) {
			table_unref(table);
			catalog_close(catalog);
			store_close(store);
			CHECK(sqlite_store_open(&options, &store, &err) == OK);
			CHECK(catalog_open(store, &catalog_options, &catalog, &err) == OK);
			CHECK(catalog_get(catalog, ns, STR("model"), 2, &table, &err) == OK);
			check_all(catalog, table);
		}
		arena_reset(arena);
		err = err_in(arena);
	}
	table_unref(table);
	catalog_close(catalog);
	store_close(store);
}

TEST(in_memory)
{
	run_model(NULL);
}

#ifndef __wasi__ /* which has no files */
TEST(on_disk_with_reopening)
{
	char path[] = "/tmp/dynalith-model-XXXXXX";
	char side[64];
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	run_model(path);
	unlink(path);
	snprintf(side, sizeof(side), "%s-wal", path);
	unlink(side);
	snprintf(side, sizeof(side), "%s-shm", path);
	unlink(side);
}
#endif

/* Any failing store call leaves the state before or after the write, never between. */
TEST(a_failing_call_changes_nothing)
{
	struct sqlite_store_options options = {.readers = 1, .cache_bytes = 1 << 20};
	struct catalog_options catalog_options = {0};
	struct ns ns = {STR("000000000000"), STR("us-east-1")};
	struct err err = err_in(arena);
	struct store *inner, *store;
	struct catalog *catalog;
	struct table *table;

	memset(model, 0, sizeof(model));
	CHECK(sqlite_store_open(&options, &inner, &err) == OK);
	store = trace_store_new(inner);
	CHECK(catalog_open(store, &catalog_options, &catalog, &err) == OK);
	CHECK(catalog_create(catalog, ns, make_table(), 1, &table, &err) == OK);
	for (uint64_t fail_at = 1; fail_at < 12; fail_at++) {
		struct write write = {.table = table,
				      .kind = WRITE_PUT,
				      .item = make_item(1, 1, 1, (int)fail_at)};

		CHECK(write_prepare(arena, &write, &err) == OK);
		trace_store_fail(store, fail_at, ERR_INTERNAL);
		enum code code = write_run(catalog, arena, &write, 1, WRITE_ALONE, NULL, 0, &err);
		trace_store_fail(store, 0, OK);
		if (code == OK)
			model[1][1] = (struct slot){true, 1, (int)fail_at};
		check_all(catalog, table);
	}
	CHECK(model[1][1].exists);
	table_unref(table);
	catalog_close(catalog);
	store_close(store);
}

/* A write that touches no attribute of an index writes nothing to it. */
TEST(untouched_indexes_are_not_written)
{
	struct sqlite_store_options options = {.readers = 1, .cache_bytes = 1 << 20};
	struct catalog_options catalog_options = {0};
	struct ns ns = {STR("000000000000"), STR("us-east-1")};
	struct err err = err_in(arena);
	struct store *inner, *store;
	struct catalog *catalog;
	struct table *table;

	CHECK(sqlite_store_open(&options, &inner, &err) == OK);
	store = trace_store_new(inner);
	CHECK(catalog_open(store, &catalog_options, &catalog, &err) == OK);
	CHECK(catalog_create(catalog, ns, make_table(), 1, &table, &err) == OK);
	for (int round = 0; round < 2; round++) {
		struct write write = {.table = table,
				      .kind = WRITE_PUT,
				      .item = make_item(1, 1, round == 0 ? 1 : -1, 5)};

		CHECK(write_prepare(arena, &write, &err) == OK);
		trace_store_reset(store);
		CHECK(write_run(catalog, arena, &write, 1, WRITE_ALONE, NULL, 0, &err) == OK);
	}
	/* the second put took the item out of the global index and left the local one alone */
	CHECK_INT(
		trace_store_count_in(store, TRACE_DEL, index_keyspace(table, &table->indexes.v[1])),
		1);
	CHECK_INT(
		trace_store_count_in(store, TRACE_PUT, index_keyspace(table, &table->indexes.v[1])),
		0);
	CHECK_INT(
		trace_store_count_in(store, TRACE_PUT, index_keyspace(table, &table->indexes.v[0])),
		0);
	CHECK_INT(trace_store_count_in(store, TRACE_PUT, table_items(table)), 1);
	table_unref(table);
	catalog_close(catalog);
	store_close(store);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(in_memory),
#ifndef __wasi__
		TEST_CASE(on_disk_with_reopening),
#endif
		TEST_CASE(a_failing_call_changes_nothing),
		TEST_CASE(untouched_indexes_are_not_written),
	};

	arena = arena_new(8 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
