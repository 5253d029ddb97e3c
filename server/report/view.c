#include "server/report/view.h"

#include <string.h>

struct str view_text(const struct view *view, const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	return member && json_type(member) == JSON_STRING ? json_string(view->arena, member) : STR("");
}

double view_number(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	return member && json_type(member) == JSON_NUMBER ? json_number(member) : 0;
}

const struct json *view_list(const struct view *view, const char *name)
{
	const struct json *member = json_member(view->root, name);

	return member && json_type(member) == JSON_ARRAY ? json_first(member) : NULL;
}

static double part_of(const struct json *object, const char *sketch, const char *name)
{
	const struct json *member = json_member(object, sketch);

	return member && json_type(member) == JSON_OBJECT ? view_number(member, name) : 0;
}

struct str view_line(const struct view *view, const struct json *pattern)
{
	static const struct {
		const char *name, *before, *after;
	} parts[] = {
		{"key", ": ", ""}, {"filter", "; filter ", ""}, {"projection", "; only ", ""}, {"update", "; ", ""}, {"condition", "; if ", ""}, {"how", "; ", ""},
	};
	struct buf buf = buf_in(view->arena);
	struct str kind = view_text(view, pattern, "kind"), table = view_text(view, pattern, "table"), index = view_text(view, pattern, "index");

	buf_add_str(&buf, view_text(view, pattern, "operation"));
	if (kind.n > 0)
		buf_printf(&buf, " (" STR_FMT ")", STR_ARG(kind));
	if (table.n > 0)
		buf_printf(&buf, " " STR_FMT, STR_ARG(table));
	if (index.n > 0)
		buf_printf(&buf, "." STR_FMT, STR_ARG(index));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct str part = view_text(view, pattern, parts[i].name);

		if (part.n > 0)
			buf_printf(&buf, "%s" STR_FMT "%s", parts[i].before, STR_ARG(part), parts[i].after);
	}
	return buf_str(&buf);
}

static double units_of(const struct json *object)
{
	return view_number(object, "read_units") + view_number(object, "write_units");
}

static double cost_of(const struct view *view, const struct json *object)
{
	return money_on_demand(view->money, view_number(object, "read_units"), view_number(object, "write_units"), view_number(view->root, "requests"));
}

static size_t count(const struct json *first)
{
	size_t n = 0;

	for (; first; first = json_next(first))
		n++;
	return n;
}

static void money_line(const struct view *view, struct buf *out)
{
	const struct money *money = view->money;
	double provisioned = money_provisioned(money, view_number(view->root, "read_units"), view_number(view->root, "write_units"),
					       view_number(view->root, "requests"));

	if (money->rate > 0)
		buf_printf(out, "At %.0f requests a second like these: %.2f " STR_FMT " a month on demand, %.2f provisioned (prices of " STR_FMT ")\n", money->rate,
			   cost_of(view, view->root), STR_ARG(money->currency), provisioned, STR_ARG(money->source));
	else
		buf_printf(out, "On demand these requests cost %.6f " STR_FMT " (prices of " STR_FMT "); --rate N tells a month\n", cost_of(view, view->root),
			   STR_ARG(money->currency), STR_ARG(money->source));
}

static void head(const struct view *view, struct buf *out)
{
	buf_printf(out, "%.0f requests in %zu access patterns: %.1f read units, %.1f write units\n", view_number(view->root, "requests"),
		   count(view_list(view, "patterns")), view_number(view->root, "read_units"), view_number(view->root, "write_units"));
}

static void write_text(const struct view *view, struct buf *out)
{
	head(view, out);
	if (view->money)
		money_line(view, out);
	buf_printf(out, "\n%10s %8s %8s %8s %9s %9s  %s\n", "units", "calls", "median", "p99", "read", "returned", "pattern");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p))
		buf_printf(out, "%10.1f %8.0f %8.1f %8.1f %9.0f %9.0f  [" STR_FMT "] " STR_FMT "\n", units_of(p), view_number(p, "calls"),
			   part_of(p, "units", "median"), part_of(p, "units", "p99"), view_number(p, "items_read"), view_number(p, "items_returned"),
			   STR_ARG(view_text(view, p, "id")), STR_ARG(view_line(view, p)));
	buf_printf(out, "\n%zu findings\n", count(view_list(view, "findings")));
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		struct str pattern = view_text(view, f, "pattern");

		buf_printf(out, "\n" STR_FMT ": " STR_FMT ": " STR_FMT, STR_ARG(view_text(view, f, "finding")), STR_ARG(view_text(view, f, "where")),
			   STR_ARG(view_text(view, f, "what")));
		if (pattern.n > 0)
			buf_printf(out, " [" STR_FMT "]", STR_ARG(pattern));
		buf_printf(out, "\n  " STR_FMT "\n  -> " STR_FMT "\n", STR_ARG(view_text(view, f, "evidence")), STR_ARG(view_text(view, f, "advice")));
	}
	for (size_t i = 0; i < view->problem_count; i++)
		buf_printf(out, "%s" STR_FMT "\n", i == 0 ? "\nThe gate is closed:\n" : "", STR_ARG(view->problems[i]));
}

