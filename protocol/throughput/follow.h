/*
 * follow - auto scaling of one side of a table or index, a minute at a time. AWS: Developer Guide,
 * "Managing throughput capacity automatically with DynamoDB auto scaling": two minutes above the
 * target raise it, fifteen below lower it; without consumption it is not lowered. The change is
 * there a minute after the alarm. Four decreases a day, and one more after each hour without one
 * (Quotas).
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_FOLLOW_H
#define DYNALITH_PROTOCOL_THROUGHPUT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct follow_rule {
	int64_t least, most;               /* units; most 0: there is no rule */
	double target;                     /* percent */
	int64_t in_cooldown, out_cooldown; /* seconds after a change, and after a raise */
	bool is_in_off, is_out_off;        /* it lowers, raises nothing */
};

/* Zeros at the beginning. */
struct follow {
	int over, under; /* minutes in a row */
	double highest;  /* consumption of a minute of `under`, units per second */
	int64_t next;    /* the rate that comes with the next minute; 0: none */
	int64_t day, decreases, decreased_minute;
	int64_t changed_minute, raised_minute; /* 0: never */
};

/* `used`: units per second, of the minute that is over. Returns the rate from now on. */
int64_t follow_minute(struct follow *follow, const struct follow_rule *rule, int64_t rate,
		      double used, int64_t minute);

#endif
