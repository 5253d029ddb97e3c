#include <pthread.h>

#include "storage/upkeep/backfill.h"
#include "storage/upkeep/stream_sweep.h"
#include "storage/upkeep/ttl.h"
#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/mark_walk.h"
#include "storage/schema/currency.h"
#include "tests/unit/storage/data_fixture.h"
#include "tests/unit/storage/store_fixture.h"

static const struct ns other_ns = {STR_INIT("111111111111"), STR_INIT("us-east-1")};

/* Creates an empty table of data_table's shape and drops the reference. */
static enum code create(struct data *d, struct ns ns, const char *name, int64_t now_ms)
{
	struct table *table;
	enum code code = catalog_create(d->catalog, ns, data_table(name), now_ms, &table, &d->err);

	if (code == OK)
		table_unref(table);
	return code;
}

static enum code look_up(struct data *d, struct ns ns, const char *name, int64_t now_ms,
			 enum table_status *status)
{
	struct table *table;
	enum code code = catalog_get(d->catalog, ns, str_of(name), now_ms, &table, &d->err);

	if (code == OK) {
		*status = table->state.status;
		table_unref(table);
	}
	return code;
}

static void reopen_catalog(struct data *d, const struct catalog_options *options)
{
	catalog_close(d->catalog);
	CHECK_INT(catalog_open(d->store, options, &d->catalog, &d->err), OK);
}

TEST(a_table_is_created_once)
{
	struct data d = data_new();
	enum table_status status = STATUS_DELETING;

	CHECK_INT(d.table->state.status, STATUS_ACTIVE);
	CHECK_INT(d.table->identity.created_ms, 1000);
	CHECK_INT(d.table->identity.id.n, 36);
	CHECK_INT(d.table->identity.id.p[14], '4');
	CHECK_INT(create(&d, DATA_NS, "data", 2000), ERR_RESOURCE_IN_USE);
	CHECK_INT(create(&d, DATA_NS, "other", 2000), OK);
	CHECK_INT(look_up(&d, DATA_NS, "data", 2000, &status), OK);
	CHECK_INT(status, STATUS_ACTIVE);
	CHECK_INT(look_up(&d, DATA_NS, "absent", 2000, &status), ERR_RESOURCE_NOT_FOUND);
	CHECK_STR(d.err.message, "Requested resource not found");
	data_free(&d);
}

TEST(names_belong_to_a_namespace)
{
	struct catalog_options shared = {.is_shared = true};
	struct data d = data_new();
	enum table_status status;
	struct ns where;

	CHECK_INT(look_up(&d, other_ns, "data", 1, &status), ERR_RESOURCE_NOT_FOUND);
	CHECK(catalog_elsewhere(d.catalog, other_ns, STR("data"), d.arena, &where));
	CHECK_STR(where.account, "000000000000");
	CHECK(!catalog_elsewhere(d.catalog, DATA_NS, STR("data"), d.arena, &where));
	CHECK_INT(create(&d, other_ns, "data", 1), OK);
	CHECK_INT(data_count(d.catalog, DATA_NS, 1), 1);
	CHECK_INT(data_count(d.catalog, other_ns, 1), 1);
	data_free(&d);
	d = data_open(&shared);
	CHECK_INT(create(&d, other_ns, "data", 1), OK);
	CHECK_INT(look_up(&d, DATA_NS, "data", 1, &status), OK);
	CHECK_INT(create(&d, DATA_NS, "data", 1), ERR_RESOURCE_IN_USE);
	data_free(&d);
}

