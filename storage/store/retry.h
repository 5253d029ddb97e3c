/*
 * retry - how often and after how long a transaction that met a conflict is run again: the one
 * policy for all of them.
 *
 *     struct retry retry = {0};
 *     do {
 *             code = the whole transaction, from its beginning;
 *     } while (retry_again(&retry, code));
 *
 * Between two runs the thread sleeps for a random time that grows from up to 0.1 ms to up to 50 ms,
 * so that those who met each other part. A store in this process has no conflicts; then it costs
 * nothing.
 */
#ifndef DYNALITH_STORAGE_RETRY_H
#define DYNALITH_STORAGE_RETRY_H

#include <stdbool.h>

#include "core/err.h"

#define RETRY_MAX 40 /* runs in all: about a second */

struct retry {
	unsigned runs;
	unsigned long long seed; /* of the pauses */
};

/* Whether to run it again: ERR_CONFLICT, and not too often yet. Sleeps before it says so. */
bool retry_again(struct retry *retry, enum code code);

/* The code to answer with after the last run: ERR_STORE_UNAVAILABLE where it still met a conflict,
 * any other as it is. */
enum code retry_code(enum code code, struct err *err);

#endif
