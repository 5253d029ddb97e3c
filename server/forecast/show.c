#include "server/forecast/show.h"

#include "protocol/wire/json_out.h"

#define ROWS_SHOWN 20
#define HOURS_SHOWN 168

static const char *const limits[METER_LIMITS] = {
	[METER_PROVISIONED] = "ProvisionedThroughputExceeded",
	[METER_KEY_RANGE] = "KeyRangeThroughputExceeded",
	[METER_ON_DEMAND_MAX] = "MaxOnDemandThroughputExceeded",
	[METER_ACCOUNT] = "AccountLimitExceeded",
};

struct str show_reason(const struct shown *shown, const struct model_row *row)
{
	return str_printf(shown->arena, "%s%s%s", row->part > 0 ? "Index" : "Table",
			  row->side == METER_READ ? "Read" : "Write", limits[row->limit]);
}

struct str show_where(const struct shown *shown, const struct model_row *row)
{
	const struct plan_table *table = &shown->plan->tables[row->table];

	return row->part == 0
		       ? table->name
		       : str_printf(shown->arena, STR_FMT "/index/" STR_FMT, STR_ARG(table->name),
				    STR_ARG(table->parts[row->part].name));
}

const struct model_hour *show_worst(const struct model_row *row)
{
	const struct model_hour *worst = &row->hours[0];

	for (size_t i = 1; i < row->n; i++)
		worst = row->hours[i].throttled > worst->throttled ? &row->hours[i] : worst;
	return worst;
}

struct show_axis show_axis_of(const struct shown *shown)
{
	int64_t hours = shown->outcomes[0].hours,
		per_column = (hours + SHOW_COLUMNS_MAX - 1) / SHOW_COLUMNS_MAX;

	return (struct show_axis){hours, per_column,
				  (size_t)((hours + per_column - 1) / per_column)};
}

double *show_throttled(const struct shown *shown, const struct show_axis *axis)
{
	const struct model_outcome *outcome = &shown->outcomes[0];
	double *sums = ARENA_ARRAY(shown->arena, double, SHOW_COLOURS * axis->n);

	for (size_t i = 0; i < outcome->n; i++) {
		const struct model_row *row = &outcome->rows[i];
		size_t colour = i < SHOW_COLOURS - 1 ? i : SHOW_COLOURS - 1;

		for (size_t h = 0; h < row->n; h++)
			sums[colour * axis->n + (size_t)(row->hours[h].hour / axis->per_column)] +=
				(double)row->hours[h].throttled;
	}
	return sums;
}

double *show_demand(const struct shown *shown, const struct show_axis *axis,
		    const struct model_side *side)
{
	double *sums = ARENA_ARRAY(shown->arena, double, axis->n);

	for (int64_t hour = 0; hour < axis->hours; hour++) {
		int64_t first = hour - hour % axis->per_column, left = axis->hours - first;

		sums[hour / axis->per_column] +=
			side->demand[hour] / 3600 /
			(double)(left < axis->per_column ? left : axis->per_column);
	}
	return sums;
}

/* The first hour in which anything is throttled; -1. */
static int64_t first_of(const struct model_outcome *outcome)
{
	int64_t first = -1;

	for (size_t i = 0; i < outcome->n; i++) {
		if (first < 0 || outcome->rows[i].hours[0].hour < first)
			first = outcome->rows[i].hours[0].hour;
	}
	return first;
}

static void text_throttles(const struct shown *shown, struct buf *out)
{
	const struct model_outcome *outcome = &shown->outcomes[0];
	int64_t first = first_of(outcome);

	if (first < 0) {
		buf_add_lit(out, "\nNothing is throttled.\n");
		return;
	}
	buf_printf(out, "\nThrottled, first on " STR_FMT ":\n",
		   STR_ARG(model_hour_name(shown->arena, first)));
	for (size_t i = 0; i < outcome->n && i < ROWS_SHOWN; i++) {
		const struct model_row *row = &outcome->rows[i];
		const struct model_hour *worst = show_worst(row);
		struct str where = show_where(shown, row), reason = show_reason(shown, row),
			   from = model_hour_name(shown->arena, row->hours[0].hour),
			   at = model_hour_name(shown->arena, worst->hour);

		buf_printf(out,
			   "  %12llu  " STR_FMT ", " STR_FMT "\n                " STR_FMT
			   "; from " STR_FMT ", most %llu in the hour of " STR_FMT "\n",
			   (unsigned long long)row->throttled, STR_ARG(where), STR_ARG(row->key),
			   STR_ARG(reason), STR_ARG(from), (unsigned long long)worst->throttled,
			   STR_ARG(at));
	}
	if (outcome->n > ROWS_SHOWN)
		buf_printf(out, "  and %zu more keys; --json lists all\n", outcome->n - ROWS_SHOWN);
}

