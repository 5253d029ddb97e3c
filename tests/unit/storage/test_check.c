/*
 * What a check finds: nothing in stores that the write path made, and each row that was taken away,
 * added or changed beneath it, and each byte that was flipped in the file.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/check.h"
#include "storage/expiry.h"
#include "storage/stream/stream_shard.h"
#include "storage/store/maintenance.h"
#include "tests/unit/storage/data_fixture.h"

#define LINES_MAX 64

struct lines {
	struct arena *arena;
	size_t n;
	struct str v[LINES_MAX];
};

static void add_line(void *context, struct str line)
{
	struct lines *lines = context;

	if (lines->n < LINES_MAX)
		lines->v[lines->n++] = str_copy(lines->arena, line);
}

static struct lines check_now(struct data *d)
{
	struct lines lines = {.arena = d->arena};
	struct check_report report = {.tell = add_line, .context = &lines};

	CHECK_INT(check_store(d->store, NULL, 3000, &report, &d->err), OK);
	CHECK_INT(report.findings, lines.n);
	CHECK(report.items > 0 && report.tables > 0);
	return lines;
}

static void check_sound(struct data *d)
{
	struct lines lines = check_now(d);

	CHECK_INT(lines.n, 0);
	for (size_t i = 0; i < lines.n; i++)
		fprintf(stderr, "found: " STR_FMT "\n", STR_ARG(lines.v[i]));
}

/* One finding, which says this. */
static void check_finds(struct data *d, const char *what)
{
	struct lines lines = check_now(d);

	CHECK_INT(lines.n, 1);
	for (size_t i = 0; i < lines.n; i++) {
		bool is_expected = str_contains(lines.v[i], str_of(what)) &&
				   str_contains(lines.v[i], STR("table data"));

		CHECK(is_expected);
		if (!is_expected)
			fprintf(stderr, "found: " STR_FMT "\n", STR_ARG(lines.v[i]));
	}
}

/* Puts (value given) or deletes a row beneath the write path; gives what was there. */
static struct str change(struct data *d, struct keyspace keyspace, struct str key, struct str value)
{
	struct store_txn *txn;
	struct str before = STR_ABSENT;

	CHECK_INT(store_begin(d->store, STORE_WRITE, &txn, &d->err), OK);
	CHECK_INT(store_get(txn, keyspace, key, d->arena, &before, &d->err), OK);
	CHECK_INT(str_is_set(value) ? store_put(txn, keyspace, key, value, &d->err)
				    : store_del(txn, keyspace, key, &d->err),
		  OK);
	CHECK_INT(store_commit(txn, &d->err), OK);
	return before;
}

/* The first row of a keyspace's range. */
static bool take_first(void *context, struct str key, struct str value)
{
	struct data_rows *rows = context;

	return data_add_row(rows, key, value) && false;
}

static struct str first_key(struct data *d, struct keyspace keyspace)
{
	struct data_rows rows = {.arena = d->arena};
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	struct store_txn *txn;

	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(scan_rows(txn, keyspace, &range, take_first, &rows, &d->err), OK);
	store_abort(txn);
	CHECK_INT(rows.n, 1);
	return rows.keys[0];
}

/* Makes each change to the first row of a keyspace, and takes it back. */
static void try_row(struct data *d, struct keyspace keyspace, const char *without, struct str other,
		    const char *with_other)
{
	struct str key = first_key(d, keyspace), before = change(d, keyspace, key, STR_ABSENT);

	check_finds(d, without);
	change(d, keyspace, key, other);
	check_finds(d, with_other);
	change(d, keyspace, key, before);
	check_sound(d);
}

static struct data data_full_of(bool copies)
{
	struct data d = data_open(NULL);
	struct table *table = data_table("data");

	if (copies)
		trace_store_copy(d.store);
	table->streams.view = STREAM_NEW_AND_OLD_IMAGES;
	table->streams.n = 1;
	table->streams.v = ARENA_ARRAY(table->arena, struct stream, 1);
	table->streams.v[0] = (struct stream){.label = STR("label"),
					      .number = 1,
					      .view = table->streams.view,
					      .created_ms = 1000};
	table->streams.label = table->streams.v[0].label;
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1000, &d.table, &d.err), OK);
	struct table *next = table_clone(d.table);
	next->ttl.is_enabled = true;
	next->ttl.attribute = STR("end");
	next->ttl.changed_ms = 1000;
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	data_take_current(&d);
	for (unsigned i = 0; i < 20; i++) {
		const char *pk = str_printf(d.arena, "Sp%u", i).p,
			   *number = str_printf(d.arena, "N%u", i + 1).p;

		CHECK_INT(data_put(&d, data_item(&d, "pk", pk, "sk", number, "l", number, "g", "Sg",
						 "h", pk, "a", "Sx", "end", number, NULL)),
			  OK);
	}
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Splain", "sk", "N1", NULL)), OK);
	return d;
}

