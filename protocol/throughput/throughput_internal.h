/*
 * throughput_internal - what namespaces and calls have of the throughput; not for others.
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_INTERNAL_H
#define DYNALITH_PROTOCOL_THROUGHPUT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "protocol/ns_map.h"
#include "protocol/throughput/throughput.h"
#include "protocol/throughput/throughput_settings.h"

/* An index reads and writes as a table does. */
#define THROUGHPUT_PARTS 2
#define THROUGHPUT_REASONS (THROUGHPUT_PARTS * METER_SIDES * METER_LIMITS)

/* Operations with a rate of their own. */
enum throughput_rate {
#define RATE(service, operation, times, seconds) RATE_##service##_##operation,
#include "protocol/throughput/rates.def"
#undef RATE
	THROUGHPUT_RATES
};

struct throughput_limits {
	struct ns_map spaces; /* struct throughput_space */
	atomic_bool is_enforced;
	pthread_mutex_t adding;
	atomic_uint_fast64_t throttled[THROUGHPUT_REASONS], rates_throttled;
};

/* A namespace. */
struct throughput_space {
	atomic_uint refs;
	struct throughput_settings settings;
	pthread_mutex_t lock; /* of what follows */
	size_t calls;         /* under way: they point into meters */
	size_t n;
	struct meter **meters; /* by table number */
	uint64_t uses;
	int64_t minute; /* of the clock, when auto scaling was last looked at */
	struct bucket rates[THROUGHPUT_RATES]; /* empty at first: not used yet */
};

struct throughput_taken {
	struct meter_gauge *gauge;
	size_t range;
	uint32_t place; /* in the range */
	int64_t tokens;
};

struct throughput_call {
	struct throughput_space *space;
	struct throughput_taken *taken;
	size_t n;
};

/* NULL: what the call consumes is not limited. */
static inline struct throughput_call *throughput_call_of(const struct call *call)
{
	return call->hooks[HOOK_THROUGHPUT];
}

/* The meter of the table; the lock is held. */
struct meter *throughput_meter(struct throughput_space *space, const struct table *table);

/* The same part for both, with what the settings leave in a new one; the lock is held. */
struct meter_part *throughput_part(struct throughput_space *space, struct meter *meter,
				   const struct throughput_scope *scope, const struct table *table,
				   const struct index *index, int64_t now_ms);

/* The place of a reason in struct throughput_limits, and the reason there. */
size_t throughput_reason_at(bool is_index, enum meter_side side, enum meter_limit limit);
const char *throughput_reason(size_t i);

#endif
