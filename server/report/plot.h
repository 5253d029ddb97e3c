/*
 * plot - the figures of a report as drawings in SVG: capacity by pattern, capacity over time, and
 * partitions over time as a heat map. They load nothing.
 */
#ifndef DYNALITH_SERVER_REPORT_PLOT_H
#define DYNALITH_SERVER_REPORT_PLOT_H

#include "server/report/view.h"

/* What the elements of plots need, for a <style>. */
#define PLOT_STYLE                                                                                 \
	".plot text{font:12px ui-monospace,monospace;fill:currentColor}.plot "                     \
	".r{text-anchor:end}.plot .g{stroke:#8886;fill:none}"                                      \
	".plot .hot{fill:#d4502a}.plot "                                                           \
	".cold{fill:#8882}.read{fill:#4a7fd4}.write{fill:#d4704a}.p0{fill:#2a9d8f}.p1{fill:#"      \
	"9a6bd0}"                                                                                  \
	".p2{fill:#c9a227}.p3{fill:#c45a8e}.p4{fill:#6a9a2d}.p5{fill:#5b6fc9}.p6{fill:#a0604a}."   \
	"p7{fill:#8d9299}"

/* Adds an <svg> for a page; nothing where there is nothing to draw. The busiest patterns have a
 * colour each, the same in both. */
void plot_patterns(const struct view *view, struct buf *out);
void plot_time(const struct view *view, struct buf *out);
/* `table`: an entry of "tables". */
void plot_partitions(const struct view *view, const struct json *table, struct buf *out);

/* The busiest partitions of a table, the busiest first. Returns how many there are in `rows`. */
size_t plot_busiest(const struct json *table, const struct json **rows, size_t max);

/* Adds an eighth block for each of `columns` parts of the time, higher where there were more units.
 */
void plot_spark(const struct view *view, const struct json *partition, unsigned columns,
		struct buf *out);

/* A picture of it all that stands alone. */
view_write plot_picture;

#endif
