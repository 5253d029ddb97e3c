/*
 * job - a long piece of work as a row of the store: a backup, a restore, an export, an import.
 *
 * A row says what is to be done, how far it came, and how it ended. An operation that starts a job
 * puts its row in the transaction that says yes to the client; job_run.h carries it out, piece by
 * piece, in any process that has the store open, also after a crash. The row stays when the job is
 * over: it is what Describe and List answer with, until job_remove().
 *
 * Rows lie in SYSTEM_COUNTERS. NAMESPACE is what the keys of the namespace's tables begin with
 * (catalog_key), so the jobs of a namespace are one range, within that those of a kind, by their
 * ids, which rise with the time of their creation:
 *
 *   "job/" NAMESPACE kind NUL id         the job
 *   "jobopen/" NAMESPACE kind NUL id     it is not over: when its next piece is due (8 bytes)
 *   "jobtoken/" NAMESPACE kind NUL token the id of the job that was started with this ClientToken
 *
 * A job names tables by their names, and no ARN stands in a row, so that a row can be copied to
 * another namespace. It may own a keyspace, (data, PART_ITEMS), that goes with it: state/ copies
 * and drops it with the job. All transactions are armed, so a rollback undoes jobs too.
 *
 * The shelf storage/job/ holds the rows of jobs and the one that carries them out. It knows no kind
 * of job.
 */
#ifndef DYNALITH_STORAGE_JOB_H
#define DYNALITH_STORAGE_JOB_H

#include "core/err.h"
#include "storage/catalog/catalog.h"
#include "storage/schema/record.h"

enum job_state { JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELED };

struct job {
	struct ns ns;
	struct str kind;       /* "backup", "export", ...: letters only */
	struct str
		id; /* "01489602797149-73d8d5bc", as in the ARNs of backups and exports: job_id() */
	struct str subject;    /* the name of the table that it is about */
	enum job_state state;
	int64_t created_ms;    /* these by the clock of the namespace */
	int64_t due_ms;        /* its next piece is done no earlier */
	int64_t ended_ms;      /* 0: it is not over */
	struct str token;      /* ClientToken, or absent */
	struct str sameness;   /* of the request with the token: another request with it is a
				  mismatch. The caller compares */
	struct str failure;    /* FAILED: the name of the error, and its text */
	struct str message;
	uint64_t data;         /* the number of the keyspace that it owns; 0: none */
	struct str body;       /* the kind's own: what is asked for, and results. See job_pack() */
	struct str progress;   /* the kind's own: how far it came */
	uint64_t revision;     /* rises with each change of the row */
};

/* A transaction about jobs. */
struct job_txn {
	struct catalog *catalog;
	struct ns ns;
	struct store_txn *txn;
	struct arena *arena;   /* the caller's */
};

/* What is done in a transaction, which may be run again from its start. */
typedef enum code job_apply(struct job_txn *txn, void *context, struct err *err);

/* Runs it in one armed writing transaction; and in one that reads. */
enum code job_write(struct catalog *catalog, struct ns ns, job_apply *apply, void *context,
		    struct err *err) WARN_UNUSED;
enum code job_read(struct catalog *catalog, struct ns ns, job_apply *apply, void *context,
		   struct err *err) WARN_UNUSED;

/* A new id: the time and a random number. */
struct str job_id(struct arena *arena, int64_t now_ms);

/* Puts a new job, with its kind, id and times set; ns is the transaction's. A job that is not
 * JOB_RUNNING is over from the start. */
enum code job_add(struct job_txn *txn, const struct job *job, struct err *err) WARN_UNUSED;

/* The job, in the arena of the transaction. ERR_RESOURCE_NOT_FOUND where there is none. */
enum code job_get(struct job_txn *txn, struct str kind, struct str id, struct job *job,
		  struct err *err) WARN_UNUSED;

/* The same in a transaction of its own, in the arena of `err`. */
enum code job_find(struct catalog *catalog, struct ns ns, struct str kind, struct str id,
		   struct job *job, struct err *err) WARN_UNUSED;

