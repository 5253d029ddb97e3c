/*
 * libdynalith - the DynamoDB API in your own process: the JSON of a request in, the JSON of the
 * answer out, without HTTP and without a socket.
 *
 *     struct dynalith *db = dynalith_open("{\"db_path\": \"app.db\"}", NULL, NULL);
 *     struct dynalith_answer *answer = dynalith_call(db, "ListTables", "{}", 2);
 *     printf("%d %.*s\n", answer->status, (int)answer->body_size, answer->body);
 *     dynalith_free(answer);
 *     dynalith_close(db);
 *
 * Threads. All functions may be called from any thread at any time, and several calls of one
 * instance run at once. An instance has threads of its own for time to live, backups, exports,
 * triggers; all signals are blocked in them. The library installs no signal handlers, does not read
 * the environment and prints nothing. A request beyond memory_limit_mb gets an error, and so does a
 * file whose values take too much. Where the machine itself has no memory left the process is
 * aborted, as by the server.
 *
 * Several instances. A process may have any number of them, each with its own data. Two may not
 * have the same data file open: the second one is refused.
 *
 * Fork. A child of fork() cannot use the instances of its parent: calls fail, and the child may
 * exit or exec. Open an instance after the fork.
 *
 * Text. All strings are UTF-8 that ends with a NUL, but for bodies, which have a size. The library
 * copies what it is given where it needs it longer than the call.
 *
 * docs/library.md says how to link it, and what of the server's options has no meaning here.
 */
#ifndef DYNALITH_H
#define DYNALITH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DYNALITH_EXPORT __attribute__((visibility("default")))
#else
#define DYNALITH_EXPORT
#endif

/* An open store with its tables. */
struct dynalith;

struct dynalith_header {
	const char *name, *value;
};

/*
 * A request as HTTP would carry it. Set `size` to sizeof(struct dynalith_request) and clear what
 * you do not use: later versions add members at the end only.
 */
struct dynalith_request {
	size_t size;
	const char *method;     /* NULL: POST */
	const char *path; /* with its query, as "/_dynalith/clock?account=000000000001"; NULL: "/",
			     the API */
	const char *target; /* the operation, with or without "DynamoDB_20120810."; NULL: the header
			       X-Amz-Target says it */
	const char *access_key; /* whose tables: 12 digits are an account, anything else is
				   000000000000; NULL: the headers say it, or nothing does */
	const char *region;     /* NULL: us-east-1 */
	const void *body;       /* must stay until the call returns */
	size_t body_size; /* bytes; the option body_limit_mb says how many there may be, usually 16
			     MB. Not compressed */
	const struct dynalith_header
		*headers; /* more of them, such as x-dynalith-explain or a whole Authorization */
	size_t header_count;
};

/* An answer; it stays until dynalith_free(). */
struct dynalith_answer {
	int status; /* of HTTP: 200, 400, 500 ...; 0: a fault rule closes the connection in place of
		       an answer */
	uint32_t crc32;           /* x-amz-crc32 of the body; a fault rule may make it wrong */
	const char *request_id;   /* x-amzn-RequestId: 52 characters */
	const char *content_type; /* or NULL */
	const char *body;         /* not followed by a NUL */
	size_t body_size;
	const struct dynalith_header *headers; /* further ones */
	size_t header_count;
};

/* Takes a line of the log, without its end: one line of JSON. Level 0 is an error, 1 a warning, 2
 * information, 3 a request. Called by any thread. */
typedef void dynalith_log(void *context, int level, const char *line, size_t size);

/* The version, as "0.9.0". It is the server's. */
DYNALITH_EXPORT const char *dynalith_version(void);

/*
 * Opens an instance. `options` is a JSON object of the server's options by their names in its
 * configuration file (README, "Options"), and may have its "credentials"; NULL or "{}": all in
 * memory. With "db_path" or "store" the data is in a file or a database. Unlike the server it
 * checks no signatures unless "auth" says so. `log` may be NULL, and is called with `context` until
 * dynalith_close() has returned. NULL: dynalith_error() says why.
 */
DYNALITH_EXPORT struct dynalith *dynalith_open(const char *options, dynalith_log *log,
					       void *context);

/*
 * Carries out an operation of the API, as "PutItem", "DynamoDB_20120810.PutItem" or "GetRecords",
 * for the account 000000000000 in us-east-1. An error of the API is an answer with a status from
 * 400 on. NULL: nothing was done, and dynalith_error() says why: a NULL argument, an instance that
 * is closing, or the child of a fork.
 */
DYNALITH_EXPORT struct dynalith_answer *
dynalith_call(struct dynalith *instance, const char *operation, const void *body, size_t body_size);

/* The same for another account or region, with headers, or at another path. Also NULL where
 * `request->size` is none that this version knows. */
DYNALITH_EXPORT struct dynalith_answer *dynalith_send(struct dynalith *instance,
						      const struct dynalith_request *request);

/*
 * Calls an endpoint of test control (docs/testing.md), such as "POST", "clock", "{\"advance\":
 * 60}". `path` goes behind "/_dynalith/" and may have a query; `body` is a string, or NULL for
 * none. NULL as dynalith_call().
 */
DYNALITH_EXPORT struct dynalith_answer *
dynalith_control(struct dynalith *instance, const char *method, const char *path, const char *body);

/*
 * Makes the tables and items of a file, or of the files of a folder: what `dynalith apply` reads,
 * such as templates of CloudFormation, CSV and exports. The access key and the region, either of
 * which may be NULL, say whose they are. 0: all is there; -1: dynalith_error() says where a file is
 * wrong and why, and nothing of that file is kept. Tables that were there stay as they are.
 */
DYNALITH_EXPORT int dynalith_apply(struct dynalith *instance, const char *path,
				   const char *access_key, const char *region);

/* Frees an answer, which may outlive its instance; NULL is fine. */
DYNALITH_EXPORT void dynalith_free(struct dynalith_answer *answer);

/*
 * Does a piece of the work without a request that is due, such as time to live, backups and
 * exports. Returns the ms until more is due: call it again then, and after each request. Only for
 * hosts without threads, which is dynalith.wasm; with threads it does nothing and returns -1. Not
 * while a call is under way.
 */
DYNALITH_EXPORT int dynalith_tick(struct dynalith *instance);

/*
 * Closes an instance: calls under way come to their ends, calls that other threads begin meanwhile
 * fail, then threads are stopped and the data is written. Nobody may use the instance once this has
 * returned, but for answers that are not freed. NULL is fine.
 */
DYNALITH_EXPORT void dynalith_close(struct dynalith *instance);

/* Why the last function that failed in this thread did so; "" where none did. It stays until the
 * next such call of this thread. */
DYNALITH_EXPORT const char *dynalith_error(void);

#ifdef __cplusplus
}
#endif

#endif
