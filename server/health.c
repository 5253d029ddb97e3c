#include "server/health.h"

#include <stdio.h>
#include <string.h>

#include "server/client.h"

#define WAIT_MS 5000

/* The status of the answer; 0 where there is none. */
static int ask(struct arena *arena, struct str host, unsigned port, const char **problem)
{
	const struct client_target target = {host, str_printf(arena, "%u", port), STR("/_dynalith/health")};
	const struct client_request request = {.method = "GET", .body = STR(""), .wait_ms = WAIT_MS};
	struct client_reply reply = {0};

	return client_ask(arena, &target, &request, &reply, problem) ? reply.status : 0;
}

bool health_ask(struct arena *arena, const char *host, unsigned port)
{
	bool is_any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
	const char *problem = "";
	int status = ask(arena, is_any ? STR("127.0.0.1") : str_of(host), port, &problem);

	if (status == 0 && is_any && host[0] == ':')
		status = ask(arena, STR("::1"), port, &problem);
	if (status == 0)
		fprintf(stderr, "dynalith: %s:%u: %s\n", host, port, problem);
	return status == 200;
}