static struct data data_full(void)
{
	return data_full_of(false);
}

TEST(what_was_written_is_sound)
{
	struct data d = data_full();

	check_sound(&d);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sp1", "sk", "N2", "g", "Sother", NULL)), OK);
	check_sound(&d);
	struct table *next = data_with_index(d.table);
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK); /* it is being filled */
	data_take_current(&d);
	check_sound(&d);
	data_free(&d);
}

/* The same row with one attribute more. */
static struct str changed_image(struct data *d, struct str image)
{
	struct value item;
	struct member *members = ARENA_ARRAY(d->arena, struct member, 16);

	CHECK(image_decode(d->arena, image, &item));
	memcpy(members, item.members, item.n * sizeof(*members));
	members[item.n++] = (struct member){STR("zz"), data_value(d, "Smore")};
	item.members = members;
	return data_image(d, &item);
}

/* `d` is data_full(). */
static void check_index_rows(struct data *d, const struct index *index)
{
	struct keyspace keyspace = index_keyspace(d->table, index);
	const struct value *own = data_item(d, "pk", "Sp0", "sk", "N1", "l", "N1", "g", "Sg", "h",
					    "Sp0", "a", "Sy", "z", "Sz", NULL);

	try_row(d, keyspace, "the item has no row in the index", STR("junk"),
		"the row of the index is malformed");
	struct str key = first_key(d, keyspace), before = change(d, keyspace, key, STR_ABSENT);
	change(d, keyspace, key,
	       index->is_by_reference ? data_image(d, own) : changed_image(d, before));
	check_finds(d, index->is_by_reference ? "the row of the index is malformed"
					      : "the row of the index differs from the item");
	change(d, keyspace, key, before);
	/* rows of items that are not there */
	key = STR("a key of nothing");
	change(d, keyspace, key, index->is_by_reference ? STORE_REFERENCE : data_image(d, own));
	check_finds(d, "no item implies the row of the index");
	change(d, keyspace, key, STR_ABSENT);
	change(d, keyspace, STR("k"),
	       index->is_by_reference ? STORE_REFERENCE : data_image(d, own));
	check_finds(d, "no item implies the row of the index");
	change(d, keyspace, STR("k"), STR_ABSENT);
	check_sound(d);
}

TEST(rows_of_indexes_are_compared_with_items)
{
	for (int copies = 0; copies < 2; copies++) {
		struct data d = data_full_of(copies);

		for (size_t i = 0; i < d.table->indexes.n; i++) {
			CHECK_INT(d.table->indexes.v[i].is_by_reference, i == ALL && !copies);
			check_index_rows(&d, &d.table->indexes.v[i]);
		}
		data_free(&d);
	}
}

TEST(items_are_what_they_were_written_as)
{
	struct data d = data_full();
	struct keyspace items = table_items(d.table);
	const struct value *plain = data_item(&d, "pk", "Splain", "sk", "N1", NULL);
	struct str key = item_key_of_row(d.arena, d.table, NULL, plain);
	struct str before = change(&d, items, key, STR("junk"));

	check_finds(&d, "malformed");
	change(&d, items, key, data_image(&d, data_item(&d, "pk", "Selse", "sk", "N1", NULL)));
	check_finds(&d, "another key");
	change(&d, items, key, before);
	check_sound(&d);
	data_free(&d);
}

TEST(the_queue_is_compared_with_items)
{
	struct data d = data_full();
	struct keyspace queue = table_expiry(d.table);
	struct str key = first_key(&d, queue), value = change(&d, queue, key, STR_ABSENT);

	check_finds(&d, "the item has no row in the queue");
	change(&d, queue, key, value);
	change(&d, queue, STR("12345678nothing"), value);
	check_finds(&d, "no item implies the row in the queue");
	change(&d, queue, STR("12345678nothing"), STR_ABSENT);
	check_sound(&d);
	data_free(&d);
}

