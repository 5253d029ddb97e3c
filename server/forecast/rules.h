/*
 * rules - --fail-on of a forecast: what fails a build.
 */
#ifndef DYNALITH_SERVER_FORECAST_RULES_H
#define DYNALITH_SERVER_FORECAST_RULES_H

#include "core/err.h"

/* What rules look at, of this forecast and of another one. */
struct rules_figures {
	double throttles, failed, cost;
};

/* `path`: a forecast that --json wrote. ERR_VALIDATION with one line for the user. */
enum code rules_read_figures(struct arena *arena, const char *path, struct rules_figures *figures,
			     struct err *err) WARN_UNUSED;

/* Calls `tell` with a line for each rule that is broken. `before` NULL: there is no other forecast,
 * and a rule that wants one is ERR_VALIDATION, as one that is unknown. `now` NULL: only checks. */
enum code rules_judge(const char *rules, const struct rules_figures *now,
		      const struct rules_figures *before,
		      void (*tell)(void *context, struct str line), void *context,
		      struct err *err) WARN_UNUSED;

#endif
