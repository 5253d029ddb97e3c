/*
 * race_report - an order of requests for people and as a file that replays it.
 */
#ifndef DYNALITH_SERVER_RACE_REPORT_H
#define DYNALITH_SERVER_RACE_REPORT_H

#include <stdio.h>

#include "core/err.h"
#include "protocol/wire/json.h"
#include "server/races/race_lines.h"
#include "server/races/race_plan.h"

/* The places in which the order leaves a chain that goes on later. */
size_t race_report_switches(const struct race_trace *trace);

/* The order in columns, one for each chain, with what was read and written, and the sentence. */
void race_report_print(FILE *out, struct arena *arena, const struct race_lines *lines);

/* The name of an order: eight hexadecimal digits. */
struct str race_report_name(struct arena *arena, const struct race_trace *trace,
			    struct race_trouble trouble);

/* {"version": 1, "why": TEXT, "sentence": TEXT, "lost": ID,
 *  "order": [{"id": ID, "client": "A", ...}, ...]}; the fourth member is race_trouble_name()'s, and
 *  with "lagged" there is "since". */
struct str race_report_json(struct arena *arena, const struct race_lines *lines, struct str why,
			    struct race_trouble trouble);

/* A file of JSON of less than `max` bytes. ERR_VALIDATION with one line. */
enum code race_report_json_of(struct arena *arena, const char *path, size_t max,
			      const struct json **root, struct err *err) WARN_UNUSED;

/* The order of such a file, in the arena. ERR_VALIDATION: it is none. */
enum code race_report_read(struct arena *arena, const char *path, struct race_plan *plan,
			   struct err *err) WARN_UNUSED;

#endif
