#include "storage/store/sqlite/live_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define PAGES_AT_ONCE 64            /* that writers wait for */
#define GROWTH 4                    /* more of them each time that the copy begins again */
#define STEP_MS 20
#define ROOM_LEFT (64 << 20)        /* bytes of the disk that stay free */

struct live_copy {
	struct live_source source;
	sqlite3 *db;                /* of the copy; NULL once it is whole */
	sqlite3_backup *backup;
	int fd;
	int at_once, remaining;
	uint64_t total;
	bool is_checked;            /* pages have room for checksums */
	bool is_whole, has_room;
	uint64_t bytes;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum code problem(const char *path, struct err *err)
{
	return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
}

static enum code failed(sqlite3 *db, struct err *err)
{
	return sqlite3_errcode(db) == SQLITE_FULL
		       ? err_set(err, MSG_STORE_COPY_ROOM)
		       : err_set(err, MSG_STORE_FAILED, sqlite3_errmsg(db));
}

/* Beside the data file, which has room by nature; where the store is in memory, where temporary
 * files belong. */
static void name_file(const struct live_source *source, char *name, size_t n)
{
	const char *folder = getenv("TMPDIR");

	if (source->path)
		snprintf(name, n, "%s.copy-XXXXXX", source->path);
	else
		snprintf(name, n, "%s/dynalith-copy-XXXXXX",
			 folder && folder[0] == '/' ? folder : "/tmp");
}

/* The file has its name only until it is open twice: by SQLite, and to be read. */
static enum code open_files(struct live_copy *copy, struct err *err)
{
	char name[PATH_MAX + 32];

	name_file(&copy->source, name, sizeof(name));
	copy->fd = mkostemp(name, O_CLOEXEC);
	if (copy->fd < 0)
		return problem(name, err);
	bool is_open = sqlite3_open_v2(name, &copy->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				       NULL) == SQLITE_OK &&
		       sqlite3_exec(copy->db,
				    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA "
				    "locking_mode=EXCLUSIVE; PRAGMA cache_size=-4096",
				    NULL, NULL, NULL) == SQLITE_OK;
	bool is_unnamed = unlink(name) == 0;

	if (!is_open)
		return failed(copy->db, err);
	return is_unnamed ? OK : problem(name, err);
}

enum code live_copy_begin(const struct live_source *source, struct live_copy **out, struct err *err)
{
	struct live_copy *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	*copy = (struct live_copy){.source = *source, .fd = -1, .at_once = PAGES_AT_ONCE};
	enum code code = open_files(copy, err);
	pthread_mutex_lock(source->mutex);
	if (code == OK) {
		copy->backup = sqlite3_backup_init(copy->db, "main", source->db, "main");
		if (!copy->backup)
			code = failed(copy->db, err);
	}
	pthread_mutex_unlock(source->mutex);
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
	pthread_mutex_lock(copy->source.mutex);
	(void)finish(copy);
	pthread_mutex_unlock(copy->source.mutex);
	sqlite3_close(copy->db);
	if (copy->fd >= 0)
		close(copy->fd);
	free(copy);
}

static bool has_room(const struct live_copy *copy)
{
	struct statvfs room;
	uint64_t wanted = copy->total * STORE_PAGE + ROOM_LEFT;

	return fstatvfs(copy->fd, &room) != 0 || (uint64_t)room.f_bavail * room.f_frsize >= wanted;
}

/* Some pages, while the writer waits. SQLite's result. */
static int copy_pages(struct live_copy *copy)
{
	pthread_mutex_lock(copy->source.mutex);
	int result = sqlite3_backup_step(copy->backup, copy->at_once),
	    remaining = sqlite3_backup_remaining(copy->backup);
	uint64_t total = (uint64_t)sqlite3_backup_pagecount(copy->backup);

	if (result == SQLITE_DONE && finish(copy) != SQLITE_OK)
		result = SQLITE_ERROR;
	pthread_mutex_unlock(copy->source.mutex);
	if (copy->total && remaining > copy->remaining && copy->at_once < INT_MAX / GROWTH)
		copy->at_once *= GROWTH;
	copy->total = total;
	copy->remaining = remaining;
	return result;
}

/* SQLite writes what it holds of the copy, and lets go of it. */
static enum code complete(struct live_copy *copy, struct err *err)
{
	unsigned char head[STORE_PAGE];
	struct stat status;
	int result = sqlite3_close(copy->db);

	if (result == SQLITE_OK)
		copy->db = NULL;
	if (result != SQLITE_OK || fstat(copy->fd, &status) != 0 ||
	    pread(copy->fd, head, sizeof(head), 0) != STORE_PAGE)
		return err_set(err, MSG_STORE_FAILED, "the copy cannot be read");
	copy->is_checked = page_file_has_checksums(head);
	copy->is_whole = true;
	copy->bytes = (uint64_t)status.st_size;
	return OK;
}

static enum code copy_until(struct live_copy *copy, int64_t until_ms, struct err *err)
{
	while (!copy->is_whole && now_ms() < until_ms) {
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
	enum code code = copy_until(copy, now_ms() + STEP_MS, err);

	*progress = (struct live_copy_progress){
		.pages = copy->total - (uint64_t)copy->remaining,
		.total = copy->total,
		.is_whole = copy->is_whole,
		.bytes = copy->bytes,
	};
	return code;
}

enum code live_copy_read(struct live_copy *copy, uint64_t at, void *out, size_t *n, struct err *err)
{
	unsigned char *pages = out;
	ssize_t got = copy->is_whole && at % STORE_PAGE == 0 && at <= INT64_MAX
			      ? pread(copy->fd, out, *n / STORE_PAGE * STORE_PAGE, (off_t)at)
			      : -1;

	if (got < 0 || got % STORE_PAGE != 0)
		return err_set(err, MSG_STORE_FAILED, "the copy cannot be read");
	*n = (size_t)got;
	for (size_t i = 0; i < *n && copy->is_checked; i += STORE_PAGE)
		page_file_seal(pages + i, (uint32_t)((at + i) / STORE_PAGE + 1));
	return OK;
}
