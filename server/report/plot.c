#include "server/report/plot.h"

#include <math.h>

#define WIDTH 960
#define ROW 18
#define COLOURS 8          /* the last is that of all others */
#define PATTERN_ROWS 12
#define PARTITION_ROWS 16
#define BUCKETS_MAX 64
#define LABEL_LETTERS 34
#define PATTERN_LETTERS 88
#define PLOT_LEFT 262
#define PLOT_RIGHT 950
#define AREA_HEIGHT 120
#define FINDINGS_MAX 6

/* A plot of a picture, before its place is known. */
struct drawing {
	struct buf buf;
	double height;
};

static unsigned bucket_count(const struct view *view)
{
	const struct json *time = json_member(view->root, "time");
	double n = time ? view_number(time, "buckets") : 0;

	return n < BUCKETS_MAX ? (unsigned)n : BUCKETS_MAX;
}

/* Reads "over_time"; returns the greatest. */
static double read_series(const struct json *object, double *buckets)
{
	const struct json *list = json_member(object, "over_time");
	double most = 0;
	unsigned i = 0;

	for (unsigned k = 0; k < BUCKETS_MAX; k++)
		buckets[k] = 0;
	for (const struct json *e = list && json_type(list) == JSON_ARRAY ? json_first(list) : NULL;
	     e && i < BUCKETS_MAX; e = json_next(e), i++) {
		buckets[i] = json_type(e) == JSON_NUMBER ? json_number(e) : 0;
		most = buckets[i] > most ? buckets[i] : most;
	}
	return most;
}

static struct str duration(struct arena *arena, double ms)
{
	if (ms < 1000)
		return str_printf(arena, "%.0f ms", ms);
	if (ms < 120e3)
		return str_printf(arena, "%.1f s", ms / 1000);
	return ms < 7200e3 ? str_printf(arena, "%.0f min", ms / 60e3)
			   : str_printf(arena, "%.1f h", ms / 3600e3);
}

/* At most so many letters of a text. */
static void add_text(struct buf *out, struct str text, size_t letters)
{
	size_t n = 0, seen = 0;

	while (n < text.n && (seen < letters || ((unsigned char)text.p[n] & 0xC0) == 0x80)) {
		seen += ((unsigned char)text.p[n] & 0xC0) != 0x80;
		n++;
	}
	while (n < text.n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n++;
	view_add_markup(out, (struct str){text.p, n});
	if (n < text.n)
		buf_add_lit(out, "\xE2\x80\xA6");
}

static struct drawing drawing_new(const struct view *view)
{
	return (struct drawing){buf_in(view->arena), 0};
}

static void rect(struct buf *out, const char *class, double x, double y, double width,
		 double height)
{
	if (width > 0.05 && height > 0.05)
		buf_printf(
			out,
			"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
			class, x, y, width, height);
}

static void begin_text(struct buf *out, const char *class, double x, double y)
{
	buf_printf(out, "<text%s x=\"%.1f\" y=\"%.1f\">", class, x, y);
}

/* The axis below a plot over time: where it begins and ends, and how wide a bucket is. */
static void axis(const struct view *view, struct drawing *to)
{
	const struct json *time = json_member(view->root, "time");
	double width = view_number(time, "bucket_ms");
	struct str end = duration(view->arena, width * bucket_count(view)),
		   each = duration(view->arena, width);

	to->height += 14;
	begin_text(&to->buf, "", PLOT_LEFT, to->height);
	buf_printf(&to->buf, "0</text>");
	begin_text(&to->buf, " class=\"r\"", PLOT_RIGHT, to->height);
	buf_printf(&to->buf, STR_FMT " (" STR_FMT " a column)</text>", STR_ARG(end), STR_ARG(each));
	to->height += 6;
}

static void draw_patterns(const struct view *view, struct drawing *to)
{
	static const char *const classes[COLOURS] = {"p0", "p1", "p2", "p3",
						     "p4", "p5", "p6", "p7"};
	const struct json *p = view_list(view, "patterns");
	double most = p ? view_units(p) : 0;
	struct buf *out = &to->buf;

	for (size_t i = 0; p && i < PATTERN_ROWS; p = json_next(p), i++) {
		double read = most > 0 ? 150 * view_number(p, "read_units") / most : 0,
		       write = most > 0 ? 150 * view_number(p, "write_units") / most : 0;

		begin_text(out, " class=\"r\"", 78, to->height + 13);
		buf_printf(out, "%.1f</text>", view_units(p));
		rect(out, "read", 86, to->height + 4, read, 11);
		rect(out, "write", 86 + read, to->height + 4, write, 11);
		rect(out, classes[i < COLOURS - 1 ? i : COLOURS - 1], 246, to->height + 5, 9, 9);
		begin_text(out, "", PLOT_LEFT, to->height + 13);
		add_text(out, view_line(view, p), PATTERN_LETTERS);
		buf_add_lit(out, "</text>");
		to->height += ROW;
	}
	if (!p)
		return;
	begin_text(out, "", PLOT_LEFT, to->height + 13);
	size_t rest = 0;
	for (; p; p = json_next(p))
		rest++;
	buf_printf(out, "and %zu more</text>", rest);
	to->height += ROW;
}

/* Columns of the busiest patterns upon each other, the others upon these. */
static void draw_time(const struct view *view, struct drawing *to)
{
	double layers[COLOURS][BUCKETS_MAX] = {{0}}, one[BUCKETS_MAX], most = 0;
	unsigned n = bucket_count(view), count = 0;

	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p), count++) {
		read_series(p, one);
		for (unsigned i = 0; i < n; i++)
			layers[count < COLOURS - 1 ? count : COLOURS - 1][i] += one[i];
	}
	for (unsigned i = 0; i < n; i++) {
		double sum = 0;

		for (unsigned k = 0; k < COLOURS; k++)
			sum += layers[k][i];
		most = sum > most ? sum : most;
	}
	if (most <= 0)
		return;
	double width = (double)(PLOT_RIGHT - PLOT_LEFT) / n;
	begin_text(&to->buf, " class=\"r\"", PLOT_LEFT - 6, to->height + 12);
	buf_printf(&to->buf, "%.1f units</text>", most);
	for (unsigned i = 0; i < n; i++) {
		double top = to->height + AREA_HEIGHT;

		for (unsigned k = 0; k < COLOURS; k++) {
			char class[] = {'p', (char)('0' + k), '\0'};
			double height = AREA_HEIGHT * layers[k][i] / most;

			top -= height;
			rect(&to->buf, class, PLOT_LEFT + width * i, top,
			     width > 3 ? width - 1 : width, height);
		}
	}
	to->height += AREA_HEIGHT;
	buf_printf(&to->buf, "<path class=\"g\" d=\"M%d %.1fH%d\"/>", PLOT_LEFT, to->height + 0.5,
		   PLOT_RIGHT);
	axis(view, to);
}

