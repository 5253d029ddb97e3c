/*
 * namespaces - the accounts and regions that have tables.
 */
#ifndef DYNALITH_SERVER_CONTROL_NAMESPACES_H
#define DYNALITH_SERVER_CONTROL_NAMESPACES_H

#include "server/control/control.h"

/* A control_handler. {"namespaces": [{"account": A, "region": R, "tables": N}, ...], "more": false}
 */
enum code namespaces_show(const struct control_call *call, struct str *answer,
			  struct err *err) WARN_UNUSED;

#endif
