/*
 * metrics - counters of operations, their results and times. /_dynalith/metrics shows them in the
 * text format of Prometheus.
 *
 * Threads count in shards of their own, so that they do not wait for each other's cache lines: a
 * request costs a few tens of nanoseconds.
 */
#ifndef DYNALITH_SERVER_METRICS_H
#define DYNALITH_SERVER_METRICS_H

#include "protocol/op.h"
#include "storage/store/timed/timed_store.h"

struct metrics;

/* Figures that the caller reads when the page is made. */
struct metrics_gauges {
	struct str version;
	struct str store;               /* where the data is: "memory" or "file" */
	uint64_t connections, connections_max, connections_over;
	uint64_t address_connections_over, address_requests_over;
	bool misses_store;              /* a database that cannot be reached */
	bool is_crowded;                /* pace_is_crowded() */
	uint64_t unproven_bytes;        /* of memory_bytes' kind, of requests whose signature is not
					   verified yet */
	uint64_t requests, requests_shed, requests_aside, workers;
	uint64_t memory_bytes, memory_max_bytes; /* of requests under way */
	struct store_usage data;
	const struct throughput_limits *throughput; /* what was throttled; NULL: nothing ever is */
};

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* Counts a response; `op` NULL for a request that named no operation. Thread-safe. */
void metrics_count(struct metrics *metrics, const struct op *op, enum code code);

/* The same for a request that was handled, with its time in nanoseconds and the capacity it
 * consumed. */
void metrics_observe(struct metrics *metrics, const struct op_response *response, uint64_t ns);

/* A timed_observe; `context` is a struct metrics. */
void metrics_observe_store(void *context, enum timed_step step, uint64_t ns);

/* Requests that metrics_observe() counted; a sum of some thousand counters, for a few calls a
 * second. */
uint64_t metrics_requests(const struct metrics *metrics);

struct str metrics_text(const struct metrics *metrics, const struct metrics_gauges *gauges,
			struct arena *arena);

#endif
