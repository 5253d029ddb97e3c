/*
 * show - a forecast as text and as JSON. The same forecast gives the same bytes.
 */
#ifndef DYNALITH_SERVER_FORECAST_SHOW_H
#define DYNALITH_SERVER_FORECAST_SHOW_H

#include "core/buf.h"
#include "server/forecast/bill.h"

#define SHOW_SAVINGS 3
#define SHOW_COLUMNS_MAX 215 /* of a chart over time */
#define SHOW_COLOURS 6       /* of its keys; the last is that of all other ones */
#define SHOW_SEEDS 3 /* runs of a forecast: the seed's, and those of the next two */

struct shown {
	struct arena *arena;
	const struct plan *plan;
	const struct model_outcome *outcomes; /* SHOW_SEEDS; the first is shown */
	const struct bill *bill;              /* of the first */
	double dollars[SHOW_SEEDS];
	size_t rows_most;     /* that the JSON lists; 0: all */
	struct str made;      /* the JSON has it as "plan"; or absent */
	struct str *problems; /* rules of --fail-on that are broken */
	size_t problem_count;
};

/* As AWS's ThrottlingReason; the table or "table/index/name"; the hour with the most. */
struct str show_reason(const struct shown *shown, const struct model_row *row);
struct str show_where(const struct shown *shown, const struct model_row *row);
const struct model_hour *show_worst(const struct model_row *row);
/* The lowest and the highest of all runs. */
void show_range_of(const struct shown *shown, uint64_t throttled[2], double dollars[2]);

/* Hours of the forecast, in as many columns as a chart has room for. */
struct show_axis {
	int64_t hours, per_column;
	size_t n;
};

struct show_axis show_axis_of(const struct shown *shown);
/* Of each of the busiest rows, and then of all others, what was throttled by column. */
double *show_throttled(const struct shown *shown, const struct show_axis *axis);
/* The units a second that clients want, the mean by column. */
double *show_demand(const struct shown *shown, const struct show_axis *axis,
		    const struct model_side *side);

void show_text(const struct shown *shown, struct buf *out);
void show_json(const struct shown *shown, struct buf *out);

#endif
