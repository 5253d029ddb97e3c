/*
 * intake - the messages of a client, one a line of standard input, read by a thread of their own: a
 * message that cancels a request is heeded while another request is carried out.
 */
#ifndef DYNALITH_SERVER_INTAKE_H
#define DYNALITH_SERVER_INTAKE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

struct intake;

/* Begins to read; once in a process, until it ends. NULL: there is no thread for it. */
struct intake *intake_start(void);

/*
 * Waits for the next line, of which at most RPC_LINE_MAX + 1 bytes are there. It lies in *arena,
 * which the caller frees. False at the end of the input. Requests that were cancelled before their
 * turn came are left out.
 */
bool intake_next(struct intake *intake, struct arena **arena, struct str *line);

/* Is set while the request of the last line is under way, when it is cancelled. */
const atomic_bool *intake_cancelled(const struct intake *intake);

/* The request of the last line is over: whether it was cancelled, so that it gets no answer. */
bool intake_was_cancelled(struct intake *intake);

#endif
