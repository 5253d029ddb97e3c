/*
 * console - the page at /_dynalith/console: files of the folder console/, compressed when the
 * server is built, and served as they are.
 *
 * The files have no data in them. What they show they ask of the API and of the endpoints as any
 * client does, so that nothing is allowed to the page that is not allowed to its user. The policy
 * that goes with each file forbids scripts but the server's own, scripts in the markup, other hosts
 * and frames.
 *
 * The shelf server/console/ holds the files, the events that the page watches (events), and what of
 * a request may be shown (masked).
 */
#ifndef DYNALITH_SERVER_CONSOLE_H
#define DYNALITH_SERVER_CONSOLE_H

#include "server/http/http.h"

struct console {
	bool is_on;
	const char *auth;       /* what the page must know: open, verify or off */
	bool has_insight;
	bool has_iam;
	struct str store;
	struct events *events;  /* NULL: none */
};

/* Whether the GET or HEAD is for the console: at its prefix, or a browser's at the root. */
bool console_is_sought(const struct console *console, const struct http_request *request);

/* Its answer: a file, what the page must know of the server, or the way to the page. */
void console_answer(const struct console *console, const struct http_request *request,
		    struct http_response *response);

#endif
