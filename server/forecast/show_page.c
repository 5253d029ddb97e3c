#include "server/forecast/show_page.h"

#include "server/report/view.h"

#define WIDTH 960
#define LEFT 90
#define PLOT_WIDTH 860
#define HEIGHT 150
#define ROWS_MAX 100
#define LABEL_EVERY 100 /* at least, between labels of the time */

#define STYLE                                                                                      \
	"<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2em " \
	"auto;max-width:70em;padding:0 1em}h1,h2{line-height:1.2}.wide{overflow-x:auto}"           \
	"table{border-collapse:collapse}th,td{padding:.3em .8em .3em "                             \
	"0;text-align:right;border-bottom:1px solid #8884;vertical-align:top}"                     \
	"th:last-child,td:last-child{text-align:left;min-width:16em}"                              \
	"svg.plot{display:block;min-width:50em;width:100%}"                                        \
	".plot text{font:12px ui-monospace,monospace;fill:currentColor}.plot .r{text-anchor:end}"  \
	".plot .g{stroke:#8886}.read{fill:#4a7fd4}.write{fill:#d4704a}"                            \
	".k0{fill:#d4502a}.k1{fill:#4a7fd4}.k2{fill:#c9a227}.k3{fill:#2a9d8f}.k4{fill:#9a6bd0}"    \
	".k5{fill:#8d9299}.key{display:inline-block;width:.8em;height:.8em}"                       \
	".bar{display:inline-block;height:.7em;background:#4a7fd4}"                                \
	".bad{border-left:4px solid #d4502a;padding:.2em 1em}</style>"

/* On a phone it scrolls by itself, and the page does not. */
#define WIDE "<div class=\"wide\" tabindex=\"0\">"

static double column_left(const struct show_axis *axis, size_t column)
{
	return LEFT + (double)PLOT_WIDTH * (double)column / (double)axis->n;
}