TEST(names_are_listed_in_byte_order_by_pages)
{
	struct data d = data_open(NULL);
	struct str *names;
	bool more;

	CHECK_INT(create(&d, DATA_NS, "b", 1), OK);
	CHECK_INT(create(&d, DATA_NS, "a.2", 1), OK);
	CHECK_INT(create(&d, DATA_NS, "B", 1), OK);
	CHECK_INT(create(&d, other_ns, "a.1", 1), OK);
	CHECK_INT(data_list(d.catalog, DATA_NS, STR_ABSENT, 2, 1, d.arena, &names, &more), 2);
	CHECK_STR(names[0], "B");
	CHECK_STR(names[1], "a.2");
	CHECK(more);
	CHECK_INT(data_list(d.catalog, DATA_NS, STR("a.2"), 2, 1, d.arena, &names, &more), 1);
	CHECK_STR(names[0], "b");
	CHECK(!more);
	/* a name that is not there is a place between others */
	CHECK_INT(data_list(d.catalog, DATA_NS, STR("a.3"), 9, 1, d.arena, &names, &more), 1);
	CHECK_INT(data_list(d.catalog, DATA_NS, STR_ABSENT, 3, 1, d.arena, &names, &more), 3);
	CHECK(!more);
	data_free(&d);
}

TEST(tables_are_there_again_after_a_restart)
{
	struct catalog_options options = {0};
	struct data d = data_new();
	const struct value *item =
		data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", NULL);
	uint64_t number = d.table->identity.number, items, bytes;

	CHECK_INT(data_put(&d, item), OK);
	table_unref(d.table);
	reopen_catalog(&d, &options);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 1, &d.table, &d.err), OK);
	CHECK_INT(d.table->identity.number, number);
	CHECK(data_is(&d, data_get(&d, data_item(&d, "pk", "Sa", "sk", "N1", NULL)), item));
	CHECK_INT(catalog_size(d.catalog, d.table, NULL, &items, &bytes, &d.err), OK);
	CHECK_INT(items, 1);
	CHECK_INT(bytes, 3 + 4 + 2 + 2);
	CHECK_INT(
		catalog_size(d.catalog, d.table, &d.table->indexes.v[ALL], &items, &bytes, &d.err),
		OK);
	CHECK_INT(items, 1);
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.v[LOCAL], &items, &bytes,
			       &d.err),
		  OK);
	CHECK_INT(items, 0);
	data_free(&d);
}

TEST(table_numbers_are_never_used_twice)
{
	struct catalog_options options = {0};
	struct data d = data_new();
	uint64_t number = d.table->identity.number;

	CHECK_INT(catalog_delete(d.catalog, d.table, 1, &d.err), OK);
	table_unref(d.table);
	reopen_catalog(&d, &options);
	CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("data"), 1, &d.table, &d.err), OK);
	CHECK(d.table->identity.number > number);
	CHECK(!str_is_set(data_get(&d, data_item(&d, "pk", "Sa", "sk", "N1", NULL))));
	data_free(&d);
}

TEST(transient_statuses_end_in_time)
{
	struct catalog_options options = {.transient_status_ms = 100};
	struct data d = data_open(&options);
	enum table_status status = STATUS_ACTIVE;
	struct table *table;
	struct str *names;
	bool more;

	CHECK_INT(create(&d, DATA_NS, "t", 1000), OK);
	CHECK_INT(look_up(&d, DATA_NS, "t", 1099, &status), OK);
	CHECK_INT(status, STATUS_CREATING);
	reopen_catalog(&d, &options);
	CHECK_INT(look_up(&d, DATA_NS, "t", 1099, &status), OK);
	CHECK_INT(status, STATUS_CREATING);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("t"), 1100, &table, &d.err), OK);
	CHECK_INT(table->state.status, STATUS_ACTIVE);
	CHECK_INT(table->indexes.v[ALL].status, STATUS_ACTIVE);
	CHECK_INT(catalog_delete(d.catalog, table, 2000, &d.err), OK);
	table_unref(table);
	CHECK_INT(look_up(&d, DATA_NS, "t", 2099, &status), OK);
	CHECK_INT(status, STATUS_DELETING);
	reopen_catalog(&d, &options);
	CHECK_INT(look_up(&d, DATA_NS, "t", 2099, &status), OK);
	CHECK_INT(status, STATUS_DELETING);
	CHECK_INT(create(&d, DATA_NS, "t", 2099), ERR_RESOURCE_IN_USE);
	CHECK_INT(data_list(d.catalog, DATA_NS, STR_ABSENT, 9, 2099, d.arena, &names, &more), 1);
	/* listing alone sees the end of it */
	CHECK_INT(data_list(d.catalog, DATA_NS, STR_ABSENT, 9, 2100, d.arena, &names, &more), 0);
	CHECK_INT(data_count(d.catalog, DATA_NS, 2100), 0);
	CHECK_INT(look_up(&d, DATA_NS, "t", 2100, &status), ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(create(&d, DATA_NS, "t", 2100), OK);
	CHECK_INT(data_list(d.catalog, DATA_NS, STR_ABSENT, 9, 2100, d.arena, &names, &more), 1);
	data_free(&d);
}

