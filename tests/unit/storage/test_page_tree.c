/*
 * Rows read from pages without statements, against what SQLite reads in the same snapshot: random rows of both kinds of SQL tables, with keys and values that
 * go on in other pages, and ranges in both directions; in memory, and on disk beside writes and checkpoints.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "storage/store/sqlite/data_map.h"
#include "storage/store/sqlite/log_file.h"
#include "storage/store/sqlite/memory_file.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/sqlite/page_tree.h"
#include "tests/unit/test.h"

#define KEY_MAX 3000
#define VALUE_MAX 20000
#define ROUNDS 8
#define CHANGES 600 /* in each round */
#define DISK_ROUNDS 30
#define DAMAGES 1500
#define DAMAGED_ROWS 3000 /* of a range: more than there are */
#define REGION_MAX 4096 /* pages of a log that one region of its index has, at most */

static const char *const kinds[] = {
	"CREATE TABLE rows (k BLOB NOT NULL, v BLOB NOT NULL); CREATE UNIQUE INDEX rows_key ON rows (k)",
	"CREATE TABLE rows (k BLOB NOT NULL PRIMARY KEY, v NOT NULL) WITHOUT ROWID",
};

struct database {
	sqlite3 *db, *reader; /* the same in memory */
	sqlite3_stmt *hold;   /* on disk: has the reader's snapshot */
	char directory[32], path[64];
	struct snapshot_log log;
	struct data_map map;
	struct snapshot snapshot;
	struct page_tree tree;
	struct arena *arena;
	unsigned seed;
	bool has_numbers; /* in place of some values */
};

/* Snapshots on disk: of the data file alone; of a log that is moved in part; of one with a long index. */
static unsigned without_log, with_half_log, with_long_log;

static unsigned roll(struct database *d, unsigned n)
{
	d->seed = d->seed * 1103515245 + 12345;
	return d->seed / 65536 % n;
}

static void run(struct database *d, const char *sql)
{
	if (sqlite3_exec(d->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(d->db));
		abort();
	}
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	return statement;
}

/* Where the b-trees begin now. */
static void look_up(struct database *d)
{
	struct page_roots roots = {.schema = snapshot_schema(&d->snapshot), .usable = snapshot_usable(&d->snapshot)};
	sqlite3_stmt *statement = prepare(d->reader, "SELECT name, rootpage FROM sqlite_schema");

	while (sqlite3_step(statement) == SQLITE_ROW) {
		bool is_table = strcmp((const char *)sqlite3_column_text(statement, 0), "rows") == 0;

		*(is_table && !d->has_numbers ? &roots.rows : &roots.keys) = (uint32_t)sqlite3_column_int(statement, 1);
	}
	sqlite3_finalize(statement);
	CHECK(roots.schema != 0);
	d->tree = page_tree_of(&d->snapshot, roots);
}

static sqlite3 *open_file(const char *path, const char *file_system)
{
	sqlite3 *db = NULL;

	CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, file_system), SQLITE_OK);
	return db;
}

static struct database database_new(unsigned kind, unsigned reserved)
{
	struct database d = {.arena = arena_new(1 << 22), .seed = 7 * kind + reserved + 1, .has_numbers = kind == 1};
	int bytes = (int)reserved;