size_t plot_busiest(const struct json *table, const struct json **rows, size_t max)
{
	const struct json *list = json_member(table, "partitions");
	size_t n = 0;

	for (const struct json *p = list && json_type(list) == JSON_ARRAY ? json_first(list) : NULL;
	     p; p = json_next(p)) {
		size_t at = n;

		if (n == max && view_units(p) <= view_units(rows[n - 1]))
			continue;
		for (at = n < max ? n++ : max - 1;
		     at > 0 && view_units(rows[at - 1]) < view_units(p); at--)
			rows[at] = rows[at - 1];
		rows[at] = p;
	}
	return n;
}

static void draw_partitions(const struct view *view, const struct json *table, struct drawing *to)
{
	const struct json *rows[PARTITION_ROWS];
	size_t n = plot_busiest(table, rows, PARTITION_ROWS);
	unsigned columns = bucket_count(view);
	double buckets[BUCKETS_MAX],
		most = 0, width = columns > 0 ? (double)(PLOT_RIGHT - PLOT_LEFT) / columns : 0;
	struct buf *out = &to->buf;

	for (size_t i = 0; i < n; i++)
		most = view_greater(most, read_series(rows[i], buckets));
	if (most <= 0)
		return;
	for (size_t i = 0; i < n; i++, to->height += ROW) {
		struct str index = view_text(view, rows[i], "index"),
			   label = view_text(view, rows[i], "partition");

		begin_text(out, " class=\"r\"", PLOT_LEFT - 6, to->height + 13);
		add_text(out,
			 index.n > 0 ? str_printf(view->arena, STR_FMT " " STR_FMT, STR_ARG(index),
						  STR_ARG(label))
				     : label,
			 LABEL_LETTERS);
		buf_add_lit(out, "</text>");
		rect(out, "cold", PLOT_LEFT, to->height + 1, PLOT_RIGHT - PLOT_LEFT, ROW - 2);
		read_series(rows[i], buckets);
		for (unsigned k = 0; k < columns; k++) {
			if (buckets[k] <= 0)
				continue;
			buf_printf(out,
				   "<rect class=\"hot\" opacity=\"%.2f\" x=\"%.1f\" y=\"%.1f\" "
				   "width=\"%.1f\" height=\"%d\"><title>%.1f units</title></rect>",
				   0.15 + 0.85 * sqrt(buckets[k] / most), PLOT_LEFT + width * k,
				   to->height + 1, width, ROW - 2, buckets[k]);
		}
	}
	axis(view, to);
}