TEST(streams_are_in_order)
{
	struct data d = data_full();
	struct keyspace stream = stream_keyspace(d.table);
	struct str shard = first_key(&d, stream), row = change(&d, stream, shard, STR_ABSENT);
	struct str record = stream_shard_record_key(d.arena, 3);

	CHECK(check_now(&d).n > 1); /* no record has a shard */
	change(&d, stream, shard, row);
	check_sound(&d);
	struct str before = change(&d, stream, record, STR("junk"));
	check_finds(&d, "the record is malformed");
	change(&d, stream, record, before);
	change(&d, stream, stream_shard_record_key(d.arena, 0), before);
	check_finds(&d, "the record belongs to no shard");
	change(&d, stream, stream_shard_record_key(d.arena, 0), STR_ABSENT);
	/* two shards that share numbers, the first one open */
	change(&d, stream, stream_shard_key(d.arena, 5000), row);
	CHECK_INT(check_now(&d).n, 2);
	change(&d, stream, stream_shard_key(d.arena, 5000), STR_ABSENT);
	check_sound(&d);
	data_free(&d);
}

static uint64_t findings_of(const struct sqlite_store_options *options)
{
	struct arena *arena = arena_new(0);
	struct lines lines = {.arena = arena};
	struct check_report report = {.tell = add_line, .context = &lines};
	struct err err = err_in(arena);
	struct store *store = NULL;

	if (sqlite_store_open(options, &store, &err) != OK ||
	    store->maintenance->verify(store, add_line, &lines, &report.findings, &err) != OK ||
	    check_store(store, NULL, 3000, &report, &err) != OK)
		report.findings++;
	store_close(store);
	arena_free(arena);
	return report.findings;
}

static void flip(const char *path, off_t at)
{
	unsigned char byte;
	int fd = open(path, O_RDWR);

	CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= 0x10;
	CHECK(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

/* Pages that nothing refers to any more are among those that are looked at. */
TEST(flipped_bytes_are_all_found)
{
	char folder[] = "/tmp/dynalith-check-XXXXXX", path[64], copy[64];
	struct sqlite_store_options options = {.path = path, .readers = 1, .cache_bytes = 1 << 20};
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct keyspace items = {7, PART_ITEMS}, dropped = {8, PART_ITEMS};
	struct store_txn *txn;
	struct store *store;
	struct stat status;
	char bytes[900];

	memset(bytes, 'b', sizeof(bytes));
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/data.db", folder);
	snprintf(copy, sizeof(copy), "%s/copy.db", folder);
	CHECK_INT(sqlite_store_open(&options, &store, &err), OK);
	CHECK_INT(store_begin(store, STORE_WRITE, &txn, &err), OK);
	CHECK_INT(store_create(txn, items, &err), OK);
	CHECK_INT(store_create(txn, dropped, &err), OK);
	for (unsigned i = 0; i < 300; i++) {
		struct str key = str_printf(arena, "%u", i);

		CHECK_INT(store_put(txn, i % 2 ? items : dropped, key,
				    (struct str){bytes, sizeof(bytes)}, &err),
			  OK);
	}
	CHECK_INT(store_drop(txn, dropped, &err), OK);
	CHECK_INT(store_commit(txn, &err), OK);
	CHECK_INT(store->maintenance->copy(store, copy, &err), OK);
	CHECK_INT(store->maintenance->copy(store, copy, &err),
		  ERR_INTERNAL); /* never over a file */
	store_close(store);
	CHECK_INT(findings_of(&options), 0);
	CHECK_INT(stat(path, &status), 0);
	for (unsigned i = 0; i < 200; i++) {
		off_t at = (off_t)((uint64_t)i * (uint64_t)status.st_size / 200 + i % 97);

		flip(path, at);
		CHECK(findings_of(&options) > 0);
		flip(path, at);
	}
	CHECK_INT(findings_of(&options), 0);
	options.path = copy;
	CHECK_INT(findings_of(&options), 0);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(unlink(copy), 0);
	CHECK_INT(rmdir(folder), 0);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(what_was_written_is_sound), TEST_CASE(rows_of_indexes_are_compared_with_items),
	  TEST_CASE(items_are_what_they_were_written_as),
	  TEST_CASE(the_queue_is_compared_with_items), TEST_CASE(streams_are_in_order),
	  TEST_CASE(flipped_bytes_are_all_found))
