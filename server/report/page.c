#include "server/report/page.h"

#include "server/report/plot.h"

#define STYLE                                                                                      \
	"<style>:root{color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;margin:2em " \
	"auto;max-width:75em;padding:0 1em}"                                                       \
	"table{border-collapse:collapse;width:100%}th,td{padding:.3em "                            \
	".6em;text-align:right;border-bottom:1px solid #8884;vertical-align:top}"                  \
	"th:last-child,td:last-child{text-align:left;min-width:22em}code{font:13px "               \
	"ui-monospace,monospace;overflow-wrap:anywhere}"                                           \
	".bar{display:inline-block;height:.7em;background:#4a7fd4;vertical-align:middle}.w{"       \
	"background:#d4704a}.wide{overflow-x:auto}svg.plot{display:block;margin:1em "              \
	"0;min-width:50em}"                                                                        \
	".sizes{fill:#4a7fd4;stroke:#8888}.sizes "                                                 \
	".median{stroke:currentColor;stroke-width:2}" PLOT_STYLE                                   \
	"article{border-left:4px solid #d4a04a;padding:.2em 1em;margin:1em "                       \
	"0}article.note{border-color:#8888}</style>"

/* On a phone it scrolls by itself, and the page does not. */
#define WIDE "<div class=\"wide\" tabindex=\"0\">"

/* A bar whose length is the share of `most`. */
static void add_bar(struct buf *out, double value, double most, const char *class)
{
	buf_printf(out, "<span class=\"bar %s\" style=\"width:%.1fem\"></span>", class,
		   most > 0 ? 12 * value / most : 0);
}

static void html_patterns(const struct view *view, struct buf *out)
{
	double most = 0;

	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p))
		most = view_units(p) > most ? view_units(p) : most;
	buf_add_lit(out, WIDE "<table><tr><th>units<th>read and "
			      "write<th>calls<th>median<th>p99<th>read<th>returned<th>bytes of an "
			      "item<th>pattern</tr>");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		buf_printf(out, "<tr><td>%.1f<td>", view_units(p));
		add_bar(out, view_number(p, "read_units"), most, "");
		add_bar(out, view_number(p, "write_units"), most, "w");
		buf_printf(out,
			   "<td>%.0f<td>%.1f<td>%.1f<td>%.0f<td>%.0f<td>%.0f to %.0f<td><code>",
			   view_number(p, "calls"), view_part(p, "units", "median"),
			   view_part(p, "units", "p99"), view_number(p, "items_read"),
			   view_number(p, "items_returned"), view_part(p, "item_bytes", "median"),
			   view_part(p, "item_bytes", "max"));
		view_add_markup(out, view_line(view, p));
		buf_add_lit(out, "</code></tr>");
	}
	buf_add_lit(out, "</table></div>");
}

/* Doublings from 1 byte on: a logarithm, straight between powers of two. */
static double doublings_of(double bytes)
{
	double n = 0;

	for (; bytes >= 2; bytes /= 2)
		n++;
	return bytes > 1 ? n + bytes - 1 : n;
}

/* The least to the greatest item as a line, up to the 99th percentile as a bar, the median as a
 * notch; `limit` is the right end. */
static void add_sizes(struct buf *out, const struct json *pattern, double limit)
{
	static const char *const names[] = {"min", "median", "p99", "max"};
	double at[4];

	for (size_t i = 0; i < 4; i++)
		at[i] = 200 * doublings_of(view_part(pattern, "item_bytes", names[i])) /
			doublings_of(limit);
	buf_printf(out,
		   "<svg class=\"sizes\" width=\"200\" height=\"14\" viewBox=\"0 0 200 14\"><path "
		   "d=\"M0 13.5H200\"/><path d=\"M%.1f 7H%.1f\"/>",
		   at[0], at[3]);
	buf_printf(out,
		   "<rect x=\"%.1f\" y=\"3\" width=\"%.1f\" height=\"8\"/><path class=\"median\" "
		   "d=\"M%.1f 1V13\"/></svg>",
		   at[0], at[2] > at[0] ? at[2] - at[0] : 1.0, at[1]);
}

