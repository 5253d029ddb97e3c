/*
 * Rows that stand for others: store_refer() and store_page_of(), over SQLite in memory and on disk,
 * decorators, and a store that fetches by key. A row "g|x" stands for the item "x".
 */
#include "storage/store/timed/timed_store.h"
#include "storage/store/transfer.h"
#include "tests/unit/storage/ask.h"
#include "tests/unit/storage/optimistic_store.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)
#define INDEX KEYSPACE(7, PART_INDEX + 3)
#define SHARED_ITEMS KEYSPACE(8, PART_STREAM) /* share a SQL table with other keyspaces */
#define SHARED_INDEX KEYSPACE(9, PART_STREAM)

static const struct store_range all = {STR_ABSENT, STR_ABSENT, false};

static struct str item_of(struct str key)
{
	const char *bar = memchr(key.p, '|', key.n);

	return bar ? (struct str){bar + 1, (size_t)(key.p + key.n - bar - 1)} : key;
}

static bool is_of(const void *context, struct str key, struct str item)
{
	(void)context;
	return str_eq(item_of(key), item);
}

static struct str key_of(const void *context, struct arena *arena, struct str key)
{
	(void)context;
	return str_copy(arena, item_of(key));
}

static const struct store_reference to_items = {ITEMS, is_of, key_of, NULL},
				    to_shared = {SHARED_ITEMS, is_of, key_of, NULL};

/* "key=value ..." of a page, absent values as "-", then what is_more says. */
static struct str page_text(struct fixture *fixture, struct store_txn *txn,
			    const struct store_reference *reference, struct keyspace keyspace,
			    const struct store_range *range, size_t rows, size_t bytes)
{
	struct store_page page;
	struct str text = STR("");

	CHECK_INT(store_page_of(txn, keyspace, reference, range, (struct store_bounds){rows, bytes},
				fixture->arena, &page, &fixture->err),
		  OK);
	for (size_t i = 0; i < page.n; i++) {
		struct str value = str_is_set(page.v[i].value) ? page.v[i].value : STR("-");

		text = str_printf(fixture->arena, STR_FMT STR_FMT "=" STR_FMT " ", STR_ARG(text),
				  STR_ARG(page.v[i].key), STR_ARG(value));
	}
	return page.is_more ? str_printf(fixture->arena, STR_FMT "...", STR_ARG(text)) : text;
}

static void refer(struct fixture *fixture, struct store_txn *txn,
		  const struct store_reference *reference, struct keyspace keyspace,
		  const char *key)
{
	struct store_key to = {reference->to, item_of(str_of(key))};

	CHECK_INT(store_refer(txn, keyspace, str_of(key), &to, &fixture->err), OK);
}

static void del(struct fixture *fixture, struct store_txn *txn, struct keyspace keyspace,
		const char *key)
{
	CHECK_INT(store_del(txn, keyspace, str_of(key), &fixture->err), OK);
}

static void ignore(void *context, enum timed_step step, uint64_t ns)
{
	(void)context, (void)step, (void)ns;
}

