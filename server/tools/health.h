/*
 * health - "dynalith health" asks a running server whether it answers. The container, which has no
 * curl, uses it as its health check.
 */
#ifndef DYNALITH_SERVER_HEALTH_H
#define DYNALITH_SERVER_HEALTH_H

#include <stdbool.h>

#include "core/arena.h"

struct health_options {
	const char *host; /* 0.0.0.0 and :: are asked at this machine's own address */
	unsigned port;
	bool is_tls;
	const char *authorities; /* see client.h */
	int wait_ms;             /* 0: five seconds */
};

/* Whether GET /_dynalith/health answers 200 in that time. Where it does not, a line on stderr says
 * why. */
bool health_ask(struct arena *arena, const struct health_options *options);

/* Who has the port, for a server that cannot: "Dynalith 0.1.0 answers there, its data in memory",
 * or "another program has it". */
const char *health_who(struct arena *arena, const struct health_options *options);

#endif
