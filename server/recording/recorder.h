/*
 * recorder - the requests of the API and their answers, in a file: --record.
 *
 * The first line says what the file is; each other line is a request that was answered, in the
 * order of the answers. A line is written before its answer is sent. So where a client sent B after
 * the answer to A, A's line comes first, and "start_us" of B is not before "end_us" of A.
 *
 * The shelf server/recording/ holds recordings: writing (recorder), reading (tape), what two
 * answers differ in (compare), sending one again (replay).
 */
#ifndef DYNALITH_SERVER_RECORDER_H
#define DYNALITH_SERVER_RECORDER_H

#include "core/err.h"
#include "server/console/events.h"

struct recorder;

/* In the place of a file of that name, which only its owner can read. ERR_VALIDATION with one line.
 */
enum code recorder_start(const char *path, bool is_masked, struct recorder **out,
			 struct err *err) WARN_UNUSED;

/* For events_observe(). Thread-safe. A file that cannot be written any more is reported once, and
 * ends there. */
void recorder_note(void *context, const struct event *event);

/* NULL is fine. */
void recorder_stop(struct recorder *recorder);

#endif
