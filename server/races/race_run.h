/*
 * race_run - one run of a program against a fresh server of its own in this process, with a gate
 * before it.
 *
 * The server is in memory, on a free port of 127.0.0.1, or the one that is asked for. The program
 * finds it by AWS_ENDPOINT_URL_DYNAMODB and the like, and any key signs. It runs in a process group
 * of its own, which is ended with it; what has left that group runs on.
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
	char **argv; /* ends with NULL; NULL: the program is the parent, see struct race_talk */
	struct race_talk *talk; /* with the parent; NULL where there is argv */
	bool has_engine;        /* the parent has: there is no server here */
	const char *options;    /* of the server, a JSON object as in its configuration file */
	const char *check;      /* a command of the shell that runs behind it; NULL: none */
	const char *reset;      /* one that runs before it; NULL: none */
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
	unsigned left; /* processes of a group of their own that run on */
};

/*
 * Runs it by the plan; NULL: without holding anything. ERR_INTERNAL with one line: the server
 * cannot be started. In any case the run is to be freed.
 */
enum code race_run(const struct race_program *program, const struct race_plan *plan,
		   struct race_run *run, struct err *err) WARN_UNUSED;

/* One that was freed, or never run, is fine. */
void race_run_free(struct race_run *run);

/*
 * The talk with a test in the process that has started this one, by lines of standard output and
 * input. Each run begins with "run URL", and ends with "passed" or "failed WHY" of the test.
 *
 * Where the test has the engine there is no URL. The test tells each request of its clients, and
 * waits until it may carry it out, and until it may give the client its answer:
 *
 *     run OPTIONS          of the engine, which is new, by their names in its configuration file
 *     came N REQUEST       the test: {"target", "agent", "attempt", "authorization", "body"}, of
 *                          which all are headers' values but the body, and absent where it has none
 *     go N                 it may be carried out
 *     answered N STATUS BODY    the test; the body is a string of JSON
 *     done N, lost N       its client gets the answer, or a broken connection
 *     ask REQUEST          carry out {"method", "path", "target", "authorization", "body"} at once
 *     asked STATUS BODY    the test
 */
struct race_talk;

struct race_talk *race_run_talk_new(void);
void race_run_talk_free(struct race_talk *talk);

struct race_talk_run {
	struct arena *arena;
	struct gate *gate;
	struct str about;  /* behind "run" */
	uint64_t limit_ms; /* 0: any */
};

/* What the test says at the end of the run, in the arena; absent: it has ended, or does not end.
 * *is_late: not in its time; then all its requests went on, and it had as much time again. */
struct str race_run_talk(struct race_talk *talk, const struct race_talk_run *run, bool *is_late);

/* A line that is none of these, behind which nothing was read; absent: there was none. */
struct str race_run_talk_problem(const struct race_talk *talk);

/* The test's engine in the place of the routes, for a gate: an http_handler and is_held, whose
 * context is the talk; and a race_ask. */
bool race_run_talk_handle(void *talk, const struct http_request *request,
			  struct http_response *response);
bool race_run_talk_is_held(const void *hold);
bool race_run_talk_ask(void *talk, struct arena *arena, struct str operation, struct str body,
		       int *status, struct str *answer);

#endif
