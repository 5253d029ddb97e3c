#include "server/report/form.h"

#include <string.h>

#include "server/report/page.h"
#include "server/report/plot.h"

#define COLUMNS 80     /* of a terminal */
#define SPARK 32
#define PARTITION_ROWS 5 /* of a table */
#define OPEN_ROWS 20     /* of a table of Markdown; more are folded away */

static size_t letters_of(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
	return n;
}

/* Words in lines as long as a terminal's, the second and later ones indented. `column` letters of
 * the first are there. */
static void add_lines(struct buf *out, size_t column, unsigned indent, struct str text)
{
	bool is_first = true;

	while (text.n > 0) {
		size_t n = 0;

		while (n < text.n && text.p[n] != ' ' && text.p[n] != '\n')
			n++;
		struct str word = {text.p, n};
		size_t length = letters_of(word);
		if (n > 0 && !is_first && column + 1 + length > COLUMNS) {
			buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (n > 0 && !is_first) {
			buf_add_byte(out, ' ');
			column++;
		}
		buf_add_str(out, word);
		column += length;
		is_first = is_first && n == 0;
		n += n < text.n;
		text = (struct str){text.p + n, text.n - n};
	}
	buf_add_byte(out, '\n');
}

static void text_finding(const struct view *view, const struct json *finding, struct buf *out)
{
	struct str pattern = view_text(view, finding, "pattern");
	struct buf line = buf_in(view->arena);

	buf_printf(&line, STR_FMT ": " STR_FMT ": " STR_FMT,
		   STR_ARG(view_text(view, finding, "finding")),
		   STR_ARG(view_text(view, finding, "where")),
		   STR_ARG(view_text(view, finding, "what")));
	if (pattern.n > 0)
		buf_printf(&line, " [" STR_FMT "]", STR_ARG(pattern));
	buf_add_byte(out, '\n');
	add_lines(out, 0, 2, buf_str(&line));
	buf_add_lit(out, "  ");
	add_lines(out, 2, 2, view_text(view, finding, "evidence"));
	for (size_t i = 0; i < 2; i++) {
		struct str about = view_text(view, finding, i == 0 ? "access" : "example");

		if (about.n > 0) {
			buf_add_lit(out, "  in ");
			add_lines(out, 5, 5, about);
		}
	}
	buf_add_lit(out, "  -> ");
	add_lines(out, 5, 5, view_text(view, finding, "advice"));
}

static void text_partitions(const struct view *view, struct buf *out)
{
	const struct json *rows[PARTITION_ROWS];

	for (const struct json *t = view_list(view, "tables"); t; t = json_next(t)) {
		size_t n = plot_busiest(t, rows, PARTITION_ROWS);

		if (n > 0)
			buf_printf(out,
				   "\nBusiest partitions of " STR_FMT
				   ", and their units over time\n\n",
				   STR_ARG(view_text(view, t, "table")));
		for (size_t i = 0; i < n; i++) {
			struct str index = view_text(view, rows[i], "index");

			buf_printf(out, "%10.1f  |", view_units(rows[i]));
			plot_spark(view, rows[i], SPARK, out);
			buf_printf(out, "|  " STR_FMT "%s" STR_FMT "\n", STR_ARG(index),
				   index.n > 0 ? " " : "",
				   STR_ARG(view_text(view, rows[i], "partition")));
		}
	}
}

static void write_text(const struct view *view, struct buf *out)
{
	struct buf head = buf_in(view->arena);

	view_head(view, &head);
	add_lines(out, 0, 2, buf_str(&head));
	head = buf_in(view->arena);
	if (view->money) {
		view_money(view, &head);
		add_lines(out, 0, 2, buf_str(&head));
	}
	buf_printf(out, "\n%10s %8s %8s %8s %9s %9s  %s\n", "units", "calls", "median", "p99",
		   "read", "returned", "pattern");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		buf_printf(out, "%10.1f %8.0f %8.1f %8.1f %9.0f %9.0f  [" STR_FMT "]\n    ",
			   view_units(p), view_number(p, "calls"), view_part(p, "units", "median"),
			   view_part(p, "units", "p99"), view_number(p, "items_read"),
			   view_number(p, "items_returned"), STR_ARG(view_text(view, p, "id")));
		add_lines(out, 4, 6, view_line(view, p));
	}
	text_partitions(view, out);
	size_t findings = view_count(view_list(view, "findings"));
	buf_printf(out, "\n%zu finding%s\n", findings, findings == 1 ? "" : "s");
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f))
		text_finding(view, f, out);
	for (size_t i = 0; i < view->problem_count; i++)
		buf_printf(out, "%s" STR_FMT "\n", i == 0 ? "\nThe gate is closed:\n" : "",
			   STR_ARG(view->problems[i]));
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

static void markdown_patterns(const struct view *view, struct buf *out)
{
	size_t n = view_count(view_list(view, "patterns"));

	buf_printf(out, "\n## Patterns (%zu)\n\n", n);
	if (n > OPEN_ROWS)
		buf_add_lit(out, "<details><summary>All patterns, the dearest first</summary>\n\n");
	buf_add_lit(out, "| units | calls | median | p99 | read | returned | pattern |\n| ---: | "
			 "---: | ---: | ---: | ---: | ---: | --- |\n");
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		buf_printf(out, "| %.1f | %.0f | %.1f | %.1f | %.0f | %.0f | ", view_units(p),
			   view_number(p, "calls"), view_part(p, "units", "median"),
			   view_part(p, "units", "p99"), view_number(p, "items_read"),
			   view_number(p, "items_returned"));
		add_cell(out, view_line(view, p));
		buf_add_lit(out, " |\n");
	}
	if (n > OPEN_ROWS)
		buf_add_lit(out, "\n</details>\n");
}

/* For a pull request: what needs a decision comes first. */
static void write_markdown(const struct view *view, struct buf *out)
{
	buf_add_lit(out, "# Access patterns\n\n");
	view_head(view, out);
	if (view->money) {
		buf_add_lit(out, "\n");
		view_money(view, out);
	}
	for (size_t i = 0; i < view->problem_count; i++) {
		buf_printf(out, "%s- ", i == 0 ? "\n## The gate is closed\n\n" : "");
		add_cell(out, view->problems[i]);
		buf_add_lit(out, "\n");
	}
	buf_printf(out, "\n## Findings (%zu)\n", view_count(view_list(view, "findings")));
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		buf_printf(out, "\n- **" STR_FMT "** ", STR_ARG(view_text(view, f, "finding")));
		add_cell(out, view_text(view, f, "where"));
		buf_printf(out, " " STR_FMT ": ", STR_ARG(view_text(view, f, "what")));
		buf_add_str(out, view_text(view, f, "evidence"));
		buf_printf(out, ". " STR_FMT, STR_ARG(view_text(view, f, "advice")));
		for (size_t i = 0; i < 2; i++) {
			struct str about = view_text(view, f, i == 0 ? "access" : "example");

			if (about.n > 0) {
				buf_printf(out, "%s", i == 0 ? " In " : ", as ");
				add_cell(out, about);
			}
		}
		buf_add_lit(out, "\n");
	}
	markdown_patterns(view, out);
}

view_write *form_named(const char *name)
{
	static const struct {
		const char *name;
		view_write *write;
	} views[] = {
		{"text", write_text},  {"json", write_json},         {"html", page_write},
		{"svg", plot_picture}, {"markdown", write_markdown}, {"sarif", view_sarif},
		{"junit", view_junit},
	};

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (strcmp(views[i].name, name) == 0)
			return views[i].write;
	}
	return NULL;
}
