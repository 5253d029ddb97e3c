/*
 * remote - the client's side of checking and copying a running server: asks for the pieces of
 * online.h one by one.
 *
 * Requests are signed where the environment has AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which
 * a server with --auth verify wants.
 */
#ifndef DYNALITH_SERVER_REMOTE_H
#define DYNALITH_SERVER_REMOTE_H

#include "core/err.h"
#include "protocol/wire/json.h"
#include "server/client/client.h"
#include "server/command/reach.h"
#include "storage/check.h"

/* Whether the word is the URL of a server, or its HOST:PORT; else it is a file. */
bool remote_is_url(const char *word);

struct remote;

/* NULL: the URL cannot be read. */
struct remote *remote_new(const char *url, const struct reach *reach);
/* Another one to the same server, for a thread of its own: for requests that are tried once, within
 * that time. */
struct remote *remote_again(const struct remote *remote, int whole_ms);
void remote_free(struct remote *remote);

/* Looks at all data. ERR_INTERNAL where the server did not answer as it should, with one line. */
enum code remote_check(struct remote *remote, struct check_report *report,
		       struct err *err) WARN_UNUSED;

/* Writes the data of one moment to a new file (copy_target_begin). ERR_INTERNAL as above, where it
 * cannot be written, or the URL cannot be read. */
enum code remote_backup(const char *url, const struct reach *reach, const char *part,
			struct err *err) WARN_UNUSED;

/* The text that a GET of the path answers with, in the arena. ERR_INTERNAL as above. */
enum code remote_fetch(struct remote *remote, struct str path, struct arena *arena,
		       struct str *text, struct err *err) WARN_UNUSED;

/*
 * A request with a JSON answer, which lies in memory of `remote` until the next call; `body` must
 * lie elsewhere. `query` may be empty. ERR_INTERNAL as above.
 */
enum code remote_call(struct remote *remote, const char *method, struct str path, struct str query,
		      struct str body, const struct json **root, struct err *err) WARN_UNUSED;

#endif
