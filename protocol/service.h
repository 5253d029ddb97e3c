/*
 * service - what the server lends to every request: the tables, the clock, the log.
 */
#ifndef DYNALITH_PROTOCOL_SERVICE_H
#define DYNALITH_PROTOCOL_SERVICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/str.h"
#include "protocol/note_gate.h"
#include "storage/catalog/catalog.h"

struct conflicts;
struct contributors;
struct faults;
struct iam;
struct insight;
struct job_run;
struct rollouts;
struct throughput_limits;

/* What the server lends to every request. */
struct service {
	struct catalog *catalog;
	/* The namespace's Unix time in milliseconds: the injected clock. */
	int64_t (*now_ms)(void *context, struct ns ns);
	void *clock_context;
	/* One line for the log at level "info" (a table missing here that exists in another
	 * namespace, ...); may be NULL. */
	void (*note)(void *context, struct str line);
	void *note_context;
	struct note_gate notes;
	/* Wakes the upkeep: there is work in the background. May be NULL. */
	struct {
		void (*wake)(void *context);
		void *context;
	} upkeep;
	struct job_run *jobs; /* carries out what the operations start: storage/job/job_run.h; NULL:
				 what is started stays as it is */
	/* The CPU time of this thread in nanoseconds, and how much of it a request may take; NULL:
	 * any. */
	uint64_t (*cpu_ns)(void);
	uint64_t cpu_limit_ns;
	atomic_uint long_writes; /* writes under way that exceeded their slice: others may wait for
				    them */
	struct partiql_cache *statements; /* or NULL: each statement is parsed again */
	struct faults *faults;            /* failures on demand; NULL: none */
	struct iam *iam;                  /* who may do what; NULL: everybody all: protocol/iam */
	struct insight *insight;          /* access patterns; NULL: nobody asks for them */
	struct contributors *contributors; /* keys of tables with Contributor Insights; NULL: they
					      are not counted */
	struct throughput_limits *throughput;    /* limits of what requests consume; NULL: none */
	struct conflicts *conflicts; /* transactions that meet; NULL: they wait for each other */
	struct rollouts *rollouts;   /* the region and day to behave as; NULL: the request's region:
					protocol/rollouts.h */
	/* Whether tables' changes are sent to their Kinesis destinations; where not, the log says
	 * so once. NULL: they are not. */
	bool (*sends)(void);
	bool is_dropin; /* in place of DynamoDB Local, whose errors differ where tools look at them
			 */
	bool is_timed;  /* changes take their time and are limited as at AWS: protocol/timing */
};

/* The cache of PartiQL statements, for a service; freed after its last call. */
struct partiql_cache *partiql_cache_new(void);
void partiql_cache_free(struct partiql_cache *cache);

#endif