	CHECK(memory_file_install());
	d.db = d.reader = open_file("/trees", MEMORY_FILE_SYSTEM);
	sqlite3_file_control(d.db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
	run(&d, "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; VACUUM");
	run(&d, kinds[kind]);
	d.snapshot.memory = memory_file_of(d.db);
	return d;
}

/* A connection of the same file that reads, and its mappings. */
static void read_by_another(struct database *d)
{
	d->reader = open_file(d->path, log_file_system());
	d->hold = prepare(d->reader, "PRAGMA schema_version");
	snapshot_map_log(&d->log, d->path);
	d->snapshot.log = &d->log;
	data_map_make(&d->map, open(d->path, O_RDONLY | O_CLOEXEC));
	page_file_set_map(page_file_of(d->db, SQLITE_FCNTL_FILE_POINTER), &d->map);
	page_file_set_map(page_file_of(d->reader, SQLITE_FCNTL_FILE_POINTER), &d->map);
}

/* `snapshot` points into the struct: the caller must not move it. */
static void database_open_on_disk(struct database *d, unsigned kind)
{
	int bytes = 4;

	*d = (struct database){.directory = "/tmp/dynalith-trees-XXXXXX", .arena = arena_new(1 << 22), .seed = kind + 99, .has_numbers = kind == 1};
	CHECK(mkdtemp(d->directory) != NULL);
	snprintf(d->path, sizeof(d->path), "%s/data.db", d->directory);
	d->db = open_file(d->path, log_file_system());
	sqlite3_file_control(d->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
	run(d, "PRAGMA page_size = 4096; PRAGMA synchronous = OFF; VACUUM; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
	run(d, kinds[kind]);
	read_by_another(d);
}

/* Ends what reads and what writes, and opens both again. */
static void database_reopen(struct database *d)
{
	sqlite3_finalize(d->hold);
	CHECK_INT(sqlite3_close(d->reader), SQLITE_OK);
	CHECK_INT(sqlite3_close(d->db), SQLITE_OK);
	snapshot_unmap_log(&d->log);
	data_map_end(&d->map);
	close(d->map.fd);
	d->snapshot = (struct snapshot){.is_usable = false};
	d->db = open_file(d->path, log_file_system());
	run(d, "PRAGMA wal_autocheckpoint = 0; PRAGMA page_count");
	read_by_another(d);
}

static void database_free(struct database *d)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char name[80];

	sqlite3_finalize(d->hold);
	snapshot_unmap_log(&d->log);
	if (d->reader != d->db)
		CHECK_INT(sqlite3_close(d->reader), SQLITE_OK);
	CHECK_INT(sqlite3_close(d->db), SQLITE_OK);
	data_map_end(&d->map);
	if (d->path[0])
		close(d->map.fd);
	for (size_t i = 0; d->path[0] && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", d->path, suffixes[i]);
		(void)remove(name);
	}
	if (d->path[0])
		CHECK_INT(remove(d->directory), 0);
	arena_free(d->arena);
}

static struct str random_bytes(struct database *d, size_t n)
{
	char *bytes = arena_bytes(d->arena, n + 1);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)("\0ab\377"[roll(d, 4)]);
	return (struct str){bytes, n};
}

/* Short ones, ones that begin alike, and now and then one that does not fit into a page. */
static struct str random_key(struct database *d)
{
	return random_bytes(d, roll(d, 20) == 0 ? 1 + roll(d, KEY_MAX) : 1 + roll(d, roll(d, 2) ? 6 : 40));
}

static void bind(sqlite3_stmt *statement, int position, struct str bytes)
{
	CHECK_INT(sqlite3_bind_blob64(statement, position, bytes.p, bytes.n, SQLITE_STATIC), SQLITE_OK);
}

static void finish(sqlite3_stmt *statement)
{
	CHECK_INT(sqlite3_step(statement), SQLITE_DONE);
	CHECK_INT(sqlite3_finalize(statement), SQLITE_OK);
}

static void change(struct database *d)
{
	struct str key = random_key(d);
	sqlite3_stmt *statement;

	if (roll(d, 60) == 0) {
		char end[] = {key.p[0], key.n > 1 ? key.p[1] : 'a', '\377'};

		statement = prepare(d->db, "DELETE FROM rows WHERE k >= ?1 AND k < ?2");
		bind(statement, 1, key);
		bind(statement, 2, (struct str){end, sizeof(end)});
		finish(statement);
		return;
	}
	statement = prepare(d->db, "INSERT INTO rows (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v");
	bind(statement, 1, key);
	if (d->has_numbers && roll(d, 2))
		CHECK_INT(sqlite3_bind_int64(statement, 2, (sqlite3_int64)roll(d, 3) << roll(d, 60)), SQLITE_OK);
	else
		bind(statement, 2, random_bytes(d, roll(d, 10) == 0 ? roll(d, VALUE_MAX) : roll(d, 300)));
	finish(statement);
}

static struct str column(sqlite3_stmt *statement, int position)
{
	const char *p = sqlite3_column_blob(statement, position);