/* With thousands apart, as people read them. */
static void page_count(struct buf *out, uint64_t n)
{
	char digits[32];
	size_t length = 0;

	do {
		digits[length++] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	while (length > 0) {
		buf_add_byte(out, digits[--length]);
		if (length > 0 && length % 3 == 0)
			buf_add_byte(out, ',');
	}
}

/* The frame of a chart: its greatest value, zero, and days. */
static void open_chart(struct buf *out, const struct show_axis *axis, const char *label,
		       double most)
{
	int64_t days = axis->hours / PLAN_HOURS;
	int64_t step = days * LABEL_EVERY / PLOT_WIDTH + 1;

	buf_printf(out,
		   "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">"
		   "<text class=\"r\" x=\"%d\" y=\"12\">",
		   WIDTH, HEIGHT + 20, label, LEFT - 8);
	page_count(out, (uint64_t)(most + 0.5));
	buf_printf(out,
		   "</text><text class=\"r\" x=\"%d\" y=\"%d\">0</text><path class=\"g\" "
		   "d=\"M%d 1H%d M%d %dH%d\"/>",
		   LEFT - 8, HEIGHT, LEFT, LEFT + PLOT_WIDTH, LEFT, HEIGHT, LEFT + PLOT_WIDTH);
	for (int64_t day = 0; day < days; day += step)
		buf_printf(out, "<text x=\"%.1f\" y=\"%d\">day %lld</text>",
			   LEFT + (double)PLOT_WIDTH * (double)day / (double)days, HEIGHT + 15,
			   (long long)day + 1);
}

static void add_column(struct buf *out, const struct show_axis *axis, const char *class,
		       size_t column, double from, double to)
{
	double left = column_left(axis, column), right = column_left(axis, column + 1);

	if (to > from)
		buf_printf(out,
			   "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			   "height=\"%.1f\"/>",
			   class, left, HEIGHT - to, right - left > 2 ? right - left - 1 : 1,
			   to - from);
}

static void page_throttled(const struct shown *shown, struct buf *out)
{
	const struct model_outcome *outcome = &shown->outcomes[0];
	struct show_axis axis = show_axis_of(shown);
	const double *sums = show_throttled(shown, &axis);
	double most = 0;

	for (size_t c = 0; c < axis.n; c++) {
		double all = 0;

		for (size_t k = 0; k < SHOW_COLOURS; k++)
			all += sums[k * axis.n + c];
		most = all > most ? all : most;
	}
	if (axis.per_column == 1)
		buf_add_lit(out, "<p>Attempts in each hour, by key:" WIDE);
	else
		buf_printf(out, "<p>Attempts in each %lld hours, by key:" WIDE,
			   (long long)axis.per_column);
	open_chart(out, &axis, "throttled requests over time", most);
	for (size_t c = 0; c < axis.n; c++) {
		double from = 0;

		for (size_t k = 0; k < SHOW_COLOURS; k++) {
			char class[] = {'k', (char)('0' + k), '\0'};
			double to = from + (HEIGHT - 2) * sums[k * axis.n + c] / most;

			add_column(out, &axis, class, c, from, to);
			from = to;
		}
	}
	buf_add_lit(out, "</svg></div>" WIDE "<table><tr><th>throttled<th><th>in its worst "
			 "hour<th>key, limit</tr>");
	for (size_t i = 0; i < outcome->n && i < ROWS_MAX; i++) {
		const struct model_row *row = &outcome->rows[i];
		const struct model_hour *worst = show_worst(row);

		buf_add_lit(out, "<tr><td>");
		page_count(out, row->throttled);
		buf_printf(out,
			   "<td><span class=\"key\"><svg viewBox=\"0 0 1 1\"><rect "
			   "class=\"k%zu\" width=\"1\" height=\"1\"/></svg></span><td>",
			   i < SHOW_COLOURS - 1 ? i : (size_t)SHOW_COLOURS - 1);
		page_count(out, worst->throttled);
		buf_add_lit(out, "<br>");
		buf_add_str(out, model_hour_name(shown->arena, worst->hour));
		buf_add_lit(out, "<td><b>");
		view_add_markup(out, row->key);
		buf_add_lit(out, "</b> of ");
		view_add_markup(out, show_where(shown, row));
		buf_add_lit(out, "<br>");
		buf_add_str(out, show_reason(shown, row));
		buf_add_lit(out, "<br>from ");
		buf_add_str(out, model_hour_name(shown->arena, row->hours[0].hour));
		buf_add_lit(out, "</tr>");
	}
	buf_add_lit(out, "</table></div>");
	if (outcome->n > ROWS_MAX)
		buf_printf(out, "<p>And %zu more keys; --json lists all.", outcome->n - ROWS_MAX);
}

/* What clients want of a table or index: the mean of a column's hours, units a second. */
static void page_demand(const struct shown *shown, size_t t, size_t p, struct buf *out)
{
	static const char *const classes[METER_SIDES] = {"read", "write"};
	const struct plan_table *table = &shown->plan->tables[t];
	const struct model_part *part = &shown->outcomes[0].tables[t].parts[p];
	const struct model_row row = {.table = t, .part = p};
	struct show_axis axis = show_axis_of(shown);
	double *sums[METER_SIDES], most = 0;

	for (enum meter_side side = 0; side < METER_SIDES; side++)
		sums[side] = show_demand(shown, &axis, &part->sides[side]);
	for (size_t c = 0; c < axis.n; c++) {
		double all = sums[METER_READ][c] + sums[METER_WRITE][c];

		most = all > most ? all : most;
	}
	if (most <= 0)
		return;
	buf_add_lit(out, "<h3>");
	view_add_markup(out, show_where(shown, &row));
	if (table->is_on_demand)
		buf_add_lit(out, "</h3><p>On demand." WIDE);
	else
		buf_printf(out,
			   "</h3><p>Provisioned; at the end %lld read and %lld write units a "
			   "second." WIDE,
			   (long long)part->sides[METER_READ].rate,
			   (long long)part->sides[METER_WRITE].rate);
	open_chart(out, &axis, "units a second that clients want", most);
	for (size_t c = 0; c < axis.n; c++) {
		double from = 0;

		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			double to = from + (HEIGHT - 2) * sums[side][c] / most;

			add_column(out, &axis, classes[side], c, from, to);
			from = to;
		}
	}
	buf_add_lit(out, "</svg></div>");
}

static void page_cost(const struct shown *shown, struct buf *out)
{
	const struct bill *bill = shown->bill;
	double most = 0;

	for (size_t i = 0; i < bill->n; i++)
		most = bill->lines[i].dollars > most ? bill->lines[i].dollars : most;
	buf_printf(out, "<p>In " STR_FMT ", by the prices of ", STR_ARG(bill->prices->currency));
	view_add_markup(out, bill->prices->source);
	buf_add_lit(out, "." WIDE "<table><tr><th>cost<th>quantity<th>line</tr>");
	for (size_t i = 0; i < bill->n; i++) {
		const struct bill_line *line = &bill->lines[i];

		if (line->dollars < 0)
			buf_add_lit(out, "<tr><td>unknown price");
		else
			buf_printf(out, "<tr><td>%.2f", line->dollars);
		buf_printf(out, "<td>%.4f<td>", line->quantity);
		view_add_markup(out, shown->plan->tables[line->table].name);
		buf_printf(out, ": %s", price_name(line->price));
		if (line->free > 0)
			buf_printf(out, ", %.4f of them free", line->free);
		if (line->dollars > 0)
			buf_printf(out, "<br><span class=\"bar\" style=\"width:%.2fem\"></span>",
				   15 * line->dollars / most);
		buf_add_lit(out, "</tr>");
	}
	buf_printf(out, "<tr><td><b>%.2f</b><td><td>in all%s</tr></table></div>", bill->dollars,
		   bill->is_partial ? ", without what has no price" : "");
}