/* The upkeep removes the rest of a deleted table, but never a new one of its name. */
static struct table *find_work(struct data *d, int64_t at_ms, int64_t *wait_ms)
{
	struct mark_walk walk = mark_walk_begin(d->catalog, MARK_WORK);
	struct table *table = NULL;
	const struct mark *mark;

	*wait_ms = INT64_MAX;
	while (mark_walk_next(&walk, &mark, &d->err)) {
		if (mark->ms > at_ms)
			*wait_ms = mark->ms - at_ms;
		else
			CHECK_INT(catalog_marked(d->catalog, mark, &table, &d->err), OK);
	}
	CHECK_INT(mark_walk_end(&walk), OK);
	return table;
}

TEST(a_deleted_table_is_buried)
{
	struct catalog_options options = {.transient_status_ms = 100};
	struct data d = data_open(&options);
	struct table *table, *deleting;
	uint64_t items, bytes;
	int64_t wait_ms;

	CHECK_INT(create(&d, DATA_NS, "t", 1000), OK);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("t"), 1100, &table, &d.err), OK);
	CHECK_INT(catalog_delete(d.catalog, table, 2000, &d.err), OK);
	table_unref(table);
	CHECK(!find_work(&d, 2099, &wait_ms));
	CHECK_INT(wait_ms, 1);
	reopen_catalog(&d, &options);
	deleting = find_work(&d, 2100, &wait_ms);
	CHECK(deleting != NULL);
	/* its rows are gone, but it can be described */
	CHECK_INT(catalog_size(d.catalog, deleting, NULL, &items, &bytes, &d.err), OK);
	CHECK_INT(items, 0);
	CHECK_INT(create(&d, DATA_NS, "t", 2100), OK);
	CHECK_INT(catalog_bury(d.catalog, deleting, &d.err), OK);
	table_unref(deleting);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("t"), 2300, &table, &d.err), OK);
	CHECK_INT(catalog_delete(d.catalog, table, 3000, &d.err), OK);
	table_unref(table);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(3100), &wait_ms, &d.err), OK);
	CHECK(!find_work(&d, 3100, &wait_ms));
	CHECK_INT(wait_ms, INT64_MAX);
	reopen_catalog(&d, &options);
	CHECK_INT(data_count(d.catalog, DATA_NS, 3000), 0);
	data_free(&d);
}

TEST(a_deleted_table_is_gone_for_those_that_hold_it)
{
	struct data d = data_new();
	enum table_status status;

	CHECK_INT(catalog_delete(d.catalog, d.table, 1, &d.err), OK);
	CHECK_INT(look_up(&d, DATA_NS, "data", 1, &status), ERR_RESOURCE_NOT_FOUND);
	/* they look it up again */
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", NULL)), ERR_TABLE_MOVED);
	CHECK_INT(catalog_delete(d.catalog, d.table, 1, &d.err), ERR_TABLE_MOVED);
	data_free(&d);
}