static void html_sizes(const struct view *view, struct buf *out)
{
	buf_add_lit(out, "<p>From 1 byte to the limit of 400 KB, each doubling as wide as the "
			 "next: least to greatest as a line, up to the 99th percentile as a bar, "
			 "the median as a "
			 "notch." WIDE
			 "<table><tr><th>median<th>p99<th>greatest<th>bytes<th>pattern</tr>");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		if (view_part(p, "item_bytes", "max") <= 0)
			continue;
		buf_printf(out, "<tr><td>%.0f<td>%.0f<td>%.0f<td>",
			   view_part(p, "item_bytes", "median"), view_part(p, "item_bytes", "p99"),
			   view_part(p, "item_bytes", "max"));
		add_sizes(out, p, 400 * 1024);
		buf_add_lit(out, "<td><code>");
		view_add_markup(out, view_line(view, p));
		buf_add_lit(out, "</code></tr>");
	}
	buf_add_lit(out, "</table></div>");
}

static void html_partitions(const struct view *view, struct buf *out)
{
	for (const struct json *t = view_list(view, "tables"); t; t = json_next(t)) {
		const struct json *list = json_member(t, "partitions");
		size_t max = list && json_type(list) == JSON_ARRAY ? json_count(list) : 0;
		const struct json **rows = ARENA_ARRAY(view->arena, const struct json *, max + 1);
		size_t n = plot_busiest(t, rows, max);
		double most = n > 0 ? view_units(rows[0]) : 0;

		buf_add_lit(out, "<h3>");
		view_add_markup(out, view_text(view, t, "table"));
		buf_add_lit(out, "</h3>" WIDE);
		plot_partitions(view, t, out);
		buf_add_lit(out, "<table><tr><th>units<th>read and write<th>requests<th>most in a "
				 "second<th>partition</tr>");
		for (size_t i = 0; i < n; i++) {
			const struct json *p = rows[i];

			buf_printf(out, "<tr><td>%.1f<td>", view_units(p));
			add_bar(out, view_number(p, "read_units"), most, "");
			add_bar(out, view_number(p, "write_units"), most, "w");
			buf_printf(out, "<td>%.0f<td>%.0f read, %.0f write<td><code>",
				   view_number(p, "requests"), view_number(p, "peak_read_units"),
				   view_number(p, "peak_write_units"));
			view_add_markup(out, view_text(view, p, "index"));
			buf_add_lit(out, " ");
			view_add_markup(out, view_text(view, p, "partition"));
			buf_add_lit(out, "</code></tr>");
		}
		buf_add_lit(out, "</table></div>");
	}
}

void page_write(const struct view *view, struct buf *out)
{
	buf_add_lit(out, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta "
			 "name=\"viewport\" content=\"width=device-width\">"
			 "<title>Access patterns</title>" STYLE "<h1>Access patterns</h1><p>");
	view_head(view, out);
	if (view->money) {
		buf_add_lit(out, "<p>");
		view_money(view, out);
	}
	for (size_t i = 0; i < view->problem_count; i++) {
		buf_printf(out, "%s<p><code>", i == 0 ? "<h2>The gate is closed</h2>" : "");
		view_add_markup(out, view->problems[i]);
		buf_add_lit(out, "</code>");
	}
	buf_printf(out, "<h2>Findings (%zu)</h2>", view_count(view_list(view, "findings")));
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		buf_printf(out, "<article class=\"" STR_FMT "\"><b>",
			   STR_ARG(view_text(view, f, "severity")));
		view_add_markup(out, view_text(view, f, "what"));
		buf_add_lit(out, "</b> <code>");
		view_add_markup(out, view_text(view, f, "where"));
		buf_add_lit(out, "</code><br>");
		view_add_markup(out, view_text(view, f, "evidence"));
		buf_add_lit(out, "<br><i>");
		view_add_markup(out, view_text(view, f, "advice"));
		buf_add_lit(out, "</i>");
		for (size_t i = 0; i < 2; i++) {
			struct str about = view_text(view, f, i == 0 ? "access" : "example");

			if (about.n == 0)
				continue;
			buf_add_lit(out, "<br><code>");
			view_add_markup(out, about);
			buf_add_lit(out, "</code>");
		}
		buf_add_lit(out, "</article>");
	}
	buf_add_lit(out, "<h2>Capacity by pattern</h2>" WIDE);
	plot_patterns(view, out);
	buf_add_lit(out, "</div><h2>Capacity over time</h2>" WIDE);
	plot_time(view, out);
	buf_add_lit(out, "</div><h2>Patterns</h2>");
	html_patterns(view, out);
	buf_add_lit(out, "<h2>Item sizes</h2>");
	html_sizes(view, out);
	buf_add_lit(out, "<h2>Busiest partitions</h2>");
	html_partitions(view, out);
	buf_add_lit(out, "</html>\n");
}
