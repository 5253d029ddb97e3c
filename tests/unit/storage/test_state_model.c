/*
 * Resets, checkpoints, snapshots and clones against a naive model that copies everything: random
 * writes and changes of tables in three namespaces, in memory, on disk, and by two processes in
 * turn on one optimistic store. After each step that brings a state back, and after each restart,
 * the tables of all namespaces must be what the model says: items, sizes, stream records; and
 * check_store finds nothing wrong with indexes, queues and streams.
 *
 * STATE_STEPS and STATE_SEED are variables of the environment: `make state-model` runs 100,000
 * steps.
 */
#include <stdlib.h>

#include "core/image.h"
#include "core/number.h"
#include "storage/catalog/catalog_size.h"
#include "storage/check.h"
#include "storage/state/checkpoint.h"
#include "storage/state/reset.h"
#include "storage/state/snapshot_file.h"
#include "storage/stream/stream_read.h"
#include "storage/upkeep/backfill.h"
#include "storage/write/write.h"
#include "tests/unit/storage/optimistic_store.h"
#include "tests/unit/storage/store_fixture.h"

#define SPACES 3
#define TABLES 3
#define KEYS 12
#define NAMES 4   /* of checkpoints and snapshots */
#define NOW INT64_C(1000000)
#define FAR INT64_C(5000) /* seconds of time to live: nothing expires */

/* What the model knows of a table. */
struct model_table {
	bool exists, has_index, has_stream, has_ttl;
	int version;          /* of its tags, as it were: a change that writers do not go by */
	int values[KEYS];     /* 0: no item */
	unsigned records;     /* in its stream, */
	uint64_t history;     /* and what they say */
};

struct model_space {
	struct model_table tables[TABLES];
};

struct model_mark {
	int name;             /* -1: none */
	struct model_space state;
};

/* A world: the namespaces as the model and as the store have them. */
struct world {
	struct fixture fixture;
	struct store *store;
	struct catalog *catalog;
	struct optimistic_db *db;   /* NULL: SQLite, and one process */
	struct store *stores[2];    /* of the processes */
	struct catalog *catalogs[2];
	struct model_space spaces[SPACES];
	size_t depth[SPACES];
	struct model_mark stack[SPACES][NAMES];
	struct model_mark snapshots[SPACES][NAMES];
	unsigned verified;
};

static unsigned long long seed;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static unsigned from_environment(const char *name, unsigned usual)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : usual;
}

static struct ns ns_of(size_t space)
{
	static const char *const accounts[SPACES] = {"000000000000", "111111111111",
						     "111111111111"},
				 *const regions[SPACES] = {"us-east-1", "us-east-1", "eu-west-1"};

	return (struct ns){str_of(accounts[space]), str_of(regions[space])};
}

static struct str name_of(int i)
{
	static const char *const names[] = {"first", "second", "third", "fourth"};

	return str_of(names[i]);
}

static uint64_t mix(uint64_t history, int key, int value)
{
	return (history ^ (uint64_t)(key * 1000003 + value + 1)) * 0x9E3779B97F4A7C15u;
}

static void open_world(struct world *w)
{
	struct catalog_options options = {.settings = NULL, .has_peers = w->db != NULL};

	for (int i = 0; i < 2 && w->db; i++) {
		w->stores[i] = optimistic_open(w->db);
		CHECK_INT(catalog_open(w->stores[i], &options, &w->catalogs[i], &w->fixture.err),
			  OK);
	}
	w->store = w->stores[0];
	w->catalog = w->catalogs[0];
	if (w->db)
		return;
	w->store = fixture_open(&w->fixture);
	CHECK_INT(catalog_open(w->store, &options, &w->catalog, &w->fixture.err), OK);
}

static void close_world(struct world *w)
{
	for (int i = 0; i < 2 && w->db; i++) {
		catalog_close(w->catalogs[i]);
		store_close(w->stores[i]);
	}
	if (w->db) {
		optimistic_db_unref(w->db);
		return;
	}
	catalog_close(w->catalog);
	store_close(w->store);
}

