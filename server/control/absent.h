/*
 * absent - names in a setting that no table or index has yet, and in policies actions and condition
 * keys that there are not: the setting is taken, and the answer warns.
 *
 * Settings may come before their tables do. A name that is mistyped looks the same, so nobody is
 * left to guess why a rule never fires.
 */
#ifndef DYNALITH_SERVER_CONTROL_ABSENT_H
#define DYNALITH_SERVER_CONTROL_ABSENT_H

#include "server/control/control.h"

/*
 * Adds "warnings": [text, ...] to the answer, where the body names tables or indexes that are not
 * there: by "table" and "index", as keys of "tables", or as ARNs without wildcards in "Resource"
 * and "NotResource"; or actions in "Action" and "NotAction", keys in "Condition". The body is one
 * that its endpoint has taken.
 */
void absent_warn(const struct control_call *call, struct str *answer);

/* The same as texts, in the call's arena: for what is read when the server starts. */
size_t absent_find(const struct control_call *call, const struct str **warnings);

#endif
