#include "storage/store/sqlite/live_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "storage/monotonic.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define PAGES_AT_ONCE 64            /* that writers wait for */
#define GROWTH 4                    /* more of them each time that the copy begins again */
#define STEP_MS 20
#define ROOM_LEFT (64 << 20)        /* bytes of the disk that stay free */
#define HEAD_SIZE 100               /* of a SQLite file */

struct live_copy {
	struct sqlite_store *store;
	sqlite3 *db;            /* of the copy; where the store is in memory, of the store */
	sqlite3_backup *backup; /* NULL once it is whole, and in memory */
	sqlite3_file *file;     /* NULL until it is whole */
	int at_once, remaining;
	uint64_t total;
	bool is_checked; /* pages have room for checksums */
	bool has_room;
	uint64_t bytes;
};

static enum code failed(sqlite3 *db, struct err *err)
{
	return sqlite3_errcode(db) == SQLITE_FULL
		       ? err_set(err, MSG_STORE_COPY_ROOM)
		       : err_set(err, MSG_STORE_FAILED, sqlite3_errmsg(db));
}

/* Beside the data file, which has room by nature. The file has its name only until it is open. */
static enum code open_file(struct live_copy *copy, struct err *err)
{
	char name[PATH_MAX + 32];

	snprintf(name, sizeof(name), "%s.copy-XXXXXX", copy->store->readers.name);
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, MSG_STORE_OPEN, name, strerror(errno));
	close(fd);
	bool is_open = sqlite3_open_v2(name, &copy->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				       NULL) == SQLITE_OK &&
		       sqlite3_exec(copy->db,
				    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA "
				    "locking_mode=EXCLUSIVE; PRAGMA cache_size=-4096",
				    NULL, NULL, NULL) == SQLITE_OK;
	bool is_unnamed = unlink(name) == 0;

	if (!is_open)
		return failed(copy->db, err);
	return is_unnamed ? OK : err_set(err, MSG_STORE_OPEN, name, strerror(errno));
}

static enum code begin_backup(struct live_copy *copy, struct err *err)
{
	enum code code = open_file(copy, err);

	if (code != OK)
		return code;
	pthread_mutex_lock(&copy->store->writer_mutex);
	copy->backup = sqlite3_backup_init(copy->db, "main", copy->store->writer.db, "main");
	pthread_mutex_unlock(&copy->store->writer_mutex);
	return copy->backup ? OK : failed(copy->db, err);
}

/* What SQLite has written, to be read. */
static enum code complete(struct live_copy *copy, struct err *err)
{
	unsigned char head[HEAD_SIZE];
	sqlite3_file *file = page_file_of(copy->db, SQLITE_FCNTL_FILE_POINTER);
	sqlite3_int64 size;

	if (!file || file->pMethods->xFileSize(file, &size) != SQLITE_OK ||
	    file->pMethods->xRead(file, head, sizeof(head), 0) != SQLITE_OK)
		return err_set(err, MSG_STORE_FAILED, "the copy cannot be read");
	copy->is_checked = page_file_has_checksums(head);
	copy->file = file;
	copy->bytes = (uint64_t)size;
	copy->total = copy->bytes / STORE_PAGE;
	return OK;
}

