#include "storage/store/sqlite/wal.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "storage/monotonic.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define CHECKPOINT_PAGES 1000 /* SQLite's own default */
/* Of one table of SQLite's index of the log; looking pages up takes longer beyond that. */
#define LOG_PAGES_MAX 4096
#define QUIET_MS 100
#define READERS_WAIT_MS 100   /* for readers at once: writers wait as long */
#define FRAME_BYTES (LOG_FRAME_HEAD + STORE_PAGE)

/* Whether writers wait. */
static bool is_over(const struct wal *wal)
{
	return wal->pages > wal->room.allowed;
}

/* A busy writer takes the lock again before a sleeping thread is awake, so writers stand back while
 * `is_wanted`. */
static void hold_writer(struct wal *wal)
{
	atomic_store(&wal->room.is_wanted, true);
	pthread_mutex_lock(wal->writer_mutex);
	atomic_store(&wal->room.is_wanted, false);
}

static void free_writer(struct wal *wal)
{
	pthread_cond_broadcast(&wal->room.cond);
	pthread_mutex_unlock(wal->writer_mutex);
}

static int pages_of(uint64_t bytes)
{
	return bytes / FRAME_BYTES > INT_MAX / 4 ? INT_MAX / 4 : (int)(bytes / FRAME_BYTES);
}

/* Under a limit and on a full disk readers get no more of either. */
static void fit_room(struct wal *wal)
{
	const struct wal_options *options = &wal->options;
	struct wal_room *room = &wal->room;
	int usual = pages_of(quota_log_usual(options->quota, options->log_bytes));
	bool is_short = options->quota->limit || quota_is_full(options->quota);

	if (usual == room->usual && !is_short)
		return;
	room->usual = room->allowed = usual;
	room->most = is_short ? usual : pages_of(options->log_bytes_most);
}

/* Called by SQLite behind each commit that changed something. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
	struct wal *wal = context;

	(void)db, (void)name;
	atomic_fetch_add(&wal->commits, 1);
	pthread_mutex_lock(&wal->mutex);
	if (pages < wal->pages) /* it started over */
		wal->due_pages = CHECKPOINT_PAGES;
	wal->pages = pages;
	wal->room.is_asked = false;
	wal->bytes = LOG_HEAD + (uint64_t)pages * FRAME_BYTES;
	fit_room(wal);
	bool is_due = pages >= wal->due_pages || is_over(wal);
	if ((is_due && !wal->is_due) || wal->is_moved)
		pthread_cond_signal(&wal->checkpoint_cond);
	wal->is_due = wal->is_due || is_due;
	wal->is_moved = false;
	pthread_mutex_unlock(&wal->mutex);
	return SQLITE_OK;
}

/*
 * Whether all is moved. A failure, such as a full disk, is met again by the next round and by the
 * writer itself. Not so that of a sync: another would succeed without what the system dropped, and
 * a power cut while pages are moved could then be undone by nothing.
 */
static bool move_pages(struct wal *wal, sqlite3 *db, int mode, int *pages)
{
	int moved = 0;

	if (atomic_load(&wal->is_broken) || atomic_load(&wal->file) == WAL_FILE_CUT)
		return false;
	if (mode == SQLITE_CHECKPOINT_TRUNCATE)
		wal->bytes = 0;
	int result = sqlite3_wal_checkpoint_v2(db, NULL, mode, pages, &moved);
	if (result != SQLITE_OK && sqlite3_extended_errcode(db) == SQLITE_IOERR_FSYNC)
		atomic_store(&wal->is_broken, true);
	return result == SQLITE_OK && moved == *pages;
}

/* The same while no commit is under way, of a log that is not cut. */
static bool checkpoint(struct wal *wal, sqlite3 *db, int mode, int *pages)
{
	wal_find_cut(wal);
	return move_pages(wal, db, mode, pages);
}

/* Readers need the log. It may grow to its limit for them; there writers wait, and in the end the
 * readers are interrupted. */
static void wait_for_readers(struct wal *wal)
{
	struct wal_room *room = &wal->room;

	if (room->allowed < room->most) {
		room->allowed += room->usual;
	} else if (room->waiting == 0) {
		room->waits = 0;
	} else if (room->waits++ == 0) {
		readers_note(wal->options.readers);
	} else if (room->waits > wal->options.reader_ms / READERS_WAIT_MS) {
		readers_end(wal->options.readers);
	}
}

/* The next checkpoint is due when the log has grown again; with `mutex` held. */
static void note_moved(struct wal *wal, int pages)
{
	wal->is_due = false;
	if (wal->pages >= pages) /* else a commit has started the log over */
		wal->due_pages = (pages > 0 ? pages : wal->pages) + CHECKPOINT_PAGES;
}

/* Moves what the log has, while writers go on. */
static void move_beside(struct wal *wal)
{
	int pages = 0;

	(void)move_pages(wal, wal->checkpointer.db, SQLITE_CHECKPOINT_PASSIVE, &pages);
	pthread_mutex_lock(&wal->mutex);
	note_moved(wal, pages);
	pthread_mutex_unlock(&wal->mutex);
}

