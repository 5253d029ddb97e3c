/* Rows of every length come back from a damaged file, or their keys do. */
#include <fcntl.h>

#include "storage/store/sqlite/file_salvage.h"
#include "tests/unit/storage/store_fixture.h"

#define ROWS 400
#define ITEMS KEYSPACE(1, PART_ITEMS)
#define OTHER KEYSPACE(2, PART_ITEMS)

static const struct keyspace keyspaces[] = {ITEMS, OTHER};

/* Some go on beyond their cells in the table; those of ITEMS in the index too, or nearly. */
static struct str key_of(struct arena *arena, struct keyspace keyspace, unsigned i)
{
	bool is_first = keyspace.table == 1;
	size_t n = i % 10 == 0               ? 8 + i * (is_first ? 5 : 2)
		   : i % 10 == 5 && is_first ? 960 + i / 10
					     : 8 + i % 50;
	char *key = arena_bytes(arena, n + 1);

	memset(key, 'a' + (int)(i % 7), n);
	snprintf(key, n, "%u/%04u", (unsigned)keyspace.table, i);
	return (struct str){key, n};
}

/* Some take up to five pages, some fit into their cells or nearly. */
static struct str value_of(struct arena *arena, unsigned i)
{
	size_t n = i % 5 == 0 ? i * 50 : i % 5 == 1 ? 4062 - i % 50 - i / 5 : i % 300;
	char *value = arena_bytes(arena, n + 1);

	memset(value, (int)i, n);
	return (struct str){value, n};
}

static void fill(struct fixture *fixture)
{
	struct store *store = fixture_open(fixture);

	for (size_t k = 0; k < 2; k++) {
		fixture_create(fixture, store, keyspaces[k]);
		struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
		for (unsigned i = 0; i < ROWS; i++)
			CHECK_INT(store_put(txn, keyspaces[k],
					    key_of(fixture->arena, keyspaces[k], i),
					    value_of(fixture->arena, i), &fixture->err),
				  OK);
		CHECK_INT(store_commit(txn, &fixture->err), OK);
	}
	store_close(store);
}

/* How often each row came, and how. */
struct seen {
	struct arena *arena;
	struct keyspace keyspace;
	unsigned whole[ROWS], keys[ROWS], others, sum;
};

static void see(void *context, const struct salvage_row *row)
{
	struct seen *seen = context;
	unsigned i = row->key.n > 6 ? (unsigned)strtoul(row->key.p + 2, NULL, 10) : ROWS;

	if (i >= ROWS || !str_eq(row->key, key_of(seen->arena, seen->keyspace, i))) {
		CHECK_INT(row->state, SALVAGE_DAMAGED);
		seen->others++;
	} else if (row->state == SALVAGE_SOUND) {
		CHECK(str_eq(row->value, value_of(seen->arena, i)));
		seen->whole[i]++;
	} else {
		CHECK_INT(row->state, SALVAGE_DAMAGED);
		seen->keys[i]++;
	}
}

/* Checks the rows of keyspaces from that one on, and gives how many of them are whole. Each is
 * once, or else its key is. */
static unsigned salvage_from(struct fixture *fixture, size_t first)
{
	int fd = open(fixture->path, O_RDONLY | O_CLOEXEC);
	struct raw_file file;
	struct salvage *salvage;
	unsigned whole = 0;

	CHECK_INT(raw_file_open(fd, fixture->path, &file, &fixture->err), OK);
	if (file_salvage_open(&file, fixture->path, &salvage, &fixture->err) != OK)
		abort();
	for (size_t k = first; k < 2; k++) {
		struct seen *seen = ARENA_NEW(fixture->arena, struct seen);

		seen->arena = fixture->arena;
		seen->keyspace = keyspaces[k];
		salvage->ops->rows(salvage, keyspaces[k], see, seen);
		for (unsigned i = 0; i < ROWS; i++) {
			CHECK(seen->whole[i] + seen->keys[i] == 1);
			seen->sum += seen->whole[i];
		}
		CHECK(seen->sum < ROWS || seen->others == 0);
		whole += seen->sum;
	}
	salvage->ops->close(salvage);
	close(fd);
	return whole;
}

/* Overwrites pages that begin with this byte, `n` at most. */
static unsigned overwrite(struct fixture *fixture, unsigned char kind, unsigned n)
{
	unsigned char page[STORE_PAGE];
	int fd = open(fixture->path, O_RDWR | O_CLOEXEC);
	unsigned done = 0;

	for (off_t at = STORE_PAGE; done < n && pread(fd, page, sizeof(page), at) == STORE_PAGE;
	     at += STORE_PAGE) {
		if (page[0] != kind)
			continue;
		memset(page, 0xEE, sizeof(page));
		CHECK_INT(pwrite(fd, page, sizeof(page), at), STORE_PAGE);
		done++;
	}
	close(fd);
	return done;
}

TEST(rows_of_all_lengths)
{
	struct fixture fixture = fixture_new(false);

	fill(&fixture);
	CHECK_INT(salvage_from(&fixture, 0), 2 * ROWS);
	fixture_free(&fixture);
}

TEST(pages_above_rows_cost_none)
{
	struct fixture fixture = fixture_new(false);

	fill(&fixture);
	CHECK(overwrite(&fixture, RAW_TABLE_INNER, UINT32_MAX) >= 2);
	CHECK_INT(salvage_from(&fixture, 0), 2 * ROWS);
	fixture_free(&fixture);
}

TEST(rows_of_lost_pages_leave_their_keys)
{
	struct fixture fixture = fixture_new(false);

	fill(&fixture);
	CHECK_INT(overwrite(&fixture, RAW_TABLE_LEAF, 25), 25);
	unsigned whole = salvage_from(&fixture, 0);
	CHECK(whole > 0 && whole < 2 * ROWS);
	fixture_free(&fixture);
}

/* Also where the key is longer than what is left of it. */
TEST(rows_that_go_on_elsewhere_leave_their_keys)
{
	struct fixture fixture = fixture_new(false);

	fill(&fixture);
	CHECK(overwrite(&fixture, 0, UINT32_MAX) > 100);
	unsigned whole = salvage_from(&fixture, 1);
	CHECK(whole > 0 && whole < ROWS);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(rows_of_all_lengths), TEST_CASE(pages_above_rows_cost_none),
	  TEST_CASE(rows_of_lost_pages_leave_their_keys),
	  TEST_CASE(rows_that_go_on_elsewhere_leave_their_keys))
