#include "server/report/prices.h"

static const struct {
	const char *name;
	double dollars;
} prices[PRICES] = {
#define PRICE(name, dollars) {#name, dollars},
#include "server/report/prices.def"
#undef PRICE
};

const char *price_name(enum price price)
{
	return prices[price].name;
}

double price_built_in(enum price price)
{
	return prices[price].dollars;
}