/* How a log beyond its size ends; with `mutex` held. `is_busy`: readers need it. */
static void start_over(struct wal *wal, bool is_whole, bool is_busy)
{
	if (is_whole) {
		wal->pages = 0;
		wal->due_pages = CHECKPOINT_PAGES;
	}
	if (is_busy) {
		wait_for_readers(wal);
	} else {
		wal->room.allowed = wal->pages + wal->room.usual;
		wal->room.waits = 0;
	}
}

/*
 * Moves all of the log while no commit is under way. The next one then starts it over, and nothing
 * is left to do until there is one. A log beyond its size also waits a moment for the readers of
 * older states. Where that fails, as on a full disk, the writer goes on and meets the fault itself.
 */
static void move_held(struct wal *wal, bool is_start)
{
	int pages = 0;

	hold_writer(wal);
	/* a large transaction leaves a file that is not worth keeping */
	int mode = !is_start                          ? SQLITE_CHECKPOINT_PASSIVE
		   : wal->pages > wal->room.usual * 2 ? SQLITE_CHECKPOINT_TRUNCATE
						      : SQLITE_CHECKPOINT_RESTART;
	bool is_whole = checkpoint(wal, wal->checkpointer.db, mode, &pages);
	bool is_busy = is_start && !is_whole && !atomic_load(&wal->is_broken) &&
		       sqlite3_errcode(wal->checkpointer.db) == SQLITE_BUSY;
	pthread_mutex_lock(&wal->mutex);
	note_moved(wal, pages);
	wal->is_moved = is_whole;
	if (is_start)
		start_over(wal, is_whole, is_busy);
	pthread_mutex_unlock(&wal->mutex);
	free_writer(wal);
	if (is_busy) /* so that a writer that waits gets the lock */
		monotonic_sleep_ms(1);
}

/* Waits for a commit that makes a checkpoint due; whether none came at all for QUIET_MS. */
static bool wait_quietly(struct wal *wal)
{
	uint64_t before = atomic_load(&wal->commits);
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += QUIET_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_cond_timedwait(&wal->checkpoint_cond, &wal->mutex, &until) == ETIMEDOUT &&
	       before == atomic_load(&wal->commits);
}

/* Waits until a checkpoint is due, or no commit came for a while; false when the thread is to end.
 */
static bool wait_until_due(struct wal *wal)
{
	bool is_quiet = false;

	while (!wal->is_due && !is_over(wal) && !wal->is_stopping && !is_quiet) {
		if (wal->is_moved)
			pthread_cond_wait(&wal->checkpoint_cond, &wal->mutex);
		else
			is_quiet = wait_quietly(wal);
	}
	return !wal->is_stopping;
}

static void *run(void *context)
{
	struct wal *wal = context;

	pthread_mutex_lock(&wal->mutex);
	while (wait_until_due(wal)) {
		bool is_start = is_over(wal), is_beside = wal->is_due && wal->pages < LOG_PAGES_MAX;

		pthread_mutex_unlock(&wal->mutex);
		if (is_beside && !is_start)
			move_beside(wal);
		else
			move_held(wal, is_start);
		pthread_mutex_lock(&wal->mutex);
	}
	pthread_mutex_unlock(&wal->mutex);
	return NULL;
}

uint64_t wal_file_bytes(const struct wal *wal)
{
	sqlite3_int64 size = 0;

	return wal->disk->pMethods->xFileSize(wal->disk, &size) == SQLITE_OK ? (uint64_t)size : 0;
}

void wal_shorten(struct wal *wal)
{
	int large = wal->room.usual * 2;

	if (wal_file_bytes(wal) / FRAME_BYTES <= (uint64_t)large)
		return;
	pthread_mutex_lock(&wal->mutex);
	wal->pages = (wal->room.allowed > large ? wal->room.allowed : large) + 1;
	pthread_cond_signal(&wal->checkpoint_cond);
	pthread_mutex_unlock(&wal->mutex);
}

bool wal_make_room(struct wal *wal)
{
	pthread_mutex_lock(&wal->mutex);
	bool has_more = wal->pages > 0 && !wal->room.is_asked;
	if (has_more) {
		wal->room.is_asked = true;
		wal->room.allowed = 0;
		pthread_cond_signal(&wal->checkpoint_cond);
	}
	pthread_mutex_unlock(&wal->mutex);
	return has_more;
}

