/*
 * messages - texts of errors about forecasts; see core/err.h for how they are raised.
 */
#ifndef DYNALITH_SERVER_FORECAST_MESSAGES_H
#define DYNALITH_SERVER_FORECAST_MESSAGES_H

#include "core/err.h"

#define MSG_FORECAST_INPUT                                                                         \
	ERR_VALIDATION, "%s: neither a recording, nor insight's JSON, nor a plan: a JSON object "  \
			"with the lists \"tables\" and \"patterns\" was expected "                 \
			"(docs/forecast.md)"
#define MSG_FORECAST_PLACE ERR_VALIDATION, "%s: %s %zu: %s"
#define MSG_FORECAST_MEMBER ERR_VALIDATION, "%s: %s %zu has no member '" STR_FMT "'"
#define MSG_FORECAST_RATE                                                                          \
	ERR_VALIDATION, "%s: pattern '" STR_FMT "' reaches %.0f requests a second; %.0f can be "   \
			"forecast"
#define MSG_FORECAST_TABLE                                                                         \
	ERR_VALIDATION, "%s:%zu: its table is not made in the recording: record CreateTable or "   \
			"DescribeTable of it, too"
#define MSG_FORECAST_GONE                                                                          \
	ERR_VALIDATION, "%s: table " STR_FMT " is gone at its end: name it in --tables FILE"
#define MSG_FORECAST_NOTHING ERR_VALIDATION, "%s: nothing in it consumes capacity units"
#define MSG_FORECAST_PLAN                                                                          \
	ERR_VALIDATION, "--keys and --write-plan are for a recording or insight's JSON: %s is a "  \
			"plan already"
#define MSG_FORECAST_AGAINST                                                                       \
	ERR_VALIDATION, "%s: no forecast: what `dynalith forecast --json` writes was expected"
#define MSG_FORECAST_RULE                                                                          \
	ERR_VALIDATION, "--fail-on: '" STR_FMT                                                     \
			"' is no rule; there are throttles>N, failed>N, cost>DOLLARS and, with "   \
			"--against, cost>+PERCENT%% and throttles>+N"

#endif
