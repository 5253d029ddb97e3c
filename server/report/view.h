/*
 * view - the description of access patterns as text, Markdown, HTML, SARIF and JUnit's XML.
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

/* A format by its name; NULL where there is none. */
typedef void view_write(const struct view *view, struct buf *out);
view_write *view_named(const char *name);
#define VIEW_NAMES "text, json, html, markdown, sarif or junit"

/* Members of the description; "" and 0 where they are missing. */
struct str view_text(const struct view *view, const struct json *object, const char *name);
double view_number(const struct json *object, const char *name);
/* The first of an array, by its name in the description; NULL where it is empty. */
const struct json *view_list(const struct view *view, const char *name);

/* "Query app.GSI1: PK = "CUSTOMER#...", filter ..." */
struct str view_line(const struct view *view, const struct json *pattern);

view_write view_sarif, view_junit;

#endif