	return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(statement, position)};
}

/* The value that the store gives. */
static struct str value_of(sqlite3_stmt *statement)
{
	return sqlite3_column_type(statement, 1) == SQLITE_INTEGER ? STORE_REFERENCE : column(statement, 1);
}

/* Up to a group of values as both have them. */
static void check_get(struct database *d, const struct str *keys, size_t n)
{
	struct str values[PAGE_TREE_GROUP];
	bool is_read = page_tree_get(&d->tree, keys, n, d->arena, values);

	CHECK(is_read);
	for (size_t i = 0; i < n && is_read; i++) {
		sqlite3_stmt *statement = prepare(d->reader, "SELECT k, v FROM rows WHERE k = ?1");

		bind(statement, 1, keys[i]);
		bool is_there = sqlite3_step(statement) == SQLITE_ROW;
		CHECK_INT(str_is_set(values[i]), is_there);
		CHECK(!is_there || str_eq(values[i], value_of(statement)));
		sqlite3_finalize(statement);
	}
}

/* One row of a range as both have it. */
static void check_row(struct database *d, const struct page_entry *entry, sqlite3_stmt *statement)
{
	struct store_row row;

	CHECK(page_tree_row(&d->tree, entry, d->arena, &row));
	CHECK(str_eq(row.key, column(statement, 0)));
	CHECK(str_eq(row.value, value_of(statement)));
	CHECK(str_eq(entry->key, row.key));
	if (entry->has_number && d->tree.roots.rows == 0)
		CHECK_INT(entry->number, sqlite3_column_int64(statement, 1));
}

/* The next rows of a range as both have them; false where it is over. */
static bool check_rows(struct database *d, struct page_tree_cursor *cursor, sqlite3_stmt *statement)
{
	struct page_entry entries[PAGE_TREE_GROUP];
	size_t most = 1 + roll(d, PAGE_TREE_GROUP), n = 0;

	bool is_read = page_tree_next(cursor, most, entries, &n) && (d->tree.roots.rows == 0 || page_tree_find_rows(&d->tree, entries, n));
	CHECK(is_read);
	if (!is_read)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool is_there = sqlite3_step(statement) == SQLITE_ROW;

		CHECK(is_there);
		if (!is_there)
			return false;
		check_row(d, &entries[i], statement);
	}
	if (n < most)
		CHECK_INT(sqlite3_step(statement), SQLITE_DONE);
	return n == most;
}

static void check_range(struct database *d, struct store_range range)
{
	sqlite3_stmt *statement = prepare(d->reader, range.is_reverse ? "SELECT k, v FROM rows WHERE k >= ?1 AND (k < ?2 OR ?2 IS NULL) ORDER BY k DESC"
							     : "SELECT k, v FROM rows WHERE k >= ?1 AND (k < ?2 OR ?2 IS NULL) ORDER BY k");
	struct page_tree_cursor cursor;

	bind(statement, 1, str_is_set(range.low) ? range.low : STR(""));
	if (str_is_set(range.high))
		bind(statement, 2, range.high);
	bool is_more = page_tree_seek(&cursor, &d->tree, &range, d->arena);
	CHECK(is_more);
	while (is_more)
		is_more = check_rows(d, &cursor, statement);
	sqlite3_finalize(statement);
}

