/*
 * insight - the endpoint that shows the access patterns which this server has seen.
 */
#ifndef DYNALITH_SERVER_CONTROL_INSIGHT_H
#define DYNALITH_SERVER_CONTROL_INSIGHT_H

#include "server/control/control.h"

/* Handlers of endpoints.def. ERR_VALIDATION where --insight is off. */
control_handler insight_show, insight_forget;

/* The keys that Contributor Insights counts. */
control_handler insight_show_contributors;

#endif
