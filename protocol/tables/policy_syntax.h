/*
 * policy_syntax - the grammar of a resource-based policy: its elements, their types, the operators
 * of conditions and the types of their values.
 *
 * AWS's parser goes through the document once and gives the place of the first error. Its texts are
 * those of IAM's trust policies too ("Syntax error at position", "Unknown field", "Invalid
 * condition prefix", "Condition can contain only one colon."): the golden data names where each was
 * seen.
 */
#ifndef DYNALITH_PROTOCOL_POLICY_SYNTAX_H
#define DYNALITH_PROTOCOL_POLICY_SYNTAX_H

#include "core/arena.h"
#include "core/err.h"
#include "protocol/wire/json.h"

/* `root`, an object, was parsed from `text`. What passes can be evaluated (protocol/iam/policy.h),
 * but for elements that are missing. */
enum code policy_syntax_check(struct arena *arena, struct str text, const struct json *root,
			      struct err *err) WARN_UNUSED;

#endif
