#include "server/report/money.h"

#include <math.h>

#include "server/messages.h"
#include "server/report/prices.h"

#define MONTH_SECONDS (MONTH_HOURS * 3600)

enum code money_read(struct arena *arena, const char *path, struct money *money, struct err *err)
{
	struct prices prices;
	enum code code = prices_read(arena, path, &prices, err);

	if (code != OK)
		return code;
	*money = (struct money){
		.read = prices.of[PRICE_read_request_units_million],
		.write = prices.of[PRICE_write_request_units_million],
		.read_hour = prices.of[PRICE_read_capacity_unit_hour],
		.write_hour = prices.of[PRICE_write_capacity_unit_hour],
		.currency = prices.currency,
		.source = prices.source,
	};
	return money->read < 0 || money->write < 0 || money->read_hour < 0 || money->write_hour < 0
		       ? err_set(err, MSG_REPORT_PRICES, path)
		       : OK;
}

/* How often the sample is in a month. */
static double times(const struct money *money, double seen)
{
	return money->rate > 0 && seen > 0 ? money->rate * MONTH_SECONDS / seen : 1;
}

double money_on_demand(const struct money *money, double read, double write, double seen)
{
	return times(money, seen) * (read * money->read + write * money->write) / 1e6;
}

double money_provisioned(const struct money *money, double read, double write, double seen)
{
	if (money->rate <= 0 || seen <= 0)
		return 0;
	double reads = ceil(read / seen * money->rate), writes = ceil(write / seen * money->rate);

	return MONTH_HOURS * (reads * money->read_hour + writes * money->write_hour);
}
