#include "storage/store/sqlite/log_file.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/be.h"
#include "storage/store/sqlite/page_file.h"

#define BUFFER_SIZE (124 << 10) /* SQLite writes less than 128 KB at once */

/* The underlying file follows it. */
struct log_file {
	sqlite3_file base;
	unsigned char *buffer;
	int n;               /* bytes kept */
	sqlite3_int64 at;    /* where they go */
	sqlite3_int64 end; /* behind the last page written: a head that is not there is one written
			      again, and no page follows it */
	bool is_last;        /* the page to come ends its transaction */
	struct quota *quota; /* or NULL, with the reserve */
	struct reserve *reserve;
	sqlite3_file *data;
	uint64_t data_pages; /* that the data file has at least */
};

static struct log_system {
	pthread_once_t once;
	sqlite3_vfs vfs;
	sqlite3_vfs *under;
} log_system = {.once = PTHREAD_ONCE_INIT};

sqlite3_file *log_file_disk(sqlite3_file *log)
{
	return (sqlite3_file *)((struct log_file *)log + 1);
}

void log_file_limit(sqlite3_file *log, sqlite3_file *data, struct quota *quota,
		    struct reserve *reserve)
{
	int page = STORE_PAGE;

	((struct log_file *)log)->reserve = reserve;
	((struct log_file *)log)->data = data;
	(void)!data->pMethods->xFileControl(data, SQLITE_FCNTL_CHUNK_SIZE,
					    &page); /* for SQLITE_FCNTL_SIZE_HINT */
	((struct log_file *)log)->quota = quota;
}

/* Of the disk, the reserve is for transactions that make room. */
static int write_out(struct log_file *log, const void *bytes, int n, sqlite3_int64 at)
{
	sqlite3_file *disk = log_file_disk(&log->base);
	int result = disk->pMethods->xWrite(disk, bytes, n, at);

	if (result == SQLITE_FULL && log->quota && !log->quota->is_growing &&
	    reserve_use(log->reserve))
		result = disk->pMethods->xWrite(disk, bytes, n, at);
	return result;
}

static int flush(struct log_file *log)
{
	int n = log->n;

	log->n = 0;
	log->is_last = false;
	return n > 0 ? write_out(log, log->buffer, n, log->at) : SQLITE_OK;
}

static int log_close(sqlite3_file *file)
{
	struct log_file *log = (struct log_file *)file;
	int result = flush(log),
	    closed = log_file_disk(file)->pMethods->xClose(log_file_disk(file));

	free(log->buffer);
	return result != SQLITE_OK ? result : closed;
}

static int log_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
	struct log_file *log = (struct log_file *)file;
	int result = flush(log);

	return result != SQLITE_OK
		       ? result
		       : log_file_disk(file)->pMethods->xRead(log_file_disk(file), out, n, at);
}

/* In a frame's head, bytes 4 to 7 are not 0 where it ends a transaction. */
static bool is_end(const void *head)
{
	return be32((const unsigned char *)head + 4) != 0;
}

/* The pages of the database after the transaction that a head ends. */
static uint64_t pages_after(const void *head)
{
	return be32((const unsigned char *)head + 4);
}

/* While the reserve is used, what makes data grow may take no further room of the disk. */
static bool takes_reserve(struct log_file *log, bool ends, const void *bytes, int n,
			  sqlite3_int64 at)
{
	sqlite3_file *disk = log_file_disk(&log->base);
	sqlite3_int64 size = 0;

	if (!log->quota->is_growing || !reserve_is_used(log->reserve))
		return false;
	reserve_fill(log->reserve);
	bool is_longer = disk->pMethods->xFileSize(disk, &size) != SQLITE_OK || at + n > size;
	return reserve_is_used(log->reserve) &&
	       (is_longer || (ends && pages_after(bytes) * STORE_PAGE > log->quota->data));
}

/* Whether the data file has blocks of the disk for so many pages. */
static bool has_data_pages(struct log_file *log, uint64_t pages)
{
	sqlite3_int64 size = (sqlite3_int64)(pages * STORE_PAGE);

	if (pages <= log->data_pages)
		return true;
	int result = log->data->pMethods->xFileControl(log->data, SQLITE_FCNTL_SIZE_HINT, &size);
	if (result != SQLITE_OK && result != SQLITE_NOTFOUND && !log->quota->is_growing &&
	    reserve_use(log->reserve))
		result =
			log->data->pMethods->xFileControl(log->data, SQLITE_FCNTL_SIZE_HINT, &size);
	if (result != SQLITE_OK && result != SQLITE_NOTFOUND)
		return false;
	log->data_pages = pages;
	return true;
}

static bool is_admitted(struct log_file *log, const void *bytes, int n, sqlite3_int64 at)
{
	bool ends = n == LOG_FILE_FRAME_HEAD && is_end(bytes);

	if (takes_reserve(log, ends, bytes, n, at) ||
	    (ends && !quota_admits_data(log->quota, pages_after(bytes) * STORE_PAGE)))
		return false;
	/* last: SQLite takes the length of the file for that of the database while its log is empty
	 */
	return quota_admits_log(log->quota, (uint64_t)(at + n)) &&
	       (!ends || has_data_pages(log, pages_after(bytes)));
}

