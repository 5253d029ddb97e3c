#include "storage/store/sqlite/new_file.h"

#include <string.h>
#include <unistd.h>

#include "core/be.h"
#include "storage/store/sqlite/file_schema.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define HEADER 100       /* bytes of the first page before its b-tree */
#define TREE_HEADER 8    /* bytes, of a leaf */
#define TABLE_LEAF 13
#define INDEX_LEAF 10
#define TEXT_TYPE(n) (13 + 2 * (n)) /* serial type of a text of n bytes */
#define INTEGER_TYPE 1   /* of one byte */

/* A leaf page under construction: cells grow down from its end, pointers to them up from its header. */
struct leaf {
	unsigned char *page;
	size_t tree, end; /* offsets: of its header, of the last cell */
	unsigned cells;
};

/* Of less than 16,384. Returns what follows. */
static unsigned char *put_varint(unsigned char *at, size_t value)
{
	if (value >= 128)
		*at++ = (unsigned char)(value >> 7 | 128);
	*at++ = (unsigned char)(value & 127);
	return at;
}

static struct leaf leaf_begin(unsigned char *page, size_t tree, unsigned char kind)
{
	struct leaf leaf = {page, tree, STORE_PAGE - PAGE_CHECK_BYTES, 0};

	page[tree] = kind;
	put_be16(page + tree + 5, (uint16_t)leaf.end);
	return leaf;
}

/* A row of sqlite_schema; `sql` NULL: the index that a UNIQUE makes. */
static void leaf_add(struct leaf *leaf, const char *name, const char *table, uint32_t root, const char *sql)
{
	const char *texts[] = {sql ? "table" : "index", name, table, sql};
	unsigned char cell[512], record[480], *types = record + 1, *at = cell;

	for (int i = 0; i < 4; i++) {
		if (i == 3)
			types = put_varint(types, INTEGER_TYPE);
		types = put_varint(types, texts[i] ? TEXT_TYPE(strlen(texts[i])) : 0);
	}
	record[0] = (unsigned char)(types - record);
	for (int i = 0; i < 4; i++) {
		size_t n = texts[i] ? strlen(texts[i]) : 0;

		if (i == 3)
			*types++ = (unsigned char)root;
		if (n > 0)
			memcpy(types, texts[i], n);
		types += n;
	}
	size_t bytes = (size_t)(types - record);
	at = put_varint(at, bytes);
	at = put_varint(at, ++leaf->cells);
	memcpy(at, record, bytes);
	bytes += (size_t)(at - cell);
	leaf->end -= bytes;
	memcpy(leaf->page + leaf->end, cell, bytes);
	put_be16(leaf->page + leaf->tree + 3, (uint16_t)leaf->cells);
	put_be16(leaf->page + leaf->tree + 5, (uint16_t)leaf->end);
	put_be16(leaf->page + leaf->tree + TREE_HEADER + (size_t)2 * (leaf->cells - 1), (uint16_t)leaf->end);
}

static void put_header(unsigned char *page, unsigned format, bool has_log)
{
	memcpy(page, "SQLite format 3", 16);
	put_be16(page + 16, STORE_PAGE);
	page[18] = page[19] = has_log ? 2 : 1;
	page[20] = PAGE_CHECK_BYTES;
	memcpy(page + 21, (const unsigned char[]){64, 32, 32}, 3);
	put_be32(page + 24, 1); /* changes of the file */
	put_be32(page + 28, NEW_FILE_PAGES);
	put_be32(page + 40, 1); /* changes of the schema */
	put_be32(page + 44, 4); /* format of the schema */
	put_be32(page + 56, 1); /* UTF-8 */
	put_be32(page + 60, format);
	put_be32(page + 68, NEW_FILE_APPLICATION);
	put_be32(page + 92, 1); /* changes of the file, when SQLite of that version wrote it: */
	put_be32(page + 96, SQLITE_VERSION_NUMBER);
}

