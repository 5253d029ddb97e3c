#include "server/races/race_page.h"

#include "core/buf.h"
#include "server/report/view.h"

/* In pixels of the picture. */
#define LEFT 56
#define TOP 34
#define WIDTH 340 /* of a client's column */
#define HEIGHT 52 /* of a step */
#define BOX_WIDTH 320
#define BOX_HEIGHT 42

#define STYLE                                                                                      \
	"<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2em " \
	"auto;max-width:80em;padding:0 1em}.wide{overflow-x:auto}pre{padding:1em;"                 \
	"background:#8882;overflow-x:auto}svg text{font:11px "                                     \
	"ui-monospace,monospace;fill:currentColor}"                                                \
	"svg .c{font-weight:bold;font-size:14px}svg .s{text-anchor:end}svg line{stroke:#8886}"     \
	"svg path{stroke:currentColor;fill:none;stroke-dasharray:4 3}"                             \
	"rect{fill:Canvas;stroke:#4a7fd4;stroke-width:2}rect.w{stroke:#d4704a}"                    \
	"rect.t{stroke:#c9a227;stroke-width:4}</style>"

static int left_of(const struct race_line *line)
{
	return LEFT + (int)line->column * WIDTH;
}

static void add_client(struct buf *out, const struct race_lines *lines, size_t column)
{
	size_t first = RACE_NONE, last = 0;
	int x = LEFT + (int)column * WIDTH + BOX_WIDTH / 2;

	for (size_t k = lines->from; k < lines->to; k++) {
		if (lines->v[k].column != column)
			continue;
		first = first == RACE_NONE ? k : first;
		last = k;
	}
	if (first == RACE_NONE)
		return;
	buf_printf(out,
		   "<text class=\"c\" x=\"%d\" y=\"20\">%c</text><line x1=\"%d\" x2=\"%d\" "
		   "y1=\"%d\" y2=\"%d\"/>",
		   x - 4, lines->v[first].client, x, x, TOP + (int)(first - lines->from) * HEIGHT,
		   TOP + (int)(last - lines->from) * HEIGHT + BOX_HEIGHT);
}

/* From the box above to one of another client. */
static void add_switch(struct buf *out, const struct race_line *line, int y)
{
	int from = left_of(line - 1) + BOX_WIDTH / 2, to = left_of(line) + BOX_WIDTH / 2;

	if (from != to)
		buf_printf(out, "<path d=\"M%d %dL%d %d\"/>", from, y - HEIGHT + BOX_HEIGHT, to, y);
}

static void add_box(struct buf *out, const struct race_line *line, size_t step, int y)
{
	const struct race_request *request = line->request;
	int x = left_of(line);

	buf_printf(out,
		   "<text class=\"s\" x=\"%d\" y=\"%d\">%zu</text><rect class=\"%s\" x=\"%d\" "
		   "y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/><text x=\"%d\" y=\"%d\">",
		   LEFT - 14, y + 25, step,
		   line->is_troubled   ? "t"
		   : request->is_write ? "w"
				       : "r",
		   x, y, BOX_WIDTH, BOX_HEIGHT, x + 8, y + 17);
	view_add_markup(out, request->operation);
	buf_add_byte(out, ' ');
	view_add_markup(out, line->about);
	buf_printf(out, "%s</text>", request->is_repeat ? " (sent again)" : "");
	if (!str_is_set(line->came))
		return;
	buf_printf(out, "<text x=\"%d\" y=\"%d\">&#8594; ", x + 8, y + 34);
	view_add_markup(out, line->came);
	buf_add_lit(out, "</text>");
}

static void add_picture(struct buf *out, const struct race_lines *lines)
{
	int width = LEFT + (int)lines->columns * WIDTH;
	int height = TOP + (int)(lines->to - lines->from) * HEIGHT;

	buf_printf(out,
		   "<div class=\"wide\"><svg role=\"img\" aria-label=\"the order of requests\" "
		   "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">",
		   width, height, width, height);
	for (size_t i = 0; i < lines->columns; i++)
		add_client(out, lines, i);
	for (size_t k = lines->from; k < lines->to; k++) {
		int y = TOP + (int)(k - lines->from) * HEIGHT;

		if (k > lines->from)
			add_switch(out, &lines->v[k], y);
		add_box(out, &lines->v[k], k + 1, y);
	}
	buf_add_lit(out, "</svg></div>");
}

static void add_block(struct buf *out, const char *title, struct str text)
{
	if (!str_is_set(text) || text.n == 0)
		return;
	buf_printf(out, "<h2>%s</h2><pre>", title);
	view_add_markup(out, text);
	buf_add_lit(out, "</pre>");
}

struct str race_page_html(struct arena *arena, const struct race_page *page)
{
	const struct race_lines *lines = page->lines;
	struct buf buf = buf_in(arena), *out = &buf;

	buf_add_lit(out, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta "
			 "name=\"viewport\" content=\"width=device-width\"><title>Order ");
	buf_printf(out, STR_FMT "</title>" STYLE "<h1>Order " STR_FMT "</h1><p>",
		   STR_ARG(page->name), STR_ARG(page->name));
	view_add_markup(out, page->why);
	if (str_is_set(lines->sentence)) {
		buf_add_lit(out, "<p><b>");
		view_add_markup(out, lines->sentence);
		buf_add_lit(out, "</b>");
	}
	buf_add_lit(out, "<p>One column a client, from top to bottom. Reads are blue, writes red, "
			 "and trouble that was made yellow.");
	if (lines->from > 0)
		buf_printf(out, "<p>%zu requests as usual come before.", lines->from);
	add_picture(out, lines);
	if (lines->n > lines->to)
		buf_printf(out, "<p>%zu more follow.", lines->n - lines->to);
	add_block(out, "Replay it", page->command);
	add_block(out, "The command printed", page->output);
	buf_add_lit(out, "</html>\n");
	return buf_str(out);
}
