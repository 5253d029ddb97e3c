#include "server/forecast/scaling.h"

#define MINUTES_OVER 2
#define MINUTES_UNDER 15
#define DAY_MINUTES (24 * 60)
#define DECREASES_A_DAY 4
#define LOW_SHARE 0.8 /* of the target: the alarm below it */

/* AWS: "DynamoDB pricing", provisioned: 80 units at 70 % are 114, 100 are 143. */
static int64_t wanted(const struct plan_scaling *rule, double used)
{
	int64_t rate = (int64_t)(used * 100 / rule->target + 0.5);

	return rate < rule->least ? rule->least : rate > rule->most ? rule->most : rate;
}

static bool may_decrease(struct scaling *scaling, int64_t minute)
{
	if (minute / DAY_MINUTES != scaling->day) {
		scaling->day = minute / DAY_MINUTES;
		scaling->decreases = 0;
	}
	return scaling->decreases < DECREASES_A_DAY || minute - scaling->decreased_minute >= 60;
}

int64_t scaling_minute(struct scaling *scaling, const struct plan_scaling *rule, int64_t rate,
		       double used, int64_t minute)
{
	double share = rate > 0 ? used * 100 / (double)rate : 0;

	if (scaling->next > 0) {
		rate = scaling->next;
		*scaling = (struct scaling){.day = scaling->day,
					    .decreases = scaling->decreases,
					    .decreased_minute = scaling->decreased_minute};
		return rate;
	}
	scaling->over = share > rule->target ? scaling->over + 1 : 0;
	scaling->under = share < rule->target * LOW_SHARE ? scaling->under + 1 : 0;
	scaling->highest = scaling->under > 1 && scaling->highest > used ? scaling->highest : used;
	if (scaling->over >= MINUTES_OVER && wanted(rule, used) > rate) {
		scaling->next = wanted(rule, used);
	} else if (scaling->under >= MINUTES_UNDER && wanted(rule, scaling->highest) < rate &&
		   may_decrease(scaling, minute)) {
		scaling->next = wanted(rule, scaling->highest);
		scaling->decreases++;
		scaling->decreased_minute = minute;
	}
	return rate;
}
