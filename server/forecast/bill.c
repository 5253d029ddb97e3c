#include "server/forecast/bill.h"

#include <math.h>
#include <stdlib.h>

#define TARGET 0.7 /* of provisioned capacity that would be used: auto scaling's usual target */
#define HOUR_SECONDS 3600
#define TRIM_SHARE 0.2 /* of a unit: bytes that a smaller item would save */

/* AWS: "Free tier": of the Standard class, each month and region. Stored gigabytes, 25 provisioned
 * units of each side, reads of streams. */
static void bill_add_free_tier(const struct plan *plan, double hours, struct bill *bill)
{
	int64_t replicas = 0;

	for (size_t t = 0; t < plan->table_count; t++)
		replicas =
			plan->tables[t].replicas > replicas ? plan->tables[t].replicas : replicas;
	bill->free[PRICE_storage_gb_month] = 25 * hours / MONTH_HOURS * (1 + (double)replicas);
	bill->free[PRICE_read_capacity_unit_hour] = 25 * hours;
	bill->free[PRICE_write_capacity_unit_hour] = 25 * hours;
	bill->free[PRICE_stream_read_request_units_million] = 2.5 * hours / MONTH_HOURS;
}

/* Prices by class, mode and side; writes to the table of several regions are the third. Its indexes
 * are written as any other. AWS: "Understanding DynamoDB billing for global tables". */
static enum price unit_price(const struct plan_table *table, bool is_on_demand,
			     enum meter_side side, bool is_index)
{
	bool is_read = side == METER_READ;

	if (table->is_infrequent && is_on_demand)
		return is_read ? PRICE_infrequent_read_request_units_million
			       : PRICE_infrequent_write_request_units_million;
	if (table->is_infrequent)
		return is_read ? PRICE_infrequent_read_capacity_unit_hour
			       : PRICE_infrequent_write_capacity_unit_hour;
	if (!is_read && !is_index && table->replicas > 0)
		return is_on_demand ? PRICE_replicated_write_request_units_million
				    : PRICE_replicated_write_capacity_unit_hour;
	if (is_on_demand)
		return is_read ? PRICE_read_request_units_million
			       : PRICE_write_request_units_million;
	return is_read ? PRICE_read_capacity_unit_hour : PRICE_write_capacity_unit_hour;
}

static double bill_regions_of(const struct plan_table *table, enum meter_side side)
{
	return side == METER_WRITE ? 1 + (double)table->replicas : 1;
}

static double dollars_of(const struct prices *prices, enum price price, double quantity)
{
	return prices->of[price] < 0 ? PRICE_UNKNOWN : prices->of[price] * quantity;
}

static void bill_add_line(struct arena *arena, struct bill *bill, size_t table, enum price price,
			  double quantity)
{
	if (quantity <= 0)
		return;
	double free = quantity < bill->free[price] ? quantity : bill->free[price],
	       dollars = dollars_of(bill->prices, price, quantity - free);

	bill->free[price] -= free;
	bill->lines = arena_room(arena, bill->lines, bill->n, sizeof(*bill->lines));
	bill->lines[bill->n++] = (struct bill_line){table, price, quantity, free, dollars};
	bill->is_partial = bill->is_partial || dollars < 0;
	bill->tables[table].dollars += dollars < 0 ? 0 : dollars;
	bill->dollars += dollars < 0 ? 0 : dollars;
}

/* Units of a side of the table's parts from `first` on: as the mode counts them. */
static double units_of(const struct plan_table *table, const struct model_table *outcome,
		       bool is_on_demand, enum meter_side side, size_t first, size_t end)
{
	double units = 0;

	for (size_t p = first; p < end; p++)
		units += is_on_demand ? outcome->parts[p].sides[side].units / 1e6
				      : outcome->parts[p].sides[side].unit_hours;
	return units * bill_regions_of(table, side);
}

/* Provisioned for each hour's demand, as auto scaling would. */
static double unit_hours_for(const struct plan_table *table, const struct model_table *outcome,
			     int64_t hours, enum meter_side side)
{
	double units = 0;

	for (size_t p = 0; p < table->n; p++) {
		for (int64_t h = 0; h < hours; h++) {
			double rate = outcome->parts[p].sides[side].demand[h] / HOUR_SECONDS;

			units += rate > TARGET ? ceil(rate / TARGET) : 1;
		}
	}
	return units * bill_regions_of(table, side);
}

static void compare_modes(const struct plan *plan, const struct model_outcome *outcome, size_t t,
			  struct bill *bill)
{
	const struct plan_table *table = &plan->tables[t];
	const struct model_table *of = &outcome->tables[t];
	struct bill_table *out = &bill->tables[t];
	double hours = 0, used = 0;

