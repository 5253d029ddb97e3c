/*
 * control - an endpoint's view of a request below /_dynalith/, and how it reads the JSON in it.
 *
 * By these endpoints a test controls a namespace: its state, its faults. The namespace is that of
 * the request's signature, or of ?account=...&region=... in the query; without either account
 * 000000000000, region us-east-1.
 *
 * The shelf server/control/ holds the table of endpoints, one file per subject behind it, and
 * nothing of HTTP: server/routes authenticates requests and chooses endpoints.
 */
#ifndef DYNALITH_SERVER_CONTROL_H
#define DYNALITH_SERVER_CONTROL_H

#include "protocol/op.h"
#include "protocol/wire/json.h"
#include "server/clock.h"
#include "server/upkeep.h"

/* What endpoints work with. */
struct control {
	struct service *service;
	struct clocks *clock;
	struct upkeep *upkeep;
};

struct control_call {
	const struct control *control;
	struct arena *arena;  /* the request's */
	struct ns ns;
	struct str name;  /* what the path has where the endpoint's has NAME; absent where it has
			     none */
	bool may_control; /* who asks may concern all accounts: `ns` is not all that there is for it
			   */
	struct str query;     /* raw */
	struct str body;
};

/* Does it, and sets the JSON to answer with, by status 200. */
typedef enum code control_handler(const struct control_call *call, struct str *answer,
				  struct err *err);

/* Letters, digits, '.', '_' and '-', 1 to 64 of them: nothing that a path would have to escape.
 * ERR_VALIDATION for other names. */
enum code control_check_name(struct str name, struct err *err) WARN_UNUSED;

/* A namespace is an account of 12 digits and a region. ERR_VALIDATION for others. */
enum code control_check_namespace(struct ns ns, struct err *err) WARN_UNUSED;

/* A member that a body may have; *value is NULL where it lacks it. */
struct control_member {
	const char *name;
	enum json_type type;
	const struct json **value;
};

/*
 * Reads the body, a JSON object or nothing at all. ERR_VALIDATION for anything else, a member of
 * another type, and one that is not among the `n`: then no endpoint may have changed anything.
 */
enum code control_read(const struct control_call *call, const struct control_member *members,
		       size_t n, struct err *err) WARN_UNUSED;

/* The same for an object within the body. */
enum code control_members(const struct control_call *call, const struct json *object,
			  const struct control_member *members, size_t n,
			  struct err *err) WARN_UNUSED;

/* A whole number from 0 to `max`; `usual` where the member `name` is not there (NULL).
 * ERR_VALIDATION for others. */
enum code control_integer(const char *name, const struct json *json, int64_t max, uint64_t usual,
			  uint64_t *out, struct err *err) WARN_UNUSED;

/* The strings of an array in the arena. ERR_VALIDATION for other elements; `name` is the member's.
 */
enum code control_strings(const struct control_call *call, const char *name,
			  const struct json *array, struct str **strings, size_t *n,
			  struct err *err) WARN_UNUSED;

#endif