TEST(a_new_index_is_filled_with_what_fits)
{
	struct data d = data_new();
	uint64_t items, bytes;

	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "z", "Sz", NULL)), OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", NULL)), OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N3", "z", "N1", NULL)), OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N4", "z", "S", NULL)), OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N5", "z", data_long(&d, 'S', 2049),
					 NULL)),
		  OK);
	CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.v[3].status, STATUS_CREATING);
	CHECK(d.table->indexes.v[3].is_backfilling);
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 2, 1, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.n, 4);
	CHECK_INT(d.table->indexes.v[3].status, STATUS_ACTIVE);
	CHECK(!d.table->indexes.v[3].is_backfilling);
	CHECK_INT(data_rows(&d, &d.table->indexes.v[3]).n, 1);
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.v[3], &items, &bytes, &d.err),
		  OK);
	CHECK_INT(items, 1);
	/* items that never were in it do not leave it */
	for (int i = 3; i <= 5; i++) {
		const char *sk = str_printf(d.arena, "N%d", i).p;
		struct write write = {.kind = WRITE_DELETE,
				      .key = data_item(&d, "pk", "Sa", "sk", sk, NULL)};

		CHECK_INT(data_write(&d, &write), OK);
		CHECK(!write.cost.index_is_touched[3]);
	}
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.v[3], &items, &bytes, &d.err),
		  OK);
	CHECK_INT(items, 1);
	data_free(&d);
}

TEST(a_dropped_index_is_gone_and_its_number_not_used_again)
{
	struct data d = data_new();
	struct table *next;

	CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.v[3].number, 3);
	next = table_clone(d.table);
	next->indexes.n--;
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.v[3].number, 4);
	data_free(&d);
}

TEST(writers_with_an_old_snapshot_come_again)
{
	struct data d = data_new();
	const struct value *item = data_item(&d, "pk", "Sa", "sk", "N1", "z", "Sz", NULL);
	struct table *old = table_ref(d.table);

	CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
	CHECK_INT(data_put(&d, item), ERR_TABLE_MOVED);
	/* a late change of the old snapshot is refused and lets no writer through */
	CHECK_INT(catalog_replace(d.catalog, old, table_clone(old), &d.err), ERR_TABLE_MOVED);
	CHECK_INT(data_put(&d, item), ERR_TABLE_MOVED);
	data_take_current(&d);
	CHECK_INT(data_put(&d, item), OK);
	CHECK_INT(data_rows(&d, &d.table->indexes.v[3]).n, 1);
	table_unref(old);
	data_free(&d);
}

TEST(writers_go_on_where_a_change_is_not_theirs)
{
	struct data d = data_new();
	const struct value *item = data_item(&d, "pk", "Sa", "sk", "N1", "z", "Sz", NULL);
	struct table *first = table_ref(d.table), *second;

	for (int i = 0; i < 2; i++) {
		struct table *next = table_clone(d.table);

		next->ttl.settles_ms = i;
		CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
		CHECK_INT(data_put(&d, item), OK);
		second = table_ref(d.table);
		data_take_current(&d);
		CHECK(d.table != second);
		table_unref(second);
	}
	/* but one that is theirs turns all away that do not know it, also when its commit fails at
	 * first */
	for (uint64_t n = 1; n < 50; n++) {
		trace_store_fail(d.store, n, ERR_INTERNAL);
		enum code code =
			catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err);
		trace_store_fail(d.store, 0, OK);
		struct write write = {.table = first, .kind = WRITE_PUT, .item = item};
		CHECK_INT(data_write(&d, &write), code == OK ? ERR_TABLE_MOVED : OK);
		if (code == OK)
			break;
	}
	CHECK_INT(data_put(&d, item), ERR_TABLE_MOVED);
	data_take_current(&d);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", "z", "Sz", NULL)), OK);
	CHECK_INT(data_rows(&d, &d.table->indexes.v[3]).n, 1);
	table_unref(first);
	data_free(&d);
}

