/*
 * failure - the JSON object that AWS Lambda sends to an on-failure destination when it gives up a
 * batch of a stream.
 *
 * AWS: Lambda Developer Guide, "Retain discarded records for a DynamoDB event source": the form for
 * S3, which holds the event itself as a text in "payload".
 */
#ifndef DYNALITH_SERVER_FAILURE_H
#define DYNALITH_SERVER_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

struct failure {
	struct str account, region, function; /* of the function's ARN */
	unsigned invocations;                 /* of batches that held the records */
	int status;                           /* of the last answer; 0: none came */
	bool is_function_error; /* the function said that it failed, by more than naming records */
	int64_t now_ms;                       /* Unix time */
	struct str stream, shard;             /* ARN, id */
	struct str first, last;               /* sequence numbers */
	int64_t first_s, last_s;              /* when they came */
	size_t records;
	struct str payload;                   /* the event */
};

/* The text, without a line's end. */
struct str failure_text(struct arena *arena, const struct failure *failure);

/*
 * Appends the text and a line's end to the file, made where it is missing, in one write: the lines
 * of several triggers and processes do not mix. NULL, or why the line is not there as a whole.
 */
const char *failure_append(struct arena *arena, const char *path, struct str text);

/* The function's name in an invocation's path, /2015-03-31/functions/NAME/invocations; "function"
 * in any other. */
struct str failure_function(struct str path);

#endif
