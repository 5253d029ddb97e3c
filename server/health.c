#include "server/health.h"

#include <stdio.h>
#include <string.h>

#include "server/client.h"

#define WAIT_MS 5000

/* The status of the answer; 0 where there is none. */
static int ask(struct arena *arena, const struct health_options *options, struct str host, const char **problem)
{
	const struct client_target target = {.host = host, .port = str_printf(arena, "%u", options->port), .path = STR("/_dynalith/health"),
					     .is_tls = options->is_tls, .authorities = options->authorities};
	int wait_ms = options->wait_ms ? options->wait_ms : WAIT_MS;
	const struct client_request request = {.method = "GET", .body = STR(""), .wait_ms = wait_ms, .whole_ms = wait_ms};
	struct client_reply reply = {0};

	return client_ask(arena, &target, &request, &reply, problem) ? reply.status : 0;
}

bool health_ask(struct arena *arena, const struct health_options *options)
{
	const char *host = options->host, *problem = "";
	bool is_any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
	int status = ask(arena, options, is_any ? STR("127.0.0.1") : str_of(host), &problem);

	if (status == 0 && is_any && host[0] == ':')
		status = ask(arena, options, STR("::1"), &problem);
	if (status == 0)
		fprintf(stderr, "dynalith: %s:%u: %s\n", host, options->port, problem);
	else if (status != 200)
		fprintf(stderr, "dynalith: %s:%u: answers with status %d\n", host, options->port, status);
	return status == 200;
}