static void check_everything(struct database *d)
{
	for (int i = 0; i < 30; i++) {
		struct store_range range = {.low = STR_ABSENT, .high = STR_ABSENT, .is_reverse = roll(d, 2) != 0};

		struct str keys[PAGE_TREE_GROUP];
		size_t n = 1 + roll(d, PAGE_TREE_GROUP);

		for (size_t k = 0; k < n; k++)
			keys[k] = random_key(d);
		check_get(d, keys, n);
		if (roll(d, 5))
			range.low = roll(d, 5) ? random_key(d) : STR("");
		if (roll(d, 3))
			range.high = random_key(d);
		check_range(d, range);
	}
	/* each key that is there, too, with others between */
	struct str keys[PAGE_TREE_GROUP];
	size_t n = 0, most = 1 + roll(d, PAGE_TREE_GROUP);
	sqlite3_stmt *statement = prepare(d->reader, "SELECT k FROM rows");
	while (sqlite3_step(statement) == SQLITE_ROW) {
		keys[n++] = str_copy(d->arena, column(statement, 0));
		if (n < most && roll(d, 4) == 0)
			keys[n++] = random_key(d);
		if (n < most)
			continue;
		check_get(d, keys, n);
		n = 0;
		most = 1 + roll(d, PAGE_TREE_GROUP);
	}
	check_get(d, keys, n);
	sqlite3_finalize(statement);
}

static void check_kind(unsigned kind, unsigned reserved)
{
	struct database d = database_new(kind, reserved);

	look_up(&d);
	check_everything(&d);
	for (int i = 0; i < ROUNDS; i++) {
		run(&d, "BEGIN IMMEDIATE");
		for (int k = 0; k < CHANGES; k++)
			change(&d);
		run(&d, "COMMIT");
		look_up(&d);
		check_everything(&d);
		arena_reset(d.arena);
	}
	database_free(&d);
}

TEST(rows_with_numbers_are_as_sqlite_reads_them)
{
	check_kind(0, 0);
	check_kind(0, 4);
}

TEST(rows_in_one_tree_are_as_sqlite_reads_them)
{
	check_kind(1, 0);
	check_kind(1, 4);
}

static void change_some(struct database *d, unsigned n)
{
	run(d, "BEGIN IMMEDIATE");
	for (unsigned i = 0; i < n; i++)
		change(d);
	run(d, "COMMIT");
}

static uint32_t page_count(struct database *d)
{
	sqlite3_stmt *statement = prepare(d->reader, "PRAGMA page_count");

	CHECK_INT(sqlite3_step(statement), SQLITE_ROW);
	uint32_t n = (uint32_t)sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return n;
}

static void checkpoint(struct database *d, int mode)
{
	(void)sqlite3_wal_checkpoint_v2(d->db, NULL, mode, NULL, NULL);
}

/* What the reader sees is from the moment when it began, wherever its pages go meanwhile. True where the pages could be read. */
static bool check_snapshot(struct database *d, bool has_checkpoints)
{
	static const int modes[] = {SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL, SQLITE_CHECKPOINT_RESTART, SQLITE_CHECKPOINT_TRUNCATE};

	CHECK_INT(snapshot_begin(&d->snapshot, d->reader, d->hold), SQLITE_ROW);
	bool is_usable = d->snapshot.is_usable;
	without_log += d->snapshot.last < d->snapshot.from;
	with_half_log += d->snapshot.from > 1 && d->snapshot.last >= d->snapshot.from;
	with_long_log += d->snapshot.last > REGION_MAX;
	for (unsigned i = roll(d, 3); i > 0; i--) {
		change_some(d, 1 + roll(d, 40));
		if (has_checkpoints && roll(d, 2))
			checkpoint(d, modes[roll(d, 4)]);
	}
	if (is_usable) {
		look_up(d);
		check_everything(d);
	}
	snapshot_end(&d->snapshot, d->hold);
	arena_reset(d->arena);
	return is_usable;
}

static void check_on_disk(unsigned kind)
{
	struct database d;
	unsigned usable = 0;

	database_open_on_disk(&d, kind);
	for (unsigned i = 0; i < DISK_ROUNDS; i++) {
		/* first a log of some thousand pages, whose index has several regions, then short ones */
		bool has_checkpoints = i > DISK_ROUNDS / 2;

		change_some(&d, has_checkpoints ? 50 : 400);
		if (has_checkpoints && roll(&d, 2))
			checkpoint(&d, roll(&d, 2) ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE);
		usable += check_snapshot(&d, has_checkpoints);
	}
	/* in the first one SQLite opens the log, and nobody else writes while a snapshot is taken */
	CHECK_INT(usable, DISK_ROUNDS - 1);
	database_free(&d);
}

