#include "server/report/money.h"

#include <math.h>

#include "protocol/wire/json.h"
#include "server/messages.h"
#include "server/report/document.h"
#include "server/report/prices.h"

#define MONTH_SECONDS (730.0 * 3600)
#define MONTH_HOURS 730.0

static bool take(const struct json *root, enum price price, double *number)
{
	const struct json *member = json_member(root, price_name(price));

	if (!member || json_type(member) != JSON_NUMBER || json_number(member) < 0)
		return false;
	*number = json_number(member);
	return true;
}

static struct str text(struct arena *arena, const struct json *root, const char *name,
		       struct str otherwise)
{
	const struct json *member = json_member(root, name);

	return member && json_type(member) == JSON_STRING ? json_string(arena, member) : otherwise;
}

enum code money_read(struct arena *arena, const char *path, struct money *money, struct err *err)
{
	const struct json *root;
	struct str body;
	struct err own = err_in(arena);

	*money = (struct money){
		.read = price_built_in(PRICE_read_request_units_million),
		.write = price_built_in(PRICE_write_request_units_million),
		.read_hour = price_built_in(PRICE_read_capacity_unit_hour),
		.write_hour = price_built_in(PRICE_write_capacity_unit_hour),
		.currency = STR(PRICES_CURRENCY),
		.source = STR(PRICES_SOURCE),
	};
	if (!path)
		return OK;
	if (document_read(arena, path, &body, err) != OK)
		return err->code;
	if (json_parse(arena, body, &root, &own) != OK || json_type(root) != JSON_OBJECT ||
	    !take(root, PRICE_read_request_units_million, &money->read) ||
	    !take(root, PRICE_write_request_units_million, &money->write) ||
	    !take(root, PRICE_read_capacity_unit_hour, &money->read_hour) ||
	    !take(root, PRICE_write_capacity_unit_hour, &money->write_hour))
		return err_set(err, MSG_REPORT_PRICES, path);
	money->currency = text(arena, root, "currency", STR(PRICES_CURRENCY));
	money->source = text(arena, root, "source", str_of(path));
	return OK;
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
