/*
 * report - `dynalith report`: the access patterns of a server as a person or a machine reads them,
 * and a gate for continuous integration.
 *
 * The shelf server/report/ has the command (report), what all forms read of the description of
 * protocol/insight (view), the forms (form: text, Markdown, JSON; page: HTML; plot: SVG; machine:
 * SARIF, JUnit), prices (money), the gate (gate), and several servers as one (merge).
 */
#ifndef DYNALITH_SERVER_REPORT_H
#define DYNALITH_SERVER_REPORT_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/err.h"
#include "protocol/wire/json.h"

/* The process's exit status: 0; 1 where the gate found something; 2 where nothing was looked at. */
int report_run(struct arena *arena, int argc, char **argv);

/* The description of GET /_dynalith/insight as Markdown. ERR_VALIDATION: it is none. */
enum code report_markdown(struct arena *arena, struct str description, struct str *text,
			  struct err *err) WARN_UNUSED;

#define REPORT_EXTENSIONS ".txt .md .html .svg .json .sarif .xml"

/* Whether report_write() knows the form by the file's name. */
bool report_is_named(const char *path);

/* For a server that ends: the description that it gives, in the form of the file's name.
 * ERR_INTERNAL with one line for the operator. */
enum code report_write(struct arena *arena, struct str description, const char *path,
		       struct err *err) WARN_UNUSED;

#endif
