/*
 * view - the description of access patterns as all forms of a report read it: its members, and
 * lines that several forms have.
 */
#ifndef DYNALITH_SERVER_REPORT_VIEW_H
#define DYNALITH_SERVER_REPORT_VIEW_H

#include "core/buf.h"
#include "protocol/wire/json.h"
#include "server/report/money.h"

struct view {
	struct arena *arena;
	const struct json *root;      /* as insight_describe() gives it */
	struct str description;       /* the same as text */
	const struct money *money;    /* NULL: no costs are shown */
	struct str *problems;         /* what the gate found; one line each */
	size_t problem_count;
};

/* Writes one form of a report. */
typedef void view_write(const struct view *view, struct buf *out);

/* Members of the description; "" and 0 where they are missing. */
struct str view_text(const struct view *view, const struct json *object, const char *name);
double view_number(const struct json *object, const char *name);

/* Not fmin() and fmax(): without the mathematics library the server starts faster. */
static inline double view_lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double view_greater(double a, double b)
{
	return a > b ? a : b;
}

/* The first of an array, by its name in the description; NULL where it is empty. */
const struct json *view_list(const struct view *view, const char *name);

/* A member of a member: view_part(pattern, "units", "p99"). */
double view_part(const struct json *object, const char *outer, const char *name);
size_t view_count(const struct json *first);

/* Read and write units of a pattern, a partition or the whole. */
double view_units(const struct json *object);

/* A line: requests, patterns, units, and of how many servers where there are several. */
void view_head(const struct view *view, struct buf *out);

/* A line: what they cost. */
void view_money(const struct view *view, struct buf *out);

/* A text in HTML or SVG. */
void view_add_markup(struct buf *out, struct str text);

/* "Query app.GSI1: PK = "CUSTOMER#...", filter ..." */
struct str view_line(const struct view *view, const struct json *pattern);

view_write view_sarif, view_junit;

#endif
