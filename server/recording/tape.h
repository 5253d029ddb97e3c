/*
 * tape - a recording, read line by line: recorder.h.
 */
#ifndef DYNALITH_SERVER_TAPE_H
#define DYNALITH_SERVER_TAPE_H

#include "core/err.h"
#include "protocol/wire/json.h"

struct tape_line {
	size_t number;              /* in the file, from 1 */
	int64_t offset;             /* of its first byte */
	uint64_t start_us, end_us;
	int64_t time_ms; /* of the namespace's clock; 0: the line does not say */
	struct str operation;
	int64_t status;
	struct str request;         /* as it was sent */
	const struct json *response; /* NULL: the answer had no JSON */
};

struct tape;

/* Whether the file begins as a recording does. */
bool tape_is_at(const char *path);

/*
 * `is_reread`: tape_go() will be called; what is no file, such as a pipe, is copied to one then.
 * ERR_VALIDATION with one line: it cannot be read, or is no recording.
 */
enum code tape_open(const char *path, bool is_reread, struct tape **out,
		    struct err *err) WARN_UNUSED;
void tape_close(struct tape *tape);

bool tape_is_masked(const struct tape *tape);

/* After the end: whether the last line had no end, and was left out. */
bool tape_is_cut(const struct tape *tape);

/* The next line in the arena; *is_there is false at the end. ERR_VALIDATION with the file's name
 * and the line's number. A last line without its end is none. */
enum code tape_next(struct tape *tape, struct arena *arena, struct tape_line *line, bool *is_there,
		    struct err *err) WARN_UNUSED;

/* Goes to a line that was read before: tape_next() gives it again. ERR_VALIDATION as above. */
enum code tape_go(struct tape *tape, size_t number, int64_t offset, struct err *err) WARN_UNUSED;

#endif
