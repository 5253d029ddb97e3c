/*
 * race_run - one run of a program against a fresh server of its own in this process, with a gate
 * before it.
 *
 * The server is in memory, on a free port of 127.0.0.1, or the one that is asked for. The program
 * finds it by AWS_ENDPOINT_URL_DYNAMODB and the like, and any key signs. It runs in a process group
 * of its own, which is ended with it.
 */
#ifndef DYNALITH_SERVER_RACE_RUN_H
#define DYNALITH_SERVER_RACE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "server/races/gate.h"

enum race_end {
	RACE_PASSED,
	RACE_FAILED, /* the program, --check or an invariant; `why` says which */
	RACE_HUNG,   /* it did not end within its time */
};

struct race_program {
	char **argv; /* ends with NULL; NULL: the program is the parent, see run_by_lines() */
	const char *options; /* of the server, a JSON object as in its configuration file */
	const char *check;   /* a command of the shell that runs behind it; NULL: none */
	const char *reset;   /* one that runs before it; NULL: none */
	const struct json *invariants; /* an array of {"name", "statement"}; NULL: none */
	struct gate_memory *memory;
	const struct race_facts *facts;   /* of all runs: the gate goes by them */
	const struct race_facts *judging; /* of the plain run: invariants and reports go by them */
	unsigned quiet_ms;
	bool expires;      /* see gate_trouble.h */
	uint64_t limit_ms; /* for a run; 0: any */
};

struct race_run {
	struct arena *arena; /* of the texts; the trace has its own */
	enum race_end end;
	struct str why;    /* one line; absent where it passed */
	struct str output; /* the last 16 KB of what the program printed */
	struct race_trace trace;
	unsigned gap_ms; /* of a run without a plan, see gate_gap_ms() */
	uint64_t took_ms;
};

/*
 * Runs it by the plan; NULL: without holding anything. ERR_INTERNAL with one line: the server
 * cannot be started. In any case the run is to be freed.
 */
enum code race_run(const struct race_program *program, const struct race_plan *plan,
		   struct race_run *run, struct err *err) WARN_UNUSED;

/* One that was freed, or never run, is fine. */
void race_run_free(struct race_run *run);

#endif
