#include "storage/store/sqlite/page_file.h"

#include <pthread.h>
#include <string.h>

#include "core/be.h"
#include "core/crc32.h"

#define RESERVED_AT 20 /* in the file's head: bytes reserved at the end of each page */
#define HEAD_SIZE 100
#define PAGE_SALT 0x9E3779B1u

/* What is known of an open data file or log. It follows the structure of the file system beneath,
 * whose calls get the file. */
struct page_file {
	sqlite3_io_methods methods; /* those of the file system beneath, but for some */
	const sqlite3_io_methods *under;
	/* of a data file: */
	bool has_head;   /* it is a database, which has one page at least */
	bool is_checked; /* it has checksums */
	uint32_t damaged;
	bool is_cut;
	/* of a log: */
	struct quota *quota; /* or NULL */
	sqlite3_file *data;
	uint64_t data_pages; /* that the data file has at least */
	sqlite3_int64 next;  /* where the transaction under way goes on; 0: none is */
};

static struct page_system {
	pthread_once_t once;
	sqlite3_vfs vfs;
	sqlite3_vfs *under;
} page_system = {.once = PTHREAD_ONCE_INIT};

/* Where a struct page_file lies: behind what the file system beneath has. */
static size_t behind(const sqlite3_vfs *beneath)
{
	return ((size_t)beneath->szOsFile + 7) / 8 * 8;
}

/* Its calls come first. */
static struct page_file *own(sqlite3_file *file)
{
	return (struct page_file *)(uintptr_t)file->pMethods;
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

static int refuse(sqlite3_file *file, sqlite3_int64 at, bool is_cut)
{
	own(file)->damaged = (uint32_t)(at / STORE_PAGE + 1);
	own(file)->is_cut = is_cut;
	return SQLITE_IOERR_DATA;
}

static int read_page(sqlite3_file *file, unsigned char *page, sqlite3_int64 at)
{
	int result = own(file)->under->xRead(file, page, STORE_PAGE, at);

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
static int data_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
	unsigned char page[STORE_PAGE];

	if (!own(file)->is_checked || (at < STORE_PAGE && n < STORE_PAGE))
		return own(file)->under->xRead(file, out, n, at);
	if (is_whole_page(n, at))
		return read_page(file, out, at);
	if (at % STORE_PAGE + n > STORE_PAGE)
		return SQLITE_IOERR_READ;
	int result = read_page(file, page, at - at % STORE_PAGE);
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
static int data_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	if (at == 0 && n >= HEAD_SIZE)
		look_at_head(own(file), bytes);
	if (own(file)->is_checked && is_whole_page(n, at))
		page_file_seal((unsigned char *)(uintptr_t)bytes, (uint32_t)(at / STORE_PAGE + 1));
	return own(file)->under->xWrite(file, bytes, n, at);
}

static int data_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	own(file)->has_head = own(file)->has_head &&
			      size >= STORE_PAGE; /* SQLite undoes the creation of a file so */
	return own(file)->under->xTruncate(file, size);
}

static int data_size(sqlite3_file *file, sqlite3_int64 *size)
{
	int result = own(file)->under->xFileSize(file, size);

	/* SQLite would take a file without a page for a database without tables. */
	return result == SQLITE_OK && own(file)->has_head && *size < STORE_PAGE
		       ? refuse(file, 0, true)
		       : result;
}

/* Whether the data file has blocks of the disk for so many pages. */
static bool has_data_pages(struct page_file *log, uint64_t pages)
{
	const sqlite3_io_methods *data = log->data->pMethods;
	sqlite3_int64 size = (sqlite3_int64)(pages * STORE_PAGE);

	if (pages <= log->data_pages)
		return true;
	int result = data->xFileControl(log->data, SQLITE_FCNTL_SIZE_HINT, &size);
	if (result != SQLITE_OK && result != SQLITE_NOTFOUND && quota_use_reserve(log->quota))
		result = data->xFileControl(log->data, SQLITE_FCNTL_SIZE_HINT, &size);
	if (result != SQLITE_OK && result != SQLITE_NOTFOUND)
		return false;
	log->data_pages = pages;
	return true;
}

/* In a frame's head, bytes 4 to 7 are the pages of the database where it ends a transaction, else
 * 0. */
