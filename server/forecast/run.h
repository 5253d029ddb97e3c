/*
 * run - makes a forecast of a plan: reads the figures that are given beside it, runs the model with
 * some seeds, and makes the bill of each run. The command and the endpoint of a running server call
 * it.
 */
#ifndef DYNALITH_SERVER_FORECAST_RUN_H
#define DYNALITH_SERVER_FORECAST_RUN_H

#include "server/forecast/show.h"

/* As text; NULL: the usual. */
struct run_words {
	const char *scale, *days, *growth, *seed; /* "1000", "30", "3%/day", "1" */
	const char *keys;                         /* "zipf:1000000" */
};

/* Fills in the plan's figures; *keys is the value of "keys", absent where no word says it. Returns
 * the name of a word that is wrong, or NULL. */
const char *run_take_words(struct arena *arena, const struct run_words *words, struct plan *plan,
			   struct str *keys);

/* Runs the plan by SHOW_SEEDS seeds, and makes what a report shows. ERR_VALIDATION: a pattern's
 * rate is too high; `path` names the plan. ERR_SERVICE_UNAVAILABLE: the arena is over its time or
 * its memory. */
enum code run_plan(struct arena *arena, const char *path, struct plan *plan,
		   const struct prices *prices, struct shown *shown, struct err *err) WARN_UNUSED;

#endif
