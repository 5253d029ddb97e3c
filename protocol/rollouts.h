/*
 * rollouts - what AWS changed region by region: rollouts.def has the rows. "DynamoDB" is one
 * behaviour in no more than one region on one day.
 *
 * A request has the behaviour of the region that it names, as of the newest day known; `--as` fixes
 * it for all, an endpoint for a namespace. The code asks rollout_has() at one place for each row,
 * or has the surface of an operation from rollout_surface().
 *
 * A region that no row names behaves as us-east-1, and the log says so once.
 */
#ifndef DYNALITH_PROTOCOL_ROLLOUTS_H
#define DYNALITH_PROTOCOL_ROLLOUTS_H

#include "core/arena.h"
#include "core/err.h"
#include "protocol/ops.h"
#include "protocol/wire/surface.h"
#include "storage/schema/schema.h"

struct call;

/* ROLLOUT_WRITE_LAYER ...: the rows, in their order. */
enum rollout {
#define ROLLOUT(id, ...) ROLLOUT_##id,
#define SEEN(day, regions)
#define NOT_YET(day, regions)
#define EVERYWHERE(day)
#define LAYER(operation, rollout, before, after)
#include "protocol/rollouts.def"
	ROLLOUT_COUNT
};

#define ROLLOUT_SEEN_MAX 6          /* of one row */
#define ROLLOUT_NAMESPACES_MAX 4096 /* that have a setting of their own */

struct rollout_row {
	const char *name; /* "WRITE_LAYER" */
	const char *began; /* "2026-06-09": when AWS began */
	const char *what, *source;
	struct {
		const char *day;     /* NULL: behind the last */
		const char *regions; /* separated by spaces; NULL: all */
		bool is_without;     /* on that day these had not changed */
	} seen[ROLLOUT_SEEN_MAX];
};

const struct rollout_row *rollout_row(enum rollout rollout);

/* The rollouts that are in force: bit 1 << ROLLOUT_... of each. */
typedef unsigned rollout_set;
#define ROLLOUTS_ALL ((rollout_set)(1u << ROLLOUT_COUNT) - 1)

/*
 * Those that had reached the region by that day, "2026-10-08"; absent: by the newest day known.
 * us-east-1's where no row names it.
 */
rollout_set rollouts_in(struct str region, struct str day);

/* Whether a row names the region. */
bool rollouts_know(struct str region);

/*
 * What --as and the endpoint take: "none" (*is_fixed is false then: the region that a request
 * names), "next" (all), "REGION", "REGION@YYYY-MM-DD". ERR_VALIDATION for others, and for regions
 * that no row names.
 */
enum code rollouts_read(struct str text, bool *is_fixed, rollout_set *set,
			struct err *err) WARN_UNUSED;

/*
 * The settings of a server. Thread-safe. `as` was read once without an error, and outlives them.
 * `is_shared`: all namespaces are one.
 */
struct rollouts;
struct rollouts *rollouts_new(const char *as, bool is_shared);
void rollouts_free(struct rollouts *rollouts);

/* The namespace's own, as --as has it; ERR_VALIDATION. And back to the usual one. */
enum code rollouts_set(struct rollouts *rollouts, struct ns ns, struct str as,
		       struct err *err) WARN_UNUSED;
void rollouts_clear(struct rollouts *rollouts, struct ns ns);

/* The setting that counts for the namespace, in the arena, and those that are in force by it. */
struct str rollouts_as(struct rollouts *rollouts, struct ns ns, struct arena *arena);
rollout_set rollouts_of(struct rollouts *rollouts, struct ns ns);

/* Whether the rollout is in force for the call. */
bool rollout_has(const struct call *call, enum rollout rollout);

/* The surface by which the operation reads the call's request; `usual` where no row concerns it. */
enum surface rollout_surface(const struct call *call, enum op_id id, enum surface usual);

#endif