static void text_patterns(const struct shown *shown, struct buf *out)
{
	buf_add_lit(out, "\nPatterns:\n");
	for (size_t i = 0; i < shown->plan->pattern_count; i++) {
		const struct model_pattern *of = &shown->outcomes[0].patterns[i];

		buf_printf(out, "  %12llu  " STR_FMT, (unsigned long long)of->requests,
			   STR_ARG(shown->plan->patterns[i].name));
		if (of->throttled > 0)
			buf_printf(out,
				   "; throttled %llu times, %llu requests failed after %d attempts,"
				   " retries waited %.0f s in all",
				   (unsigned long long)of->throttled,
				   (unsigned long long)of->failed,
				   shown->plan->patterns[i].attempts, of->waited_s);
		buf_add_lit(out, "\n");
	}
}

static void text_cost(const struct shown *shown, struct buf *out)
{
	const struct bill *bill = shown->bill;
	const struct prices *prices = bill->prices;

	buf_printf(out, "\nCost, " STR_FMT " (prices: " STR_FMT "):\n", STR_ARG(prices->currency),
		   STR_ARG(prices->source));
	for (size_t i = 0; i < bill->n; i++) {
		const struct bill_line *line = &bill->lines[i];

		if (line->dollars < 0)
			buf_add_lit(out, "  unknown price ");
		else
			buf_printf(out, "  %13.2f ", line->dollars);
		buf_printf(out, " " STR_FMT ": %.4f x %s",
			   STR_ARG(shown->plan->tables[line->table].name), line->quantity,
			   price_name(line->price));
		if (line->free > 0)
			buf_printf(out, ", %.4f of them free", line->free);
		buf_add_lit(out, "\n");
	}
	buf_printf(out, "  %13.2f  in all%s\n", bill->dollars,
		   bill->is_partial ? ", without what has no price" : "");
}

static void text_modes(const struct shown *shown, struct buf *out)
{
	double reads = bill_break_even(shown->bill->prices, METER_READ),
	       writes = bill_break_even(shown->bill->prices, METER_WRITE);

	buf_add_lit(out, "\nOn demand or provisioned, requests alone:\n");
	for (size_t t = 0; t < shown->plan->table_count; t++) {
		const struct bill_table *of = &shown->bill->tables[t];

		if (of->on_demand < 0 || of->provisioned < 0)
			buf_printf(out, "  " STR_FMT ": a price is unknown\n",
				   STR_ARG(shown->plan->tables[t].name));
		else
			buf_printf(out,
				   "  " STR_FMT ": %.2f on demand, %.2f provisioned%s, of which "
				   "%.1f %% is used\n",
				   STR_ARG(shown->plan->tables[t].name), of->on_demand,
				   of->provisioned,
				   shown->plan->tables[t].is_on_demand ? " for 70 % use" : "",
				   of->use * 100);
	}
	if (reads >= 0 && writes >= 0)
		buf_printf(out,
			   "  break-even: provisioned is cheaper from %.1f %% use of reads and "
			   "%.1f %% of writes on\n",
			   reads * 100, writes * 100);
}

static void text_savings(const struct shown *shown, struct buf *out)
{
	const struct bill *bill = shown->bill;

	if (bill->saving_count > 0)
		buf_add_lit(out, "\nWhat would save most:\n");
	for (size_t i = 0; i < bill->saving_count && i < SHOW_SAVINGS; i++)
		buf_printf(out, "  %13.2f  " STR_FMT "\n", bill->savings[i].dollars,
			   STR_ARG(bill->savings[i].text));
}

