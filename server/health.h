/*
 * health - asks a server that runs whether it answers: what the container's health check does, where there is no curl.
 */
#ifndef DYNALITH_SERVER_HEALTH_H
#define DYNALITH_SERVER_HEALTH_H

#include <stdbool.h>

#include "core/arena.h"

/* Whether GET /_dynalith/health answers 200 within five seconds; 0.0.0.0 and :: are asked at this machine's own address. Where it does not
   answer, a line on stderr says so. */
bool health_ask(struct arena *arena, const char *host, unsigned port);

#endif