/* Of the token of a client: the job that was started with it. *is_found false: none was, or it is
 * gone. */
enum code job_find_token(struct job_txn *txn, struct str kind, struct str token, struct job *job,
			 bool *is_found, struct err *err) WARN_UNUSED;

/*
 * Puts the job in the place of the row that it was read from: ERR_CONFLICT where that was changed
 * since. Raises job->revision. Sets ended_ms to `now_ms` where the job is over and has none.
 */
enum code job_put(struct job_txn *txn, struct job *job, int64_t now_ms,
		  struct err *err) WARN_UNUSED;

/* Takes the row away, and drops the keyspace that it owns. Nothing where there is none. */
enum code job_remove(struct job_txn *txn, const struct job *job, struct err *err) WARN_UNUSED;

/* Where a list goes on. */
struct job_page {
	struct str after; /* an id; absent: from the start. Out: the last one that was looked at */
	bool is_reverse;       /* the newest first */
	size_t limit;          /* rows that are looked at */
	size_t n;              /* out */
	struct job *jobs;
	bool is_more;
};

/* Jobs of a kind by their ids. The caller keeps of a page what it wants, and asks for the next. */
enum code job_list(struct job_txn *txn, struct str kind, struct job_page *page,
		   struct err *err) WARN_UNUSED;

/* The jobs of a kind (absent: of any) that are not over, and that are about the table (absent:
 * about any). */
enum code job_list_open(struct job_txn *txn, struct str kind, struct str subject, struct job **jobs,
			size_t *n, struct err *err) WARN_UNUSED;

/* A kind's struct as bytes for body or progress, by the description of its fields; and back. False
 * for malformed bytes. Absent bytes leave zeros. */
struct str job_pack(struct arena *arena, const struct record *record, const void *object);
bool job_unpack(struct arena *arena, const struct record *record, struct str bytes,
		void *object) WARN_UNUSED;

/* All jobs of the namespace with what they own: takes them away; copies them to another namespace.
 */
enum code job_remove_all(struct job_txn *txn, struct err *err) WARN_UNUSED;
enum code job_copy_all(struct job_txn *from, struct ns to, struct err *err) WARN_UNUSED;

/* For those who keep the rows elsewhere: all of the namespace, and one of them put back, as a job
 * of `txn->ns`. */
enum code job_all(struct job_txn *txn, struct job **jobs, size_t *n, struct err *err) WARN_UNUSED;
enum code job_restore(struct job_txn *txn, const struct job *job, struct err *err) WARN_UNUSED;
struct str job_encode(struct arena *arena, const struct job *job);
enum code job_decode(struct arena *arena, struct keyspace keyspace, const struct store_row *row,
		     struct job *job, struct err *err) WARN_UNUSED;

/* Fails for a job whose body or progress is malformed. */
enum code job_malformed(const struct job *job, struct err *err) WARN_UNUSED;

/* Calls `visit` with the number of each keyspace that a job of any namespace owns. */
enum code job_numbers(struct store_txn *txn, void (*visit)(void *context, uint64_t number),
		      void *context, struct err *err) WARN_UNUSED;

/* The number of the keyspace that the job of a row of SYSTEM_COUNTERS owns; 0 where it owns none,
 * or is no job. */
uint64_t job_data_of(struct arena *arena, struct str key, struct str row);

/* For job_run: a page of all jobs that are not over, behind the key *after; `due_ms` and the name
 * of each. */
struct job_open {
	struct ns ns;
	struct str kind, id;
	struct str key;
	int64_t due_ms;
};
enum code job_find_open(struct store_txn *txn, struct arena *arena, struct str after, size_t limit,
			struct job_open **open, size_t *n, struct err *err) WARN_UNUSED;

/* Whether the row of a job, or of one that is not over, can be read. */
bool job_is_sound(struct arena *arena, const struct store_row *row);

#endif
