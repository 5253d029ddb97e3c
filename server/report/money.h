/*
 * money - what units cost in a report: four of prices.h, on demand and provisioned by the hour.
 */
#ifndef DYNALITH_SERVER_REPORT_MONEY_H
#define DYNALITH_SERVER_REPORT_MONEY_H

#include "core/err.h"

struct money {
	double read, write;             /* a million units, on demand */
	double read_hour, write_hour;   /* a unit of provisioned capacity, for an hour */
	struct str currency, source;    /* "USD", "us-east-1, 2026-10" */
	double rate; /* requests per second that the user expects, in the proportions that were
			seen; 0: as many as were seen, once */
};

/* `path` NULL: the prices that are built in. ERR_VALIDATION with one line for the user. */
enum code money_read(struct arena *arena, const char *path, struct money *money,
		     struct err *err) WARN_UNUSED;

/* For a month of the expected rate, of which `seen` requests are a sample; without a rate for what
 * was seen. */
double money_on_demand(const struct money *money, double read, double write, double seen);
/* The same provisioned, for a month at a steady rate. 0 without a rate. */
double money_provisioned(const struct money *money, double read, double write, double seen);

#endif
