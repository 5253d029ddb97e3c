/*
 * race_page - an order of requests as a page of HTML with a picture of it. One file, without a
 * script, that loads nothing. Pure.
 */
#ifndef DYNALITH_SERVER_RACE_PAGE_H
#define DYNALITH_SERVER_RACE_PAGE_H

#include "server/races/race_lines.h"

struct race_page {
	const struct race_lines *lines;
	struct str name;    /* race_report_name() */
	struct str why;     /* how it failed */
	struct str command; /* that replays it */
	struct str output;  /* what the program printed; any bytes, may be empty */
};

struct str race_page_html(struct arena *arena, const struct race_page *page);

#endif
