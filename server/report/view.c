#include "server/report/view.h"

struct str view_text(const struct view *view, const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	return member && json_type(member) == JSON_STRING ? json_string(view->arena, member)
							  : STR("");
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

double view_part(const struct json *object, const char *sketch, const char *name)
{
	const struct json *member = json_member(object, sketch);

	return member && json_type(member) == JSON_OBJECT ? view_number(member, name) : 0;
}

struct str view_line(const struct view *view, const struct json *pattern)
{
	static const struct {
		const char *name, *before, *after;
	} parts[] = {
		{"key", ": ", ""},    {"filter", "; filter ", ""}, {"projection", "; only ", ""},
		{"update", "; ", ""}, {"condition", "; if ", ""},  {"how", "; ", ""},
	};
	struct buf buf = buf_in(view->arena);
	struct str kind = view_text(view, pattern, "kind"),
		   table = view_text(view, pattern, "table"),
		   index = view_text(view, pattern, "index");

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
			buf_printf(&buf, "%s" STR_FMT "%s", parts[i].before, STR_ARG(part),
				   parts[i].after);
	}
	return buf_str(&buf);
}

double view_units(const struct json *object)
{
	return view_number(object, "read_units") + view_number(object, "write_units");
}

static double cost_of(const struct view *view, const struct json *object)
{
	return money_on_demand(view->money, view_number(object, "read_units"),
			       view_number(object, "write_units"),
			       view_number(view->root, "requests"));
}

size_t view_count(const struct json *first)
{
	size_t n = 0;

	for (; first; first = json_next(first))
		n++;
	return n;
}

void view_money(const struct view *view, struct buf *out)
{
	const struct money *money = view->money;
	double provisioned = money_provisioned(money, view_number(view->root, "read_units"),
					       view_number(view->root, "write_units"),
					       view_number(view->root, "requests"));

	if (money->rate > 0)
		buf_printf(out,
			   "At %.0f requests a second like these: %.2f " STR_FMT
			   " a month on demand, %.2f provisioned (prices of " STR_FMT ")\n",
			   money->rate, cost_of(view, view->root), STR_ARG(money->currency),
			   provisioned, STR_ARG(money->source));
	else
		buf_printf(out,
			   "On demand these requests cost %.6f " STR_FMT " (prices of " STR_FMT
			   "); --rate N gives the cost of a month\n",
			   cost_of(view, view->root), STR_ARG(money->currency),
			   STR_ARG(money->source));
}

void view_head(const struct view *view, struct buf *out)
{
	double servers = view_number(view->root, "servers");

	buf_printf(out, "%.0f requests", view_number(view->root, "requests"));
	if (servers > 1)
		buf_printf(out, " to %.0f servers", servers);
	buf_printf(out, " in %zu access patterns: %.1f read units, %.1f write units\n",
		   view_count(view_list(view, "patterns")), view_number(view->root, "read_units"),
		   view_number(view->root, "write_units"));
}

void view_add_markup(struct buf *out, struct str text)
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
