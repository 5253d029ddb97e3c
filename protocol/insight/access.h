/*
 * access - what a request reads and writes, noted by protocol/work; insight.h makes patterns of it.
 *
 * A note is a few pointers into the request's arena. Where nobody wants them a note is one look.
 *
 * The shelf protocol/insight/ holds the notes (access), how they are described without values
 * (mask, outline), the figures of patterns and partitions (sketch, series, partition), the patterns
 * themselves (insight), the keys that Contributor Insights shows (contributors), and what an
 * experienced engineer would say about patterns (finding).
 */
#ifndef DYNALITH_PROTOCOL_ACCESS_H
#define DYNALITH_PROTOCOL_ACCESS_H

#include "protocol/handler.h"
#include "storage/read.h"
#include "storage/vector/vector.h"

enum access_kind {
	ACCESS_GET,
	ACCESS_QUERY,
	ACCESS_SCAN,
	ACCESS_SEARCH,
	ACCESS_PUT,
	ACCESS_UPDATE,
	ACCESS_DELETE,
	ACCESS_CHECK,
	ACCESS_KINDS
};

/* How it was asked for, and what became of it. */
enum access_how {
	ACCESS_CONSISTENT = 1,
	ACCESS_REVERSE = 2,
	ACCESS_COUNTS = 4,     /* Select=COUNT */
	ACCESS_PARALLEL = 8,   /* a segment */
	ACCESS_CONTINUED = 16, /* the page began with a start key */
	ACCESS_MORE = 32,      /* and ended with one */
	ACCESS_WHOLE = 64,     /* all attributes that there are */
};

struct access {
	enum access_kind kind;
	unsigned how;                     /* of enum access_how */
	const struct table *table;
	const struct index *index;        /* or NULL */
	const struct node *keys;  /* QUERY: the key condition; SEARCH: the equality that names the
				     partition, or NULL */
	const struct value *item; /* PUT: the item; others but QUERY, SCAN and SEARCH: the key */
	const struct node *condition;     /* of a write; of a page the filter; or NULL */
	const struct projection *projection;
	const struct update *update;
	struct str row_key;               /* of an item; of a QUERY the partition */
	struct str before, after; /* images of a written item; absent: there was or is none, or it
				     was not written */
	uint64_t scanned, returned, bytes; /* bytes of what was scanned */
};

/* A row or partition for which a request was throttled. */
struct access_throttled {
	const struct table *table;
	const struct index *index; /* or NULL */
	struct str row_key;        /* may be absent */
};

struct accesses {
	size_t n;
	struct access *v;
	size_t throttled_count;
	struct access_throttled *throttled;
	size_t left_count;
	uint64_t *left; /* members of a batch of writes that were left undone, by access_row() */
};

/* NULL: nobody wants notes of the call. */
static inline struct accesses *access_list(const struct call *call)
{
	return call->hooks[HOOK_INSIGHT];
}

/* Notes are taken from now on; those that there are stay. And: the handler is run once more, with
 * no notes yet. */
void access_begin(struct call *call);
void access_again(struct call *call);

void access_note_page(struct call *call, const struct read_page *page);
/* `partition`: the part of the condition that names it, or NULL. */
void access_note_search(struct call *call, const struct vector_search *search,
			const struct node *partition, const struct projection *projection);
void access_note_reads(struct call *call, const struct read_item *reads, size_t n);
/* The projection of the i-th of the reads noted last. */
void access_note_projection(struct call *call, size_t i, const struct projection *projection);
void access_note_writes(struct call *call, const struct write *writes, size_t n);
/* Of a batch: a write that the client has to repeat. */
void access_note_left(struct call *call, const struct write *write);

void access_note_throttled(struct call *call, const struct access_throttled *throttled);

/* Distinguishes rows; never 0. */
uint64_t access_row(const struct table *table, struct str row_key);

static inline void access_left(struct call *call, const struct write *write)
{
	if (access_list(call))
		access_note_left(call, write);
}

static inline void access_throttled(struct call *call, const struct access_throttled *throttled)
{
	if (access_list(call))
		access_note_throttled(call, throttled);
}

#endif
