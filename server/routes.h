/*
 * routes - which request goes where: the API at POST /, our own pages under /_dynalith/, everything
 * else refused as DynamoDB Local does.
 */
#ifndef DYNALITH_SERVER_ROUTES_H
#define DYNALITH_SERVER_ROUTES_H

#include "protocol/op.h"
#include "server/console/console.h"
#include "server/control/endpoints.h"
#include "server/http/http.h"
#include "server/metrics.h"
#include "server/tools/online.h"
#include "server/sigv4.h"
#include "server/upkeep.h"

struct routes {
	struct service *service;
	const struct http_options *http; /* its limits and stats */
	struct sigv4 *sigv4;
	struct metrics *metrics;
	enum auth_mode auth;
	struct clocks *clock;
	struct control control;
	struct upkeep *upkeep;
	struct online *online;
	struct str store;  /* where the data is: "memory" or "file" */
	uint64_t slow_ns;  /* requests that take longer are logged; 0: none */
	atomic_ullong shed;         /* requests answered ServiceUnavailable */
	_Atomic int64_t shed_noted; /* the second in which that was last logged */
	const char *cors;  /* origins that may call; see origin.h */
	struct console console;
	int root_status;   /* of GET / and HEAD /: 400 as DynamoDB Local, or 200 */
};

/* Whether a request that was not done is to wait: of http_options. */
bool routes_is_held(const void *hold);

/* An http_handler; `context` is a struct routes. */
bool routes_handle(void *context, const struct http_request *request,
		   struct http_response *response);

/* An http_admit, where signatures are verified: by the key, the date and the scope. */
bool routes_admit(void *context, struct http_request *request);

#endif
