#include "storage/store/sqlite/page_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc32.h"
#include "storage/store/sqlite/data_map.h"

#define RESERVED_AT 20               /* in the file's head: bytes reserved at the end of each page */
#define HEAD_SIZE 100
#define RECHECK_READS (1u << 24)     /* so many reads of a connection later, its pages are checked once more */
#define PAGE_SALT 0x9E3779B1u
#define LOG_REGIONS 64               /* of a log's index that are remembered, each for 4,096 pages of the log */
#define LOG_REGION_SIZE 32768        /* bytes */
#define READ_MARKS_AT 3              /* of the locks of a log's index: the first one of a read mark; SQLite: WAL-mode File Format, 2.3 */

/* The underlying file follows it. */
struct page_file {
	sqlite3_file base;
	bool is_checked;       /* the file has checksums */
	unsigned char *passed; /* a bit per page that passed since the last round; pages past its end are checked at each read */
	size_t passed_size;    /* in bytes */
	uint32_t reads;
	uint32_t damaged;
	struct data_map *map;  /* or NULL, also where it has no bytes */
	int read_mark;         /* one more than the read mark that is held; 0: none */
	const volatile unsigned char *log_index[LOG_REGIONS];
};

static sqlite3_file *under_of(sqlite3_file *file)
{
	return (sqlite3_file *)((struct page_file *)file + 1);
}

uint32_t page_file_checksum(const unsigned char *page, uint32_t number)
{
	return crc32_of(page, STORE_PAGE - PAGE_CHECK_BYTES) ^ number * PAGE_SALT;
}

void page_file_seal(unsigned char *page, uint32_t number)
{
	uint32_t sum = page_file_checksum(page, number);

	memcpy(page + STORE_PAGE - PAGE_CHECK_BYTES, &sum, PAGE_CHECK_BYTES);
}

/* A page that was allocated and never written is a hole of the file. */
static bool is_hole(const unsigned char *page)
{
	return page[0] == 0 && memcmp(page, page + 1, STORE_PAGE - 1) == 0;
}

bool page_file_is_whole(const unsigned char *page, uint32_t number)
{
	uint32_t stored;

	memcpy(&stored, page + STORE_PAGE - PAGE_CHECK_BYTES, PAGE_CHECK_BYTES);
	return stored == page_file_checksum(page, number) || is_hole(page);
}

static bool is_whole_page(int n, sqlite3_int64 at)
{
	return n == STORE_PAGE && at % STORE_PAGE == 0;
}

static bool has_passed(struct page_file *file, uint32_t number)
{
	if (++file->reads >= RECHECK_READS && file->passed) {
		memset(file->passed, 0, file->passed_size);
		file->reads = 0;
	}
	return number / 8 < file->passed_size && (file->passed[number / 8] >> number % 8 & 1);
}

static void note_passed(struct page_file *file, uint32_t number)
{
	if (number / 8 >= file->passed_size) {
		size_t size = (number / 8 + 4096) * 2;
		unsigned char *grown = realloc(file->passed, size);

		if (!grown)
			return;
		memset(grown + file->passed_size, 0, size - file->passed_size);
		file->passed = grown;
		file->passed_size = size;
	}
	file->passed[number / 8] |= (unsigned char)(1 << number % 8);
}

static int check(struct page_file *file, const unsigned char *page, sqlite3_int64 at)
{
	uint32_t number = (uint32_t)(at / STORE_PAGE + 1);

	if (has_passed(file, number))
		return SQLITE_OK;
	if (file->is_checked && !page_file_is_whole(page, number)) {
		file->damaged = number;
		return SQLITE_IOERR_DATA;
	}
	note_passed(file, number);
	return SQLITE_OK;
}

/* Checks the page at `at`, if pages carry checksums, after a system call has read it: the call fails where the mapping would raise SIGBUS. */
static int check_stored(struct page_file *file, sqlite3_int64 at)
{
	sqlite3_file *under = under_of((sqlite3_file *)file);
	unsigned char page[STORE_PAGE];

	if (has_passed(file, (uint32_t)(at / STORE_PAGE + 1)))
		return SQLITE_OK;
	int result = under->pMethods->xRead(under, page, STORE_PAGE, at);
	return result == SQLITE_OK ? check(file, page, at) : result;
}

/*
 * Before a part of a page is read: SQLite from 3.45 on reads what lies on overflow pages past its cache (SQLITE_DIRECT_OVERFLOW_READ). Of the first
 * page it reads only the head so.
 */