TEST(a_change_that_fails_leaves_the_table_usable)
{
	struct data d = data_new();

	for (uint64_t n = 1; n < 12; n++) {
		trace_store_fail(d.store, n, n % 2 ? ERR_INTERNAL : ERR_CONFLICT);
		enum code code =
			catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err);
		trace_store_fail(d.store, 0, OK);
		if (code == OK)
			break;
		CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "z", "Sz", NULL)), OK);
		CHECK(n < 11);
	}
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 2, 1, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.n, 4);
	CHECK_INT(data_rows(&d, &d.table->indexes.v[3]).n, 1);
	data_free(&d);
}

TEST(a_deletion_that_fails_leaves_the_table_usable)
{
	struct data d = data_new();
	enum code code = ERR_INTERNAL;

	for (uint64_t n = 1; code != OK && n < 60; n++) {
		CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk",
						 str_printf(d.arena, "N%d", (int)n).p, NULL)),
			  OK);
		trace_store_fail(d.store, n, n % 2 ? ERR_INTERNAL : ERR_CONFLICT);
		code = catalog_delete(d.catalog, d.table, 1, &d.err);
		trace_store_fail(d.store, 0, OK);
		CHECK_INT(data_count(d.catalog, DATA_NS, 1), code != OK);
	}
	CHECK_INT(code, OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", NULL)), ERR_TABLE_MOVED);
	data_free(&d);
}

TEST(a_creation_that_fails_leaves_nothing)
{
	struct data d = data_open(NULL);
	enum code code = ERR_INTERNAL;

	for (uint64_t n = 1; code != OK && n < 60; n++) {
		trace_store_fail(d.store, n, ERR_INTERNAL);
		code = create(&d, DATA_NS, "t", 1);
		trace_store_fail(d.store, 0, OK);
		CHECK_INT(data_count(d.catalog, DATA_NS, 1), code == OK);
	}
	CHECK_INT(code, OK);
	data_free(&d);
}

struct racer {
	struct catalog *catalog;
	int won;
};

static void *race(void *context)
{
	struct racer *racer = context;
	struct arena *arena = arena_new(0);

	for (int i = 0; i < 40; i++) {
		struct err err = err_in(arena);
		struct table *table;
		struct str name = str_printf(arena, "t%d", i);

		if (catalog_create(racer->catalog, DATA_NS, data_table(name.p), 1, &table, &err) ==
		    OK) {
			racer->won++;
			table_unref(table);
		} else {
			CHECK_INT(err.code, ERR_RESOURCE_IN_USE);
		}
		if (catalog_get(racer->catalog, DATA_NS, name, 1, &table, &err) == OK)
			table_unref(table);
	}
	arena_free(arena);
	return NULL;
}

TEST(of_two_creations_one_wins)
{
	struct data d = data_open(NULL);
	struct racer racers[3] = {{d.catalog, 0}, {d.catalog, 0}, {d.catalog, 0}};
	pthread_t threads[3];
	int won = 0;

	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, race, &racers[i]) == 0);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		won += racers[i].won;
	}
	CHECK_INT(won, 40);
	CHECK_INT(data_count(d.catalog, DATA_NS, 1), 40);
	data_free(&d);
}

/* 0.1.0 made files without the rows of versions, and writes no row for a table that it makes in a
 * newer file. */
TEST(a_file_without_versions_gets_them)
{
	for (int is_whole = 0; is_whole < 2; is_whole++) {
		struct fixture fixture = fixture_new(false);
		struct catalog_options options = {0};
		struct data d = {.arena = arena_new(1 << 20)};
		struct store_txn *txn;

		d.err = err_in(d.arena);
		for (int round = 0; round < 2; round++) {
			d.store = fixture_open(&fixture);
			CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
			if (round == 0)
				CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("data"),
							 1000, &d.table, &d.err),
					  OK);
			else
				CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 2000,
						      &d.table, &d.err),
					  OK);
			CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", NULL)), OK);
			txn = fixture_begin(&fixture, d.store, STORE_WRITE);
			if (is_whole)
				CHECK_INT(store_drop(txn, (struct keyspace){0, SYSTEM_VERSIONS},
						     &d.err),
					  OK);
			else
				CHECK_INT(currency_del(txn, d.table, &d.err), OK);
			CHECK_INT(store_commit(txn, &d.err), OK);
			table_unref(d.table);
			d.table = NULL;
			catalog_close(d.catalog);
			store_close(d.store);
		}
		arena_free(d.arena);
		fixture_free(&fixture);
	}
}

