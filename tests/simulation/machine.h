/*
 * machine - the server below HTTP on a disk that fails, with the model beside it.
 *
 * The store that the server sees is one of ours around the real one. It numbers the commits, in a
 * row that every transaction writes: so it knows which version of the model a transaction sees, and
 * after a crash which commits are left. Faults of the store are its own, those of the disk are
 * fault_vfs's.
 */
#ifndef DYNALITH_SIMULATION_MACHINE_H
#define DYNALITH_SIMULATION_MACHINE_H

#include "core/arena.h"
#include "protocol/op.h"
#include "server/clock.h"
#include "server/upkeep.h"
#include "tests/simulation/fiber.h"
#include "tests/simulation/model.h"
#include "tests/simulation/random.h"

#define CLIENTS 4
#define VERSIONS 4096 /* of the model, the latest */
#define BEGINNING_NS (INT64_C(1700000000) * 1000000000)

/* Of what can be left out of a run, to make it simpler: bits of a mask. */
enum part_of_run {
	PART_POWER_CUT,
	PART_KILL,
	PART_DISK_FAULT,
	PART_FULL_DISK,
	PART_SYNC_FAULT,
	PART_STORE_FAULT,
	PART_CONFLICT,
	PART_JUMP,
	PART_SWITCHING,
	PART_CLIENTS,
	PART_TABLE_CHANGES,
	PART_TRANSACTIONS,
	PART_STATEMENTS,
	PART_TTL,
	PART_STREAMS,
	PART_VECTORS,
	PART_RESTART,
	PART_TRIGGERS,
	PART_OF_RUN_COUNT
};

/* One that sends requests, one after the other. */
struct client {
	struct fiber *fiber;
	struct arena *arena;
	struct random random;
	bool is_busy;
	struct op op;
	struct str request, answer; /* the last, of the operation under way */
	int status;
	/* of the operation under way */
	struct view view; /* that its last transaction saw which wrote, or read what is no table's
			     record */
	bool has_view;
	uint64_t seen;              /* the number of that version */
	uint64_t first_seen;        /* the same when it began */
	unsigned begins, commits;   /* transactions; those acknowledged */
	bool has_applied;           /* its effect is in the model */
	uint64_t new_number;        /* of a table it creates */
	unsigned faults, changes[TABLES]; /* the machine's counts when it began */
	bool was_quiet, was_uncertain; /* nobody was writing when it began; the machine's */
};

struct machine {
	struct random random;       /* of all but the operations and the scheduler */
	uint64_t seed, left_out;    /* mask of enum part_of_run */
	bool is_traced;             /* a line to stderr for all that happens */
	int report;                 /* a pipe that gets the step of a failure; -1: none */
	char directory[64], path[80];
	struct arena *arena;

	/* this life */
	bool is_memory, is_up, is_ending, is_off;
	int durability;
	struct store *store, *inner;
	struct clocks *clock;
	struct upkeep *upkeep;
	struct service service;
	struct catalog_options catalog_options;
	struct client clients[CLIENTS];
	unsigned client_count;

	uint64_t jumped_at;         /* step of the last jump of time */
	int64_t before_jump_ms;

	/* faults */
	unsigned faults;            /* that came or may have come: counts up */
	bool is_disk_faulty;        /* a fault of the disk waits or lasts */
	bool is_broken;             /* a sync failed: nothing is written until the next start */
	uint64_t store_fails_in;    /* calls */
	enum code store_failure;
	bool is_conflict;           /* the next commit of a write answers ERR_CONFLICT */
	unsigned changing[TABLES];  /* operations under way that change the table itself */
	unsigned changes[TABLES];   /* begins and ends of such operations */
	bool is_unsettled[TABLES];  /* an index may still be being filled or dropped */
	struct op kept[TOKENS];     /* the last transaction with each token */
	unsigned writers;           /* write transactions open */

	/* the model */
	struct view *versions;
	uint64_t head, acknowledged, tries;
	bool is_uncertain; /* the last commit failed, and may or may not be there: the next
			      transaction tells */
	struct change (*logs)[LOG_MAX];

	/* what happened */
	uint64_t step, digest, counts[OP_KIND_COUNT], outcomes[OUTCOME_COUNT], errors, lives, cuts,
		kills, lost, expired, checks, checked_rows, replays, replayed;
};

/* A new disk with nothing on it. */
void machine_init(struct machine *machine, uint64_t seed, uint64_t left_out);
void machine_free(struct machine *machine);

/* Starts the server on what the disk has, and checks that against the model. */
void machine_start(struct machine *machine);

/* Ends the server: in peace, or with the power off. Every client is idle. */
void machine_stop(struct machine *machine);

/* After machine_stop: the power is back; `is_kill`: only the process ended, the system has all that
 * was written. */
void machine_power_on(struct machine *machine, bool is_kill);

/* A new disk, or a new memory. */
void machine_forget(struct machine *machine);

/* Runs fibers until nothing is left to do for this one. */
void machine_run_in_fiber(struct machine *machine, void (*run)(struct machine *machine));

const struct view *machine_head(const struct machine *machine);
static inline struct view *machine_version(const struct machine *machine, uint64_t number)
{
	return &machine->versions[number % VERSIONS];
}

static inline bool machine_has(const struct machine *machine, enum part_of_run part)
{
	return !(machine->left_out >> part & 1);
}

/* The operation of the client begins. */
void machine_begin_op(struct machine *machine, struct client *client);
void machine_end_op(struct machine *machine, struct client *client);

/* Whether a 5xx is no wonder: a fault came, or may have come, since the client's operation began.
 */
bool machine_may_fail(const struct machine *machine, const struct client *client);

/* Whether nothing was written since the client's operation began. */
bool machine_is_quiet(const struct machine *machine, const struct client *client);

int64_t machine_now_ms(void);

/* One request of the API. */
void machine_ask(struct machine *machine, struct client *client, const char *op, struct str body);

/* A line of the trace, where there is one. */
void machine_trace(const struct machine *machine, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints what is wrong and how to run it again, and ends the process. */
void machine_fail(const struct machine *machine, const struct client *client, const char *format,
		  ...) __attribute__((format(printf, 3, 4), noreturn));

#endif