static void create_small(struct fixture *fixture, struct store *store, struct keyspace keyspace)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_create_small(txn, keyspace, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

enum backend { MEMORY, DISK, TRACED, TIMED, BY_KEYS, BACKEND_COUNT };

static struct store *open_backend(enum backend backend, struct fixture *fixture)
{
	*fixture = fixture_new(backend != DISK);
	struct store *store = NULL;

	if (backend == BY_KEYS) {
		struct optimistic_db *db = optimistic_db_new();

		store = optimistic_open(db);
		optimistic_db_unref(db);
	} else {
		store = fixture_open(fixture);
	}
	CHECK_INT(store_refers(store), backend != BY_KEYS);
	if (backend == TRACED)
		store = trace_store_new(store);
	if (backend == TIMED)
		store = timed_store_new(store, ignore, NULL);
	CHECK_INT(store_refers(store), backend != BY_KEYS);
	fixture_create(fixture, store, ITEMS);
	fixture_create(fixture, store, SHARED_ITEMS);
	create_small(fixture, store, INDEX);
	create_small(fixture, store, SHARED_INDEX);
	return store;
}

/* Each of the two pairs of keyspaces, in a store of its own. */
#define EACH(b, shared)                                                                            \
	for (enum backend b = MEMORY; b < BACKEND_COUNT; b++)                                      \
		for (int shared = 0; shared < 2; shared++)

static void try_pages(struct fixture *fixture, struct store_txn *txn,
		      const struct store_reference *reference, struct keyspace keyspace)
{
	struct store_range range = {STR("b"), STR("d"), false};

	CHECK_STR(page_text(fixture, txn, reference, keyspace, &all, 0, 0),
		  "a|y=the value of y b|x=1 c|z=3 d|w=- ");
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &all, 2, 0),
		  "a|y=the value of y b|x=1 ...");
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &range, 0, 0), "b|x=1 c|z=3 ");
	range.is_reverse = true;
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &range, 0, 0), "c|z=3 b|x=1 ");
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &range, 1, 0), "c|z=3 ...");
	range = (struct store_range){STR("c"), STR_ABSENT, true};
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &range, 0, 0), "d|w=- c|z=3 ");
	range = (struct store_range){STR("x"), STR_ABSENT, false};
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &range, 0, 0), "");
	/* the bounds count the values: 3 and 14 bytes of the first row, 3 and 1 of the second */
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &all, 0, 17),
		  "a|y=the value of y ...");
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &all, 0, 18),
		  "a|y=the value of y b|x=1 ...");
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &all, 0, 21),
		  "a|y=the value of y b|x=1 ...");
	CHECK_STR(page_text(fixture, txn, reference, keyspace, &all, 0, 1),
		  "a|y=the value of y ...");
	/* the rows themselves */
	CHECK_STR(page_text(fixture, txn, NULL, keyspace, &all, 1, 0), "a|y=\2 ...");
	CHECK_STR(fixture_get(fixture, txn, keyspace, "d|w"), "\2");
}

TEST(pages_have_the_values_of_the_rows_that_are_meant)
{
	EACH(b, is_shared) {
		const struct store_reference *reference = is_shared ? &to_shared : &to_items;
		struct keyspace keyspace = is_shared ? SHARED_INDEX : INDEX, items = reference->to;
		struct fixture fixture;
		struct store *store = open_backend(b, &fixture);
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

		fixture_put(&fixture, txn, items, "x", "1");
		refer(&fixture, txn, reference, keyspace, "b|x");
		fixture_put(&fixture, txn, items, "z", "3");
		fixture_put(&fixture, txn, items, "y", "2");
		refer(&fixture, txn, reference, keyspace, "a|y");
		refer(&fixture, txn, reference, keyspace,
		      "c|z"); /* not the item that was put last */
		refer(&fixture, txn, reference, keyspace, "d|w"); /* there is no such item */
		refer(&fixture, txn, reference, keyspace, "c|z"); /* once more */
		fixture_put(&fixture, txn, items, "y", "the value of y");
		try_pages(&fixture, txn, reference, keyspace);
		CHECK_INT(store_commit(txn, &fixture.err), OK);
		txn = fixture_begin(&fixture, store, STORE_READ);
		try_pages(&fixture, txn, reference, keyspace);
		store_abort(txn);
		txn = fixture_begin(&fixture, store, STORE_WRITE);
		del(&fixture, txn, items, "x");
		fixture_put(&fixture, txn, items, "w", "late");
		CHECK_STR(page_text(&fixture, txn, reference, keyspace, &all, 0, 0),
			  "a|y=the value of y b|x=- c|z=3 d|w=late ");
		fixture_put(&fixture, txn, items, "x", "back"); /* under another number */
		del(&fixture, txn, keyspace, "a|y");
		CHECK_STR(page_text(&fixture, txn, reference, keyspace, &all, 0, 0),
			  "b|x=back c|z=3 d|w=late ");
		CHECK_INT(store_commit(txn, &fixture.err), OK);
		store_close(store);
		fixture_free(&fixture);
	}
}

#define NAMES 40
#define STEPS 3000

/* What there should be: of each item its value, 0 for none, and the group of its row, 0 for none.
 */