static struct value number(struct world *w, int64_t n)
{
	char *bytes = arena_bytes(w->fixture.arena, NUMBER_MAX);

	return value_of_str(TYPE_N, (struct str){bytes, number_from_int(n, bytes)});
}

/* {g, pk, ttl, v}; without a value the key alone. */
static const struct value *make_item(struct world *w, int key, int value)
{
	struct member *members = ARENA_ARRAY(w->fixture.arena, struct member, 4);
	struct value *item = ARENA_NEW(w->fixture.arena, struct value);
	uint32_t n = 0;

	if (value > 0 && value % 4 > 0)
		members[n++] = (struct member){STR("g"), number(w, value % 4)};
	members[n++] = (struct member){STR("pk"), number(w, key)};
	if (value > 0 && value % 3 == 0)
		members[n++] = (struct member){STR("ttl"), number(w, FAR + value)};
	if (value > 0)
		members[n++] = (struct member){STR("v"), number(w, value)};
	*item = (struct value){.type = TYPE_M, .n = n, .members = members};
	return item;
}

static struct table *get(struct world *w, size_t space, int table)
{
	struct table *found = NULL;
	enum code code =
		catalog_get(w->catalog, ns_of(space), name_of(table), NOW, &found, &w->fixture.err);

	CHECK(code == (w->spaces[space].tables[table].exists ? OK : ERR_RESOURCE_NOT_FOUND));
	return code == OK ? found : NULL;
}

static void write_items(struct world *w, size_t space, int at)
{
	struct model_table *model = &w->spaces[space].tables[at];
	struct table *table = get(w, space, at);
	struct write writes[3];
	unsigned n = 1 + draw(3), first = draw(KEYS);

	for (unsigned i = 0; i < n && table; i++) {
		int key = (int)((first + i) % KEYS), value = draw(4) == 0 ? 0 : (int)draw(40) + 1;

		writes[i] =
			(struct write){.table = table, .kind = value ? WRITE_PUT : WRITE_DELETE};
		if (value)
			writes[i].item = make_item(w, key, value);
		else
			writes[i].key = make_item(w, key, 0);
		CHECK_INT(write_prepare(w->fixture.arena, &writes[i], &w->fixture.err), OK);
		if (model->has_stream && model->values[key] != value) {
			model->records++;
			model->history = mix(model->history, key, value);
		}
		model->values[key] = value;
	}
	if (table)
		CHECK_INT(write_run(w->catalog, w->fixture.arena, writes, n,
				    n > 1 ? WRITE_TRANSACTION : WRITE_ALONE, NULL, NOW,
				    &w->fixture.err),
			  OK);
	table_unref(table);
}

static struct index make_index(void)
{
	return (struct index){.name = STR("by-g"),
			      .keys = {1, 1, {{STR("g"), TYPE_N}, {STR("v"), TYPE_N}}},
			      .projection = PROJECT_ALL};
}

static void add_stream(struct table *table)
{
	table->streams.v = ARENA_ARRAY(table->arena, struct stream, 1);
	table->streams.v[0] = (struct stream){
		.label = STR("label"), .number = 1, .view = STREAM_NEW_IMAGE, .created_ms = NOW};
	table->streams.n = 1;
	table->streams.view = STREAM_NEW_IMAGE;
	table->streams.label = STR("label");
}

static void create(struct world *w, size_t space, int at)
{
	struct model_table *model = &w->spaces[space].tables[at];
	struct table *table = table_new(NULL), *made = NULL;

	*model = (struct model_table){.exists = true, .has_index = draw(2), .has_stream = draw(2)};
	table->identity.name = name_of(at);
	table->keys = (struct key_schema){1, 0, {{STR("pk"), TYPE_N}}};
	if (model->has_index) {
		table->indexes.v = ARENA_ARRAY(table->arena, struct index, 1);
		table->indexes.v[0] = make_index();
		table->indexes.n = 1;
	}
	if (model->has_stream)
		add_stream(table);
	CHECK_INT(catalog_create(w->catalog, ns_of(space), table, NOW, &made, &w->fixture.err), OK);
	table_unref(made);
}

