/*
 * wal - the write-ahead log of a store on disk: commits share their syncs, and checkpoints keep off
 * the path of requests; internal to storage/store/sqlite.
 *
 * The writer commits to the log without waiting for the disk. Where every commit must survive power
 * loss, it then waits, the writer's lock let go, until a sync that began after the commit has
 * ended: one commit's thread syncs for all that came meanwhile (group commit). Other transactions
 * may see a commit a moment before it is safe, but never depend on one that could be lost alone:
 * the log is kept in order, and its checksums cut it at the first gap.
 *
 * A thread of its own, with a connection of its own, moves the log's pages into the file when the
 * log has grown by CHECKPOINT_PAGES, beside the writers, or when nothing was written for QUIET_MS:
 * readers need not look into a log that is moved. It starts over when nothing in it is left to
 * move. A writer that never rests is held for that once the log has LOG_PAGES_MAX.
 *
 * The log is bounded. A commit starts it over only if all of it was in the file when the
 * transaction began and no reader needs it, and under large transactions or many readers that
 * moment may never come. So writers wait before they begin while the log is beyond `log_bytes`:
 * until the thread has moved all of it and the readers of older states are done. A reader that
 * takes longer than a moment lets the log grow, up to `log_bytes_most`; there writers wait for it,
 * and after `reader_ms` it is interrupted. The log is thus never larger than these bytes and one
 * transaction.
 *
 * A checkpoint never begins on a log that may be moved already, unless the writer is held: before
 * 3.44.6, 3.50.7 and 3.51.3 SQLite could then miss that a commit started the log over, and lose
 * pages (SQLite: "Write-Ahead Logging", The WAL-Reset Bug).
 */
#ifndef DYNALITH_STORAGE_SQLITE_WAL_H
#define DYNALITH_STORAGE_SQLITE_WAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/sqlite/readers.h"

struct wal_syncs {
	pthread_cond_t cond;           /* `reached` has risen, or the log is broken */
	uint64_t reached;              /* commits known to be safe */
	bool is_running;
};

struct wal_options {
	const char *path;            /* of the data file, absolute; outlives the log */
	const char *setup;           /* SQL for the checkpoints' connection; read by wal_start() */
	enum durability durability;  /* FULL: commits wait for the disk; OFF: nothing does */
	size_t log_bytes, log_bytes_most; /* usually, and beside readers */
	unsigned reader_ms;
	struct quota *quota;         /* of the data and its log */
	struct readers *readers;     /* whose states keep the log from being started over */
};

/* How large the log may be: in pages, under the writer's lock and `mutex`. */
struct wal_room {
	int usual;                   /* beyond it the log is to be started over */
	int allowed;                 /* beyond it writers wait */
	int most;                    /* of `allowed` while readers need the log */
	atomic_bool is_wanted;       /* the thread waits for the writer's lock */
	unsigned waiting;            /* writers, under their lock */
	bool is_asked;               /* wal_make_room() was, and no commit came since */
	unsigned waits;              /* of writers for readers, in a row */
	pthread_cond_t cond;         /* of the writer's lock */
};

/* What others did to the data file or its log. Where one is cut short pages are lost: both stay as
 * they are. */
enum wal_file { WAL_FILE_WHOLE, WAL_FILE_MOVED_AWAY, WAL_FILE_CUT };

struct wal {
	struct wal_options options;
	bool is_started;
	pthread_mutex_t *writer_mutex;
	sqlite3_file *disk;        /* the log as the writer has it open: for its syncs */
	struct connection checkpointer;
	pthread_t thread;
	atomic_uint_fast64_t commits;  /* in the log; written under writer_mutex */
	uint64_t bytes;                /* that the log has at least; under writer_mutex */
	_Atomic enum wal_file file;    /* other than WAL_FILE_WHOLE: nothing is written */
	atomic_bool is_broken; /* a sync failed: what is on the disk is unknown; nothing is written,
				  nor moved out of the log */

	pthread_mutex_t mutex;         /* of all that follows */
	struct wal_syncs syncs;
	pthread_cond_t checkpoint_cond;
	bool is_due, is_stopping;
	bool is_moved;                 /* all of the log is in the file */
	int due_pages;                 /* a checkpoint is due when the log has so many */
	int pages;                     /* of the log; written under writer_mutex too */
	struct wal_room room;
};

/* Takes the log over from SQLite's own checkpoints; `writer` is open, its log too. *wal is usable
 * by wal_stop in any case. */
enum code wal_start(struct wal *wal, struct connection *writer, pthread_mutex_t *writer_mutex,
		    const struct wal_options *options, struct err *err) WARN_UNUSED;

/* Ends the thread; the log stays for the last connection to move. */
void wal_stop(struct wal *wal);

/*
 * Moves the whole log into the file, when the thread has ended and no other connection but the
 * writer is left. Where a sync failed, the log stays as it is: the next start finds out how much of
 * it is whole.
 */
void wal_end(struct wal *wal, struct connection *writer);

/* Moves the whole log into the file while nobody writes, so that the file is complete by itself;
 * false where that fails. */
bool wal_move_all(struct wal *wal, struct connection *writer);

/*
 * Before each writing transaction, with writer_mutex held: waits, the lock let go, while the log is
 * beyond its size, and makes wal_check. A log of a store in memory is all zeros, and never waits.
 */
enum code wal_admit(struct wal *wal, struct err *err) WARN_UNUSED;

/* After a transaction that was too large and left its pages behind the log's end: the file is cut
 * before anything else is written. */
void wal_shorten(struct wal *wal);

/*
 * The disk has no room for a transaction that makes room itself: the log is started over before the
 * next one. False where that was done and gave nothing. With writer_mutex held.
 */
bool wal_make_room(struct wal *wal);

/* The size of the log's file. */
uint64_t wal_file_bytes(const struct wal *wal);

/* Waits until that commit is safe. ERR_INTERNAL where a sync failed: from then on nothing is
 * written any more (wal_check). */
enum code wal_sync(struct wal *wal, uint64_t commit, struct err *err) WARN_UNUSED;

/*
 * The data file is no longer at its path: nothing is written any more (wal_check). What was
 * committed goes into the file, wherever it is now, and the log, which another server could take
 * for that of another file, is emptied. It is not deleted by its name.
 */
void wal_move_away(struct wal *wal, struct connection *writer);

/* wal_cut(), where somebody else made the log shorter than its commits; with writer_mutex held. */
void wal_find_cut(struct wal *wal);

/* The data file or its log was cut short: nothing is written any more (wal_check), and both stay as
 * they are, for whoever puts the whole file back. */
void wal_cut(struct wal *wal);

/* Whether wal_check() fails. */
bool wal_is_stopped(const struct wal *wal);

/*
 * ERR_INTERNAL after wal_move_away and wal_cut, and after a failed sync: the system may have
 * dropped what it could not write, so only a restart shows what is there.
 */
enum code wal_check(const struct wal *wal, struct err *err) WARN_UNUSED;

#endif
