/*
 * elsewhere - operations of the API sent to another server, or to AWS: signed by the credentials of
 * the environment.
 *
 * AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION;
 * without keys "dynalith", which a server that does not verify takes. Thread-safe once it is made.
 */
#ifndef DYNALITH_SERVER_ELSEWHERE_H
#define DYNALITH_SERVER_ELSEWHERE_H

#include "core/arena.h"
#include "core/str.h"
#include "server/client/client.h"
#include "server/command/reach.h"

struct elsewhere;

/* NULL: the URL cannot be read; one line on standard error says so. */
struct elsewhere *elsewhere_new(const char *url, const struct reach *reach);
void elsewhere_free(struct elsewhere *elsewhere);

/* Signs by these from now on, in place of those of the environment. `token` may be absent. They
 * outlive it. */
struct elsewhere_keys {
	struct str access_key, secret, token;
};
void elsewhere_sign_by(struct elsewhere *elsewhere, const struct elsewhere_keys *keys);

/* From now on a request is given up when this is set; there is no answer then. */
void elsewhere_stop_by(struct elsewhere *elsewhere, const atomic_bool *stopping);

/* AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, or http://localhost:8000. */
const char *elsewhere_default(void);

/* Where its requests go, and by which key. */
struct str elsewhere_region(const struct elsewhere *elsewhere);
struct str elsewhere_access_key(const struct elsewhere *elsewhere);

/* The same for another region of one server. */
bool elsewhere_send_in(struct elsewhere *elsewhere, struct arena *arena, struct str region,
		       struct str target, struct str body, struct client_reply *reply,
		       const char **problem);

/* `target` is "DynamoDB_20120810.PutItem". False where no answer came: *problem says why. */
bool elsewhere_send(struct elsewhere *elsewhere, struct arena *arena, struct str target,
		    struct str body, struct client_reply *reply, const char **problem);

/* The same for an endpoint of test control: `path` is "/_dynalith/clock". */
bool elsewhere_control(struct elsewhere *elsewhere, struct arena *arena, const char *method,
		       struct str path, struct str body, struct client_reply *reply,
		       const char **problem);

#endif