static void write_json(const struct view *view, struct buf *out)
{
	buf_add_str(out, view->description);
	buf_add_lit(out, "\n");
}

/* In a cell of a table of Markdown. */
static void add_cell(struct buf *out, struct str text)
{
	buf_add_lit(out, "`");
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '|')
			buf_add_lit(out, "\\|");
		else if (text.p[i] != '`')
			buf_add_byte(out, (unsigned char)text.p[i]);
	}
	buf_add_lit(out, "`");
}

static void write_markdown(const struct view *view, struct buf *out)
{
	buf_add_lit(out, "# Access patterns\n\n");
	head(view, out);
	if (view->money) {
		buf_add_lit(out, "\n");
		money_line(view, out);
	}
	buf_add_lit(out, "\n| units | calls | median | p99 | read | returned | pattern |\n| ---: | ---: | ---: | ---: | ---: | ---: | --- |\n");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		buf_printf(out, "| %.1f | %.0f | %.1f | %.1f | %.0f | %.0f | ", units_of(p), view_number(p, "calls"), part_of(p, "units", "median"),
			   part_of(p, "units", "p99"), view_number(p, "items_read"), view_number(p, "items_returned"));
		add_cell(out, view_line(view, p));
		buf_add_lit(out, " |\n");
	}
	buf_printf(out, "\n## Findings (%zu)\n", count(view_list(view, "findings")));
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		buf_printf(out, "\n- **" STR_FMT "** ", STR_ARG(view_text(view, f, "finding")));
		add_cell(out, view_text(view, f, "where"));
		buf_printf(out, " " STR_FMT ": ", STR_ARG(view_text(view, f, "what")));
		buf_add_str(out, view_text(view, f, "evidence"));
		buf_printf(out, ". " STR_FMT "\n", STR_ARG(view_text(view, f, "advice")));
	}
	for (size_t i = 0; i < view->problem_count; i++) {
		buf_printf(out, "%s- ", i == 0 ? "\n## The gate is closed\n\n" : "");
		add_cell(out, view->problems[i]);
		buf_add_lit(out, "\n");
	}
}

static void add_html(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '&':
			buf_add_lit(out, "&amp;");
			break;
		case '<':
			buf_add_lit(out, "&lt;");
			break;
		case '>':
			buf_add_lit(out, "&gt;");
			break;
		case '"':
			buf_add_lit(out, "&quot;");
			break;
		default:
			buf_add_byte(out, (unsigned char)text.p[i]);
		}
	}
}

#define STYLE                                                                                                                        \
	"<style>:root{color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}"    \
	"table{border-collapse:collapse;width:100%}th,td{padding:.3em .6em;text-align:right;border-bottom:1px solid #8884;vertical-align:top}" \
	"th:last-child,td:last-child{text-align:left}code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}"                       \
	".bar{display:inline-block;height:.7em;background:#4a7fd4;vertical-align:middle}.w{background:#d4704a}"                           \
	".sizes{fill:#4a7fd4;stroke:#8888}.sizes .median{stroke:currentColor;stroke-width:2}"                                            \
	"article{border-left:4px solid #d4a04a;padding:.2em 1em;margin:1em 0}article.note{border-color:#8888}</style>"

/* A bar whose length is the share of `most`. */
static void add_bar(struct buf *out, double value, double most, const char *class)
{
	buf_printf(out, "<span class=\"bar %s\" style=\"width:%.1fem\"></span>", class, most > 0 ? 12 * value / most : 0);
}

static void html_patterns(const struct view *view, struct buf *out)
{
	double most = 0;

	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p))
		most = units_of(p) > most ? units_of(p) : most;
	buf_add_lit(out, "<table><tr><th>units<th>read and write<th>calls<th>median<th>p99<th>read<th>returned<th>bytes of an item<th>pattern</tr>");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		buf_printf(out, "<tr><td>%.1f<td>", units_of(p));
		add_bar(out, view_number(p, "read_units"), most, "");
		add_bar(out, view_number(p, "write_units"), most, "w");
		buf_printf(out, "<td>%.0f<td>%.1f<td>%.1f<td>%.0f<td>%.0f<td>%.0f to %.0f<td><code>", view_number(p, "calls"), part_of(p, "units", "median"),
			   part_of(p, "units", "p99"), view_number(p, "items_read"), view_number(p, "items_returned"), part_of(p, "item_bytes", "median"),
			   part_of(p, "item_bytes", "max"));
		add_html(out, view_line(view, p));
		buf_add_lit(out, "</code></tr>");
	}
	buf_add_lit(out, "</table>");
}

/* Doublings from 1 byte on: a logarithm, straight between powers of two. */
static double doublings_of(double bytes)
{
	double n = 0;

	for (; bytes >= 2; bytes /= 2)
		n++;
	return bytes > 1 ? n + bytes - 1 : n;
}