static void page_savings(const struct shown *shown, struct buf *out)
{
	const struct bill *bill = shown->bill;

	if (bill->saving_count == 0)
		return;
	buf_add_lit(out, "<h2>What would save most</h2><ul>");
	for (size_t i = 0; i < bill->saving_count && i < SHOW_SAVINGS; i++) {
		buf_printf(out, "<li>%.2f: ", bill->savings[i].dollars);
		view_add_markup(out, bill->savings[i].text);
	}
	buf_add_lit(out, "</ul>");
}

static void page_patterns(const struct shown *shown, struct buf *out)
{
	buf_add_lit(out, "<h2>Patterns</h2>" WIDE "<table><tr><th>requests<th>throttled<th>failed"
			 "<th>waited in retries<th>pattern</tr>");
	for (size_t i = 0; i < shown->plan->pattern_count; i++) {
		const struct model_pattern *of = &shown->outcomes[0].patterns[i];

		buf_add_lit(out, "<tr><td>");
		page_count(out, of->requests);
		buf_add_lit(out, "<td>");
		page_count(out, of->throttled);
		buf_add_lit(out, "<td>");
		page_count(out, of->failed);
		buf_add_lit(out, "<td>");
		page_count(out, (uint64_t)(of->waited_s + 0.5));
		buf_add_lit(out, " s<td>");
		view_add_markup(out, shown->plan->patterns[i].name);
		buf_add_lit(out, "</tr>");
	}
	buf_add_lit(out, "</table></div>");
}

static void page_head(const struct shown *shown, struct buf *out)
{
	const struct model_outcome *outcome = &shown->outcomes[0];
	uint64_t throttled[2];
	double dollars[2];

	show_range_of(shown, throttled, dollars);
	buf_add_lit(out, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta "
			 "name=\"viewport\" content=\"width=device-width\">"
			 "<title>Forecast</title>" STYLE);
	buf_printf(out, "<h1>Forecast of %lld days</h1><p><b>%.2f " STR_FMT "</b>; ",
		   (long long)shown->plan->days, shown->bill->dollars,
		   STR_ARG(shown->bill->prices->currency));
	page_count(out, outcome->requests);
	buf_add_lit(out, " requests, ");
	page_count(out, outcome->throttled);
	buf_add_lit(out, " attempts throttled, ");
	page_count(out, outcome->failed);
	buf_printf(out, " requests failed. With %d seeds %.2f to %.2f, and ", SHOW_SEEDS,
		   dollars[0], dollars[1]);
	page_count(out, throttled[0]);
	buf_add_lit(out, " to ");
	page_count(out, throttled[1]);
	buf_add_lit(out, " throttled.");
	for (size_t i = 0; i < shown->problem_count; i++) {
		buf_add_lit(out, "<p class=\"bad\">Failed: ");
		view_add_markup(out, shown->problems[i]);
	}
}

void show_page(const struct shown *shown, struct buf *out)
{
	page_head(shown, out);
	buf_add_lit(out, "<h2>Throttling</h2>");
	if (shown->outcomes[0].n == 0)
		buf_add_lit(out, "<p>Nothing is throttled.");
	else
		page_throttled(shown, out);
	buf_add_lit(out, "<h2>Capacity that clients want</h2><p>Units a second, without retries: "
			 "<svg width=\"10\" height=\"10\"><rect class=\"read\" width=\"10\" "
			 "height=\"10\"/></svg> reads, <svg width=\"10\" height=\"10\"><rect "
			 "class=\"write\" width=\"10\" height=\"10\"/></svg> writes.");
	for (size_t t = 0; t < shown->plan->table_count; t++) {
		for (size_t p = 0; p < shown->plan->tables[t].n; p++)
			page_demand(shown, t, p, out);
	}
	buf_add_lit(out, "<h2>Cost</h2>");
	page_cost(shown, out);
	page_savings(shown, out);
	page_patterns(shown, out);
	if (shown->plan->note_count > 0)
		buf_add_lit(out, "<h2>Notes</h2>");
	for (size_t i = 0; i < shown->plan->note_count; i++) {
		buf_add_lit(out, "<p>");
		view_add_markup(out, shown->plan->notes[i]);
	}
	buf_add_lit(out, "</html>\n");
}