struct model {
	int value[NAMES], group[NAMES];
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static const char *row_name(struct fixture *fixture, int group, int i)
{
	return str_printf(fixture->arena, "%c|%02d", 'a' + group, i).p;
}

static void change(struct fixture *fixture, struct store_txn *txn, struct model *model,
		   uint64_t *state)
{
	int i = (int)(next_random(state) % NAMES), group = 1 + (int)(next_random(state) % 3);
	const char *item = str_printf(fixture->arena, "%02d", i).p;

	switch (next_random(state) % 4) {
	case 0:
		del(fixture, txn, ITEMS, item);
		model->value[i] = 0;
		break;
	case 1:
	case 2:
		model->value[i] = 1 + (int)(next_random(state) % 1000);
		fixture_put(fixture, txn, ITEMS, item,
			    str_printf(fixture->arena, "%d", model->value[i]).p);
		break;
	default:
		if (model->group[i])
			del(fixture, txn, INDEX, row_name(fixture, model->group[i], i));
		model->group[i] = model->group[i] && group == 1 ? 0 : group;
		if (model->group[i])
			refer(fixture, txn, &to_items, INDEX,
			      row_name(fixture, model->group[i], i));
		break;
	}
}

static void check_model(struct fixture *fixture, struct store_txn *txn, const struct model *model)
{
	struct str text = STR("");

	for (int group = 1; group <= 3; group++) {
		for (int i = 0; i < NAMES; i++) {
			const char *value =
				model->value[i]
					? str_printf(fixture->arena, "%d", model->value[i]).p
					: "-";

			if (model->group[i] == group)
				text = str_printf(fixture->arena, STR_FMT "%s=%s ", STR_ARG(text),
						  row_name(fixture, group, i), value);
		}
	}
	CHECK_STR(page_text(fixture, txn, &to_items, INDEX, &all, 0, 0), text.p);
}

/* Numbers of rows are given again, taken by others, and belong to other items later: the values are
 * right all the same. */
TEST(any_order_of_writes_is_right)
{
	for (enum backend b = MEMORY; b < BACKEND_COUNT; b++) {
		struct fixture fixture;
		struct store *store = open_backend(b, &fixture);
		struct model model = {{0}, {0}}, before;
		uint64_t state = 42 + (uint64_t)b;

		for (int step = 0; step < STEPS;) {
			struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
			bool is_undone = next_random(&state) % 8 == 0;

			before = model;
			for (int i = 0; i < 10; i++, step++)
				change(&fixture, txn, &model, &state);
			check_model(&fixture, txn, &model);
			if (is_undone) {
				store_abort(txn);
				model = before;
			} else {
				CHECK_INT(store_commit(txn, &fixture.err), OK);
			}
			txn = fixture_begin(&fixture, store, STORE_READ);
			check_model(&fixture, txn, &model);
			store_abort(txn);
			arena_reset(fixture.arena);
			fixture.err = err_in(fixture.arena);
		}
		store_close(store);
		fixture_free(&fixture);
	}
}

/* What makes them fast: such rows have the numbers of those that they stand for, also in a copy. */
TEST(rows_have_the_numbers_of_those_they_stand_for)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

	CHECK_INT(store_create(txn, ITEMS, &fixture.err), OK);
	CHECK_INT(store_create_small(txn, INDEX, &fixture.err), OK);
	for (int i = 0; i < 300; i++) {
		const char *item = str_printf(fixture.arena, "%03d", i * 7 % 300).p;

		fixture_put(&fixture, txn, ITEMS, item, "v");
		if (i % 3 != 0)
			refer(&fixture, txn, &to_items, INDEX,
			      str_printf(fixture.arena, "a|%s", item).p);
	}
	for (int i = 0; i < 100; i++) { /* they move within the index */
		const char *item = str_printf(fixture.arena, "%03d", i).p;
		struct str known = fixture_get(&fixture, txn, INDEX,
					       str_printf(fixture.arena, "a|%s", item).p);

		if (!str_is_set(known))
			continue;
		fixture_put(&fixture, txn, ITEMS, item, "new");
		del(&fixture, txn, INDEX, str_printf(fixture.arena, "a|%s", item).p);
		refer(&fixture, txn, &to_items, INDEX, str_printf(fixture.arena, "b|%s", item).p);
	}
	CHECK_INT(store_create(txn, KEYSPACE(10, PART_ITEMS), &fixture.err), OK);
	CHECK_INT(store_create_small(txn, KEYSPACE(10, PART_INDEX + 3), &fixture.err), OK);
	CHECK_INT(store_copy(txn, ITEMS, KEYSPACE(10, PART_ITEMS), &fixture.err), OK);
	CHECK_INT(store_copy(txn, INDEX, KEYSPACE(10, PART_INDEX + 3), &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	store_close(store);
	CHECK_INT(ask(&fixture, "SELECT count(*) FROM keys_index_7_3"), 200);
	CHECK_INT(ask(&fixture, "SELECT count(*) FROM keys_index_7_3 r JOIN items_7 i ON i.rowid = "
				"r.v AND substr(r.k, 3) = i.k"),
		  200);
	CHECK_INT(ask(&fixture, "SELECT count(*) FROM keys_index_10_3 r JOIN items_10 i ON i.rowid "
				"= r.v AND substr(r.k, 3) = i.k"),
		  200);
	fixture_free(&fixture);
}

static struct store *open_again(struct fixture *fixture, struct store *store)
{
	store_close(store);
	return fixture_open(fixture);
}

static void put_many(struct fixture *fixture, struct store *store, struct keyspace keyspace, int n)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	for (int i = 0; i < n; i++) {
		const char *item = str_printf(fixture->arena, "%05d", i).p;

		fixture_put(fixture, txn, ITEMS, item, "v");
		refer(fixture, txn, &to_items, keyspace,
		      str_printf(fixture->arena, "a|%s", item).p);
	}
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

/* A file of format 2 keeps copies, whatever the version that opens it. */
TEST(a_file_of_an_earlier_format_refers_to_nothing)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);