void show_range_of(const struct shown *shown, uint64_t throttled[2], double dollars[2])
{
	for (size_t i = 0; i < SHOW_SEEDS; i++) {
		uint64_t n = shown->outcomes[i].throttled;
		double d = shown->dollars[i];

		throttled[0] = i == 0 || n < throttled[0] ? n : throttled[0];
		throttled[1] = i == 0 || n > throttled[1] ? n : throttled[1];
		dollars[0] = i == 0 || d < dollars[0] ? d : dollars[0];
		dollars[1] = i == 0 || d > dollars[1] ? d : dollars[1];
	}
}

void show_text(const struct shown *shown, struct buf *out)
{
	const struct model_outcome *outcome = &shown->outcomes[0];
	uint64_t throttled[2];
	double dollars[2];

	show_range_of(shown, throttled, dollars);
	buf_printf(out, "%lld days: %llu requests, %llu throttled, %llu failed, %.2f " STR_FMT "\n",
		   (long long)shown->plan->days, (unsigned long long)outcome->requests,
		   (unsigned long long)outcome->throttled, (unsigned long long)outcome->failed,
		   shown->bill->dollars, STR_ARG(shown->bill->prices->currency));
	buf_printf(out, "with %d seeds: %llu to %llu throttled, %.2f to %.2f\n", SHOW_SEEDS,
		   (unsigned long long)throttled[0], (unsigned long long)throttled[1], dollars[0],
		   dollars[1]);
	text_throttles(shown, out);
	text_patterns(shown, out);
	text_cost(shown, out);
	text_modes(shown, out);
	text_savings(shown, out);
	if (shown->plan->note_count > 0)
		buf_add_lit(out, "\n");
	for (size_t i = 0; i < shown->plan->note_count; i++)
		buf_printf(out, "note: " STR_FMT "\n", STR_ARG(shown->plan->notes[i]));
	for (size_t i = 0; i < shown->problem_count; i++)
		buf_printf(out, "failed: " STR_FMT "\n", STR_ARG(shown->problems[i]));
}

static void field_number(struct json_out *out, const char *name, double value)
{
	json_out_name(out, str_of(name));
	json_out_double(out, value);
}

/* Cents, or null where it is unknown. */
static void field_dollars(struct json_out *out, const char *name, double value)
{
	json_out_name(out, str_of(name));
	if (value < 0)
		json_out_null(out);
	else
		json_out_double(out, (double)(int64_t)(value * 100 + 0.5) / 100);
}

static void field_hour(const struct shown *shown, struct json_out *out, const char *name,
		       int64_t hour)
{
	json_out_name(out, str_of(name));
	if (hour < 0)
		json_out_null(out);
	else
		json_out_string(out, model_hour_name(shown->arena, hour));
}

static void json_row(const struct shown *shown, const struct model_row *row, struct json_out *out)
{
	const struct plan_table *table = &shown->plan->tables[row->table];
	const struct model_hour *worst = show_worst(row);

	json_out_open(out, '{');
	json_out_field_string(out, "table", table->name);
	if (row->part > 0)
		json_out_field_string(out, "index", table->parts[row->part].name);
	json_out_field_string(out, "reason", show_reason(shown, row));
	json_out_field_string(out, "key", row->key);
	json_out_field_integer(out, "throttled", (int64_t)row->throttled);
	field_hour(shown, out, "first", row->hours[0].hour);
	field_hour(shown, out, "worst", worst->hour);
	json_out_name(out, STR("hours"));
	json_out_open(out, '{');
	for (size_t i = 0; i < row->n && i < HOURS_SHOWN; i++) {
		json_out_name(out, model_hour_name(shown->arena, row->hours[i].hour));
		json_out_integer(out, (int64_t)row->hours[i].throttled);
	}
	json_out_close(out, '}');
	if (row->n > HOURS_SHOWN)
		json_out_field_integer(out, "hours_left_out", (int64_t)(row->n - HOURS_SHOWN));
	json_out_close(out, '}');
}

/* With three digits behind the point. */
static void json_columns(struct json_out *out, const double *values, size_t n)
{
	json_out_open(out, '[');
	for (size_t i = 0; i < n; i++)
		json_out_double(out, (double)(int64_t)(values[i] * 1000 + 0.5) / 1000);
	json_out_close(out, ']');
}

