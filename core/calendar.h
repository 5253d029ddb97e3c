/*
 * calendar - days of the Gregorian calendar by number, without the C library's time zones and
 * limits.
 *
 * Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
 */
#ifndef DYNALITH_CALENDAR_H
#define DYNALITH_CALENDAR_H

#include <stdint.h>

/* Days since 1970-01-01 of a day from the year 1 on; negative before. */
static inline int64_t calendar_days(int64_t year, int64_t month, int64_t day)
{
	year -= month <= 2;
	int64_t era = year / 400, of_era = year - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

#endif
