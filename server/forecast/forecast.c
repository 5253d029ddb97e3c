#include "server/forecast/forecast.h"

#include <stdio.h>
#include <string.h>

#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/forecast/messages.h"
#include "server/forecast/recorded.h"
#include "server/forecast/rules.h"
#include "server/forecast/run.h"
#include "server/forecast/seen.h"
#include "server/forecast/show_page.h"
#include "server/recording/tape.h"
#include "server/report/document.h"
#include "server/seed/json_text.h"

struct words {
	const char *file, *tables, *prices, *output, *against, *rules, *plan_file, *html;
	struct run_words figures;
	struct str keys; /* the value of "keys" */
	bool is_json;
	struct plan plan;
	struct rules_figures before;
};

static bool forecast_take_words(struct words *words, int argc, char **argv)
{
	const struct {
		const char *flag, **at;
	} texts[] = {
		{"--scale", &words->figures.scale},   {"--days", &words->figures.days},
		{"--growth", &words->figures.growth}, {"--seed", &words->figures.seed},
		{"--tables", &words->tables},         {"--prices", &words->prices},
		{"--output", &words->output},         {"--against", &words->against},
		{"--fail-on", &words->rules},         {"--keys", &words->figures.keys},
		{"--write-plan", &words->plan_file},  {"--html", &words->html},
	};

	for (int i = 2; i < argc; i++) {
		size_t k = 0, n = sizeof(texts) / sizeof(texts[0]);

		while (k < n && strcmp(argv[i], texts[k].flag) != 0)
			k++;
		if (k < n && i + 1 < argc)
			*texts[k].at = argv[++i];
		else if (strcmp(argv[i], "--json") == 0)
			words->is_json = true;
		else if (strcmp(argv[i], "--free-tier") == 0)
			words->plan.has_free_tier = true;
		else if (argv[i][0] != '-' && !words->file)
			words->file = argv[i];
		else
			return false;
	}
	return words->file != NULL;
}

static enum code forecast_read_root(struct arena *arena, const char *path, const struct json **root,
				    struct err *err)
{
	struct err own = err_in(arena);
	struct str text;
	enum code code = document_read(arena, path, &text, err);

	if (code != OK)
		return code;
	if (json_parse(arena, text, root, &own) != OK || json_type(*root) != JSON_OBJECT)
		return err_set(err, MSG_FORECAST_INPUT, path);
	return OK;
}

/* The file as a plan: it is one, or requests that were seen become one. */
static enum code read_root(struct arena *arena, struct words *words, const struct json **root,
			   struct err *err)
{
	struct observed observed = {.arena = arena, .plan = &words->plan, .keys = words->keys};
	bool is_tape = tape_is_at(words->file);
	struct str text;
	enum code code = is_tape ? recorded_plan(arena, words->file, &observed, &text, err)
				 : forecast_read_root(arena, words->file, root, err);

	if (code != OK)
		return code;
	if (!is_tape && !seen_is_insight(*root))
		return str_is_set(words->keys) || words->plan_file
			       ? err_set(err, MSG_FORECAST_PLAN, words->file)
			       : OK;
	if (!is_tape)
		code = seen_plan(arena, words->file, *root, &observed, &text, err);
	if (code != OK)
		return code;
	if (words->plan_file)
		code = document_write(words->plan_file, text, err);
	return code != OK ? code : json_parse(arena, text, root, err);
}

static enum code read_plan(struct arena *arena, struct words *words, struct err *err)
{
	const struct json *root = NULL, *tables = NULL;
	enum code code =
		words->tables ? forecast_read_root(arena, words->tables, &tables, err) : OK;

	if (code != OK)
		return code;
	if (tables)
		code = plan_read_tables(arena, words->tables, tables, &words->plan, err);
	if (code != OK)
		return code;
	code = read_root(arena, words, &root, err);
	if (code != OK)
		return code;
	if (!tables || json_member(root, "tables"))
		code = plan_read_tables(arena, words->file, root, &words->plan, err);
	return code != OK ? code : plan_read_patterns(arena, words->file, root, &words->plan, err);
}

static void add_problem(void *context, struct str line)
{
	struct shown *shown = context;

	shown->problems =
		arena_room(shown->arena, shown->problems, shown->problem_count, sizeof(line));
	shown->problems[shown->problem_count++] = line;
}

static enum code forecast(struct arena *arena, struct words *words, struct shown *shown,
			  struct err *err)
{
	struct prices *prices = ARENA_NEW(arena, struct prices);
	struct buf out = buf_in(arena);
	enum code code = prices_read(arena, words->prices, prices, err);

	if (code != OK)
		return code;
	code = read_plan(arena, words, err);
	if (code != OK)
		return code;
	code = run_plan(arena, words->file, &words->plan, prices, shown, err);
	if (code != OK)
		return code;
	const struct model_outcome *of = &shown->outcomes[0];
	const struct rules_figures now = {(double)of->throttled, (double)of->failed,
					  shown->bill->dollars};
	code = words->rules
		       ? rules_judge(words->rules, &now, words->against ? &words->before : NULL,
				     add_problem, shown, err)
		       : OK;
	if (code != OK)
		return code;
	if (words->html) {
		struct buf page = buf_in(arena);

		show_page(shown, &page);
		code = document_write(words->html, buf_str(&page), err);
		if (code != OK)
			return code;
	}
	(words->is_json ? show_json : show_text)(shown, &out);
	return document_write(words->output ? words->output : "-", buf_str(&out), err);
}

static int fail_forecast(enum exit_status status, const struct err *err)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err->message));
	return (int)status;
}

int forecast_run(struct arena *arena, int argc, char **argv)
{
	struct err err = err_in(arena);
	struct words words = {0};
	struct shown shown = {.arena = arena, .plan = &words.plan};

	if (!forecast_take_words(&words, argc, argv) ||
	    run_take_words(arena, &words.figures, &words.plan, &words.keys))
		return help_misuse("forecast");
	if (words.rules && rules_judge(words.rules, NULL, words.against ? &words.before : NULL,
				       NULL, NULL, &err) != OK)
		return fail_forecast(EXIT_MISUSE, &err);
	if (words.against && rules_read_figures(arena, words.against, &words.before, &err) != OK)
		return fail_forecast(EXIT_FAILED, &err);
	if (forecast(arena, &words, &shown, &err) != OK)
		return fail_forecast(EXIT_FAILED, &err);
	for (size_t i = 0; i < shown.problem_count && words.output; i++)
		fprintf(stderr, STR_FMT "\n", STR_ARG(shown.problems[i]));
	return shown.problem_count > 0 ? EXIT_FOUND : EXIT_DONE;
}
