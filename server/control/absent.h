/*
 * absent - names in a setting that no table or index has yet: the setting is taken, and the answer
 * warns.
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
 * and "NotResource". The body is one that its endpoint has taken.
 */
void absent_warn(const struct control_call *call, struct str *answer);

#endif
