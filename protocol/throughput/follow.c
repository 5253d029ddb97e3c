#include "protocol/throughput/follow.h"

#define MINUTES_OVER 2
#define MINUTES_UNDER 15
#define DAY_MINUTES (24 * 60)
#define DECREASES_A_DAY 4
#define LOW_SHARE 0.8 /* of the target: the alarm below it */

/* AWS: "DynamoDB pricing", provisioned: 80 units at 70 % are 114, 100 are 143. */
static int64_t wanted(const struct follow_rule *rule, double used)
{
	int64_t rate = (int64_t)(used * 100 / rule->target + 0.5);

	return rate < rule->least ? rule->least : rate > rule->most ? rule->most : rate;
}

static bool is_cool(int64_t since, int64_t minute, int64_t seconds)
{
	return since == 0 || (minute - since) * 60 >= seconds;
}

static bool may_decrease(struct follow *follow, const struct follow_rule *rule, int64_t minute)
{
	if (minute / DAY_MINUTES != follow->day) {
		follow->day = minute / DAY_MINUTES;
		follow->decreases = 0;
	}
	return !rule->is_in_off && is_cool(follow->changed_minute, minute, rule->in_cooldown) &&
	       (follow->decreases < DECREASES_A_DAY || minute - follow->decreased_minute >= 60);
}

int64_t follow_minute(struct follow *follow, const struct follow_rule *rule, int64_t rate,
		      double used, int64_t minute)
{
	double share = rate > 0 ? used * 100 / (double)rate : 0;

	if (follow->next > 0) {
		int64_t next = follow->next;

		follow->changed_minute = minute;
		follow->raised_minute = next > rate ? minute : follow->raised_minute;
		follow->over = follow->under = 0;
		follow->highest = 0;
		follow->next = 0;
		return next;
	}
	follow->over = share > rule->target ? follow->over + 1 : 0;
	if (used <= 0) /* a minute without consumption is no data for the alarm */
		return rate;
	follow->under = share < rule->target * LOW_SHARE ? follow->under + 1 : 0;
	follow->highest = follow->under > 1 && follow->highest > used ? follow->highest : used;
	if (follow->over >= MINUTES_OVER && wanted(rule, used) > rate && !rule->is_out_off &&
	    is_cool(follow->raised_minute, minute, rule->out_cooldown)) {
		follow->next = wanted(rule, used);
	} else if (follow->under >= MINUTES_UNDER && wanted(rule, follow->highest) < rate &&
		   may_decrease(follow, rule, minute)) {
		follow->next = wanted(rule, follow->highest);
		follow->decreases++;
		follow->decreased_minute = minute;
	}
	return rate;
}