static void delete(struct world *w, size_t space, int at)
{
	struct table *table = get(w, space, at);

	if (table)
		CHECK_INT(catalog_delete(w->catalog, table, NOW, &w->fixture.err), OK);
	w->spaces[space].tables[at].exists = false;
	table_unref(table);
}

static void change_index(struct table *next, bool adds)
{
	struct index *indexes = ARENA_ARRAY(next->arena, struct index, 1);

	if (!adds) {
		next->indexes.v[0].status = STATUS_DELETING;
		return;
	}
	indexes[0] = make_index();
	indexes[0].number = next->indexes.next++;
	next->indexes.v = indexes;
	next->indexes.n = 1;
	table_index_derive(next, &indexes[0]);
}

static void change_table(struct world *w, size_t space, int at)
{
	struct model_table *model = &w->spaces[space].tables[at];
	struct table *table = get(w, space, at), *next = table ? table_clone(table) : NULL;

	if (!table)
		return;
	if (draw(2)) {
		model->has_index = !model->has_index;
		change_index(next, model->has_index);
	} else {
		model->has_ttl = !model->has_ttl;
		next->ttl = (struct table_ttl){
			.is_enabled = model->has_ttl, .attribute = STR("ttl"), .changed_ms = NOW};
	}
	CHECK_INT(catalog_replace(w->catalog, table, next, &w->fixture.err), OK);
	CHECK_INT(backfill_run(w->catalog, ns_of(space), name_of(at), 100, NOW, &w->fixture.err),
		  OK);
	table_unref(table);
}

struct telling {
	unsigned records;
	uint64_t history;
};

static void hear(struct telling *telling, const struct stream_entry *entry)
{
	const struct stream_record *record = &entry->record;
	struct arena *arena = arena_new(0);
	const struct value *pk = value_member(&entry->keys, STR("pk"));
	struct value image, v;
	int64_t key = 0, value = 0;

	CHECK(pk && number_to_int(value_str(pk), &key));
	if (str_is_set(record->new_image) && image_decode(arena, record->new_image, &image)) {
		v = *value_member(&image, STR("v"));
		CHECK(number_to_int(value_str(&v), &value));
	}
	telling->records++;
	telling->history = mix(telling->history, (int)key, (int)value);
	arena_free(arena);
}

static void verify_stream(struct world *w, const struct table *table,
			  const struct model_table *model)
{
	struct stream_shard_page page = {.limit = 100};
	struct telling telling = {0};
	struct err *err = &w->fixture.err;

	CHECK_INT(stream_read_shards(w->store, w->fixture.arena, table, &table->streams.v[0], NOW,
				     &page, err),
		  OK);
	for (size_t i = 0; i < page.n; i++) {
		struct stream_cursor cursor = {.table = table,
					       .stream = &table->streams.v[0],
					       .shard = page.shards[i].stamp,
					       .now_ms = NOW};
		struct stream_page entries = {.n = 1};

		CHECK_INT(stream_read_start(w->store, w->fixture.arena, &cursor,
					    STREAM_START_TRIM_HORIZON, 0, 0, err),
			  OK);
		while (entries.n > 0) {
			CHECK_INT(stream_read_page(w->store, w->fixture.arena, &cursor, 1000,
						   &entries, err),
				  OK);
			for (size_t k = 0; k < entries.n; k++)
				hear(&telling, &entries.v[k]);
		}
	}
	CHECK_INT(telling.records, model->records);
	CHECK(telling.history == model->history);
}