/* A reader's transaction, which the file system in memory keeps the pages of. */
static enum code open_snapshot(struct live_copy *copy, struct err *err)
{
	if (sqlite3_open_v2(copy->store->readers.name, &copy->db,
			    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK ||
	    sqlite3_exec(copy->db, "BEGIN; PRAGMA schema_version", NULL, NULL, NULL) != SQLITE_OK)
		return failed(copy->db, err);
	return complete(copy, err);
}

enum code live_copy_begin(struct sqlite_store *store, struct live_copy **out, struct err *err)
{
	struct live_copy *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	*copy = (struct live_copy){.store = store, .at_once = PAGES_AT_ONCE};
	enum code code = store->is_memory ? open_snapshot(copy, err) : begin_backup(copy, err);
	if (code != OK)
		live_copy_end(copy);
	else
		*out = copy;
	return code;
}

/* The last pages are on their way to the file; with the writer's lock held. */
static int finish(struct live_copy *copy)
{
	int result = copy->backup ? sqlite3_backup_finish(copy->backup) : SQLITE_OK;

	copy->backup = NULL;
	return result;
}

void live_copy_end(struct live_copy *copy)
{
	pthread_mutex_lock(&copy->store->writer_mutex);
	(void)finish(copy);
	pthread_mutex_unlock(&copy->store->writer_mutex);
	sqlite3_close(copy->db);
	free(copy);
}

static bool has_room(const struct live_copy *copy)
{
	struct statvfs room;
	uint64_t wanted = copy->total * STORE_PAGE + ROOM_LEFT;

	return statvfs(copy->store->readers.name, &room) != 0 ||
	       (uint64_t)room.f_bavail * room.f_frsize >= wanted;
}

/* Some pages, while the writer waits. SQLite's result. */
static int copy_pages(struct live_copy *copy)
{
	pthread_mutex_lock(&copy->store->writer_mutex);
	int result = sqlite3_backup_step(copy->backup, copy->at_once),
	    remaining = sqlite3_backup_remaining(copy->backup);
	uint64_t total = (uint64_t)sqlite3_backup_pagecount(copy->backup);

	if (result == SQLITE_DONE && finish(copy) != SQLITE_OK)
		result = SQLITE_ERROR;
	pthread_mutex_unlock(&copy->store->writer_mutex);
	if (copy->total && remaining > copy->remaining && copy->at_once < INT_MAX / GROWTH)
		copy->at_once *= GROWTH;
	copy->total = total;
	copy->remaining = remaining;
	return result;
}

static enum code copy_until(struct live_copy *copy, int64_t until_ms, struct err *err)
{
	while (!copy->file && monotonic_ms() < until_ms) {
		int result = copy_pages(copy);

		if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_BUSY &&
		    result != SQLITE_LOCKED)
			return result == SQLITE_FULL ? err_set(err, MSG_STORE_COPY_ROOM)
						     : failed(copy->db, err);
		if (!copy->has_room && !has_room(copy))
			return err_set(err, MSG_STORE_COPY_ROOM);
		copy->has_room = true;
		sched_yield(); /* to the writers that wait */
		if (result == SQLITE_DONE)
			return complete(copy, err);
	}
	return OK;
}

enum code live_copy_step(struct live_copy *copy, struct live_copy_progress *progress,
			 struct err *err)
{
	enum code code = copy_until(copy, monotonic_ms() + STEP_MS, err);

	*progress = (struct live_copy_progress){
		.pages = copy->total - (uint64_t)copy->remaining,
		.total = copy->total,
		.is_whole = copy->file != NULL,
		.bytes = copy->bytes,
	};
	return code;
}

enum code live_copy_read(struct live_copy *copy, uint64_t at, void *out, size_t *n, struct err *err)
{
	unsigned char *page = out;
	uint64_t end = at < copy->bytes && copy->bytes - at > *n ? at + *n : copy->bytes;

	if (at % STORE_PAGE != 0)
		return err_set(err, MSG_STORE_FAILED, "the copy cannot be read");
	*n = 0;
	for (; at + STORE_PAGE <= end; at += STORE_PAGE) {
		if (copy->file->pMethods->xRead(copy->file, page, STORE_PAGE, (sqlite3_int64)at) !=
		    SQLITE_OK)
			return err_set(err, MSG_STORE_FAILED, "the copy cannot be read");
		if (copy->is_checked)
			page_file_seal(page, (uint32_t)(at / STORE_PAGE + 1));
		page += STORE_PAGE;
		*n += STORE_PAGE;
	}
	return OK;
}