/* For charts: what was throttled in each step of time, of each of the first rows, and then of all
 * others. */
static void json_over_time(const struct shown *shown, struct json_out *out)
{
	struct show_axis axis = show_axis_of(shown);
	const double *sums = show_throttled(shown, &axis);

	json_out_name(out, STR("over_time"));
	json_out_open(out, '{');
	json_out_field_integer(out, "hours_of_step", axis.per_column);
	json_out_name(out, STR("throttled"));
	json_out_open(out, '[');
	for (size_t k = 0; k < SHOW_COLOURS && k < shown->outcomes[0].n; k++)
		json_columns(out, &sums[k * axis.n], axis.n);
	json_out_close(out, ']');
	json_out_close(out, '}');
}

/* The units a second that clients want, by the same steps; nothing where they want none. */
static void json_wanted(const struct shown *shown, const struct model_side *side,
			struct json_out *out)
{
	struct show_axis axis = show_axis_of(shown);
	const double *wanted = show_demand(shown, &axis, side);
	double all = 0;

	for (size_t i = 0; i < axis.n; i++)
		all += wanted[i];
	if (all <= 0)
		return;
	json_out_name(out, STR("wanted"));
	json_columns(out, wanted, axis.n);
}

static void json_side(const struct shown *shown, const struct model_side *side, const char *name,
		      bool is_on_demand, struct json_out *out)
{
	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	field_number(out, "units", side->units);
	if (!is_on_demand) {
		field_number(out, "unit_hours", side->unit_hours);
		json_out_field_integer(out, "provisioned_at_the_end", side->rate);
	}
	json_out_field_integer(out, "throttled", (int64_t)side->throttled);
	json_wanted(shown, side, out);
	json_out_close(out, '}');
}