TEST(snapshots_on_disk_are_as_sqlite_reads_them)
{
	check_on_disk(0);
	check_on_disk(1);
	CHECK(without_log > 2);
	CHECK(with_half_log > 2);
	CHECK(with_long_log > 2);
}

/* A function of SQL: another connection commits while the reader takes its snapshot. */
static void commit_meanwhile(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct database *d = sqlite3_user_data(context);

	(void)n, (void)values;
	change_some(d, 10);
	sqlite3_result_int(context, 1);
}

/* SQLite may have taken the one before it or the one behind it. */
TEST(a_snapshot_beside_a_commit_is_left_to_sqlite)
{
	struct database d;

	database_open_on_disk(&d, 0);
	change_some(&d, 10);
	CHECK(!check_snapshot(&d, false));
	CHECK(check_snapshot(&d, false));
	CHECK_INT(sqlite3_create_function(d.reader, "meanwhile", 0, SQLITE_UTF8, &d, commit_meanwhile, NULL, NULL), SQLITE_OK);
	sqlite3_stmt *statement = prepare(d.reader, "SELECT meanwhile() FROM rows LIMIT 1");
	CHECK_INT(snapshot_begin(&d.snapshot, d.reader, statement), SQLITE_ROW);
	CHECK(!d.snapshot.is_usable);
	snapshot_end(&d.snapshot, statement);
	sqlite3_finalize(statement);
	CHECK(check_snapshot(&d, false));
	database_free(&d);
}

TEST(a_page_that_the_file_lacks_is_not_read)
{
	struct database d;

	database_open_on_disk(&d, 0);
	change_some(&d, 800);
	CHECK(!check_snapshot(&d, false)); /* opens the log */
	checkpoint(&d, SQLITE_CHECKPOINT_TRUNCATE);
	CHECK_INT(snapshot_begin(&d.snapshot, d.reader, d.hold), SQLITE_ROW);
	CHECK(d.snapshot.is_usable);
	CHECK(snapshot_page(&d.snapshot, page_count(&d)) != NULL);
	CHECK(!snapshot_page(&d.snapshot, page_count(&d) + 1));
	CHECK(!snapshot_page(&d.snapshot, UINT32_MAX));
	CHECK(!snapshot_page(&d.snapshot, 0));
	snapshot_end(&d.snapshot, d.hold);
	database_free(&d);
}

/* As after a start, until the first commit. */
TEST(a_file_without_log_is_read_as_well)
{
	struct database d;

	database_open_on_disk(&d, 0);
	change_some(&d, 800);
	database_reopen(&d); /* the last connection to close takes the log away */
	CHECK_INT(snapshot_begin(&d.snapshot, d.reader, d.hold), SQLITE_ROW); /* opens the log */
	snapshot_end(&d.snapshot, d.hold);
	CHECK_INT(snapshot_begin(&d.snapshot, d.reader, d.hold), SQLITE_ROW);
	CHECK(d.snapshot.is_usable);
	snapshot_end(&d.snapshot, d.hold);
	CHECK(check_snapshot(&d, true));
	CHECK(check_snapshot(&d, true));
	database_free(&d);
}

TEST(a_changed_schema_has_another_number)
{
	struct database d = database_new(0, 0);
	uint32_t before = snapshot_schema(&d.snapshot);

	run(&d, "INSERT INTO rows (k, v) VALUES (x'01', x'02')");
	CHECK_INT(snapshot_schema(&d.snapshot), before);
	run(&d, "CREATE TABLE more (k)");
	CHECK(snapshot_schema(&d.snapshot) != before);
	database_free(&d);
}

