/*
 * scaling - auto scaling of one side, a minute at a time. AWS: Developer Guide, "Managing
 * throughput capacity automatically with DynamoDB auto scaling": two minutes above the target raise
 * it, fifteen below lower it. The change is there a minute after the alarm. Four decreases a day,
 * and one more after each hour without one (Quotas).
 */
#ifndef DYNALITH_SERVER_FORECAST_SCALING_H
#define DYNALITH_SERVER_FORECAST_SCALING_H

#include "server/forecast/plan.h"

struct scaling {
	int over, under; /* minutes in a row */
	double highest;  /* consumption of a minute of `under`, units per second */
	int64_t next;    /* the rate that comes with the next minute; 0: none */
	int64_t day, decreases, decreased_minute;
};

/* `used`: units per second, of the minute that is over. Returns the rate from now on. */
int64_t scaling_minute(struct scaling *scaling, const struct plan_scaling *rule, int64_t rate,
		       double used, int64_t minute);

#endif
