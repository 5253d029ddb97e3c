/*
 * load - servers below HTTP on the simulated database, and their clients: each waits for its answer
 * and asks again.
 */
#ifndef DYNALITH_SCALE_LOAD_H
#define DYNALITH_SCALE_LOAD_H

#include "tests/scale/database.h"

#define SERVERS_MAX 100
#define HOT_MAX 5

enum operation {
	OPERATION_GET,
	OPERATION_PUT,
	OPERATION_UPDATE,
	OPERATION_QUERY,
	OPERATION_TRANSACT, /* as those of tests/bench/load.c */
	OPERATION_MIX,      /* GetItem or a counter that UpdateItem raises, of a key by Zipf */
	OPERATION_COUNTER,  /* UpdateItem raises the counter of one item, of all servers */
	OPERATION_OWN,      /* the same, of one item per client */
	OPERATION_NEW, /* PutItem of an item that must not be there: all clients the same one, then
			  the next one */
	OPERATION_COUNT
};

/* One run. */
struct point {
	struct database_profile profile;
	unsigned servers, threads, clients; /* of each server */
	unsigned server_cores; /* of each server; 0: all on the database's machine, with the load */
	enum operation operation;
	double zipf;                        /* the exponent */
	unsigned reads;                     /* of a mix, in 100 */
	unsigned shards; /* of the table's stream; 0: it has none */
	unsigned warm, requests; /* so many come before the count begins; the run ends after so many
				    more, or */
	int64_t length_ns;                  /* after this time */
	uint64_t seed;
};

struct hot {
	char name[80];
	uint64_t locks, waits;
	double share;                       /* of all the time that was waited for locks */
};

/* All but the first line is of the time from when the servers were warm to when the last request
 * was asked for. */
struct result {
	uint64_t requests, failed,
		digest; /* of the whole run after that, until all were answered */
	uint64_t counted, conflicts, deadlocks, timeouts, waits, statements, pipelines, flushes;
	double seconds, rate, p50_ms, p99_ms, database_busy, busiest_node, server_busy,
		lock_ms;                    /* of a request */
	int64_t value;                      /* of the counter, by a read at the end */
	uint64_t stream_rows, records_before;
	struct hot hot[HOT_MAX];
};

/* Fills the table, in a process that has just begun. */
void load_fill(unsigned shards, uint64_t seed);

/* Runs it; once in the life of a process. */
void load_run(const struct point *point, struct result *result);

#endif