	CHECK(store_refers(store));
	store_close(store);
	CHECK_INT(ask(&fixture, "PRAGMA user_version"), 3);
	change_file(&fixture, "PRAGMA user_version = 2");
	store = fixture_open(&fixture);
	CHECK(!store_refers(store));
	create_small(&fixture, store, INDEX);
	store = open_again(&fixture, store);
	CHECK(!store_refers(store));
	store_close(store);
	CHECK_INT(ask(&fixture, "SELECT count(*) FROM sqlite_master WHERE name = 'index_7_3'"), 1);
	CHECK_INT(ask(&fixture, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'keys%'"), 0);
	fixture_free(&fixture);
}

/* Their SQL table is emptied in pieces, and kept for the next keyspace of the kind, not for others.
 */
TEST(what_is_dropped_is_used_again)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	struct store_txn *txn;
	struct store_stat stat;
	bool is_more = true;
	int pieces = 0;

	fixture_create(&fixture, store, ITEMS);
	create_small(&fixture, store, INDEX);
	put_many(&fixture, store, INDEX, 3000);
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_stat(txn, INDEX, &stat, &fixture.err), OK);
	CHECK_INT(stat.rows, 3000);
	CHECK_INT(stat.bytes, 3000 * 8);
	CHECK_INT(store_drop(txn, INDEX, &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	store = open_again(&fixture, store);
	for (; is_more && pieces < 100; pieces++)
		CHECK_INT(store_tidy(store, &is_more, &fixture.err), OK);
	CHECK(!is_more);
	fixture_create(&fixture, store, KEYSPACE(12, PART_ITEMS)); /* of its own */
	create_small(&fixture, store, KEYSPACE(13, PART_INDEX));
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_STR(page_text(&fixture, txn, &to_items, KEYSPACE(13, PART_INDEX), &all, 0, 0), "");
	refer(&fixture, txn, &to_items, KEYSPACE(13, PART_INDEX), "b|00007");
	CHECK_STR(page_text(&fixture, txn, &to_items, KEYSPACE(13, PART_INDEX), &all, 0, 0),
		  "b|00007=v ");
	fixture_put(&fixture, txn, KEYSPACE(12, PART_ITEMS), "k", "value");
	CHECK_STR(fixture_get(&fixture, txn, KEYSPACE(12, PART_ITEMS), "k"), "value");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	store_close(store);
	CHECK_INT(ask(&fixture, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name "
				"LIKE 'keys%'"),
		  1);
	CHECK_INT(ask(&fixture, "SELECT count(*) FROM items_12"), 1);
	fixture_free(&fixture);
}

/* Before the rows of the first are gone. */
TEST(a_keyspace_comes_back)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	bool is_more = true;

	fixture_create(&fixture, store, ITEMS);
	create_small(&fixture, store, INDEX);
	put_many(&fixture, store, INDEX, 3000);
	for (int i = 0; i < 2; i++) {
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

		CHECK_INT(store_drop(txn, INDEX, &fixture.err), OK);
		CHECK_INT(store_create_small(txn, INDEX, &fixture.err), OK);
		CHECK_INT(store_create_small(txn, INDEX, &fixture.err),
			  ERR_INTERNAL); /* it exists */
		CHECK_STR(page_text(&fixture, txn, &to_items, INDEX, &all, 0, 0), "");
		refer(&fixture, txn, &to_items, INDEX, "b|00007");
		fixture_put(&fixture, txn, INDEX, "c", "a value");
		CHECK_STR(page_text(&fixture, txn, &to_items, INDEX, &all, 1, 0), "b|00007=v ...");
		CHECK_STR(fixture_get(&fixture, txn, INDEX, "c"), "a value");
		CHECK_INT(store_commit(txn, &fixture.err), OK);
	}
	while (is_more)
		CHECK_INT(store_tidy(store, &is_more, &fixture.err), OK);
	CHECK_STR(fixture_get_alone(&fixture, store, INDEX, "c"), "a value");
	store_close(store);
	fixture_free(&fixture);
}

/* Between SQL tables of each kind. */
TEST(copies_mean_the_same)
{
	static const struct keyspace kinds[] = {
		{20, PART_ITEMS}, {21, PART_INDEX}, {22, PART_STREAM}};

	for (int c = 0; c < 18; c++) {
		struct fixture fixture = fixture_new(c & 1);
		struct store *store = fixture_open(&fixture);
		struct keyspace from = kinds[c / 2 % 3], to = {30, kinds[c / 6].part};
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

		CHECK_INT(store_create(txn, ITEMS, &fixture.err), OK);
		CHECK_INT(from.part == PART_INDEX ? store_create_small(txn, from, &fixture.err)
						  : store_create(txn, from, &fixture.err),
			  OK);
		CHECK_INT(to.part == PART_INDEX ? store_create_small(txn, to, &fixture.err)
						: store_create(txn, to, &fixture.err),
			  OK);
		fixture_put(&fixture, txn, ITEMS, "x", "1");
		fixture_put(&fixture, txn, ITEMS, "y", "2");
		refer(&fixture, txn, &to_items, from, "a|y");
		refer(&fixture, txn, &to_items, from, "b|x");
		fixture_put(&fixture, txn, from, "c", "bytes");
		CHECK_INT(store_copy(txn, from, to, &fixture.err), OK);
		CHECK_STR(page_text(&fixture, txn, NULL, to, &all, 0, 0), "a|y=\2 b|x=\2 c=bytes ");
		CHECK_STR(page_text(&fixture, txn, &to_items, to, &all, 2, 0), "a|y=2 b|x=1 ...");
		CHECK_INT(store_commit(txn, &fixture.err), OK);
		store_close(store);
		fixture_free(&fixture);
	}
}

static bool refers(void *context, struct keyspace keyspace, struct store_reference *reference)
{
	(void)context;
	*reference = to_items;
	return keyspace.table == 7 && keyspace.part == PART_INDEX + 3;
}

static void tell(void *context, const struct transfer_keyspace *keyspace)
{
	(void)context, (void)keyspace;
}

static bool is_left_out(struct keyspace keyspace, struct str key)
{
	(void)keyspace, (void)key;
	return false;
}

TEST(a_transfer_refers_anew)
{
	struct fixture fixture = fixture_new(true), target = fixture_new(false);
	struct store *from = fixture_open(&fixture), *to = fixture_open(&target);
	const struct transfer run = {from, to, false, is_left_out, tell, refers, NULL};

	fixture_create(&fixture, from, ITEMS);
	create_small(&fixture, from, INDEX);
	put_many(&fixture, from, INDEX, 1000);
	for (int i = 0; i < 2; i++)
		CHECK_INT(transfer_run(&run, &fixture.err), OK);
	store_close(from);
	store_close(to);
	CHECK_INT(ask(&target, "SELECT count(*) FROM keys_index_7_3 r JOIN items_7 i ON i.rowid = "
			       "r.v AND substr(r.k, 3) = i.k"),
		  1000);
	fixture_free(&fixture);
	fixture_free(&target);
}

TEST_MAIN(TEST_CASE(pages_have_the_values_of_the_rows_that_are_meant),
	  TEST_CASE(any_order_of_writes_is_right),
	  TEST_CASE(rows_have_the_numbers_of_those_they_stand_for),
	  TEST_CASE(a_file_of_an_earlier_format_refers_to_nothing),
	  TEST_CASE(what_is_dropped_is_used_again), TEST_CASE(a_keyspace_comes_back),
	  TEST_CASE(copies_mean_the_same), TEST_CASE(a_transfer_refers_anew))
