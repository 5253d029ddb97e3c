/*
 * err - what went wrong, in the words of the DynamoDB API.
 *
 * A fallible function returns enum code, 0 for success, and fills the struct
 * err that is its last parameter. errors.def has one row per error; the texts
 * of messages stand as macros in each room's messages.h, and are raised by
 *
 *     return err_set(err, MSG_KEY_EMPTY_STRING, STR_ARG(name));
 *
 * where the macro expands to the error's code and its format, so the compiler
 * checks the arguments and no message text stands in code.
 *
 * An output is set only on success. A function works on what is its own and gives the output in its
 * last step:
 *
 *     return RESULT(code, out, update);
 *
 * In debug builds RESULT fills the output of a failed function with RESULT_SPOILT, so that whoever
 * uses it all the same fails at once. A return before it leaves the output as it was, and the
 * compiler fills every variable with a pattern first.
 */
#ifndef DYNALITH_CORE_ERR_H
#define DYNALITH_CORE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/str.h"

struct arena;

enum code {
	OK = 0,
#define ERROR(id, name, space, status, text) id,
#include "core/errors.def"
#undef ERROR
	ERR_COUNT
};

/* Where the wire name of an error lives; the prefix of __type. */
enum err_space {
	SPACE_DYNAMODB,        /* com.amazonaws.dynamodb.v20120810# */
	SPACE_CORAL_SERVICE,   /* com.amazon.coral.service# */
	SPACE_CORAL_VALIDATE,  /* com.amazon.coral.validate# */
	SPACE_CORAL_AVAILABILITY, /* com.amazon.coral.availability# */
};

struct err_info {
	const char *name;    /* "ValidationException" */
	enum err_space space;
	int status;          /* HTTP status */
	const char *text;    /* the message where none is given */
};

struct err {
	struct arena *arena;   /* where messages are built; the owner of the request sets it */
	enum code code;
	struct str message;
	struct str item; /* image of the item that failed a condition, where ALL_OLD asked for it;
			    else absent */
	bool is_capital; /* sent as "Message", not "message"; some kinds of errors always are */
	struct {
		struct str reason;   /* "TableReadProvisionedThroughputExceeded" */
		struct str resource; /* the ARN of the table or index */
	} throttle;            /* of errors of throttling: the reason; absent: none is shown */
	struct err *reasons;   /* ERR_TRANSACTION_CANCELED: one per action, code OK for "None" */
	size_t reason_count;
};

#define WARN_UNUSED __attribute__((warn_unused_result))

#define RESULT_SPOILT 0xA5 /* no address, no length, no truth value */

static inline void err_spoil(void *out, size_t n)
{
#ifndef NDEBUG
	memset(out, RESULT_SPOILT, n);
#else
	(void)out, (void)n;
#endif
}

/* Sets *out to `value` if `code`, a variable, is OK; else spoils *out. Evaluates to `code`. */
#define RESULT(code, out, value)                                                                   \
	((code) == OK ? (void)(*(out) = (value)) : err_spoil((out), sizeof(*(out))), (code))
/* For an output that the function fills in place: spoils *out unless `code` is OK. Evaluates to
 * `code`. */
#define RESULT_IN(code, out) ((code) == OK ? (void)0 : err_spoil((out), sizeof(*(out))), (code))

static inline struct err err_in(struct arena *arena)
{
	return (struct err){.arena = arena};
}

const struct err_info *err_info(enum code code);

/* Whether the client made a mistake in the request: all codes whose wire name is
 * ValidationException, except ERR_EMPTY_KEY. */
static inline bool err_is_validation(enum code code)
{
	return code == ERR_VALIDATION || code == ERR_REQUEST || code == ERR_SELECT ||
	       code == ERR_OPERAND;
}

/* "com.amazonaws.dynamodb.v20120810#" and the like. */
const char *err_space_prefix(enum err_space space);

/* Fills err (item and reasons cleared) and returns code. */
enum code err_set(struct err *err, enum code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with the error's default text. */
enum code err_default(struct err *err, enum code code);

/* What went wrong with a scratch arena: the message is copied into the arena of `err`, where it
 * lives on. */
void err_copy(struct err *err, enum code code, struct str message);

/* ERR_SERVICE_UNAVAILABLE where the arena exceeds its budget or its time, else OK. Callers ask
 * before they write anything. */
enum code err_if_over(const struct arena *arena, struct err *err);

/* For `make tidy` and `make analyze`, which see one file at a time: the macros return the given
 * code, never OK. */
#ifdef ANALYZE
#define ERR_CODE(code, ...) code
#define ERR_CODE_OF(...) ERR_CODE(__VA_ARGS__, 0)
#define err_set(err, ...) ((void)(err_set)(err, __VA_ARGS__), (enum code)ERR_CODE_OF(__VA_ARGS__))
#define err_default(err, code) ((err_default)(err, code), (code))
#endif

#endif
