/*
 * show_page - a forecast as a page of HTML with charts: one file, without a script, that loads
 * nothing. The same forecast gives the same bytes.
 */
#ifndef DYNALITH_SERVER_FORECAST_SHOW_PAGE_H
#define DYNALITH_SERVER_FORECAST_SHOW_PAGE_H

#include "server/forecast/show.h"

void show_page(const struct shown *shown, struct buf *out);

#endif
