/*
 * layout - what a layout of rows costs in SQLite: CPU and instructions of a get, a range of 20
 * rows, an insert and an update, the time that 99 of 100 inserts and updates take at most, and
 * bytes of file per row.
 *
 *     layout FILE ROWS BYTES PAGE OPERATIONS [ordered]
 *
 * FILE is made, used and removed for each layout in turn; all get the same rows: keys of 36 bytes
 * in collections of 20, values of BYTES bytes. They come in random order, or, with `ordered`,
 * collection by collection. Each write is a transaction of its own, with the store's settings on
 * disk (write-ahead log, synchronous=NORMAL, 2 MB of cache, 256 MB mapped); the checkpoint that its
 * log needs counts. Writes of the fill do not.
 *
 * Instructions are those of user space, which repeat where CPU does not; 0 where the system does
 * not count them.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define PER_COLLECTION 20
#define KEY_BYTES 36
#define PER_FILL 10000   /* rows of a transaction that fills */
#define BYTES_MOST 16384

enum statement { GET, RANGE, PUT, PUT_SIDE, UPDATE, STATEMENTS };

struct layout {
	const char *name, *create, *sql[STATEMENTS];
};

/* A side table has the values by number; the row of the key is put after its value. */
static const struct layout layouts[] = {
	{"rowid",
	 "CREATE TABLE t (k BLOB NOT NULL, v BLOB NOT NULL); CREATE UNIQUE INDEX t_key ON t (k)",
	 {"SELECT v FROM t WHERE k = ?1", "SELECT k, v FROM t WHERE k >= ?1 ORDER BY k",
	  "INSERT INTO t (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v", NULL,
	  "INSERT INTO t (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v"}},
	{"clustered",
	 "CREATE TABLE t (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID",
	 {"SELECT v FROM t WHERE k = ?1", "SELECT k, v FROM t WHERE k >= ?1 ORDER BY k",
	  "INSERT INTO t (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v", NULL,
	  "INSERT INTO t (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v"}},
	{"side",
	 "CREATE TABLE s (n INTEGER PRIMARY KEY, v BLOB NOT NULL); CREATE TABLE t (k BLOB PRIMARY "
	 "KEY, n INTEGER NOT NULL) WITHOUT ROWID",
	 {"SELECT s.v FROM t JOIN s ON s.n = t.n WHERE k = ?1",
	  "SELECT t.k, s.v FROM t CROSS JOIN s ON s.n = t.n WHERE k >= ?1 ORDER BY k",
	  "INSERT INTO t (k, n) VALUES (?1, last_insert_rowid())", "INSERT INTO s (v) VALUES (?2)",
	  "UPDATE s SET v = ?2 WHERE n = (SELECT n FROM t WHERE k = ?1)"}},
};

struct run {
	const struct layout *layout;
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	const char *path;
	uint64_t rows, random;
	size_t bytes;
	int page, is_ordered;
	int counter; /* of instructions; -1: none */
};

/* Of one kind of operation. */
struct cost {
	double us, instructions, p99_us; /* CPU; the last of time that passes */
};

static void fail(struct run *run, const char *what)
{
	fprintf(stderr, "layout: %s: %s\n", what, sqlite3_errmsg(run->db));
	exit(1);
}