static void verify_items(struct world *w, const struct table *table,
			 const struct model_table *model)
{
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page = {.n = 0};
	struct store_txn *txn;
	struct err *err = &w->fixture.err;
	int values[KEYS] = {0};

	CHECK_INT(store_begin(w->store, STORE_READ, &txn, err), OK);
	CHECK_INT(store_page(txn, table_items(table), &all, (struct store_bounds){0, 0},
			     w->fixture.arena, &page, err),
		  OK);
	store_abort(txn);
	for (size_t i = 0; i < page.n; i++) {
		struct value item;
		int64_t key = 0, value = 0;

		CHECK(image_decode(w->fixture.arena, page.v[i].value, &item));
		CHECK(number_to_int(value_str(value_member(&item, STR("pk"))), &key) && key >= 0 &&
		      key < KEYS);
		CHECK(number_to_int(value_str(value_member(&item, STR("v"))), &value));
		values[key] = (int)value;
	}
	for (int key = 0; key < KEYS; key++)
		CHECK_INT(values[key], model->values[key]);
}

static void verify_table(struct world *w, size_t space, int at)
{
	const struct model_table *model = &w->spaces[space].tables[at];
	struct table *table = get(w, space, at);
	uint64_t items = 0, bytes = 0, expected = 0;

	if (!table)
		return;
	for (int key = 0; key < KEYS; key++)
		expected += model->values[key] > 0;
	CHECK_INT(table_index_total(table), model->has_index);
	CHECK_INT(table->ttl.is_enabled, model->has_ttl);
	CHECK_INT(table->streams.view != STREAM_OFF, model->has_stream);
	CHECK_INT(catalog_size(w->catalog, table, NULL, &items, &bytes, &w->fixture.err), OK);
	CHECK_INT(items, expected);
	verify_items(w, table, model);
	if (model->has_stream)
		verify_stream(w, table, model);
	table_unref(table);
}

static void complain(void *context, struct str line)
{
	(void)context;
	fprintf(stderr, "check: " STR_FMT "\n", STR_ARG(line));
}

static void verify(struct world *w)
{
	struct check_report report = {.tell = complain};

	/* a process knows what another one changed of the numbers when that has put it into the
	 * rows */
	for (int i = 0; i < 2 && w->db; i++)
		CHECK_INT(catalog_size_flush(w->catalogs[i], &w->fixture.err), OK);
	for (size_t space = 0; space < SPACES; space++) {
		for (int at = 0; at < TABLES; at++)
			verify_table(w, space, at);
	}
	if (++w->verified % 4 == 0) {
		if (!w->db)
			CHECK_INT(store_keyspaces_now(w->store, w->fixture.arena, &report.keyspaces,
						      &w->fixture.err),
				  OK);
		CHECK_INT(check_store(w->store, NULL, NOW, &report, &w->fixture.err), OK);
		CHECK_INT(report.findings, 0);
	}
}

static void mark(struct world *w, size_t space)
{
	struct checkpoint checkpoint = {.extra = STR("")};
	size_t depth = w->depth[space];
	int name = (int)draw(NAMES);
	bool is_there = false;

	for (size_t i = 0; i < depth; i++)
		is_there = is_there || w->stack[space][i].name == name;
	checkpoint.name = name_of(name);
	CHECK_INT(checkpoint_make(w->catalog, ns_of(space), &checkpoint, &w->fixture.err),
		  is_there ? ERR_RESOURCE_IN_USE : OK);
	if (!is_there)
		w->stack[space][w->depth[space]++] = (struct model_mark){name, w->spaces[space]};
}

static void roll_back(struct world *w, size_t space)
{
	size_t at = w->depth[space] ? draw((unsigned)w->depth[space]) : 0;
	struct str extra;
	int name = w->depth[space] ? w->stack[space][at].name : 0;
	enum code code = checkpoint_rollback(w->catalog, ns_of(space), name_of(name), &extra,
					     &w->fixture.err);

	CHECK_INT(code, w->depth[space] ? OK : ERR_RESOURCE_NOT_FOUND);
	if (code != OK)
		return;
	w->spaces[space] = w->stack[space][at].state;
	w->depth[space] = at + 1;
	verify(w);
}