/* As a part of a page. */
static void put(const struct drawing *drawing, struct buf *out)
{
	if (drawing->height <= 0)
		return;
	buf_printf(out, "<svg class=\"plot\" viewBox=\"0 0 %d %.0f\" width=\"100%%\">", WIDTH,
		   drawing->height + 2);
	buf_add_str(out, buf_str(&drawing->buf));
	buf_add_lit(out, "</svg>");
}

void plot_patterns(const struct view *view, struct buf *out)
{
	struct drawing drawing = drawing_new(view);

	draw_patterns(view, &drawing);
	put(&drawing, out);
}

void plot_time(const struct view *view, struct buf *out)
{
	struct drawing drawing = drawing_new(view);

	draw_time(view, &drawing);
	put(&drawing, out);
}

void plot_partitions(const struct view *view, const struct json *table, struct buf *out)
{
	struct drawing drawing = drawing_new(view);

	draw_partitions(view, table, &drawing);
	put(&drawing, out);
}

void plot_spark(const struct view *view, const struct json *partition, unsigned columns,
		struct buf *out)
{
	static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
					     "\u2585", "\u2586", "\u2587", "\u2588"};
	double buckets[BUCKETS_MAX], parts[BUCKETS_MAX] = {0}, most = 0;
	unsigned n = bucket_count(view);

	read_series(partition, buckets);
	columns = columns < n ? columns : n;
	for (unsigned i = 0; i < n && columns > 0; i++)
		parts[i * columns / n] += buckets[i];
	for (unsigned i = 0; i < columns; i++)
		most = view_greater(most, parts[i]);
	for (unsigned i = 0; i < columns; i++)
		buf_add_str(out,
			    str_of(blocks[most > 0 ? (unsigned)ceil(8 * parts[i] / most) : 0]));
}

static void headline(struct drawing *to, const char *text)
{
	to->height += 24;
	buf_printf(&to->buf, "<text class=\"h\" x=\"10\" y=\"%.1f\">%s</text>", to->height, text);
	to->height += 8;
}

static void draw_findings(const struct view *view, struct drawing *to)
{
	size_t n = 0;

	for (const struct json *f = view_list(view, "findings"); f && n < FINDINGS_MAX;
	     f = json_next(f), n++) {
		rect(&to->buf, "p2", 10, to->height + 2, 3, 14);
		begin_text(&to->buf, "", 20, to->height + 13);
		add_text(&to->buf,
			 str_printf(view->arena, STR_FMT ": " STR_FMT ": " STR_FMT "; " STR_FMT,
				    STR_ARG(view_text(view, f, "finding")),
				    STR_ARG(view_text(view, f, "where")),
				    STR_ARG(view_text(view, f, "what")),
				    STR_ARG(view_text(view, f, "evidence"))),
			 126);
		buf_add_lit(&to->buf, "</text>");
		to->height += ROW;
	}
}

/* The table that gets the most. */
static const struct json *busiest_table(const struct view *view)
{
	const struct json *busiest = NULL, *row;
	double most = 0;

	for (const struct json *t = view_list(view, "tables"); t; t = json_next(t)) {
		if (plot_busiest(t, &row, 1) > 0 && view_units(row) > most) {
			most = view_units(row);
			busiest = t;
		}
	}
	return busiest;
}

void plot_picture(const struct view *view, struct buf *out)
{
	struct drawing drawing = drawing_new(view);
	struct buf head = buf_in(view->arena);
	const struct json *table = busiest_table(view);

	view_head(view, &head);
	headline(&drawing, "Access patterns");
	begin_text(&drawing.buf, "", 10, drawing.height + 10);
	view_add_markup(&drawing.buf, str_trim(buf_str(&head)));
	buf_add_lit(&drawing.buf, "</text>");
	drawing.height += 12;
	headline(&drawing, "Capacity by pattern: <tspan class=\"read\">read</tspan> and <tspan "
			   "class=\"write\">write</tspan> units");
	draw_patterns(view, &drawing);
	headline(&drawing, "Capacity over time");
	draw_time(view, &drawing);
	if (table) {
		headline(&drawing, "Busiest partitions over time");
		draw_partitions(view, table, &drawing);
	}
	if (view_list(view, "findings")) {
		headline(&drawing, "Findings");
		draw_findings(view, &drawing);
	}
	buf_printf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 %d %.0f\" "
		"width=\"%d\"><style>" PLOT_STYLE
		".plot{color:#1f2328}.plot .h{font:bold 15px system-ui,sans-serif}.back{fill:#fff}"
		"@media(prefers-color-scheme:dark){.plot{color:#e6edf3}.back{fill:#0d1117}}</"
		"style><rect class=\"back\" width=\"100%%\" height=\"100%%\"/>",
		WIDTH, drawing.height + 10, WIDTH);
	buf_add_str(out, buf_str(&drawing.buf));
	buf_add_lit(out, "</svg>\n");
}