	for (enum meter_side side = 0; side < METER_SIDES; side++) {
		double unit_hours = table->is_on_demand
					    ? unit_hours_for(table, of, outcome->hours, side)
					    : units_of(table, of, false, side, 0, table->n);
		double requests = units_of(table, of, true, side, 0, table->n);
		double on_demand = dollars_of(bill->prices, unit_price(table, true, side, false),
					      requests),
		       provisioned = dollars_of(bill->prices, unit_price(table, false, side, false),
						unit_hours);

		out->on_demand = on_demand < 0 || out->on_demand < 0 ? PRICE_UNKNOWN
								     : out->on_demand + on_demand;
		out->provisioned = provisioned < 0 || out->provisioned < 0
					   ? PRICE_UNKNOWN
					   : out->provisioned + provisioned;
		hours += unit_hours;
		used += requests * 1e6 / HOUR_SECONDS;
	}
	out->use = hours > 0 ? used / hours : 0;
}

/* Reads and writes, the table's and the indexes' apart where their prices may differ. */
static void bill_add_units(struct arena *arena, const struct plan_table *table,
			   const struct model_table *of, size_t t, struct bill *bill)
{
	bool is_on_demand = table->is_on_demand;

	for (enum meter_side side = 0; side < METER_SIDES; side++) {
		enum price own = unit_price(table, is_on_demand, side, false),
			   index = unit_price(table, is_on_demand, side, true);
		size_t end = own == index ? table->n : 1;

		bill_add_line(arena, bill, t, own, units_of(table, of, is_on_demand, side, 0, end));
		bill_add_line(arena, bill, t, index,
			      units_of(table, of, is_on_demand, side, end, table->n));
	}
}

/* A unit for each KB of an item that was written. AWS: "DynamoDB pricing", change data capture. */
static double capture_units(const struct plan *plan, const struct model_outcome *outcome, size_t t)
{
	double units = 0;

	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *of = &plan->patterns[i];

		if (of->table == t && of->side == METER_WRITE)
			units += (double)(outcome->patterns[i].requests -
					  outcome->patterns[i].failed) *
				 of->demands[0].units / (of->is_transaction ? 2 : 1);
	}
	return units;
}

static void bill_add_lines(struct arena *arena, const struct plan *plan,
			   const struct model_outcome *outcome, size_t t, struct bill *bill)
{
	const struct plan_table *table = &plan->tables[t];
	const struct model_table *of = &outcome->tables[t];
	double days = 0, months = (double)outcome->hours / MONTH_HOURS,
	       seconds = (double)outcome->hours * HOUR_SECONDS;

	bill_add_units(arena, table, of, t, bill);
	for (size_t p = 0; p < table->n; p++)
		days += of->parts[p].gigabyte_days;
	bill_add_line(arena, bill, t,
		      table->is_infrequent ? PRICE_infrequent_storage_gb_month
					   : PRICE_storage_gb_month,
		      days * PLAN_HOURS / MONTH_HOURS * (1 + (double)table->replicas));
	if (table->has_recovery)
		bill_add_line(arena, bill, t, PRICE_recovery_gb_month,
			      of->parts[0].gigabyte_days * PLAN_HOURS / MONTH_HOURS);
	bill_add_line(arena, bill, t, PRICE_backup_gb_month, table->backup_gigabytes * months);
	bill_add_line(arena, bill, t, PRICE_restore_gb, table->restore_gigabytes * months);
	bill_add_line(arena, bill, t, PRICE_export_gb, table->export_gigabytes * months);
	bill_add_line(arena, bill, t, PRICE_import_gb, table->import_gigabytes * months);
	bill_add_line(arena, bill, t, PRICE_stream_read_request_units_million,
		      table->stream_reads * seconds / 1e6);
	if (table->has_kinesis)
		bill_add_line(arena, bill, t, PRICE_change_data_capture_units_million,
			      capture_units(plan, outcome, t) / 1e6);
	compare_modes(plan, outcome, t, bill);
}

static void add_saving(struct arena *arena, struct bill *bill, double dollars, struct str text)
{
	if (!(dollars >= 0.005))
		return;
	bill->savings =
		arena_room(arena, bill->savings, bill->saving_count, sizeof(*bill->savings));
	bill->savings[bill->saving_count++] = (struct bill_saving){text, dollars};
}

/* What fewer units save: provisioned, where the capacity follows them. */
static double worth(const struct plan_table *table, const struct bill *bill, enum meter_side side,
		    double units)
{
	double quantity = table->is_on_demand ? units / 1e6 : units / HOUR_SECONDS;

	return dollars_of(bill->prices, unit_price(table, table->is_on_demand, side, false),
			  quantity * bill_regions_of(table, side));
}