/* Reads rows and the range of all, whatever comes of it. */
static void read_damaged(struct database *d)
{
	const struct store_range ranges[] = {{STR_ABSENT, STR_ABSENT, false}, {STR_ABSENT, STR_ABSENT, true}};
	struct page_tree_cursor cursor;
	struct page_entry entries[PAGE_TREE_GROUP];
	struct store_row row;
	struct str keys[PAGE_TREE_GROUP], values[PAGE_TREE_GROUP];
	size_t n;

	for (n = 0; n < PAGE_TREE_GROUP; n++)
		keys[n] = random_key(d);
	(void)!page_tree_get(&d->tree, keys, n, d->arena, values);
	(void)!page_tree_get(&d->tree, keys, 1, d->arena, values);
	for (size_t i = 0; i < 2; i++) {
		bool is_read = page_tree_seek(&cursor, &d->tree, &ranges[i], d->arena);

		for (unsigned rows = 0; is_read && rows < DAMAGED_ROWS; rows += PAGE_TREE_GROUP) {
			is_read = page_tree_next(&cursor, PAGE_TREE_GROUP, entries, &n) && (d->tree.roots.rows == 0 || page_tree_find_rows(&d->tree, entries, n));
			for (size_t k = 0; is_read && k < n; k++)
				(void)!page_tree_row(&d->tree, &entries[k], d->arena, &row);
			is_read = is_read && n == PAGE_TREE_GROUP;
		}
	}
	arena_reset(d->arena);
}

TEST(damaged_pages_do_no_harm)
{
	for (unsigned kind = 0; kind < 2; kind++) {
		struct database d = database_new(kind, 4);

		change_some(&d, 800);
		look_up(&d);
		uint32_t pages = page_count(&d);
		for (int i = 0; i < DAMAGES; i++) {
			unsigned char *page = (unsigned char *)(uintptr_t)snapshot_page(&d.snapshot, 2 + roll(&d, pages - 1));
			unsigned at = roll(&d, 3) ? roll(&d, 64) : roll(&d, 4096);
			unsigned char before = page ? page[at] : 0;

			if (!page)
				continue;
			page[at] = (unsigned char)roll(&d, 256);
			d.tree = page_tree_of(&d.snapshot, d.tree.roots);
			read_damaged(&d);
			page[at] = before;
		}
		database_free(&d);
	}
}

/* Roots that are pages of another kind, or none: whoever asks is sent to SQLite. */
TEST(other_pages_are_no_tree)
{
	struct database d = database_new(0, 0);
	struct page_tree_cursor cursor;
	struct page_entry entry = {.key = STR("a"), .has_number = true, .number = 1};
	struct str value;

	look_up(&d);
	struct page_roots wrong[] = {
		{.keys = d.tree.roots.rows, .rows = d.tree.roots.keys}, {.keys = 1, .rows = 1}, {.keys = 4000, .rows = 4000}, {.keys = 0, .rows = 0},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		wrong[i].usable = d.tree.roots.usable;
		struct page_tree tree = page_tree_of(&d.snapshot, wrong[i]);

		CHECK(!page_tree_get(&tree, &entry.key, 1, d.arena, &value));
		CHECK(!page_tree_find_rows(&tree, &entry, 1));
		CHECK(!page_tree_seek(&cursor, &tree, &(struct store_range){.low = STR_ABSENT}, d.arena));
	}
	database_free(&d);
}

TEST_MAIN(TEST_CASE(rows_with_numbers_are_as_sqlite_reads_them), TEST_CASE(rows_in_one_tree_are_as_sqlite_reads_them), TEST_CASE(snapshots_on_disk_are_as_sqlite_reads_them),
	  TEST_CASE(a_snapshot_beside_a_commit_is_left_to_sqlite),
	  TEST_CASE(a_page_that_the_file_lacks_is_not_read), TEST_CASE(a_file_without_log_is_read_as_well),
	  TEST_CASE(a_changed_schema_has_another_number), TEST_CASE(other_pages_are_no_tree), TEST_CASE(damaged_pages_do_no_harm))