enum code wal_start(struct wal *wal, struct connection *writer, pthread_mutex_t *writer_mutex,
		    const struct wal_options *options, struct err *err)
{
	sqlite3_file *log = page_file_of(writer->db, SQLITE_FCNTL_JOURNAL_POINTER);

	wal->writer_mutex = writer_mutex;
	wal->options = *options;
	wal->options.setup = NULL; /* the caller's text, which need not outlive this call */
	wal->due_pages = CHECKPOINT_PAGES;
	wal->is_moved = true;
	wal->room.usual = wal->room.allowed = pages_of(options->log_bytes);
	wal->room.most = pages_of(options->log_bytes_most);
	pthread_cond_init(&wal->room.cond, NULL);
	enum code code = connection_open(&wal->checkpointer, options->path, SQLITE_OPEN_READWRITE,
					 options->setup, err);
	if (code != OK)
		return code;
	sqlite3_busy_timeout(wal->checkpointer.db, READERS_WAIT_MS);
	if (!log)
		return err_set(err, MSG_STORE_NO_WAL, options->path);
	wal->disk = log;
	page_file_limit(log, page_file_of(writer->db, SQLITE_FCNTL_FILE_POINTER), options->quota);
	if (wal_file_bytes(wal) / FRAME_BYTES > (uint64_t)wal->room.usual)
		(void)wal_move_all(wal, writer); /* an earlier process left it too large */
	pthread_mutex_init(&wal->mutex, NULL);
	pthread_cond_init(&wal->syncs.cond, NULL);
	pthread_cond_init(&wal->checkpoint_cond, NULL);
	sqlite3_wal_hook(writer->db, on_commit, wal);
	wal->is_started = pthread_create(&wal->thread, NULL, run, wal) == 0;
	return wal->is_started ? OK : err_set(err, MSG_STORE_FAILED, "no thread for checkpoints");
}

void wal_stop(struct wal *wal)
{
	if (wal->is_started) {
		pthread_mutex_lock(&wal->mutex);
		wal->is_stopping = true;
		pthread_cond_signal(&wal->checkpoint_cond);
		pthread_mutex_unlock(&wal->mutex);
		pthread_join(wal->thread, NULL);
	}
	connection_close(&wal->checkpointer);
}

void wal_end(struct wal *wal, struct connection *writer)
{
	(void)wal_move_all(wal, writer);
	if (wal_is_stopped(wal))
		sqlite3_db_config(writer->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

bool wal_move_all(struct wal *wal, struct connection *writer)
{
	int pages;

	pthread_mutex_lock(wal->writer_mutex);
	bool is_whole = checkpoint(wal, writer->db, SQLITE_CHECKPOINT_TRUNCATE, &pages);
	pthread_mutex_unlock(wal->writer_mutex);
	return is_whole;
}

void wal_move_away(struct wal *wal, struct connection *writer)
{
	atomic_store(&wal->file, WAL_FILE_MOVED_AWAY);
	(void)wal_move_all(wal, writer);
}

void wal_cut(struct wal *wal)
{
	atomic_store(&wal->file, WAL_FILE_CUT);
}

void wal_find_cut(struct wal *wal)
{
	sqlite3_int64 size;

	if (atomic_load(&wal->file) != WAL_FILE_CUT &&
	    wal->disk->pMethods->xFileSize(wal->disk, &size) == SQLITE_OK &&
	    (uint64_t)size < wal->bytes)
		wal_cut(wal);
}

enum code wal_admit(struct wal *wal, struct err *err)
{
	struct wal_room *room = &wal->room;
	enum code code = wal_check(wal, err);

	while (code == OK && (is_over(wal) || atomic_load(&room->is_wanted))) {
		room->waiting++;
		pthread_mutex_lock(&wal->mutex);
		pthread_cond_signal(&wal->checkpoint_cond);
		pthread_mutex_unlock(&wal->mutex);
		pthread_cond_wait(&room->cond, wal->writer_mutex);
		room->waiting--;
		code = wal_check(wal, err);
	}
	return code;
}

enum code wal_sync(struct wal *wal, uint64_t commit, struct err *err)
{
	if (wal->options.durability != DURABILITY_FULL)
		return OK;
	pthread_mutex_lock(&wal->mutex);
	while (wal->syncs.reached < commit && !atomic_load(&wal->is_broken)) {
		if (wal->syncs.is_running) {
			pthread_cond_wait(&wal->syncs.cond, &wal->mutex);
			continue;
		}
		wal->syncs.is_running = true;
		pthread_mutex_unlock(&wal->mutex);
		uint64_t reached = atomic_load(&wal->commits);
		bool is_safe = wal->disk->pMethods->xSync(wal->disk, SQLITE_SYNC_FULL) == SQLITE_OK;
		pthread_mutex_lock(&wal->mutex);
		wal->syncs.is_running = false;
		if (is_safe)
			wal->syncs.reached = reached;
		else
			atomic_store(&wal->is_broken, true);
		pthread_cond_broadcast(&wal->syncs.cond);
	}
	bool is_safe = wal->syncs.reached >= commit;
	pthread_mutex_unlock(&wal->mutex);
	return is_safe ? OK : wal_check(wal, err);
}

bool wal_is_stopped(const struct wal *wal)
{
	return atomic_load(&wal->file) != WAL_FILE_WHOLE || atomic_load(&wal->is_broken);
}

enum code wal_check(const struct wal *wal, struct err *err)
{
	if (atomic_load(&wal->file) == WAL_FILE_MOVED_AWAY)
		return err_set(err, MSG_STORE_MOVED, wal->options.path);
	if (atomic_load(&wal->file) == WAL_FILE_CUT)
		return err_set(err, MSG_STORE_CUT, wal->options.path);
	return atomic_load(&wal->is_broken) ? err_set(err, MSG_STORE_UNSYNCED) : OK;
}
