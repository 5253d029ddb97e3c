/*
 * rows - the rows of the simulated database: an ordered list in memory, with the versions that
 * snapshots may still see, and the locks on them.
 *
 * PostgreSQL's rules: a row is locked by one transaction alone or shared by several; whoever waits
 * to have it alone waits in turn. A row that was deleted, or that an insert waits for, stays in the
 * list without a version.
 */
#ifndef DYNALITH_SCALE_ROWS_H
#define DYNALITH_SCALE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

#define ROWS_LEVELS 16

struct session;

struct version {
	struct version *older;
	uint64_t number; /* of the commit */
	bool is_there;
	struct str value;
};

struct waiter {
	struct waiter *next;
	struct session *session;
	bool is_alone, is_given;
};

struct row {
	int64_t ks;
	struct str key;
	struct row *before;
	struct version *newest;   /* committed */
	struct version *pending;  /* of the owner */
	struct session *owner;    /* has it alone */
	unsigned sharers;
	struct waiter *first;
	uint64_t locks, waits;
	int64_t waited_ns;
	unsigned levels;
	struct row *next[];
};

struct rows {
	struct row *head; /* before all */
	uint64_t draws, n;
};

void rows_init(struct rows *rows);

/* The first row that is not before the key. */
struct row *rows_from(const struct rows *rows, int64_t ks, struct str key);
struct row *rows_find(const struct rows *rows, int64_t ks, struct str key);
/* The row, made where it is missing. */
struct row *rows_place(struct rows *rows, int64_t ks, struct str key);

/* What a snapshot sees; NULL: no row. */
const struct version *row_version_at(const struct row *row, uint64_t snapshot);
/* What the session sees now: its own change, or what was committed last. */
const struct version *row_now(const struct row *row, const struct session *session);

/* The change of the session that has the row alone. `value` is copied. */
void row_change(struct row *row, bool is_there, struct str value);
/* What is pending becomes the newest version, or goes. Versions that no snapshot from `oldest` on
 * sees are dropped. */
void row_commit(struct row *row, uint64_t number, uint64_t oldest);
void row_forget(struct row *row);

#endif
