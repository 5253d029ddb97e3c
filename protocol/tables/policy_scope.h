/*
 * policy_scope - the actions, resources and principals that statements of a table's or a stream's
 * policy may name.
 */
#ifndef DYNALITH_PROTOCOL_POLICY_SCOPE_H
#define DYNALITH_PROTOCOL_POLICY_SCOPE_H

#include "core/arena.h"
#include "core/err.h"
#include "protocol/wire/json.h"

/* One statement, as policy_syntax takes it. ARNs of other services pass: AWS's errors about them
 * are not known. */
enum code policy_scope_check(struct arena *arena, const struct json *statement, bool is_stream,
			     struct err *err) WARN_UNUSED;

/* Whether the text is an account's number. */
bool policy_scope_is_account(struct str text);

#endif
