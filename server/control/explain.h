/*
 * explain - the endpoint that explains a request without carrying it out.
 */
#ifndef DYNALITH_SERVER_CONTROL_EXPLAIN_H
#define DYNALITH_SERVER_CONTROL_EXPLAIN_H

#include "server/control/control.h"

/* The handler of endpoints.def. It changes nothing, and needs no --insight. */
control_handler explain_request;

#endif
