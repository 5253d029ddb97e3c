/*
 * form - the forms of a report by their names; text, Markdown and JSON.
 */
#ifndef DYNALITH_SERVER_REPORT_FORM_H
#define DYNALITH_SERVER_REPORT_FORM_H

#include "server/report/view.h"

#define FORM_NAMES "text, json, html, svg, markdown, sarif or junit"

/* NULL where there is no such form. */
view_write *form_named(const char *name);

#endif