static int check_around(struct page_file *file, sqlite3_int64 at)
{
	sqlite3_int64 start = at - at % STORE_PAGE;

	return start == 0 ? SQLITE_OK : check_stored(file, start);
}

static int page_close(sqlite3_file *file)
{
	free(((struct page_file *)file)->passed);
	return under_of(file)->pMethods->xClose(under_of(file));
}

static int page_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
	struct page_file *page_file = (struct page_file *)file;
	int result = under_of(file)->pMethods->xRead(under_of(file), out, n, at);

	if (result != SQLITE_OK || !page_file->is_checked)
		return result;
	return is_whole_page(n, at) ? check(page_file, out, at) : check_around(page_file, at);
}

bool page_file_has_checksums(const unsigned char *head)
{
	return head[RESERVED_AT] == PAGE_CHECK_BYTES;
}

static void look_at_head(struct page_file *file, const unsigned char *head)
{
	file->is_checked = memcmp(head, "SQLite format 3", 16) == 0 && page_file_has_checksums(head);
}

/* The room for the checksum in SQLite's own buffer is ours: SQLite neither reads nor writes it. */
static int page_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct page_file *page_file = (struct page_file *)file;

	if (at == 0 && n >= HEAD_SIZE)
		look_at_head(page_file, bytes);
	if (page_file->is_checked && is_whole_page(n, at))
		page_file_seal((unsigned char *)(uintptr_t)bytes, (uint32_t)(at / STORE_PAGE + 1));
	return under_of(file)->pMethods->xWrite(under_of(file), bytes, n, at);
}

/* A page of the mapping; *out is NULL where it has none, or the page cannot be read or fails its check. */
static int fetch(struct page_file *file, sqlite3_int64 at, int n, void **out)
{
	const unsigned char *page = file->map ? data_map_at(file->map, (uint64_t)at, (size_t)n) : NULL;
	int result = page && is_whole_page(n, at) ? check_stored(file, at) : SQLITE_OK;

	*out = result == SQLITE_OK ? (void *)(uintptr_t)page : NULL;
	return result;
}

static int page_fetch(sqlite3_file *file, sqlite3_int64 at, int n, void **out)
{
	int result = fetch((struct page_file *)file, at, n, out);

	if (result == SQLITE_OK && *out && is_whole_page(n, at))
		page_prefetch(*out);
	return result;
}

/*
 * Without a page, SQLite asks to unmap the file. It does so whenever another connection has committed, since another process could have truncated and
 * extended the file. Only one process has a data file open, and the mapping shows what it writes.
 */
static int page_unfetch(sqlite3_file *file, sqlite3_int64 at, void *page)
{
	(void)file, (void)at, (void)page;
	return SQLITE_OK;
}

static int page_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct data_map *map = ((struct page_file *)file)->map;

	if (map)
		data_map_begin_cut(map, (uint64_t)size);
	int result = under_of(file)->pMethods->xTruncate(under_of(file), size);
	if (map)
		data_map_end_cut(map);
	return result;
}

static int page_sync(sqlite3_file *file, int flags)
{
	return under_of(file)->pMethods->xSync(under_of(file), flags);
}

static int page_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return under_of(file)->pMethods->xFileSize(under_of(file), size);
}

static int page_lock(sqlite3_file *file, int kind)
{
	return under_of(file)->pMethods->xLock(under_of(file), kind);
}

static int page_unlock(sqlite3_file *file, int kind)
{
	return under_of(file)->pMethods->xUnlock(under_of(file), kind);
}

static int page_check_lock(sqlite3_file *file, int *is_locked)
{
	return under_of(file)->pMethods->xCheckReservedLock(under_of(file), is_locked);
}

static int page_control(sqlite3_file *file, int op, void *argument)
{
	if (op == SQLITE_FCNTL_MMAP_SIZE) /* how much the connection maps by itself */
		return SQLITE_OK;
	return under_of(file)->pMethods->xFileControl(under_of(file), op, argument);
}

static int page_sector_size(sqlite3_file *file)
{
	return under_of(file)->pMethods->xSectorSize(under_of(file));
}

static int page_characteristics(sqlite3_file *file)
{
	return under_of(file)->pMethods->xDeviceCharacteristics(under_of(file));
}

static int page_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **out)
{
	int result = under_of(file)->pMethods->xShmMap(under_of(file), region, size, extend, out);

	if (result == SQLITE_OK && region < LOG_REGIONS && size == LOG_REGION_SIZE)
		((struct page_file *)file)->log_index[region] = *out;
	return result;
}