/* Of many tables only few are in memory; all are there. */
TEST(snapshots_are_read_when_they_are_asked_for)
{
	enum { TABLES = 40, KEPT = 3 };
	struct catalog_options options = {.tables_max = KEPT};
	struct data d = data_open(&options);
	struct str *names;
	bool more;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < TABLES; i++) {
			struct str name = str_printf(d.arena, "table%02d", i);

			if (round == 0)
				CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table(name.p),
							 1000, &d.table, &d.err),
					  OK);
			else
				CHECK_INT(catalog_get(d.catalog, DATA_NS, name, 2000, &d.table,
						      &d.err),
					  OK);
			CHECK(str_eq(d.table->identity.name, name));
			CHECK_INT(data_put(&d,
					   data_item(&d, "pk", str_printf(d.arena, "S%d", round).p,
						     "sk", "N1", NULL)),
				  OK);
			table_unref(d.table);
			d.table = NULL;
		}
		CHECK_INT(catalog_size_flush(d.catalog, &d.err), OK);
		CHECK_INT(d.catalog->n, KEPT);
		CHECK_INT(data_count(d.catalog, DATA_NS, 2000), TABLES);
		CHECK_INT(data_list(d.catalog, DATA_NS, STR("table10"), 5, 2000, d.arena, &names,
				    &more),
			  5);
		CHECK_STR(names[0], "table11");
		if (round == 1) { /* a catalog that was just opened has none in memory */
			catalog_close(d.catalog);
			CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
			CHECK_INT(d.catalog->n, 0);
		}
	}
	for (int i = 0; i < TABLES; i += 7) {
		uint64_t items, bytes;

		CHECK_INT(catalog_get(d.catalog, DATA_NS, str_printf(d.arena, "table%02d", i), 2000,
				      &d.table, &d.err),
			  OK);
		CHECK_INT(catalog_size(d.catalog, d.table, NULL, &items, &bytes, &d.err), OK);
		CHECK_INT(items, 3);
		table_unref(d.table);
	}
	d.table = NULL;
	data_free(&d);
}

static void create_another(void *context)
{
	struct data *d = context;

	CHECK_INT(create(d, DATA_NS, "another", 1), OK);
}

/* A change that is committed while another one's commit has not returned yet shows before it. */
TEST(changes_do_not_wait_for_each_others_commit)
{
	struct data d = data_new();
	struct table *table;

	trace_store_after(d.store, TRACE_COMMIT, create_another, &d);
	CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
	trace_store_reset(d.store);
	CHECK_INT(data_count(d.catalog, DATA_NS, 2), 2);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("another"), 2, &table, &d.err), OK);
	CHECK_INT(trace_store_count_in(d.store, TRACE_GET, tables_keyspace), 0);
	table_unref(table);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.n, 4);
	data_free(&d);
}

/* What is read does not grow with the tables: at the start, by a page of a list, by a round of
 * upkeep. */