static void sql(struct run *run, const char *text)
{
	if (sqlite3_exec(run->db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail(run, text);
}

/* splitmix64: a bijection, so that two numbers never share a key. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

static void bind_key(sqlite3_stmt *statement, uint64_t number)
{
	char key[KEY_BYTES + 1];

	snprintf(key, sizeof(key), "%016llx-%019llu",
		 (unsigned long long)mix(number / PER_COLLECTION + 1),
		 (unsigned long long)(number % PER_COLLECTION));
	sqlite3_bind_blob(statement, 1, key, KEY_BYTES, SQLITE_TRANSIENT);
}

static void step_write(struct run *run, enum statement kind, uint64_t number, uint64_t filler)
{
	static char value[BYTES_MOST];
	sqlite3_stmt *statement = run->statements[kind];

	memset(value, 'a' + (int)(filler % 26), run->bytes);
	bind_key(statement, number);
	if (sqlite3_bind_parameter_count(statement) > 1)
		sqlite3_bind_blob(statement, 2, value, (int)run->bytes, SQLITE_STATIC);
	if (sqlite3_step(statement) != SQLITE_DONE)
		fail(run, "write");
	sqlite3_reset(statement);
}

static void put(struct run *run, uint64_t number)
{
	if (run->statements[PUT_SIDE])
		step_write(run, PUT_SIDE, number, number);
	step_write(run, PUT, number, number);
}

static void open_file(struct run *run)
{
	char setup[256];

	remove(run->path);
	if (sqlite3_open(run->path, &run->db) != SQLITE_OK)
		fail(run, run->path);
	snprintf(setup, sizeof(setup),
		 "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA "
		 "cache_size=-2048; "
		 "PRAGMA mmap_size=%d; PRAGMA secure_delete=OFF; PRAGMA wal_autocheckpoint=%d",
		 run->page, 256 << 20, (64 << 20) / run->page);
	sql(run, setup);
	sql(run, run->layout->create);
	for (int i = 0; i < STATEMENTS; i++) {
		if (run->layout->sql[i] &&
		    sqlite3_prepare_v2(run->db, run->layout->sql[i], -1, &run->statements[i],
				       NULL) != SQLITE_OK)
			fail(run, run->layout->sql[i]);
	}
}

/* The i-th number of a permutation of 0 .. rows - 1: 2654435761 is prime, and larger than the
 * counts of rows it is used with. */
static uint64_t placed(const struct run *run, uint64_t i)
{
	return run->is_ordered ? i : i * 2654435761u % run->rows;
}

static void fill(struct run *run)
{
	for (uint64_t i = 0; i < run->rows; i++) {
		if (i % PER_FILL == 0)
			sql(run, "BEGIN IMMEDIATE");
		put(run, placed(run, i));
		if (i % PER_FILL == PER_FILL - 1 || i + 1 == run->rows)
			sql(run, "COMMIT");
	}
	sql(run, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/* Reads up to `rows` rows from a key on and copies their values, as the store does. */
static void read_rows(struct run *run, enum statement kind, uint64_t number, int rows)
{
	sqlite3_stmt *statement = run->statements[kind];
	static char copy[BYTES_MOST];

	bind_key(statement, number);
	for (int i = 0; i < rows && sqlite3_step(statement) == SQLITE_ROW; i++) {
		int last = sqlite3_column_count(statement) - 1;

		memcpy(copy, sqlite3_column_blob(statement, last),
		       (size_t)sqlite3_column_bytes(statement, last));
	}
	sqlite3_reset(statement);
}

static double clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void operate(struct run *run, enum statement kind, uint64_t i)
{
	uint64_t number = mix(++run->random) % run->rows;

	if (kind == GET) {
		read_rows(run, GET, number, 1);
	} else if (kind == RANGE) {
		read_rows(run, RANGE, number / PER_COLLECTION * PER_COLLECTION, PER_COLLECTION);
	} else {
		sql(run, "BEGIN IMMEDIATE");
		if (kind == PUT)
			put(run, run->rows + i * PER_COLLECTION); /* a collection of its own: a
								     random place */
		else
			step_write(run, UPDATE, number, i);
		sql(run, "COMMIT");
	}
}

static int open_counter(void)
{
#ifdef __linux__
	struct perf_event_attr what = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(what),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
#else
	return -1;
#endif
}

static double instructions(const struct run *run)
{
	uint64_t n = 0;

#ifdef __linux__
	if (run->counter < 0 || read(run->counter, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return 0;
#else
	(void)run;
#endif
	return (double)n;
}

/* Of each of so many operations. */
static struct cost measure(struct run *run, enum statement kind, uint64_t operations)
{
	double *took = calloc(operations + 1, sizeof(*took));

	if (!took)
		fail(run, "memory");
	double begin = clock_us(CLOCK_PROCESS_CPUTIME_ID), counted = instructions(run),
	       before = clock_us(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < operations; i++) {
		operate(run, kind, i);
		double now = clock_us(CLOCK_MONOTONIC);
		took[i] = now - before;
		before = now;
	}
	if (kind == PUT || kind == UPDATE)
		sql(run, "PRAGMA wal_checkpoint(TRUNCATE)");
	struct cost cost = {(clock_us(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)operations,
			    (instructions(run) - counted) / (double)operations, 0};
	qsort(took, operations, sizeof(*took), compare);
	cost.p99_us = took[operations * 99 / 100];
	free(took);
	return cost;
}

static void run_layout(const struct run *model, const struct layout *layout, uint64_t operations)
{
	struct run run = *model;
	struct stat file;

	run.layout = layout;
	open_file(&run);
	fill(&run);
	if (stat(run.path, &file) != 0)
		fail(&run, run.path);
	measure(&run, GET, operations / 10); /* warms up */
	struct cost get = measure(&run, GET, operations),
		    range = measure(&run, RANGE, operations / 5);
	struct cost update = measure(&run, UPDATE, operations),
		    insert = measure(&run, PUT, operations);
	printf("%-10s %9llu %6zu %6d %-8s %8.2f %8.1f %8.1f %8.1f %9.0f %8.0f %8.0f %8.0f %8.0f "
	       "%10.0f %10.0f\n",
	       layout->name, (unsigned long long)run.rows, run.bytes, run.page,
	       run.is_ordered ? "ordered" : "random", get.us, range.us, insert.us, update.us,
	       (double)file.st_size / (double)run.rows, get.instructions, range.instructions,
	       insert.instructions, update.instructions, insert.p99_us, update.p99_us);
	fflush(stdout);
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(run.statements[i]);
	sqlite3_close(run.db);
	remove(run.path);
}

int main(int argc, char **argv)
{
	struct run run = {.is_ordered = argc == 7 && strcmp(argv[6], "ordered") == 0};

	if (argc != 6 && !run.is_ordered) {
		fprintf(stderr, "usage: layout FILE ROWS BYTES PAGE OPERATIONS [ordered]\n");
		return 2;
	}
	run.path = argv[1];
	run.rows = strtoull(argv[2], NULL, 10);
	run.bytes = strtoull(argv[3], NULL, 10);
	run.page = (int)strtol(argv[4], NULL, 10);
	if (run.rows < PER_COLLECTION || run.bytes > BYTES_MOST) {
		fprintf(stderr, "layout: from %d rows, up to %d bytes\n", PER_COLLECTION,
			BYTES_MOST);
		return 2;
	}
	run.counter = open_counter();
	printf("%-10s %9s %6s %6s %-8s %8s %8s %8s %8s %9s %8s %8s %8s %8s %10s %10s\n", "layout",
	       "rows", "bytes", "page", "filled", "get us", "range us", "insert us", "update us",
	       "file/row", "get in", "range in", "insert in", "update in", "insert p99",
	       "update p99");
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		run_layout(&run, &layouts[i], strtoull(argv[5], NULL, 10));
	return 0;
}
