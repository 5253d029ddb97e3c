/*
 * race_trace - the requests of one run of a program, as the gate saw them: which came behind the
 * answer to which, in what order they were carried out, and which of them meet in the data.
 *
 * The gate carries out one request at a time and waits until the program is quiet. So a request
 * that comes then is a consequence of the answer before it, its parent, unless it came without that
 * answer in another run (race_facts). The first consequence of an answer goes on its parent's
 * chain, each further one begins a chain: chains are what the program does at the same time,
 * whatever connections its requests come by.
 *
 * Clients that send the same request are told apart by its number only, and another run may number
 * them the other way round. So a fact counts where neither request has its like in the run, or the
 * two are like each other.
 *
 * Pure: no clock, no thread, no file.
 */
#ifndef DYNALITH_SERVER_RACE_TRACE_H
#define DYNALITH_SERVER_RACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

#define RACE_NONE ((size_t)-1)

/* Of all runs: which requests came before the answers of which, and which followed which. */
struct race_facts {
	struct arena *arena;
	uint64_t *slots; /* hashes of two ids; 0: empty */
	size_t n, size;
};

struct race_request {
	uint64_t id;     /* the same in every run, see race_trace_arrive() */
	uint64_t like;   /* of the id, without the number */
	size_t parent;   /* the request whose answer it came behind; RACE_NONE: the first ones */
	size_t behind;   /* how many were answered when it came */
	size_t answered; /* it was the nth to be answered, from 1; 0: it was not */
	size_t chain;    /* from 0, in the order in which they began */
	struct str operation, body;
	struct str client; /* the name that it gave itself; absent: none */
	struct str answer; /* absent: it was not carried out, or not to its end */
	int status;        /* 0: likewise */
	bool is_write;
	bool is_picked;
	bool is_repeat; /* an SDK sent it again: amz-sdk-request says so */
	bool is_alike;  /* another request of the run is like it */
	uint64_t
		*words; /* hashes of the texts in the body, sorted; the table's name is the first */
	size_t word_count;
	uint64_t table; /* the hash of its name; 0: it names none, or several */
};

struct race_trace {
	struct arena *arena;
	struct race_request *requests; /* by arrival */
	size_t n;
	size_t *order; /* those carried out, in that order */
	size_t order_n;
	size_t chains, answered_n;
	size_t last; /* the last one answered; RACE_NONE: none */
	const struct race_facts *facts;
	bool is_untroubled; /* the plan's trouble could not be made: the program has rules of faults
			       of its own */
};

/* `facts` do not change while the trace does. */
struct race_trace race_trace_in(struct arena *arena, const struct race_facts *facts);

/* Adds what a run shows. */
void race_trace_learn(struct race_facts *facts, const struct race_trace *trace);

/* Whether the request came before the answer of the other one in some run. */
bool race_trace_is_free(const struct race_facts *facts, uint64_t answer, uint64_t request);

/*
 * A request has come: its number. Its id is made of its operation, its body without what differs
 * from run to run (the order of members, hexadecimal and decimal numbers of four digits or more),
 * the client's name, and how many like it came before it.
 */
size_t race_trace_arrive(struct race_trace *trace, struct str operation, struct str body,
			 struct str client, bool is_repeat);

/* Sets parents and chains again, by all that came and by what the facts say now. */
void race_trace_settle(struct race_trace *trace);

/* It is carried out now; it was answered. The texts are copied. */
void race_trace_pick(struct race_trace *trace, size_t request);
void race_trace_answer(struct race_trace *trace, size_t request, int status, struct str answer);

/*
 * Whether the order of the two can matter: they name a common table and one of them writes. Where
 * both name a value in common, `*is_close` is set: they may be about the same item.
 */
bool race_trace_conflict(const struct race_request *a, const struct race_request *b,
			 bool *is_close);

/* Of the order of the requests that conflict, and of nothing else: runs with the same hash are the
 * same order to the data. */
uint64_t race_trace_hash(const struct race_trace *trace);

/* Where in the order the request of that id was carried out; RACE_NONE: it was not. */
size_t race_trace_place(const struct race_trace *trace, uint64_t id);

/* The request of that id; RACE_NONE where the run has none. */
size_t race_trace_find(const struct race_trace *trace, uint64_t id);

#endif