static int page_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	int result = under_of(file)->pMethods->xShmLock(under_of(file), offset, n, flags);

	if (result == SQLITE_OK && flags & SQLITE_SHM_SHARED && offset >= READ_MARKS_AT)
		((struct page_file *)file)->read_mark = flags & SQLITE_SHM_LOCK ? offset - READ_MARKS_AT + 1 : 0;
	return result;
}

static void page_shm_barrier(sqlite3_file *file)
{
	under_of(file)->pMethods->xShmBarrier(under_of(file));
}

static int page_shm_unmap(sqlite3_file *file, int is_deleted)
{
	memset(((struct page_file *)file)->log_index, 0, sizeof(((struct page_file *)file)->log_index));
	((struct page_file *)file)->read_mark = 0;
	return under_of(file)->pMethods->xShmUnmap(under_of(file), is_deleted);
}

/* Of each version of SQLite's interface: a file may have no more calls than the one beneath. */
#define METHODS_1                                                                                                          \
	.xClose = page_close, .xRead = page_read, .xWrite = page_write, .xTruncate = page_truncate, .xSync = page_sync,         \
	.xFileSize = page_size, .xLock = page_lock, .xUnlock = page_unlock, .xCheckReservedLock = page_check_lock,              \
	.xFileControl = page_control, .xSectorSize = page_sector_size, .xDeviceCharacteristics = page_characteristics
#define METHODS_2 \
	METHODS_1, .xShmMap = page_shm_map, .xShmLock = page_shm_lock, .xShmBarrier = page_shm_barrier, .xShmUnmap = page_shm_unmap

static const sqlite3_io_methods methods[] = {
	{.iVersion = 1, METHODS_1},
	{.iVersion = 2, METHODS_2},
	{.iVersion = 3, METHODS_2, .xFetch = page_fetch, .xUnfetch = page_unfetch},
};

int page_file_size(int under)
{
	return (int)sizeof(struct page_file) + under;
}

int page_file_open(sqlite3_vfs *under, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
	struct page_file *page_file = (struct page_file *)file;
	unsigned char head[HEAD_SIZE];

	*page_file = (struct page_file){.is_checked = false};
	int result = under->xOpen(under, name, under_of(file), flags, flags_out);
	if (result != SQLITE_OK)
		return result;
	int version = under_of(file)->pMethods->iVersion;
	page_file->base.pMethods = &methods[version < 1 ? 0 : version > 3 ? 2 : version - 1];
	if (under_of(file)->pMethods->xRead(under_of(file), head, sizeof(head), 0) == SQLITE_OK)
		look_at_head(page_file, head);
	return SQLITE_OK;
}

sqlite3_file *page_file_of(sqlite3 *db, int pointer)
{
	sqlite3_file *file = NULL;

	return sqlite3_file_control(db, NULL, pointer, &file) == SQLITE_OK && file && file->pMethods ? file : NULL;
}

static struct page_file *ours(sqlite3_file *file)
{
	bool is_ours = file->pMethods >= methods && file->pMethods < methods + sizeof(methods) / sizeof(methods[0]);

	return is_ours ? (struct page_file *)file : NULL;
}

uint32_t page_file_damaged(sqlite3_file *file)
{
	return ours(file) ? ours(file)->damaged : 0;
}

void page_file_set_map(sqlite3_file *file, struct data_map *map)
{
	if (ours(file))
		ours(file)->map = map && map->bytes ? map : NULL;
}

const unsigned char *page_file_page(sqlite3_file *file, uint32_t number)
{
	struct page_file *page_file = ours(file);
	void *page = NULL;

	return page_file && number > 0 && fetch(page_file, ((sqlite3_int64)number - 1) * STORE_PAGE, STORE_PAGE, &page) == SQLITE_OK ? page : NULL;
}

const volatile unsigned char *page_file_log_index(sqlite3_file *file, unsigned region)
{
	struct page_file *page_file = ours(file);
	void volatile *index = NULL;

	if (!page_file || region >= LOG_REGIONS || file->pMethods->iVersion < 2)
		return NULL;
	if (!page_file->log_index[region] && (page_file->log_index[0] == NULL || page_shm_map(file, (int)region, LOG_REGION_SIZE, 0, &index) != SQLITE_OK))
		return NULL;
	return page_file->log_index[region];
}

int page_file_read_mark(sqlite3_file *file)
{
	return ours(file) ? ours(file)->read_mark - 1 : -1;
}