static void json_table(const struct shown *shown, size_t t, struct json_out *out)
{
	const struct plan_table *table = &shown->plan->tables[t];
	const struct model_part *parts = shown->outcomes[0].tables[t].parts;
	const struct bill_table *bill = &shown->bill->tables[t];

	json_out_open(out, '{');
	json_out_field_string(out, "name", table->name);
	json_out_field_boolean(out, "is_on_demand", table->is_on_demand);
	field_dollars(out, "cost", bill->dollars);
	field_dollars(out, "on_demand", bill->on_demand);
	field_dollars(out, "provisioned", bill->provisioned);
	field_number(out, "use", bill->use);
	json_out_name(out, STR("parts"));
	json_out_open(out, '[');
	for (size_t p = 0; p < table->n; p++) {
		json_out_open(out, '{');
		if (p > 0)
			json_out_field_string(out, "index", table->parts[p].name);
		json_side(shown, &parts[p].sides[METER_READ], "read", table->is_on_demand, out);
		json_side(shown, &parts[p].sides[METER_WRITE], "write", table->is_on_demand, out);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static void json_patterns(const struct shown *shown, struct json_out *out)
{
	json_out_name(out, STR("patterns"));
	json_out_open(out, '[');
	for (size_t i = 0; i < shown->plan->pattern_count; i++) {
		const struct model_pattern *of = &shown->outcomes[0].patterns[i];

		json_out_open(out, '{');
		json_out_field_string(out, "name", shown->plan->patterns[i].name);
		json_out_field_integer(out, "requests", (int64_t)of->requests);
		json_out_field_integer(out, "throttled", (int64_t)of->throttled);
		json_out_field_integer(out, "failed", (int64_t)of->failed);
		field_number(out, "retries_waited_s", of->waited_s);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* The share of provisioned units from which on they are cheaper than on demand. */
static void json_break_even(const struct prices *prices, struct json_out *out)
{
	double reads = bill_break_even(prices, METER_READ),
	       writes = bill_break_even(prices, METER_WRITE);

	if (reads >= 0)
		field_number(out, "break_even_reads", reads);
	if (writes >= 0)
		field_number(out, "break_even_writes", writes);
}

static void json_cost(const struct shown *shown, struct json_out *out)
{
	const struct bill *bill = shown->bill;

	json_out_name(out, STR("cost"));
	json_out_open(out, '{');
	json_out_field_string(out, "currency", bill->prices->currency);
	json_out_field_string(out, "source", bill->prices->source);
	field_dollars(out, "total", bill->dollars);
	json_out_field_boolean(out, "is_partial", bill->is_partial);
	json_break_even(bill->prices, out);
	json_out_name(out, STR("lines"));
	json_out_open(out, '[');
	for (size_t i = 0; i < bill->n; i++) {
		const struct bill_line *line = &bill->lines[i];

		json_out_open(out, '{');
		json_out_field_string(out, "table", shown->plan->tables[line->table].name);
		json_out_field_string(out, "price", str_of(price_name(line->price)));
		field_number(out, "quantity", line->quantity);
		if (line->free > 0)
			field_number(out, "free", line->free);
		field_dollars(out, "cost", line->dollars);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_name(out, STR("savings"));
	json_out_open(out, '[');
	for (size_t i = 0; i < bill->saving_count && i < SHOW_SAVINGS; i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "change", bill->savings[i].text);
		field_dollars(out, "saves", bill->savings[i].dollars);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static void json_texts(struct json_out *out, const char *name, const struct str *texts, size_t n)
{
	json_out_name(out, str_of(name));
	json_out_open(out, '[');
	for (size_t i = 0; i < n; i++)
		json_out_string(out, texts[i]);
	json_out_close(out, ']');
}

static void json_range(const struct shown *shown, struct json_out *out)
{
	uint64_t throttled[2];
	double dollars[2];

	show_range_of(shown, throttled, dollars);
	json_out_name(out, STR("range"));
	json_out_open(out, '{');
	json_out_field_integer(out, "seeds", SHOW_SEEDS);
	json_out_field_integer(out, "throttled_least", (int64_t)throttled[0]);
	json_out_field_integer(out, "throttled_most", (int64_t)throttled[1]);
	field_dollars(out, "cost_least", dollars[0]);
	field_dollars(out, "cost_most", dollars[1]);
	json_out_close(out, '}');
}

static void json_throttles(const struct shown *shown, struct json_out *out)
{
	const struct model_outcome *outcome = &shown->outcomes[0];
	size_t most = shown->rows_most ? shown->rows_most : outcome->n,
	       n = most < outcome->n ? most : outcome->n;

	json_out_name(out, STR("throttles"));
	json_out_open(out, '[');
	for (size_t i = 0; i < n; i++)
		json_row(shown, &outcome->rows[i], out);
	json_out_close(out, ']');
	if (n < outcome->n)
		json_out_field_integer(out, "throttles_left_out", (int64_t)(outcome->n - n));
}

void show_json(const struct shown *shown, struct buf *out)
{
	const struct model_outcome *outcome = &shown->outcomes[0];
	struct json_out json = json_out_in(shown->arena);

	json_out_open(&json, '{');
	json_out_field_integer(&json, "dynalith_forecast", 1);
	json_out_field_integer(&json, "days", shown->plan->days);
	json_out_field_integer(&json, "requests", (int64_t)outcome->requests);
	json_out_field_integer(&json, "throttled", (int64_t)outcome->throttled);
	json_out_field_integer(&json, "failed", (int64_t)outcome->failed);
	field_hour(shown, &json, "first_throttled", first_of(outcome));
	json_range(shown, &json);
	json_throttles(shown, &json);
	json_over_time(shown, &json);
	json_out_name(&json, STR("tables"));
	json_out_open(&json, '[');
	for (size_t t = 0; t < shown->plan->table_count; t++)
		json_table(shown, t, &json);
	json_out_close(&json, ']');
	json_patterns(shown, &json);
	json_cost(shown, &json);
	json_texts(&json, "notes", shown->plan->notes, shown->plan->note_count);
	json_texts(&json, "problems", shown->problems, shown->problem_count);
	if (str_is_set(shown->made)) {
		json_out_name(&json, STR("plan"));
		buf_add_str(&json.buf, shown->made);
	}
	json_out_close(&json, '}');
	buf_add_str(out, json_out_str(&json));
	buf_add_lit(out, "\n");
}
