#include "storage/store/sqlite/page_file.h"

#include <stdbool.h>
#include <string.h>

#include "core/crc32.h"

#define RESERVED_AT 20 /* in the file's head: bytes reserved at the end of each page */
#define HEAD_SIZE 100
#define PAGE_SALT 0x9E3779B1u

/* The underlying file follows it. */
struct page_file {
	sqlite3_file base;
	bool has_head;   /* the file is a database, which has one page at least */
	bool is_checked; /* the file has checksums */
	uint32_t damaged;
	bool is_cut;
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

static int refuse(struct page_file *file, sqlite3_int64 at, bool is_cut)
{
	file->damaged = (uint32_t)(at / STORE_PAGE + 1);
	file->is_cut = is_cut;
	return SQLITE_IOERR_DATA;
}

static int page_close(sqlite3_file *file)
{
	return under_of(file)->pMethods->xClose(under_of(file));
}

static int read_page(struct page_file *file, unsigned char *page, sqlite3_int64 at)
{
	sqlite3_file *under = under_of(&file->base);
	int result = under->pMethods->xRead(under, page, STORE_PAGE, at);

	if (result == SQLITE_IOERR_SHORT_READ && at != 0)
		return refuse(file, at, true);
	if (result != SQLITE_OK || page_file_is_whole(page, (uint32_t)(at / STORE_PAGE + 1)))
		return result;
	return refuse(file, at, false);
}

/*
 * SQLite reads parts of pages too: the head of the first one, and from 3.45 on what lies on
 * overflow pages (SQLITE_DIRECT_OVERFLOW_READ).
 */
static int page_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
	struct page_file *page_file = (struct page_file *)file;
	unsigned char page[STORE_PAGE];

	if (!page_file->is_checked || (at < STORE_PAGE && n < STORE_PAGE))
		return under_of(file)->pMethods->xRead(under_of(file), out, n, at);
	if (is_whole_page(n, at))
		return read_page(page_file, out, at);
	if (at % STORE_PAGE + n > STORE_PAGE)
		return SQLITE_IOERR_READ;
	int result = read_page(page_file, page, at - at % STORE_PAGE);
	if (result == SQLITE_OK)
		memcpy(out, page + at % STORE_PAGE, (size_t)n);
	return result;
}

bool page_file_has_checksums(const unsigned char *head)
{
	return head[RESERVED_AT] == PAGE_CHECK_BYTES;
}

static void look_at_head(struct page_file *file, const unsigned char *head)
{
	file->has_head = memcmp(head, "SQLite format 3", 16) == 0;
	file->is_checked = file->has_head && page_file_has_checksums(head);
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

static int page_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct page_file *page_file = (struct page_file *)file;

	page_file->has_head = page_file->has_head &&
			      size >= STORE_PAGE; /* SQLite undoes the creation of a file so */
	return under_of(file)->pMethods->xTruncate(under_of(file), size);
}

static int page_sync(sqlite3_file *file, int flags)
{
	return under_of(file)->pMethods->xSync(under_of(file), flags);
}

static int page_size(sqlite3_file *file, sqlite3_int64 *size)
{
	struct page_file *page_file = (struct page_file *)file;
	int result = under_of(file)->pMethods->xFileSize(under_of(file), size);

	/* SQLite would take a file without a page for a database without tables. */
	return result == SQLITE_OK && page_file->has_head && *size < STORE_PAGE
		       ? refuse(page_file, 0, true)
		       : result;
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
	return under_of(file)->pMethods->xShmMap(under_of(file), region, size, extend, out);
}

static int page_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return under_of(file)->pMethods->xShmLock(under_of(file), offset, n, flags);
}

static void page_shm_barrier(sqlite3_file *file)
{
	under_of(file)->pMethods->xShmBarrier(under_of(file));
}

static int page_shm_unmap(sqlite3_file *file, int is_deleted)
{
	return under_of(file)->pMethods->xShmUnmap(under_of(file), is_deleted);
}

/* Of each version of SQLite's interface: a file may have no more calls than the one beneath. */
#define METHODS_1                                                                                  \
	.xClose = page_close, .xRead = page_read, .xWrite = page_write,                            \
	.xTruncate = page_truncate, .xSync = page_sync, .xFileSize = page_size,                    \
	.xLock = page_lock, .xUnlock = page_unlock, .xCheckReservedLock = page_check_lock,         \
	.xFileControl = page_control, .xSectorSize = page_sector_size,                             \
	.xDeviceCharacteristics = page_characteristics
#define METHODS_2                                                                                  \
	METHODS_1, .xShmMap = page_shm_map, .xShmLock = page_shm_lock,                             \
		   .xShmBarrier = page_shm_barrier, .xShmUnmap = page_shm_unmap

static const sqlite3_io_methods methods[] = {
	{.iVersion = 1, METHODS_1},
	{.iVersion = 2, METHODS_2},
};

int page_file_size(int under)
{
	return (int)sizeof(struct page_file) + under;
}

int page_file_open(sqlite3_vfs *under, const char *name, sqlite3_file *file, int flags,
		   int *flags_out)
{
	struct page_file *page_file = (struct page_file *)file;
	unsigned char head[HEAD_SIZE];

	*page_file = (struct page_file){.is_checked = false};
	int result = under->xOpen(under, name, under_of(file), flags, flags_out);
	if (result != SQLITE_OK)
		return result;
	int version = under_of(file)->pMethods->iVersion;
	page_file->base.pMethods = &methods[version > 1];
	if (under_of(file)->pMethods->xRead(under_of(file), head, sizeof(head), 0) == SQLITE_OK)
		look_at_head(page_file, head);
	return SQLITE_OK;
}

sqlite3_file *page_file_of(sqlite3 *db, int pointer)
{
	sqlite3_file *file = NULL;

	return sqlite3_file_control(db, NULL, pointer, &file) == SQLITE_OK && file && file->pMethods
		       ? file
		       : NULL;
}

static struct page_file *ours(sqlite3_file *file)
{
	bool is_ours = file->pMethods >= methods &&
		       file->pMethods < methods + sizeof(methods) / sizeof(methods[0]);

	return is_ours ? (struct page_file *)file : NULL;
}

uint32_t page_file_damaged(sqlite3_file *file, bool *is_cut)
{
	*is_cut = ours(file) && ours(file)->is_cut;
	return ours(file) ? ours(file)->damaged : 0;
}
