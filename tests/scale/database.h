/*
 * database - PostgreSQL, as storage/store/postgresql/ sees it, in virtual time: sessions that run
 * the statements of statements.def on rows in memory.
 *
 * Readers see a snapshot; writers lock rows and wait for each other, until a deadlock is found
 * after a second, or 5 s have passed. A commit waits for the disk and is seen after that. What a
 * statement takes of a core is costs.def's; a session has a core from the first statement of a
 * pipeline to where it waits for a lock, for the disk or for its client.
 */
#ifndef DYNALITH_SCALE_DATABASE_H
#define DYNALITH_SCALE_DATABASE_H

#include "core/arena.h"
#include "storage/store/postgresql/link.h"
#include "tests/scale/resources.h"
#include "tests/scale/rows.h"

#define NODES_MAX 16

enum database_cost {
#define COST(id, ns, what) COST_##id,
#include "tests/scale/costs.def"
#undef COST
	COST_COUNT
};

/* How the database is built. */
struct database_profile {
	const char *name, *what;
	unsigned nodes, cores; /* machines over which the rows are spread by the hash of their keys;
				  cores of each */
	int64_t round_trip_ns;  /* from a server to it */
	int64_t flush_ns;       /* of a commit: the disk */
	int64_t commit_ns; /* and then a standby's or a quorum's answer; locks are held meanwhile */
	int64_t hop_ns;    /* to the node that has a row, and back, where that is another one */
};

struct database {
	struct database_profile profile;
	struct cores cores[NODES_MAX];
	struct cores *shared;   /* on one machine with the servers: its cores; else NULL */
	struct disk disks[NODES_MAX];
	struct rows rows;
	uint64_t commits;       /* the number of the last one */
	struct session *sessions;
	unsigned session_count;
	bool is_timed;          /* false: nothing takes time, to fill tables */
	/* counts */
	uint64_t statements, conflicts, deadlocks, timeouts, aborts;
	int64_t lock_wait_ns;
};

struct reply {
	const char *state;      /* of an error; NULL: none */
	const char *tag;        /* of a COMMIT */
	unsigned rows, columns;
	struct str *v;          /* row by row; absent: NULL */
};

extern struct database database;

void database_init(const struct database_profile *profile);
/* Spreads the sessions over the nodes of the profile. */
void database_spread(void);
void database_forget_counts(void);

struct session *session_new(void);
void session_free(struct session *session);
/* One statement; the reply lies in the arena. The session has a core; after the pipeline it gives
 * it back. */
void session_begin_pipeline(struct session *session);
void session_run(struct session *session, enum statement statement, const struct str *values,
		 size_t n, struct arena *arena, struct reply *reply);
void session_end_pipeline(struct session *session, bool has_failed);

#endif
