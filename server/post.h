/*
 * post - one HTTP POST to a plain http:// address, for pushing events to functions that run locally.
 */
#ifndef DYNALITH_SERVER_POST_H
#define DYNALITH_SERVER_POST_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

/* http://HOST[:PORT][/PATH], taken apart. */
struct post_target {
	struct str host, port, path;
};

/* False where the text is no such address. The parts lie in the text. */
bool post_read_target(struct str url, struct post_target *out);

struct post_reply {
	int status;              /* of HTTP */
	bool is_function_error;  /* the header X-Amz-Function-Error is there */
	struct str body;         /* in the arena; 1 MB of it at most */
};

/*
 * Posts JSON and waits for the whole reply, at most `wait_ms`, and no longer than until *stopping is set. False where no reply of HTTP came:
 * *problem says why, in words for the log.
 */
bool post_json(struct arena *arena, const struct post_target *target, struct str body, int wait_ms, const atomic_bool *stopping,
	       struct post_reply *reply, const char **problem);

#endif
