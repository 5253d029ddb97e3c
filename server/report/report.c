#include "server/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/messages.h"
#include "server/client/remote.h"
#include "server/report/document.h"
#include "server/report/form.h"
#include "server/report/gate.h"
#include "server/report/merge.h"
#include "server/seed/json_text.h"

#define DEFAULT_URL "http://localhost:8000"

struct words {
	const char **sources; /* argv's words: at most as many as there are */
	size_t source_count;
	const char *format, *output, *rules, *patterns, *prices;
	struct reach reach;
	double rate;
	bool is_write, has_values;
};

static int fail(enum exit_status status, struct str problem)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(problem));
	return (int)status;
}

static bool read_words(struct arena *arena, int argc, char **argv, struct words *words)
{
	const struct {
		const char *flag;
		const char **at;
	} texts[] = {
		{"--format", &words->format}, {"--output", &words->output},
		{"--fail-on", &words->rules}, {"--patterns", &words->patterns},
		{"--prices", &words->prices},
	};
	char none = '\0', *end = &none;

	*words = (struct words){.reach = reach_usual(),
				.sources = ARENA_ARRAY(arena, const char *, (size_t)argc + 1)};
	for (int i = 2; i < argc; i++) {
		bool is_known = false;

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]) && !is_known; k++) {
			is_known = strcmp(argv[i], texts[k].flag) == 0 && i + 1 < argc;
			if (is_known)
				*texts[k].at = argv[++i];
		}
		if (is_known)
			continue;
		if (strcmp(argv[i], "--write") == 0)
			words->is_write = true;
		else if (strcmp(argv[i], "--show-values") == 0)
			words->has_values = true;
		else if (strcmp(argv[i], "--rate") == 0 && i + 1 < argc)
			words->rate = strtod(argv[++i], &end);
		else if (argv[i][0] != '-')
			words->sources[words->source_count++] = argv[i];
		else if (!reach_take(&words->reach, argc, argv, &i))
			return false;
	}
	return *end == '\0' && words->rate >= 0 && (!words->is_write || words->patterns);
}

/* From a server, or from a file that --format json wrote. */
static enum code fetch_one(struct arena *arena, const struct words *words, const char *source,
			   struct str *description, struct err *err)
{
	if (!remote_is_url(source))
		return document_read(arena, source, description, err);
	struct remote *remote = remote_new(source, &words->reach);
	if (!remote)
		return err_set(err, MSG_REMOTE, STR_ARG(str_of(source)),
			       STR_ARG(STR("is no URL of a server")));
	enum code code = remote_fetch(remote, STR("/_dynalith/insight"), arena, description, err);
	remote_free(remote);
	return code;
}

static enum code fetch(struct arena *arena, struct words *words, struct str *description,
		       struct err *err)
{
	struct str *descriptions = ARENA_ARRAY(arena, struct str, words->source_count + 1);
	enum code code = OK;

	if (words->source_count == 0)
		words->sources[words->source_count++] = DEFAULT_URL;
	for (size_t i = 0; i < words->source_count && code == OK; i++)
		code = fetch_one(arena, words, words->sources[i], &descriptions[i], err);
	if (code != OK)
		return code;
	return merge_descriptions(arena, descriptions, words->source_count, description, err);
}

static enum code parse(struct view *view, struct err *err)
{
	struct err own = err_in(view->arena);

	if (json_parse(view->arena, view->description, &view->root, &own) != OK ||
	    json_type(view->root) != JSON_OBJECT || !json_member(view->root, "patterns"))
		return err_set(err, MSG_REPORT_NONE);
	return OK;
}

/* Whether a pattern has a request with its values; so it is where there are no patterns. */
static bool has_values(const struct view *view)
{
	const struct json *patterns = json_text_get(view->root, "patterns", JSON_ARRAY),
			  *first = patterns ? json_first(patterns) : NULL;

	for (const struct json *at = first; at; at = json_next(at)) {
		if (json_text_get(at, "example", JSON_STRING))
			return true;
	}
	return !first;
}

