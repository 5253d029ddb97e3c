/*
 * prices - what units, gigabytes and hours cost: those that are built in, which docs/prices.json
 * shows, or those of a file in its form. For reports and forecasts.
 */
#ifndef DYNALITH_SERVER_PRICES_H
#define DYNALITH_SERVER_PRICES_H

#include "core/err.h"

#define PRICE_UNKNOWN (-1.0)
#define MONTH_HOURS 720.0 /* AWS: the examples of DynamoDB's price pages have months of 30 days */

enum price {
#define PRICE(name, dollars) PRICE_##name,
#include "server/report/prices.def"
#undef PRICE
	PRICES
};

struct prices {
	double of[PRICES]; /* or PRICE_UNKNOWN */
	struct str currency, source;
};

/* Its name in a file of prices. */
const char *price_name(enum price price);

/* `path` NULL: the built-in ones. Of a file, prices that it lacks are unknown; one at least has to
 * be there. ERR_VALIDATION with one line for the user. */
enum code prices_read(struct arena *arena, const char *path, struct prices *prices,
		      struct err *err) WARN_UNUSED;

#endif