TEST(nothing_goes_through_all_tables)
{
	enum { TABLES = 300 };
	struct catalog_options options = {.tables_max = 10};
	struct data d = data_open(&options);
	struct name_page names;
	struct ns where;
	int64_t wait_ms;
	uint64_t expired = 0;
	bool more;

	for (int i = 0; i < TABLES; i++)
		CHECK_INT(create(&d, i % 2 ? DATA_NS : other_ns,
				 str_printf(d.arena, "table%03d", i).p, 1),
			  OK);
	trace_store_reset(d.store);
	reopen_catalog(&d, &options);
	CHECK_INT(d.catalog->n, 0);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
	CHECK_INT(ttl_sweep(d.catalog, TIMES_AT(5), 0, &expired, &more, &d.err), OK);
	CHECK_INT(stream_sweep(d.catalog, TIMES_AT(5), &d.err), OK);
	CHECK_INT(trace_store_count(d.store, TRACE_ROW), 0);
	CHECK_INT(data_count(d.catalog, DATA_NS, 5), TABLES / 2);
	CHECK(catalog_elsewhere(d.catalog, DATA_NS, STR("table002"), d.arena, &where));
	CHECK_STR(where.account, "111111111111");
	CHECK_INT(catalog_list(d.catalog, DATA_NS, STR_ABSENT, 5, 5, d.arena, &names, &d.err), OK);
	CHECK_INT(names.n, 5);
	CHECK(trace_store_count(d.store, TRACE_ROW) < 10);
	CHECK_INT(d.catalog->n, 0);
	data_free(&d);
}

/* The rows of upkeep come and go with what they are about, in the transaction of the change. */
TEST(marks_follow_the_record)
{
	struct data d = data_new();
	struct table *next = table_clone(d.table);

	CHECK_INT(data_marked(d.catalog, MARK_TTL, STR_ABSENT).n, 0);
	next->ttl.is_enabled = true;
	next->ttl.attribute = STR("ttl");
	for (uint64_t n = 1; n < 60; n++) {
		trace_store_fail(d.store, n, ERR_INTERNAL);
		enum code code = catalog_replace(d.catalog, d.table, table_ref(next), &d.err);
		trace_store_fail(d.store, 0, OK);
		struct table_list marked = data_marked(d.catalog, MARK_TTL, STR_ABSENT);
		CHECK_INT(marked.n, code == OK);
		if (code == OK) {
			table_unref(marked.v[0]);
			break;
		}
	}
	table_unref(next);
	data_take_current(&d);
	CHECK_INT(catalog_delete(d.catalog, d.table, 5, &d.err), OK);
	CHECK_INT(data_marked(d.catalog, MARK_TTL, STR_ABSENT).n, 0);
	CHECK_INT(data_marked(d.catalog, MARK_NAME, STR_ABSENT).n, 0);
	CHECK_INT(data_count(d.catalog, DATA_NS, 5), 0);
	data_free(&d);
}

/* A store whose tables have no such rows, as an older Dynalith left it, or one that changed tables
 * since. */
TEST(a_store_of_an_older_version_gets_its_marks)
{
	enum { TABLES = 450 };
	static const struct keyspace counters = {0, SYSTEM_COUNTERS},
				     versions = {0, SYSTEM_VERSIONS};
	struct catalog_options options = {0};

	for (int way = 0; way < 2; way++) {
		struct data d = data_open(&options);
		struct store_txn *txn;
		char number[8];

		for (int i = 0; i < TABLES; i++)
			CHECK_INT(create(&d, DATA_NS, str_printf(d.arena, "table%03d", i).p, 1),
				  OK);
		CHECK_INT(store_begin(d.store, STORE_WRITE, &txn, &d.err), OK);
		struct store_range marks = {STR("mark/"), STR("mark0"), false},
				   counts = {STR("tables/"), STR("tables0"), false};
		CHECK_INT(store_del_range(txn, counters, &marks, &d.err), OK);
		CHECK_INT(store_del_range(txn, counters, &counts, &d.err), OK);
		if (way == 0)
			CHECK_INT(store_del(txn, versions, STR("table rows"), &d.err), OK);
		else
			CHECK_INT(store_put(txn, versions, STR("\0\0\0\0\0\0\0\0"),
					    store_number_value(7, number), &d.err),
				  OK);
		CHECK_INT(store_commit(txn, &d.err), OK);
		CHECK_INT(data_count(d.catalog, DATA_NS, 5), 0);
		reopen_catalog(&d, &options);
		CHECK_INT(data_count(d.catalog, DATA_NS, 5), TABLES);
		struct table_list found = data_marked(d.catalog, MARK_NAME, STR("table449"));
		CHECK_INT(found.n, 1);
		table_unref(found.v[0]);
		trace_store_reset(d.store);
		reopen_catalog(&d, &options);
		CHECK_INT(trace_store_count(d.store, TRACE_ROW), 0);
		data_free(&d);
	}
}