static int log_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct log_file *log = (struct log_file *)file;
	bool is_head = n == LOG_FILE_FRAME_HEAD && at == log->end,
	     follows = log->n > 0 && at == log->at + log->n;

	if (log->quota && !is_admitted(log, bytes, n, at)) {
		log->n = 0; /* nothing is read of a transaction without its end */
		log->is_last = false;
		return SQLITE_FULL;
	}
	if (!log->buffer)
		log->buffer = malloc(BUFFER_SIZE);
	if (log->n > 0 && (!follows || log->n + n > BUFFER_SIZE)) {
		int result = flush(log);

		if (result != SQLITE_OK)
			return result;
	}
	if (n != LOG_FILE_FRAME_HEAD)
		log->end = at + n;
	/* only a new frame's head begins what is kept: the log's own head and whatever else there
	 * is goes straight on */
	if (!log->buffer || (log->n == 0 && !is_head) || n > BUFFER_SIZE)
		return write_out(log, bytes, n, at);
	log->at = log->n > 0 ? log->at : at;
	memcpy(log->buffer + log->n, bytes, (size_t)n);
	log->n += n;
	if (is_head) {
		log->is_last = is_end(bytes);
		return SQLITE_OK;
	}
	return log->is_last ? flush(log) : SQLITE_OK;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int result = flush((struct log_file *)file);

	return result != SQLITE_OK
		       ? result
		       : log_file_disk(file)->pMethods->xTruncate(log_file_disk(file), size);
}

static int log_sync(sqlite3_file *file, int flags)
{
	int result = flush((struct log_file *)file);

	return result != SQLITE_OK
		       ? result
		       : log_file_disk(file)->pMethods->xSync(log_file_disk(file), flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
	int result = flush((struct log_file *)file);

	return result != SQLITE_OK
		       ? result
		       : log_file_disk(file)->pMethods->xFileSize(log_file_disk(file), size);
}

static int log_lock(sqlite3_file *file, int kind)
{
	return log_file_disk(file)->pMethods->xLock(log_file_disk(file), kind);
}

static int log_unlock(sqlite3_file *file, int kind)
{
	return log_file_disk(file)->pMethods->xUnlock(log_file_disk(file), kind);
}

static int log_check_lock(sqlite3_file *file, int *is_locked)
{
	return log_file_disk(file)->pMethods->xCheckReservedLock(log_file_disk(file), is_locked);
}

static int log_control(sqlite3_file *file, int op, void *argument)
{
	return log_file_disk(file)->pMethods->xFileControl(log_file_disk(file), op, argument);
}

static int log_sector_size(sqlite3_file *file)
{
	return log_file_disk(file)->pMethods->xSectorSize(log_file_disk(file));
}

static int log_characteristics(sqlite3_file *file)
{
	return log_file_disk(file)->pMethods->xDeviceCharacteristics(log_file_disk(file));
}

static const sqlite3_io_methods log_methods = {
	.iVersion = 1,
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = log_lock,
	.xUnlock = log_unlock,
	.xCheckReservedLock = log_check_lock,
	.xFileControl = log_control,
	.xSectorSize = log_sector_size,
	.xDeviceCharacteristics = log_characteristics,
};

static int system_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		       int *flags_out)
{
	struct log_file *log = (struct log_file *)file;

	(void)vfs;
	if (flags & SQLITE_OPEN_MAIN_DB)
		return page_file_open(log_system.under, name, file, flags, flags_out);
	if (!(flags & SQLITE_OPEN_WAL))
		return log_system.under->xOpen(log_system.under, name, file, flags, flags_out);
	*log = (struct log_file){.n = 0};
	int result = log_system.under->xOpen(log_system.under, name, log_file_disk(file), flags,
					     flags_out);
	if (result == SQLITE_OK)
		log->base.pMethods = &log_methods;
	return result;
}

static int system_delete(sqlite3_vfs *vfs, const char *name, int is_synced)
{
	(void)vfs;
	return log_system.under->xDelete(log_system.under, name, is_synced);
}

static int system_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
	(void)vfs;
	return log_system.under->xAccess(log_system.under, name, flags, answer);
}

static int system_full_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	return log_system.under->xFullPathname(log_system.under, name, n, out);
}

/*
 * Above "unix-excl" where the default is "unix": data files are for one process alone, so what
 * processes would share by a shared file and by the system's locks, its connections share in
 * memory; two system calls less per transaction.
 */
static void make_system(void)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL), *alone = sqlite3_vfs_find("unix-excl");

	log_system.under = usual && alone && strcmp(usual->zName, "unix") == 0 ? alone : usual;
	if (!log_system.under)
		return;
	log_system.vfs = *log_system.under;
	log_system.vfs.pNext = NULL;
	log_system.vfs.zName = "dynalith";
	log_system.vfs.szOsFile = page_file_size(log_system.under->szOsFile);
	if (log_system.vfs.szOsFile < (int)sizeof(struct log_file) + log_system.under->szOsFile)
		log_system.vfs.szOsFile = (int)sizeof(struct log_file) + log_system.under->szOsFile;
	log_system.vfs.xOpen = system_open;
	log_system.vfs.xDelete = system_delete;
	log_system.vfs.xAccess = system_access;
	log_system.vfs.xFullPathname = system_full_path;
	if (sqlite3_vfs_register(&log_system.vfs, 0) != SQLITE_OK)
		log_system.under = NULL;
}

const char *log_file_system(void)
{
	pthread_once(&log_system.once, make_system);
	return log_system.under ? log_system.vfs.zName : NULL;
}