static void forget(struct world *w, size_t space)
{
	size_t depth = w->depth[space], at = depth ? draw((unsigned)depth) : 0;

	if (depth == 0)
		return;
	CHECK_INT(checkpoint_remove(w->catalog, ns_of(space), name_of(w->stack[space][at].name),
				    &w->fixture.err),
		  OK);
	memmove(&w->stack[space][at], &w->stack[space][at + 1],
		(depth - at - 1) * sizeof(w->stack[space][at]));
	w->depth[space]--;
}

/* A snapshot of one namespace becomes one of another, as dumps and loads do it. */
static void copy_by_file(struct world *w, size_t space, int name)
{
	size_t to = draw(SPACES);
	int other = (int)draw(NAMES);
	struct str block, cursor = STR_ABSENT;
	bool is_done = false;

	if (w->snapshots[space][name].name < 0 || w->snapshots[to][other].name >= 0)
		return;
	do {
		CHECK_INT(snapshot_file_read(w->catalog, ns_of(space), name_of(name), cursor,
					     &block, &cursor, &w->fixture.err),
			  OK);
		CHECK_INT(snapshot_file_write(w->catalog, ns_of(to), name_of(other), block,
					      &is_done, &w->fixture.err),
			  OK);
		CHECK_INT(is_done, !str_is_set(cursor));
	} while (!is_done && test_failures == 0);
	w->snapshots[to][other] = (struct model_mark){other, w->snapshots[space][name].state};
}

static void use_snapshot(struct world *w, size_t space)
{
	int name = (int)draw(NAMES);
	struct model_mark *own = &w->snapshots[space][name];
	struct snapshot snapshot = {.name = name_of(name), .extra = STR("")};
	bool is_there = own->name >= 0;
	struct str extra;

	switch (draw(4)) {
	case 0:
		CHECK_INT(snapshot_take(w->catalog, ns_of(space), &snapshot, &w->fixture.err),
			  is_there ? ERR_RESOURCE_IN_USE : OK);
		if (!is_there)
			*own = (struct model_mark){name, w->spaces[space]};
		break;
	case 1:
		CHECK_INT(snapshot_restore(w->catalog, ns_of(space), name_of(name), &extra,
					   &w->fixture.err),
			  is_there ? OK : ERR_RESOURCE_NOT_FOUND);
		if (!is_there)
			break;
		w->spaces[space] = own->state;
		verify(w);
		break;
	case 2:
		copy_by_file(w, space, name);
		break;
	default:
		CHECK_INT(snapshot_remove(w->catalog, ns_of(space), name_of(name), &w->fixture.err),
			  is_there ? OK : ERR_RESOURCE_NOT_FOUND);
		own->name = -1;
	}
}

static void clone_space(struct world *w, size_t space)
{
	size_t to = (space + 1 + draw(SPACES - 1)) % SPACES;
	struct ns target = ns_of(to);
	struct snapshot_clone copy = {
		.from = ns_of(space), .n = 1, .to = &target, .replaces = true};

	CHECK_INT(snapshot_clone(w->catalog, &copy, &w->fixture.err), OK);
	w->spaces[to] = w->spaces[space];
	verify(w);
}

static void reset(struct world *w, size_t space)
{
	struct str name = name_of((int)draw(TABLES));
	struct reset reset = {
		.keeps_tables = draw(3) > 0, .is_some = draw(2), .n = 1, .tables = &name};
	bool is_there = false;

	if (!reset.is_some)
		reset.n = 0;
	for (int at = 0; at < TABLES; at++) {
		struct model_table *model = &w->spaces[space].tables[at];

		if (reset.is_some && !str_eq(name_of(at), name))
			continue;
		is_there = is_there || model->exists;
		*model = (struct model_table){.exists = model->exists && reset.keeps_tables,
					      .has_index = model->has_index,
					      .has_stream = model->has_stream,
					      .has_ttl = model->has_ttl};
	}
	CHECK_INT(reset_run(w->catalog, ns_of(space), &reset, &w->fixture.err),
		  is_there || !reset.is_some ? OK : ERR_RESOURCE_NOT_FOUND);
	if (!reset.is_some && !reset.keeps_tables)
		w->depth[space] = 0;
	verify(w);
}