static void save_by_mode(struct arena *arena, const struct plan *plan, size_t t, struct bill *bill)
{
	const struct plan_table *table = &plan->tables[t];
	const struct bill_table *of = &bill->tables[t];

	if (of->on_demand < 0 || of->provisioned < 0)
		return;
	if (table->is_on_demand)
		add_saving(arena, bill, of->on_demand - of->provisioned,
			   str_printf(arena,
				      "table " STR_FMT ": provisioned, with auto scaling to 70 %%",
				      STR_ARG(table->name)));
	else
		add_saving(arena, bill, of->provisioned - of->on_demand,
			   str_printf(arena, "table " STR_FMT ": on demand", STR_ARG(table->name)));
}

static bool is_read(const struct plan *plan, size_t t, size_t part)
{
	for (size_t i = 0; i < plan->pattern_count; i++) {
		if (plan->patterns[i].table == t && plan->patterns[i].side == METER_READ &&
		    plan->patterns[i].demands[0].part == part)
			return true;
	}
	return false;
}

static void save_by_indexes(struct arena *arena, const struct plan *plan,
			    const struct model_outcome *outcome, size_t t, struct bill *bill)
{
	const struct plan_table *table = &plan->tables[t];

	for (size_t p = 1; p < table->n; p++) {
		const struct model_part *of = &outcome->tables[t].parts[p];

		if (!is_read(plan, t, p))
			add_saving(arena, bill,
				   worth(table, bill, METER_WRITE, of->sides[METER_WRITE].units),
				   str_printf(arena,
					      "index " STR_FMT " of " STR_FMT
					      ": drop it, no pattern reads it",
					      STR_ARG(table->parts[p].name), STR_ARG(table->name)));
	}
}

static void save_by_pattern(struct arena *arena, const struct plan *plan,
			    const struct model_outcome *outcome, size_t i, struct bill *bill)
{
	const struct plan_pattern *of = &plan->patterns[i];
	const struct plan_table *table = &plan->tables[of->table];
	double requests = (double)outcome->patterns[i].requests, units = of->demands[0].units;
	int64_t step = of->side == METER_READ ? 4096 : 1024, over = of->bytes % step;

	if (of->side == METER_READ && of->is_strong && !of->is_transaction)
		add_saving(arena, bill, worth(table, bill, METER_READ, requests * units / 2),
			   str_printf(arena, "pattern " STR_FMT ": eventually consistent reads",
				      STR_ARG(of->name)));
	if (of->is_transaction)
		add_saving(arena, bill, worth(table, bill, of->side, requests * units / 2),
			   str_printf(arena, "pattern " STR_FMT ": no transaction",
				      STR_ARG(of->name)));
	if (of->bytes > step && over > 0 && (double)over <= TRIM_SHARE * (double)step)
		add_saving(
			arena, bill,
			worth(table, bill, of->side,
			      requests * (units - plan_units(of->side, of->bytes - over,
							     of->is_strong, of->is_transaction))),
			str_printf(arena,
				   "pattern " STR_FMT ": %lld bytes less, so that an item is of "
				   "%lld",
				   STR_ARG(of->name), (long long)over,
				   (long long)(of->bytes - over)));
}

static int saves_more(const void *a, const void *b)
{
	const struct bill_saving *x = a, *y = b;

	if (x->dollars < y->dollars)
		return 1;
	return x->dollars > y->dollars ? -1 : str_cmp(x->text, y->text);
}

void bill_make(struct arena *arena, const struct plan *plan, const struct model_outcome *outcome,
	       const struct prices *prices, struct bill *out)
{
	*out = (struct bill){.prices = prices,
			     .tables = ARENA_ARRAY(arena, struct bill_table, plan->table_count)};
	if (plan->has_free_tier)
		bill_add_free_tier(plan, (double)outcome->hours, out);
	for (size_t t = 0; t < plan->table_count; t++) {
		bill_add_lines(arena, plan, outcome, t, out);
		save_by_mode(arena, plan, t, out);
		save_by_indexes(arena, plan, outcome, t, out);
	}
	for (size_t i = 0; i < plan->pattern_count; i++)
		save_by_pattern(arena, plan, outcome, i, out);
	if (out->saving_count > 0)
		qsort(out->savings, out->saving_count, sizeof(*out->savings), saves_more);
}

double bill_break_even(const struct prices *prices, enum meter_side side)
{
	bool is_read_side = side == METER_READ;
	double hour = prices->of[is_read_side ? PRICE_read_capacity_unit_hour
					      : PRICE_write_capacity_unit_hour],
	       million = prices->of[is_read_side ? PRICE_read_request_units_million
						 : PRICE_write_request_units_million];

	return hour < 0 || million <= 0 ? PRICE_UNKNOWN : hour * 1e6 / (HOUR_SECONDS * million);
}