static enum code judge(struct view *view, const struct words *words, struct err *err)
{
	struct str reviewed = STR_ABSENT;
	enum code code = words->patterns && !words->is_write
				 ? document_read(view->arena, words->patterns, &reviewed, err)
				 : OK;

	return code == OK && words->rules ? gate_judge(view, words->rules, reviewed, err) : code;
}

static enum code judge_found(struct arena *arena, struct words *words, struct money *money,
			     struct view *view, struct err *err)
{
	enum code code = money_read(arena, words->prices, money, err);

	if (code != OK)
		return code;
	money->rate = words->rate;
	code = fetch(arena, words, &view->description, err);
	if (code != OK)
		return code;
	code = parse(view, err);
	if (code != OK)
		return code;
	if (words->has_values && !has_values(view))
		return err_set(err, MSG_REPORT_NO_VALUES);
	code = judge(view, words, err);
	if (code != OK || !words->is_write)
		return code;
	return document_write(words->patterns, gate_patterns(view), err);
}

int report_run(struct arena *arena, int argc, char **argv)
{
	struct err err = err_in(arena);
	struct words words;
	struct money money;
	struct view view = {.arena = arena, .money = &money};
	struct buf out = buf_in(arena);

	if (!read_words(arena, argc, argv, &words))
		return help_misuse("report");
	view_write *write = form_named(words.format ? words.format : "text");
	if (!write)
		return fail(EXIT_MISUSE, str_printf(arena, "--format: wants " FORM_NAMES ", not %s",
						    words.format));
	if (words.rules && gate_check(words.rules, words.patterns && !words.is_write, &err) != OK)
		return fail(EXIT_MISUSE, err.message);
	if (judge_found(arena, &words, &money, &view, &err) != OK)
		return fail(EXIT_FAILED, err.message);
	write(&view, &out);
	if (document_write(words.output ? words.output : "-", buf_str(&out), &err) != OK)
		return fail(EXIT_FAILED, err.message);
	for (size_t i = 0; i < view.problem_count && words.output; i++)
		fprintf(stderr, STR_FMT "\n", STR_ARG(view.problems[i]));
	return view.problem_count > 0 ? EXIT_FOUND : EXIT_DONE;
}

static view_write *form_of(const char *path)
{
	static const char *const forms[][2] = {
		{".txt", "text"},  {".md", "markdown"}, {".html", "html"}, {".svg", "svg"},
		{".json", "json"}, {".sarif", "sarif"}, {".xml", "junit"},
	};
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t end = strlen(forms[i][0]);

		if (n > end && strcmp(path + n - end, forms[i][0]) == 0)
			return form_named(forms[i][1]);
	}
	return NULL;
}

static enum code write_form(struct arena *arena, struct str description, view_write *write,
			    struct str *text, struct err *err)
{
	struct money money;
	struct view view = {.arena = arena, .money = &money, .description = description};
	struct buf out = buf_in(arena);
	enum code code = money_read(arena, NULL, &money, err);

	if (code != OK)
		return code;
	code = parse(&view, err);
	if (code != OK)
		return code;
	write(&view, &out);
	*text = buf_str(&out);
	return OK;
}

enum code report_markdown(struct arena *arena, struct str description, struct str *text,
			  struct err *err)
{
	return write_form(arena, description, form_named("markdown"), text, err);
}

bool report_is_named(const char *path)
{
	return form_of(path) != NULL;
}

enum code report_write(struct arena *arena, struct str description, const char *path,
		       struct err *err)
{
	struct str text;
	view_write *write = form_of(path);

	if (!write)
		return err_set(err, MSG_REPORT_FORM, path);
	enum code code = write_form(arena, description, write, &text, err);
	if (code != OK)
		return code;
	return document_write(path, text, err);
}