static void put_schema(unsigned char *page)
{
	struct leaf leaf = leaf_begin(page, HEADER, TABLE_LEAF);

	for (uint32_t i = 0; i <= SYSTEM_PART_COUNT; i++) {
		struct keyspace keyspace = i < SYSTEM_PART_COUNT ? (struct keyspace){0, i} : PLACE_KEYSPACE;
		char name[KEYSPACE_NAME_MAX], index[KEYSPACE_NAME_MAX + 32], sql[FILE_SCHEMA_SQL_MAX];

		keyspace_name(keyspace, name);
		snprintf(index, sizeof(index), "sqlite_autoindex_%s_1", name);
		file_schema_table_sql(FILE_SCHEMA_SYSTEM, name, sql);
		leaf_add(&leaf, name, name, 2 + 2 * i, sql);
		leaf_add(&leaf, index, name, 3 + 2 * i, NULL);
	}
}

void new_file_page(uint32_t number, unsigned format, bool has_log, unsigned char *page)
{
	memset(page, 0, STORE_PAGE);
	if (number == 1) {
		put_header(page, format, has_log);
		put_schema(page);
	} else {
		leaf_begin(page, 0, number % 2 == 0 ? TABLE_LEAF : INDEX_LEAF);
	}
	page_file_seal(page, number);
}

/* The first page last: until it is there, older versions and other programs see no SQLite file. */
static int write_pages(sqlite3_file *file, unsigned format, bool has_log)
{
	unsigned char page[STORE_PAGE];
	int result = SQLITE_OK;

	for (uint32_t number = NEW_FILE_PAGES; number >= 1 && result == SQLITE_OK; number--) {
		new_file_page(number, format, has_log, page);
		result = file->pMethods->xWrite(file, page, STORE_PAGE, (sqlite3_int64)(number - 1) * STORE_PAGE);
	}
	return result;
}

/* Takes the same locks as a transaction of SQLite. */
enum code new_file_write(struct connection *connection, unsigned format, bool has_log, struct err *err)
{
	sqlite3_file *file = NULL;
	int result = sqlite3_file_control(connection->db, NULL, SQLITE_FCNTL_FILE_POINTER, &file);

	if (result == SQLITE_OK)
		result = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
	if (result == SQLITE_OK)
		result = file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE);
	if (result == SQLITE_OK)
		result = write_pages(file, format, has_log);
	if (result == SQLITE_OK)
		file->pMethods->xFileControl(file, SQLITE_FCNTL_COMMIT_PHASETWO, NULL);
	if (file)
		file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
	if (result == SQLITE_OK)
		return OK;
	return result == SQLITE_FULL ? err_set(err, MSG_STORE_FULL) : err_set(err, MSG_STORE_FAILED, sqlite3_errstr(result));
}

/* Whether each byte that was read is the page's, or 0. */
static bool fits(const unsigned char *read, size_t n, const unsigned char *page)
{
	bool is_other = false;

	for (size_t i = 0; i < n; i++)
		is_other |= read[i] != page[i] && read[i] != 0;
	return !is_other;
}

bool new_file_is_piece(int fd, size_t size, unsigned format)
{
	unsigned char page[STORE_PAGE], read[STORE_PAGE];
	bool is_all = size == (size_t)NEW_FILE_PAGES * STORE_PAGE, is_piece = size <= (size_t)NEW_FILE_PAGES * STORE_PAGE;

	for (size_t at = 0; at < size && is_piece; at += STORE_PAGE) {
		uint32_t number = (uint32_t)(at / STORE_PAGE) + 1;
		ssize_t n = pread(fd, read, STORE_PAGE, (off_t)at);

		new_file_page(number, format, true, page);
		is_piece = n > 0 && fits(read, (size_t)n, page);
		is_all = is_all && n == STORE_PAGE && memcmp(read, page, STORE_PAGE) == 0;
	}
	return is_piece && !is_all;
}