/* The least to the greatest item as a line, up to the 99th percentile as a bar, the median as a notch; `limit` is the right end. */
static void add_sizes(struct buf *out, const struct json *pattern, double limit)
{
	static const char *const names[] = {"min", "median", "p99", "max"};
	double at[4];

	for (size_t i = 0; i < 4; i++)
		at[i] = 200 * doublings_of(part_of(pattern, "item_bytes", names[i])) / doublings_of(limit);
	buf_printf(out, "<svg class=\"sizes\" width=\"200\" height=\"14\" viewBox=\"0 0 200 14\"><path d=\"M0 13.5H200\"/><path d=\"M%.1f 7H%.1f\"/>", at[0], at[3]);
	buf_printf(out, "<rect x=\"%.1f\" y=\"3\" width=\"%.1f\" height=\"8\"/><path class=\"median\" d=\"M%.1f 1V13\"/></svg>", at[0],
		   at[2] > at[0] ? at[2] - at[0] : 1.0, at[1]);
}

static void html_sizes(const struct view *view, struct buf *out)
{
	buf_add_lit(out, "<p>From 1 byte to the limit of 400 KB, each doubling as wide as the next: least to greatest as a line, up to the 99th percentile as a bar, "
			 "the median as a notch.<table><tr><th>median<th>p99<th>greatest<th>bytes<th>pattern</tr>");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		if (part_of(p, "item_bytes", "max") <= 0)
			continue;
		buf_printf(out, "<tr><td>%.0f<td>%.0f<td>%.0f<td>", part_of(p, "item_bytes", "median"), part_of(p, "item_bytes", "p99"), part_of(p, "item_bytes", "max"));
		add_sizes(out, p, 400 * 1024);
		buf_add_lit(out, "<td><code>");
		add_html(out, view_line(view, p));
		buf_add_lit(out, "</code></tr>");
	}
	buf_add_lit(out, "</table>");
}

static void html_partitions(const struct view *view, struct buf *out)
{
	for (const struct json *t = view_list(view, "tables"); t; t = json_next(t)) {
		const struct json *list = json_member(t, "partitions");
		double most = 0;

		for (const struct json *p = list ? json_first(list) : NULL; p; p = json_next(p))
			most = units_of(p) > most ? units_of(p) : most;
		buf_add_lit(out, "<h3>");
		add_html(out, view_text(view, t, "table"));
		buf_add_lit(out, "</h3><table><tr><th>units<th>read and write<th>requests<th>most in a second<th>partition</tr>");
		for (const struct json *p = list ? json_first(list) : NULL; p; p = json_next(p)) {
			buf_printf(out, "<tr><td>%.1f<td>", units_of(p));
			add_bar(out, view_number(p, "read_units"), most, "");
			add_bar(out, view_number(p, "write_units"), most, "w");
			buf_printf(out, "<td>%.0f<td>%.0f read, %.0f write<td><code>", view_number(p, "requests"), view_number(p, "peak_read_units"),
				   view_number(p, "peak_write_units"));
			add_html(out, view_text(view, p, "index"));
			buf_add_lit(out, " ");
			add_html(out, view_text(view, p, "partition"));
			buf_add_lit(out, "</code></tr>");
		}
		buf_add_lit(out, "</table>");
	}
}

/* One file that asks no other host for anything. */
static void write_html(const struct view *view, struct buf *out)
{
	buf_add_lit(out, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
			 "<title>Access patterns</title>" STYLE "<h1>Access patterns</h1><p>");
	head(view, out);
	if (view->money) {
		buf_add_lit(out, "<p>");
		money_line(view, out);
	}
	for (size_t i = 0; i < view->problem_count; i++) {
		buf_printf(out, "%s<p><code>", i == 0 ? "<h2>The gate is closed</h2>" : "");
		add_html(out, view->problems[i]);
		buf_add_lit(out, "</code>");
	}
	buf_printf(out, "<h2>Findings (%zu)</h2>", count(view_list(view, "findings")));
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		buf_printf(out, "<article class=\"" STR_FMT "\"><b>", STR_ARG(view_text(view, f, "severity")));
		add_html(out, view_text(view, f, "what"));
		buf_add_lit(out, "</b> <code>");
		add_html(out, view_text(view, f, "where"));
		buf_add_lit(out, "</code><br>");
		add_html(out, view_text(view, f, "evidence"));
		buf_add_lit(out, "<br><i>");
		add_html(out, view_text(view, f, "advice"));
		buf_add_lit(out, "</i></article>");
	}
	buf_add_lit(out, "<h2>Patterns</h2>");
	html_patterns(view, out);
	buf_add_lit(out, "<h2>Item sizes</h2>");
	html_sizes(view, out);
	buf_add_lit(out, "<h2>Busiest partitions</h2>");
	html_partitions(view, out);
	buf_add_lit(out, "</html>\n");
}

view_write *view_named(const char *name)
{
	static const struct {
		const char *name;
		view_write *write;
	} views[] = {
		{"text", write_text}, {"json", write_json}, {"html", write_html}, {"markdown", write_markdown}, {"sarif", view_sarif}, {"junit", view_junit},
	};

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (strcmp(views[i].name, name) == 0)
			return views[i].write;
	}
	return NULL;
}
