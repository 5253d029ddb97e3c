/*
 * filter - which records of a stream a function wants: the FilterCriteria of AWS Lambda's event
 * source mappings.
 *
 *     {"Filters": [{"Pattern": "{\"eventName\": [\"INSERT\"], \"dynamodb\": {\"NewImage\":
 * {\"state\": {\"S\": [{\"prefix\": \"us-\"}]}}}}"}]}
 *
 * A record passes if it matches one of the patterns. A pattern is an object: each member must match
 * the record's member of that name, by an object in turn or by a list of rules of which one holds.
 * Rules: a value itself, {"prefix": S}, {"suffix": S}, {"equals-ignore-case": S},
 * {"anything-but": value, list or one of these}, {"numeric": [operator, number, ...]}, {"exists":
 * boolean}; beside members "$or": [pattern, ...]. A list in the record matches by any of its
 * elements.
 *
 * AWS: Lambda Developer Guide, "Control which events Lambda sends to your function" and "Using
 * event filtering with a DynamoDB event source"; LocalStack's tests of it, which run against AWS:
 * numbers of items are strings there, so "numeric" never matches them, and "exists" sees only plain
 * values, so an object does not exist for it.
 */
#ifndef DYNALITH_SERVER_FILTER_H
#define DYNALITH_SERVER_FILTER_H

#include "core/arena.h"
#include "protocol/wire/json.h"

struct filter {
	size_t n; /* 0: every record passes */
	const struct json **patterns;
};

/*
 * Reads the text, {"Filters": [...]} for all tables or {TABLE: {"Filters": [...]}, ...}, and takes
 * the part for the table. With `table` absent it checks the whole text. A pattern may also be the
 * object itself in place of its text. The filter lives in the arena. False where something is no
 * such filter: *problem, the part that is not.
 */
bool filter_read(struct arena *arena, struct str text, struct str table, struct filter *out,
		 struct str *problem);

/* Whether the record, an object, passes. The arena is for temporary memory. */
bool filter_passes(const struct filter *filter, struct arena *arena, const struct json *record);

#endif
