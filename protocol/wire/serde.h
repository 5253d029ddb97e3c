/*
 * serde - SearchVectors' errors for members of a wrong type. AWS runs it as a service of its own,
 * whose JSON reader is Rust's serde: it stops at the first wrong member, in the order of the text,
 * and quotes the value and its place. Source: recorded answers of eu-west-2 and us-east-1, 9 and 23
 * October 2026.
 */
#ifndef DYNALITH_PROTOCOL_SERDE_H
#define DYNALITH_PROTOCOL_SERDE_H

#include "core/err.h"
#include "core/str.h"
#include "protocol/wire/json.h"
#include "protocol/wire/shapes.h"

/*
 * Checks the members of the request, an object whose text is `body`, and the attribute values in
 * them. ERR_SERIALIZATION: "invalid type: null, expected a string at line 1 column 32", without a
 * message for a value that has not just one member; ERR_VALIDATION where a required member is
 * missing, an integer has more than 32 bits or a value's type is unknown.
 */
enum code serde_check(const struct shape *shape, const struct json *request, struct str body,
		      struct err *err) WARN_UNUSED;

#endif
