/*
 * client - one HTTP request and its reply: events pushed to functions, by plain http://; the health
 * of a server that runs, also by TLS.
 *
 * A reply that is not whole is no reply (reply.h), and neither is one that does not come on: within
 * `wait_ms` the connection must stand and take the request, within as long the head of the reply
 * must be there, and then each 64 KB of it, or its end.
 */
#ifndef DYNALITH_SERVER_CLIENT_H
#define DYNALITH_SERVER_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

/* http://HOST[:PORT][/PATH] or https://..., taken apart. */
struct client_target {
	struct str host, port, path;
	bool is_tls;
	const char *authorities; /* with is_tls: a PEM file of the authorities that are trusted;
				    NULL: any certificate will do */
};

/* False where the text is no such address; triggers take no https. The parts lie in the text. */
bool client_read_target(struct str url, struct client_target *out);
bool client_read_any_target(struct str url, struct client_target *out);

/* What a person writes for a server: such an address, or HOST:PORT, which is http://HOST:PORT. */
bool client_read_endpoint(struct str text, struct client_target *out);
bool client_is_host_and_port(struct str text);

/* `problem` of a request that a command has sent; where nobody listens on this machine, with how to
 * start a server there. */
const char *client_advice(struct arena *arena, const struct client_target *target,
			  const char *problem);

struct client_request {
	const char *method;
	struct str body;             /* JSON, or empty */
	int wait_ms;                 /* without progress */
	int whole_ms;                /* for it all; 0: as long as there is progress */
	const atomic_bool *stopping; /* it is given up when this is set; or NULL */
	void (*tick)(void *context); /* called now and then while it waits; or NULL */
	void *tick_context;
	struct str
		head; /* lines of the head beside the usual ones, each with its end; absent: none */
	struct str type;             /* of the body; absent: application/json */
	size_t reply_max;            /* bytes of a reply; 0: 1 MB */
};

struct client_reply {
	int status;              /* of HTTP */
	bool is_function_error;  /* the header X-Amz-Function-Error is there */
	struct str range;        /* the header Content-Range, or absent */
	struct str body;         /* in the arena */
};

/* Sends the request and waits for the whole reply. False where none came: *problem says why, for
 * the log, in the arena. */
bool client_ask(struct arena *arena, const struct client_target *target,
		const struct client_request *request, struct client_reply *reply,
		const char **problem);

#endif
