/*
 * gate - what fails a build: findings, limits, and patterns that nobody has reviewed.
 */
#ifndef DYNALITH_SERVER_REPORT_GATE_H
#define DYNALITH_SERVER_REPORT_GATE_H

#include "core/err.h"
#include "server/report/view.h"

/* ERR_VALIDATION: there is no such rule as one of `rules`, or new-pattern is among them and there
 * is no file of reviewed patterns. */
enum code gate_check(const char *rules, bool has_reviewed, struct err *err) WARN_UNUSED;

/*
 * Adds a line to view->problems for each thing that `rules` forbids, separated by commas: the name
 * of a finding (finding.def), discard>SHARE, units>N/pattern (in all calls of a pattern),
 * units>N/call (its p99), and new-pattern: one that is not in `reviewed`, the text of a file as
 * declared.h has it. The rules are as gate_check wants
 * them. ERR_VALIDATION: `reviewed` is no such file.
 */
enum code gate_judge(struct view *view, const char *rules, struct str reviewed,
		     struct err *err) WARN_UNUSED;

/* The patterns as a file to be reviewed and kept: one a line, in an order that changes little. */
struct str gate_patterns(const struct view *view);

#endif
