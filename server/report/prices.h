/*
 * prices - the prices that are built in, those of docs/prices.json: for reports and forecasts.
 */
#ifndef DYNALITH_SERVER_PRICES_H
#define DYNALITH_SERVER_PRICES_H

#define PRICE_UNKNOWN (-1.0)
#define PRICES_CURRENCY "USD"
#define PRICES_SOURCE "us-east-1, 2026-11"

enum price {
#define PRICE(name, dollars) PRICE_##name,
#include "server/report/prices.def"
#undef PRICE
	PRICES
};

/* Its name in a file of prices. */
const char *price_name(enum price price);

/* In US dollars, or PRICE_UNKNOWN. */
double price_built_in(enum price price);

#endif
