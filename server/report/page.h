/*
 * page - a report as a page of HTML: one file that asks no other host for anything.
 */
#ifndef DYNALITH_SERVER_REPORT_PAGE_H
#define DYNALITH_SERVER_REPORT_PAGE_H

#include "server/report/view.h"

view_write page_write;

#endif
