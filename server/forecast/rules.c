#include "server/forecast/rules.h"

#include <stddef.h>
#include <stdlib.h>

#include "server/forecast/messages.h"
#include "server/report/document.h"
#include "server/seed/json_text.h"

static const struct {
	const char *name;
	size_t at;
	bool is_percent; /* what it is compared by with --against */
} figures_of[] = {
	{"throttles>", offsetof(struct rules_figures, throttles), false},
	{"failed>", offsetof(struct rules_figures, failed), false},
	{"cost>", offsetof(struct rules_figures, cost), true},
};

static double figure_at(const struct rules_figures *figures, size_t i)
{
	return *(const double *)((const char *)figures + figures_of[i].at);
}

enum code rules_read_figures(struct arena *arena, const char *path, struct rules_figures *figures,
			     struct err *err)
{
	struct err own = err_in(arena);
	const struct json *root = NULL;
	struct str text;
	enum code code = document_read(arena, path, &text, err);

	if (code != OK)
		return code;
	if (json_parse(arena, text, &root, &own) != OK ||
	    !json_text_get(root, "dynalith_forecast", JSON_NUMBER))
		return err_set(err, MSG_FORECAST_AGAINST, path);
	const struct json *throttled = json_text_get(root, "throttled", JSON_NUMBER),
			  *failed = json_text_get(root, "failed", JSON_NUMBER),
			  *cost = json_text_get(json_text_get(root, "cost", JSON_OBJECT), "total",
						JSON_NUMBER);
	if (!throttled || !failed || !cost)
		return err_set(err, MSG_FORECAST_AGAINST, path);
	*figures = (struct rules_figures){json_number(throttled), json_number(failed),
					  json_number(cost)};
	return OK;
}

enum code rules_judge(const char *rules, const struct rules_figures *now,
		      const struct rules_figures *before,
		      void (*tell)(void *context, struct str line), void *context, struct err *err)
{
	struct str rest = str_of(rules);

	while (rest.n > 0) {
		struct str rule = str_copy(err->arena, str_trim(str_cut(&rest, ',')));
		size_t i = 0, n = sizeof(figures_of) / sizeof(figures_of[0]);

		while (i < n && !str_starts_with(rule, str_of(figures_of[i].name)))
			i++;
		if (i == n)
			return err_set(err, MSG_FORECAST_RULE, STR_ARG(rule));
		const char *number = rule.p + str_of(figures_of[i].name).n;
		char *end;
		bool is_more = *number == '+';
		double limit = strtod(number, &end);
		bool is_right = end != number && limit >= 0 &&
				(is_more && figures_of[i].is_percent ? *end == '%' && !end[1]
								     : *end == '\0');

		if (!is_right || (is_more && !before))
			return err_set(err, MSG_FORECAST_RULE, STR_ARG(rule));
		if (!now)
			continue;
		double is = figure_at(now, i), was = is_more ? figure_at(before, i) : 0;
		double most = !is_more                   ? limit
			      : figures_of[i].is_percent ? was * (1 + limit / 100)
							 : was + limit;
		if (is > most + 1e-9)
			tell(context,
			     str_printf(err->arena, STR_FMT ": it is %.2f, allowed is %.2f",
					STR_ARG(rule), is, most));
	}
	return OK;
}