static bool is_admitted(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 end)
{
	struct page_file *log = own(file);
	uint64_t pages = n == LOG_FRAME_HEAD ? be32((const unsigned char *)bytes + 4) : 0;
	sqlite3_int64 size = end;

	if (quota_is_full(log->quota) && log->under->xFileSize(file, &size) != SQLITE_OK)
		size = 0;
	/* last: SQLite takes the length of the file for that of the database while its log is empty
	 */
	return quota_admits(log->quota, (uint64_t)end, pages * STORE_PAGE, end > size) &&
	       has_data_pages(log, pages);
}

/*
 * Whether a frame would lie behind the end of the log, which then was cut by somebody else: what is
 * committed behind a hole is lost at the next start. Looked at once a transaction.
 */
static bool leaves_hole(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct page_file *log = own(file);
	sqlite3_int64 size;

	if (n != LOG_FRAME_HEAD)
		return false;
	if (at != log->next && log->under->xFileSize(file, &size) == SQLITE_OK && size < at)
		return true;
	bool is_last = be32((const unsigned char *)bytes + 4) != 0;
	log->next = is_last ? 0 : at + LOG_FRAME_HEAD + STORE_PAGE;
	return false;
}

static int log_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct page_file *log = own(file);

	if (leaves_hole(file, bytes, n, at))
		return SQLITE_IOERR_WRITE;
	if (log->quota && !is_admitted(file, bytes, n, at + n))
		return SQLITE_FULL;
	int result = log->under->xWrite(file, bytes, n, at);
	if (result == SQLITE_FULL && log->quota && quota_use_reserve(log->quota))
		result = log->under->xWrite(file, bytes, n, at);
	return result;
}

void page_file_limit(sqlite3_file *log, sqlite3_file *data, struct quota *quota)
{
	int page = STORE_PAGE;

	own(log)->data = data;
	(void)!data->pMethods->xFileControl(data, SQLITE_FCNTL_CHUNK_SIZE,
					    &page); /* for SQLITE_FCNTL_SIZE_HINT */
	own(log)->quota = quota;
}

/* Files of other kinds stay those of the file system beneath. */
static int system_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		       int *flags_out)
{
	struct page_file *page_file =
		(struct page_file *)((char *)file + behind(page_system.under));
	unsigned char head[HEAD_SIZE];
	int result = page_system.under->xOpen(page_system.under, name, file, flags, flags_out);

	(void)vfs;
	if (result != SQLITE_OK || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
		return result;
	*page_file = (struct page_file){.methods = *file->pMethods, .under = file->pMethods};
	if (page_file->methods.iVersion > 2)
		page_file->methods.iVersion = 2; /* without xFetch, which checks no page */
	file->pMethods = &page_file->methods;
	if (flags & SQLITE_OPEN_WAL) {
		page_file->methods.xWrite = log_write;
		return SQLITE_OK;
	}
	page_file->methods.xRead = data_read;
	page_file->methods.xWrite = data_write;
	page_file->methods.xTruncate = data_truncate;
	page_file->methods.xFileSize = data_size;
	if (page_file->under->xRead(file, head, sizeof(head), 0) == SQLITE_OK)
		look_at_head(page_file, head);
	return SQLITE_OK;
}

/*
 * Above "unix-excl" where the default is "unix": data files are for one process alone, so what
 * processes would share by a shared file and by the system's locks, its connections share in
 * memory; two system calls less per transaction.
 */
static void make_system(void)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL), *alone = sqlite3_vfs_find("unix-excl");

	page_system.under = usual && alone && strcmp(usual->zName, "unix") == 0 ? alone : usual;
	if (!page_system.under)
		return;
	page_system.vfs = *page_system.under;
	page_system.vfs.pNext = NULL;
	page_system.vfs.zName = "dynalith";
	page_system.vfs.szOsFile = (int)(behind(page_system.under) + sizeof(struct page_file));
	page_system.vfs.xOpen = system_open;
	if (sqlite3_vfs_register(&page_system.vfs, 0) != SQLITE_OK)
		page_system.under = NULL;
}

const char *page_file_system(void)
{
	pthread_once(&page_system.once, make_system);
	return page_system.under ? page_system.vfs.zName : NULL;
}

sqlite3_file *page_file_of(sqlite3 *db, int pointer)
{
	sqlite3_file *file = NULL;

	return sqlite3_file_control(db, NULL, pointer, &file) == SQLITE_OK && file && file->pMethods
		       ? file
		       : NULL;
}

uint32_t page_file_damaged(sqlite3_file *file, bool *is_cut)
{
	bool is_ours = file->pMethods->xRead == data_read;

	*is_cut = is_ours && own(file)->is_cut;
	return is_ours ? own(file)->damaged : 0;
}
