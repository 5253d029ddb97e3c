/*
 * link - one connection to the database: statements go out in a pipeline, and one wait brings all
 * their answers.
 *
 * One thread at a time. A link that failed stays in its place, closed; link_open() opens it again.
 */
#ifndef DYNALITH_STORAGE_LINK_H
#define DYNALITH_STORAGE_LINK_H

#include <stdatomic.h>

#include "core/arena.h"
#include "storage/store/postgresql/libpq.h"
#include "storage/store/postgresql/profile.h"
#include "storage/store/store.h"

/* Of all links of a store. */
struct link_counts {
	atomic_uint_fast64_t waits;      /* round trips that somebody waited for */
	atomic_uint_fast64_t statements;
	atomic_uint_fast64_t failures[STORE_FAILURE_COUNT];
};

struct link {
	const struct libpq *pq;
	PGconn *conn;              /* NULL: closed */
	struct link_counts *counts;
	size_t sent;               /* statements since the last wait */
	uint64_t waits;            /* so far */
	size_t unread; /* of them and of those before, pipelines that were left without a wait */
	size_t left[2];            /* how many statements each of those has */
	size_t marked; /* 1 + which statement of the next wait reads a mark of followers.h; 0: none
			*/
	uint64_t mark;             /* what the last one read; 0: nothing */
	size_t result_count, result_capacity;
	PGresult **results;        /* of the last wait, one per statement until one failed */
	bool is_refused; /* the database itself has said what failed, in results[result_count - 1]
			  */
	bool is_fatal;             /* and has closed the connection with that */
	char state[6];     /* the database's code of what went wrong last; empty: it said none */
	char problem[400]; /* what went wrong last, for the operator: one line, no password */
	const struct link_options *options; /* it was connected by them */
	struct link *next_free;
};

#define LINK_HOSTS_MAX 16
#define LINK_WORD_SIZE 256 /* of the name of a host, and the like */

/* One of several hosts: the options that name it, each an element of what the URL or the
 * environment says; "": it says nothing. */
struct link_host {
	char host[LINK_WORD_SIZE], address[LINK_WORD_SIZE], port[LINK_WORD_SIZE];
};

struct link_options {
	const char *url;
	const struct profile *profile;   /* NULL: not known yet, for commands alone */
	const struct link_host *standby; /* of all that the URL names, this one, as long as it is a
					    standby; NULL: the first that takes writes */
	int64_t answer_ms;    /* an answer that takes longer does not come any more */
	bool is_asynchronous; /* commits do not wait for the database's disk */
};

#define LINK_MARKS (-4)      /* the number of the rows of followers.h */
#define LINK_ANSWER_MS 35000 /* longer than the database lets a statement take: then it is gone */
#define LINK_VALUES_MAX 8 /* of one statement, $1 to $8; absent: NULL */

/* A number as a value: big-endian. */
struct link_number {
	char bytes[8];
};

static inline struct str link_number(struct link_number *number, int64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		number->bytes[i] = (char)((uint64_t)value >> (56 - 8 * i));
	return (struct str){number->bytes, sizeof(number->bytes)};
}

/*
 * Connects, and prepares all statements, unless its profile has none prepared. `options` must
 * outlive the link. ERR_STORE_UNAVAILABLE: it cannot be reached now, takes no writes, or the table
 * is not there or not ours to use; ERR_INTERNAL: something that no other time mends; `problem` says
 * what.
 */
enum code link_open(struct link *link, const struct link_options *options,
		    struct err *err) WARN_UNUSED;
/* Connects without preparing anything: for link_command(). */
enum code link_connect(struct link *link, const struct link_options *options,
		       struct err *err) WARN_UNUSED;
/* Runs commands as they are; *text, unless NULL, is the first column of the last one's first row,
 * in err's arena, or absent. Errors as link_wait(). */
enum code link_command(struct link *link, const char *sql, struct str *text,
		       struct err *err) WARN_UNUSED;
void link_close(struct link *link);
void link_free(struct link *link);

/* Whether it is open and the database has not hung up, as far as can be seen without asking it. */
bool link_is_alive(struct link *link);

/* What a transaction begins with where connections keep no settings: into the pipeline. Elsewhere,
 * nothing. */
void link_send_settings(struct link *link);

/* Puts a statement into the pipeline; what goes wrong comes with the wait. */
void link_send(struct link *link, enum statement statement, const struct str *values, size_t n);

/*
 * Waits for the answers of all that was sent since the last wait: results[i] of the i-th, until the
 * next send. The first that failed decides: ERR_CONFLICT, ERR_STORE_FULL, ERR_STORE_UNAVAILABLE
 * (also where the link broke; it is closed then), ERR_INTERNAL.
 */
enum code link_wait(struct link *link, struct err *err) WARN_UNUSED;

/* Sends what was put into the pipeline, and does not wait: its answers count for nothing. */
void link_leave(struct link *link);

/* Puts a statement into the pipeline whose answer is a mark of followers.h: link->mark, from the
 * next wait on. */
void link_send_mark(struct link *link, struct str key);

/* The hosts that the URL of an open link names, or the environment; returns how many. */
size_t link_hosts(const struct link *link, struct link_host hosts[LINK_HOSTS_MAX]);

/* Counts why something failed; link_wait() and link_connect() do so themselves. */
void link_count(struct link *link, enum store_failure failure);

/* Whether nothing more can be sent: what is sent now goes nowhere. */
bool link_is_broken(const struct link *link);

/* A column of a result of the last wait; absent: NULL. Valid until the next send. */
struct str link_column(const struct link *link, size_t result, int row, int column);
/* The same of a bigint; 0 where it is none. */
uint64_t link_bigint(const struct link *link, size_t result, int row, int column);
int link_rows(const struct link *link, size_t result);

#endif