static void step(struct world *w)
{
	size_t space = draw(SPACES), process = w->db ? draw(2) : 0;
	int at = (int)draw(TABLES);
	unsigned what = draw(100);

	if (w->db) {
		w->store = w->stores[process];
		w->catalog = w->catalogs[process];
		CHECK_INT(catalog_refresh(w->catalog, &w->fixture.err), OK);
	}

	if (!w->spaces[space].tables[at].exists && what < 75)
		create(w, space, at);
	else if (what < 65)
		write_items(w, space, at);
	else if (what < 70)
		delete(w, space, at);
	else if (what < 75)
		change_table(w, space, at);
	else if (what < 82)
		mark(w, space);
	else if (what < 89)
		roll_back(w, space);
	else if (what < 91)
		forget(w, space);
	else if (what < 96)
		use_snapshot(w, space);
	else if (what < 97)
		clone_space(w, space);
	else if (what < 98)
		reset(w, space);
	else if (w->fixture.options.path && what == 98) {
		close_world(w);
		open_world(w);
		verify(w);
	}
}

static size_t keyspaces(struct world *w)
{
	struct store_keyspaces all = {0};

	if (w->db)
		return 0;
	CHECK_INT(store_keyspaces_now(w->store, w->fixture.arena, &all, &w->fixture.err), OK);
	return all.n;
}

/* Nothing is left of anything when all is forgotten. */
static void leave_nothing(struct world *w, size_t at_first)
{
	for (size_t space = 0; space < SPACES; space++) {
		struct reset all = {.n = 0};

		for (int name = 0; name < NAMES; name++) {
			if (w->snapshots[space][name].name >= 0)
				CHECK_INT(snapshot_remove(w->catalog, ns_of(space), name_of(name),
							  &w->fixture.err),
					  OK);
		}
		CHECK_INT(reset_run(w->catalog, ns_of(space), &all, &w->fixture.err), OK);
	}
	CHECK_INT(keyspaces(w), at_first);
}

static void run(bool is_memory, struct optimistic_db *db, unsigned steps)
{
	static struct world w;

	w = (struct world){.fixture = fixture_new(is_memory), .db = db};
	for (size_t i = 0; i < SPACES * NAMES; i++)
		w.snapshots[i / NAMES][i % NAMES].name = -1;
	w.fixture.err = err_in(w.fixture.arena);
	open_world(&w);
	size_t at_first = keyspaces(&w);
	for (unsigned i = 0; i < steps && test_failures == 0; i++) {
		unsigned long long before = seed;

		step(&w);
		if (test_failures)
			fprintf(stderr, "step %u of seed %llu\n", i, before);
		arena_reset(w.fixture.arena);
	}
	verify(&w);
	leave_nothing(&w, at_first);
	close_world(&w);
	fixture_free(&w.fixture);
}

TEST(memory_is_what_the_model_says)
{
	seed = from_environment("STATE_SEED", 7);
	run(true, NULL, from_environment("STATE_STEPS", 3000 / TEST_SLOWNESS));
}

#ifndef __wasi__ /* which has no files */
TEST(a_file_is_what_the_model_says)
{
	seed = from_environment("STATE_SEED", 8);
	run(false, NULL, from_environment("STATE_STEPS", 2000 / TEST_SLOWNESS));
}
#endif

TEST(two_processes_are_what_the_model_says)
{
	seed = from_environment("STATE_SEED", 9);
	run(true, optimistic_db_new(), from_environment("STATE_STEPS", 1000 / TEST_SLOWNESS));
}

TEST_MAIN(TEST_CASE(memory_is_what_the_model_says),
#ifndef __wasi__
	  TEST_CASE(a_file_is_what_the_model_says),
#endif
	  TEST_CASE(two_processes_are_what_the_model_says))
