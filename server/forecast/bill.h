/*
 * bill - what a forecast costs: dollars by line of the price list, the other billing mode, and the
 * changes that save most.
 *
 * A month has 30 days, as in AWS's examples. Not in it: reserved capacity, DAX, transfer between
 * regions and taxes. A line whose price the list lacks has no dollars and is said: it never counts
 * as zero in silence.
 */
#ifndef DYNALITH_SERVER_FORECAST_BILL_H
#define DYNALITH_SERVER_FORECAST_BILL_H

#include "server/forecast/model.h"
#include "server/report/prices.h"

struct bill_line {
	size_t table;
	enum price price;
	double quantity; /* in what the price is for: millions, hours, gigabyte-months */
	double free;     /* of the quantity, by the free tier */
	double dollars;  /* PRICE_UNKNOWN */
};

struct bill_table {
	double dollars;                /* of the lines that are known */
	double on_demand, provisioned; /* of its reads and writes alone; or PRICE_UNKNOWN */
	double use;                    /* of what would be provisioned, 0 to 1 */
};

struct bill_saving {
	struct str text;
	double dollars;
};

struct bill {
	const struct prices *prices;
	size_t n;
	struct bill_line *lines;
	struct bill_table *tables;
	size_t saving_count;
	struct bill_saving *savings; /* the largest first */
	double dollars;
	bool is_partial;     /* a price is unknown */
	double free[PRICES]; /* what is left of the free tier, in the price's quantity */
};

/* In the arena. */
void bill_make(struct arena *arena, const struct plan *plan, const struct model_outcome *outcome,
	       const struct prices *prices, struct bill *out);

/* The share of use from which a provisioned unit is cheaper than on demand; PRICE_UNKNOWN. */
double bill_break_even(const struct prices *prices, enum meter_side side);

#endif
