/*
 * gate - what fails a build: findings, limits, and patterns that nobody has reviewed.
 */
#ifndef DYNALITH_SERVER_REPORT_GATE_H
#define DYNALITH_SERVER_REPORT_GATE_H

#include "core/err.h"
#include "server/report/view.h"

/*
 * Adds a line to view->problems for each thing that `rules` forbids, which are separated by commas: the name of a finding (finding.def), discard>SHARE,
 * units>N/pattern (in all calls of a pattern), units>N/call (its p99), and new-pattern: one that is not in `reviewed`, the text of a file as
 * declared.h has it. ERR_VALIDATION: there is no such rule, or `reviewed` is missing or no such file.
 */
enum code gate_judge(struct view *view, const char *rules, struct str reviewed, struct err *err) WARN_UNUSED;

/* The patterns as a file to be reviewed and kept: one a line, in an order that changes little. */
struct str gate_patterns(const struct view *view);

#endif
