#include "storage/store/sqlite/wal.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "storage/store/sqlite/log_file.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define CHECKPOINT_PAGES 1000 /* SQLite's own default */
#define LOG_PAGES_MAX                                                                              \
	4096 /* as many as one table of SQLite's index of the log has: looking pages up takes      \
		longer from there on */
#define QUIET_MS 100
#define ROUNDS_MAX 6          /* of moving a long log beside writers */
#define LITTLE_PAGES 128      /* to move, and to sync, while the writer is held: they take a ms */
#define YIELD_PAGES 32        /* moved beside writers between two calls of sched_yield() */
#define YIELD_LOG_MAX                                                                              \
	8192 /* pages; of a longer log the checkpoint does not yield, or writers would soon wait   \
		for room in it */
#define READERS_WAIT_MS 100   /* for readers at once: writers wait as long */
#define READERS_PAUSE_NS 1000000 /* in which writers get the lock */
#define FRAME_BYTES (LOG_FILE_FRAME_HEAD + STORE_PAGE)

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

static int pages_of(size_t bytes)
{
	return bytes / FRAME_BYTES > INT_MAX / 4 ? INT_MAX / 4 : (int)(bytes / FRAME_BYTES);
}

/* The data has grown or not: the log has the more room the less it takes, and readers get no more
 * of it. */
static void limit_room(struct wal_room *room, size_t bytes)
{
	room->usual = room->allowed = room->most = pages_of(bytes);
}