/* Its row comes with the first table, not at the start, which would wait for the disk. */
TEST(a_new_store_is_opened_without_a_write)
{
	static const struct keyspace counters = {0, SYSTEM_COUNTERS},
				     versions = {0, SYSTEM_VERSIONS};
	struct catalog_options options = {0};
	struct data d = data_open(&options);
	struct store_txn *txn;
	struct str row;

	trace_store_reset(d.store);
	reopen_catalog(&d, &options);
	CHECK_INT(trace_store_count(d.store, TRACE_COMMIT), 0);
	CHECK_INT(create(&d, DATA_NS, "first", 1), OK);
	CHECK_INT(store_begin(d.store, STORE_WRITE, &txn, &d.err), OK);
	CHECK_INT(store_get(txn, versions, STR("table rows"), d.arena, &row, &d.err), OK);
	CHECK(str_is_set(row));

	/* as where an older version came between and made the first table: the next one's row would
	 * say too much */
	struct store_range marks = {STR("mark/"), STR("mark0"), false};
	CHECK_INT(store_del_range(txn, counters, &marks, &d.err), OK);
	CHECK_INT(store_del(txn, versions, STR("table rows"), &d.err), OK);
	CHECK_INT(store_commit(txn, &d.err), OK);
	CHECK_INT(create(&d, DATA_NS, "second", 1), OK);
	reopen_catalog(&d, &options);
	struct table_list found = data_marked(d.catalog, MARK_NAME, STR("first"));
	CHECK_INT(found.n, 1);
	table_unref(found.v[0]);
	CHECK_INT(data_count(d.catalog, DATA_NS, 5), 2);
	data_free(&d);
}

TEST_MAIN(TEST_CASE(snapshots_are_read_when_they_are_asked_for),
	  TEST_CASE(changes_do_not_wait_for_each_others_commit),
	  TEST_CASE(nothing_goes_through_all_tables), TEST_CASE(marks_follow_the_record),
	  TEST_CASE(a_store_of_an_older_version_gets_its_marks),
	  TEST_CASE(a_new_store_is_opened_without_a_write),
	  TEST_CASE(a_file_without_versions_gets_them), TEST_CASE(a_table_is_created_once),
	  TEST_CASE(names_belong_to_a_namespace),
	  TEST_CASE(names_are_listed_in_byte_order_by_pages),
	  TEST_CASE(tables_are_there_again_after_a_restart),
	  TEST_CASE(table_numbers_are_never_used_twice), TEST_CASE(transient_statuses_end_in_time),
	  TEST_CASE(a_deleted_table_is_buried),
	  TEST_CASE(a_deleted_table_is_gone_for_those_that_hold_it),
	  TEST_CASE(a_new_index_is_filled_with_what_fits),
	  TEST_CASE(a_dropped_index_is_gone_and_its_number_not_used_again),
	  TEST_CASE(writers_with_an_old_snapshot_come_again),
	  TEST_CASE(writers_go_on_where_a_change_is_not_theirs),
	  TEST_CASE(a_change_that_fails_leaves_the_table_usable),
	  TEST_CASE(a_deletion_that_fails_leaves_the_table_usable),
	  TEST_CASE(a_creation_that_fails_leaves_nothing), TEST_CASE(of_two_creations_one_wins))