static void set_room(struct wal_room *room)
{
	room->usual = room->allowed = pages_of(room->bytes);
	room->most = pages_of(room->bytes_most);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How long the next transaction has to pause still, in ns. With the writer's lock held. */
static uint64_t pause_left(const struct wal *wal)
{
	uint64_t next = wal->is_moved ? 0 : wal->room.next_ns, now = next > 0 ? now_ns() : 0;

	return next > now ? next - now : 0;
}

/* A commit has made the log that long. A log limited by a quota is mostly full, and short. */
static void set_pause(struct wal *wal, int pages)
{
	struct wal_room *room = &wal->room;
	uint64_t pause = room->quota ? 0
				     : log_pace_pause(&room->pace, room->usual, room->allowed,
						      pages, pages - wal->pages);

	room->next_ns = pause > 0 ? now_ns() + pause : 0;
}

/* On a full disk a short log, started over often, leaves the reserve to the next transactions. */
static void fit_room(struct wal_room *room)
{
	size_t full = RESERVE_BYTES / 2;

	if (room->quota)
		limit_room(room, (size_t)quota_log_usual(room->quota));
	else if (reserve_is_used(room->reserve))
		limit_room(room, full < room->bytes ? full : room->bytes);
	else if (room->usual < pages_of(room->bytes))
		set_room(room);
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
	set_pause(wal, pages);
	wal->pages = pages;
	fit_room(&wal->room);
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
static bool checkpoint(struct wal *wal, sqlite3 *db, int mode, int *pages)
{
	int moved = 0;

	if (atomic_load(&wal->is_broken) || atomic_load(&wal->file) == WAL_FILE_CUT)
		return false;
	int result = sqlite3_wal_checkpoint_v2(db, NULL, mode, pages, &moved);
	if (result != SQLITE_OK && sqlite3_extended_errcode(db) == SQLITE_IOERR_FSYNC)
		atomic_store(&wal->is_broken, true);
	return result == SQLITE_OK && moved == *pages;
}

/* The same while the writer is held, after so many `commits`. */
static bool checkpoint_alone(struct wal *wal, int *pages, uint64_t *commits)
{
	hold_writer(wal);
	*commits = atomic_load(&wal->commits);
	bool is_whole = checkpoint(wal, wal->checkpointer.db, SQLITE_CHECKPOINT_PASSIVE, pages);
	free_writer(wal);
	return is_whole;
}

/* Readers need the log. It may grow to its limit for them; there writers wait, and in the end the
 * readers are interrupted. */
static void wait_for_readers(struct wal *wal)
{
	struct wal_room *room = &wal->room;

	if (room->allowed < room->most) {
		room->allowed += room->usual;
	} else if (room->turn == room->turns) { /* no writer waits */
		room->waits = 0;
	} else if (room->waits++ == 0) {
		room->readers.note(room->readers.context);
	} else if (room->waits > room->waits_max) {
		room->readers.end(room->readers.context);
	}
}

/*
 * Moves all of a large log while the writer is held, and waits a moment for the readers of older
 * states: then the next commit starts it over. Where that fails, as on a full disk, the writer goes
 * on and meets the fault itself.
 */
static void start_over(struct wal *wal)
{
	int pages = 0;

	hold_writer(wal);
	/* a large transaction leaves a file that is not worth keeping */
	int mode = wal->pages > wal->room.usual * 2 ? SQLITE_CHECKPOINT_TRUNCATE
						    : SQLITE_CHECKPOINT_RESTART;
	bool is_whole = checkpoint(wal, wal->checkpointer.db, mode, &pages);
	bool is_busy = !is_whole && !atomic_load(&wal->is_broken) &&
		       sqlite3_errcode(wal->checkpointer.db) == SQLITE_BUSY;
	pthread_mutex_lock(&wal->mutex);
	wal->is_due = false;
	if (is_whole) {
		wal->pages = 0;
		wal->due_pages = CHECKPOINT_PAGES;
		wal->is_moved = true;
		wal->is_uncertain = false;
	}
	if (is_busy) {
		wait_for_readers(wal);
	} else {
		wal->room.allowed = wal->pages + wal->room.usual;
		wal->room.waits = 0;
	}
	pthread_mutex_unlock(&wal->mutex);
	free_writer(wal);
	if (is_busy) /* for a writer that waits for the lock */
		nanosleep(&(struct timespec){0, READERS_PAUSE_NS}, NULL);
}

static int pages_now(struct wal *wal)
{
	pthread_mutex_lock(&wal->mutex);
	int pages = wal->pages;
	pthread_mutex_unlock(&wal->mutex);
	return pages;
}

static void sync_data(struct wal *wal, int flags)
{
	sqlite3_file *data =
		wal->durability == DURABILITY_OFF
			? NULL
			: page_file_of(wal->checkpointer.db, SQLITE_FCNTL_FILE_POINTER);

	if (data && data->pMethods->xSync(data, flags) != SQLITE_OK)
		atomic_store(&wal->is_broken, true);
}

static int pages_moved(struct wal *wal)
{
	pthread_mutex_lock(&wal->mutex);
	int moved = wal->due_pages - CHECKPOINT_PAGES;
	pthread_mutex_unlock(&wal->mutex);
	return moved;
}

static void note_round(struct wal *wal, const struct log_pace_round *round)
{
	pthread_mutex_lock(&wal->mutex);
	log_pace_note(&wal->room.pace, round);
	pthread_mutex_unlock(&wal->mutex);
}

/* A checkpoint beside writers. It yields, since it takes some ms of CPU: with few cores, requests
 * would wait that long for one. */
static bool checkpoint_beside(struct wal *wal, int *pages)
{
	sqlite3_file *log =
		page_file_of(wal->checkpointer.db,
			     SQLITE_FCNTL_JOURNAL_POINTER); /* not before its first checkpoint */

	if (log)
		log_file_yield(log, pages_now(wal) <= YIELD_LOG_MAX ? YIELD_PAGES : 0);
	bool is_whole = checkpoint(wal, wal->checkpointer.db, SQLITE_CHECKPOINT_PASSIVE, pages);
	if (log)
		log_file_yield(log, 0);
	return is_whole;
}

/*
 * A long log is moved while writers go on until little of it is left, and then to its end while
 * they wait: the next commit starts it over. *commits is how many there were before, or before the
 * part for which they waited.
 */
static bool checkpoint_all(struct wal *wal, bool is_alone, int *pages, uint64_t *commits)
{
	int moved = pages_moved(wal), synced = 0;

	for (int round = 0; round < ROUNDS_MAX && !is_alone; round++) {
		uint64_t begin = now_ns();
		bool is_whole = checkpoint_beside(wal, pages);
		uint64_t between = now_ns();

		if (*pages < LOG_PAGES_MAX || (is_whole && pages_now(wal) == *pages))
			return is_whole;
		/* SQLite syncs the data once all of the log is moved, while writers wait for that:
		 * what is synced before goes quickly then */
		sync_data(wal, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
		note_round(wal,
			   &(struct log_pace_round){round == 0, *pages - moved, *pages - synced,
						    between - begin, now_ns() - between});
		moved = synced = *pages;
		is_alone = pages_now(wal) - *pages < LITTLE_PAGES;
	}
	return checkpoint_alone(wal, pages, commits);
}

/*
 * What is known of the log after a checkpoint that began with `before` commits and saw a log of
 * `pages`. Commits that came meanwhile are in that checkpoint or not: a log of another size has
 * pages left to move, one of the same size may have none. No commit is under way here.
 */
static void note_moved(struct wal *wal, uint64_t before, bool is_whole, int pages)
{
	hold_writer(wal);
	pthread_mutex_lock(&wal->mutex);
	bool is_same = before == atomic_load(&wal->commits);
	wal->is_due = false;
	wal->is_moved = is_whole && is_same;
	wal->is_uncertain = is_whole && !is_same && wal->pages == pages;
	if (wal->pages >= pages) /* else a commit has started the log over */
		wal->due_pages = (pages > 0 ? pages : wal->pages) + CHECKPOINT_PAGES;
	pthread_mutex_unlock(&wal->mutex);
	free_writer(wal);
}

/* Waits for so long at most; what pthread_cond_timedwait() returns. */
static int wait_up_to(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000u);
	until.tv_nsec = (long)(ns % 1000000000u);
	return pthread_cond_timedwait(cond, mutex, &until);
}

/* Waits until a checkpoint is due, or no commit came for a while; false when the thread is to end.
 */
static bool wait_until_due(struct wal *wal)
{
	while (!wal->is_due && !is_over(wal) && !wal->is_stopping) {
		uint64_t before = atomic_load(&wal->commits);

		if (wal->is_moved) {
			pthread_cond_wait(&wal->checkpoint_cond, &wal->mutex);
			continue;
		}
		if (wait_up_to(&wal->checkpoint_cond, &wal->mutex, QUIET_MS * 1000000u) ==
			    ETIMEDOUT &&
		    before == atomic_load(&wal->commits))
			break;
	}
	return !wal->is_stopping;
}

/* Syncs a new data file. Writers wait for it: is_wanted is set since wal_start. */
static void sync_new(struct wal *wal)
{
	sync_data(wal, SQLITE_SYNC_FULL);
	hold_writer(wal);
	free_writer(wal);
}

static void *run(void *context)
{
	struct wal *wal = context;

	if (atomic_load(&wal->room.is_wanted))
		sync_new(wal);
	pthread_mutex_lock(&wal->mutex);
	while (wait_until_due(wal)) {
		uint64_t before = atomic_load(&wal->commits);
		bool is_alone = wal->is_uncertain, is_start = is_over(wal);
		int pages = 0;

		pthread_mutex_unlock(&wal->mutex);
		if (is_start) {
			start_over(wal);
		} else {
			bool is_whole = checkpoint_all(wal, is_alone, &pages, &before);
			note_moved(wal, before, is_whole, pages);
		}
		pthread_mutex_lock(&wal->mutex);
	}
	pthread_mutex_unlock(&wal->mutex);
	return NULL;
}

static void make_room(struct wal_room *room, const struct wal_options *options)
{
	room->bytes = options->log_bytes;
	room->bytes_most = options->log_bytes_most;
	room->reserve = options->reserve;
	set_room(room);
	room->waits_max = options->reader_ms / READERS_WAIT_MS;
	room->readers = options->readers;
	pthread_cond_init(&room->cond, NULL);
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

/* A log that an earlier process left too large. */
static void shorten(struct wal *wal, struct connection *writer)
{
	int pages;

	if (wal_file_bytes(wal) / FRAME_BYTES > (uint64_t)wal->room.usual)
		(void)checkpoint(wal, writer->db, SQLITE_CHECKPOINT_TRUNCATE, &pages);
}

enum code wal_start(struct wal *wal, struct connection *writer, pthread_mutex_t *writer_mutex,
		    const struct wal_options *options, struct err *err)
{
	bool is_lax = options->durability == DURABILITY_OFF;
	sqlite3_file *log = page_file_of(writer->db, SQLITE_FCNTL_JOURNAL_POINTER);

	wal->writer_mutex = writer_mutex;
	wal->path = options->path;
	wal->durability = options->durability;
	wal->due_pages = CHECKPOINT_PAGES;
	wal->is_moved = true;
	atomic_init(&wal->room.is_wanted, options->is_new);
	make_room(&wal->room, options);
	enum code code = connection_open(&wal->checkpointer, options->path, SQLITE_OPEN_READWRITE,
					 options->setup, err);
	if (code != OK)
		return code;
	code = connection_run(&wal->checkpointer,
			      is_lax ? "PRAGMA synchronous=OFF" : "PRAGMA synchronous=NORMAL", err);
	if (code != OK)
		return code;
	sqlite3_busy_timeout(wal->checkpointer.db, READERS_WAIT_MS);
	if (!log)
		return err_set(err, MSG_STORE_FAILED, "the write-ahead log is not open");
	wal->disk = log_file_disk(log);
	wal->room.quota = options->quota->limit ? options->quota : NULL;
	log_file_limit(log, page_file_of(writer->db, SQLITE_FCNTL_FILE_POINTER), options->quota,
		       options->reserve);
	shorten(wal, writer);
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
	int pages;

	(void)checkpoint(wal, writer->db, SQLITE_CHECKPOINT_TRUNCATE, &pages);
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

/* Waits, the writer's lock let go, until the checkpoints' thread has made room, or another writer
 * has had its turn. */
static void wait_for_room(struct wal *wal)
{
	pthread_mutex_lock(&wal->mutex);
	pthread_cond_signal(&wal->checkpoint_cond);
	pthread_mutex_unlock(&wal->mutex);
	pthread_cond_wait(&wal->room.cond, wal->writer_mutex);
}

enum code wal_admit(struct wal *wal, struct err *err)
{
	struct wal_room *room = &wal->room;
	enum code code = wal_check(wal, err);
	uint64_t pause = pause_left(wal);

	if (!is_over(wal) && room->turn == room->turns &&
	    !atomic_load_explicit(&room->is_wanted, memory_order_relaxed) && pause == 0)
		return code;
	uint64_t own = room->turns++;
	while (code == OK) {
		if (is_over(wal) || room->turn != own || atomic_load(&room->is_wanted))
			wait_for_room(wal);
		else if (pause > 0)
			(void)wait_up_to(&room->cond, wal->writer_mutex, pause);
		else
			break;
		code = wal_check(wal, err);
		pause = pause_left(wal);
	}
	room->turn++;
	pthread_cond_broadcast(&room->cond);
	return code;
}

uint64_t wal_commit_number(const struct wal *wal)
{
	return atomic_load(&wal->commits);
}

enum code wal_sync(struct wal *wal, uint64_t commit, struct err *err)
{
	if (wal->durability != DURABILITY_FULL)
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
		return err_set(err, MSG_STORE_MOVED, wal->path);
	if (atomic_load(&wal->file) == WAL_FILE_CUT)
		return err_set(err, MSG_STORE_CUT, wal->path);
	return atomic_load(&wal->is_broken) ? err_set(err, MSG_STORE_UNSYNCED) : OK;
}
