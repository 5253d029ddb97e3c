#include "server/importers/apply.h"

#include <stdio.h>
#include <string.h>

#include "protocol/ops.h"
#include "server/client/elsewhere.h"
#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/importers/file.h"
#include "server/log.h"
#include "server/mask/mask_option.h"
#include "server/mask/strict.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"
#include "server/seed/local.h"
#include "server/seed/messages.h"
#include "server/seed/preview.h"

/* What a command line says. */
struct words {
	struct arena *arena;
	const char **paths;
	size_t path_count;
	const char *endpoint, *table;
	struct reach reach;
	bool is_keep_going, is_strict, is_trial, is_json;
	struct mask_option option;
	struct mask *mask; /* of --mask; or NULL */
	struct strict *strict;
	struct seed_parameter *parameters;
	size_t parameter_count;
	struct remark *remarks; /* about parameters */
	size_t remark_count;
};

/* What is left out of what the command line says. */
struct remark {
	const char *what, *why;
};

/* A server elsewhere, as a target. */
struct destination {
	struct elsewhere *elsewhere;
	struct str url;
};

static enum code send_elsewhere(void *context, struct arena *arena,
				const struct seed_request *asked, struct seed_reply *reply,
				struct err *err)
{
	const struct destination *destination = context;
	struct client_reply answer;
	const char *problem = "";
	struct str region = str_is_set(asked->region) ? asked->region
						      : elsewhere_region(destination->elsewhere);

	if (!elsewhere_send_in(destination->elsewhere, arena, region,
			       ops_target(arena, str_of(asked->operation)), asked->body, &answer,
			       &problem))
		return err_set(err, MSG_SEED_REMOTE, STR_ARG(destination->url), problem);
	*reply = (struct seed_reply){answer.status, answer.body};
	return OK;
}

static void add_remark(struct words *words, struct str what, const char *why)
{
	words->remarks = arena_room(words->arena, words->remarks, words->remark_count,
				    sizeof(*words->remarks));
	words->remarks[words->remark_count++] =
		(struct remark){str_copy(words->arena, what).p, why};
}

static void add_parameter(struct words *words, struct str name, struct str value)
{
	for (size_t i = 0; i < words->parameter_count; i++) {
		if (str_eq(words->parameters[i].name, name)) {
			add_remark(words,
				   str_printf(words->arena, "parameter " STR_FMT, STR_ARG(name)),
				   "it is given twice: the first value counts");
			return;
		}
	}
	words->parameters = arena_room(words->arena, words->parameters, words->parameter_count,
				       sizeof(*words->parameters));
	words->parameters[words->parameter_count++] =
		(struct seed_parameter){name, value, ARENA_NEW(words->arena, bool)};
}

/* "NAME=VALUE". */
static bool add_pair(struct words *words, const char *text)
{
	struct str value = str_of(text), name = str_cut(&value, '=');

	if (name.n == 0 || !strchr(text, '='))
		return false;
	add_parameter(words, name, value);
	return true;
}

static void add_member(struct words *words, struct str name, const struct json *value)
{
	struct json_out out = json_out_in(words->arena);
	bool is_text = json_type(value) == JSON_STRING;

	if (!is_text)
		json_text_write(&out, words->arena, value);
	add_parameter(words, name, is_text ? json_string(words->arena, value) : json_out_str(&out));
}

/* AWS: [{"ParameterKey": K, "ParameterValue": V}] or ["K=V"] of the AWS CLI, {"Parameters": {K: V}}
 * of CodePipeline, or {K: V}. */
static bool parameters_take(struct words *words, const char *path, const struct json *root)
{
	const struct json *inner = json_text_get(root, "Parameters", JSON_OBJECT);

	for (const struct json *at = inner ? json_first(root) : NULL; at; at = json_next(at)) {
		if (at != inner)
			add_remark(words,
				   str_printf(words->arena, "%s: " STR_FMT, path,
					      STR_ARG(json_name(words->arena, at))),
				   "only Parameters are read");
	}
	if (json_type(root) != JSON_OBJECT && json_type(root) != JSON_ARRAY)
		return false;
	for (const struct json *at = json_first(inner ? inner : root); at; at = json_next(at)) {
		const struct json *value = json_text_get(at, "ParameterValue", JSON_STRING);

		if (json_type(root) == JSON_OBJECT)
			add_member(words, json_name(words->arena, at), at);
		else if (value && json_text_get(at, "ParameterKey", JSON_STRING))
			add_member(words, json_text_string(words->arena, at, "ParameterKey"),
				   value);
		else if (json_type(at) != JSON_STRING ||
			 !add_pair(words, json_string(words->arena, at).p))
			return false;
	}
	return true;
}

static bool parameters_read(struct words *words, const char *path)
{
	struct err err = err_in(words->arena);
	const struct json *root;

	if (document_load(words->arena, source_new(words->arena), path, &root, &err) == OK &&
	    !parameters_take(words, path, root)) {
		err_set(&err, MSG_SEED_PARAMETERS);
		err_set(&err, MSG_SEED_AT, path, STR_ARG(err.message));
	}
	if (err.code != OK)
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err.message));
	return err.code == OK;
}

static bool take_option(struct words *words, const char *name, const char *value)
{
	if (strcmp(name, "--endpoint") == 0 || strcmp(name, "--endpoint-url") == 0)
		words->endpoint = value;
	else if (strcmp(name, "--table") == 0)
		words->table = value;
	else if (strcmp(name, "--parameter") == 0)
		return value && add_pair(words, value);
	else if (strcmp(name, "--parameter-file") == 0)
		return value && parameters_read(words, value);
	else
		return false;
	return value != NULL;
}

static bool take_flag(struct words *words, const char *name)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"--keep-going", &words->is_keep_going},
		{"--strict", &words->is_strict},
		{"--dry-run", &words->is_trial},
		{"--json", &words->is_json},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(name, flags[i].name) == 0)
			return *flags[i].flag = true;
	}
	return false;
}

static bool read_words(struct words *words, int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (take_flag(words, argv[i]))
			continue;
		if (argv[i][0] == '-') {
			if (reach_take(&words->reach, argc, argv, &i) ||
			    mask_option_take(&words->option, argc, argv, &i))
				continue;
			if (!take_option(words, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
				return false;
			i++;
		} else {
			words->paths = arena_room(words->arena, words->paths, words->path_count,
						  sizeof(*words->paths));
			words->paths[words->path_count++] = argv[i];
		}
	}
	return words->path_count > 0 && (words->is_trial || !words->is_json) &&
	       mask_option_is_whole(&words->option);
}

static void print_line(void *context, struct str line)
{
	(void)context;
	fprintf(stderr, STR_FMT "\n", STR_ARG(line));
}

static void log_progress(void *context, struct str line)
{
	(void)context;
	log_line(LOG_INFO, STR_FMT, STR_ARG(line));
}

static void log_warning(void *context, struct str line)
{
	(void)context;
	log_line(LOG_WARN, STR_FMT, STR_ARG(line));
}

/* What is wrong with no part of a file. */
static enum code warn(struct arena *arena, const struct seed_options *options, const char *what,
		      const char *why, struct err *err)
{
	if (options->is_strict)
		return err_set(err, MSG_SEED_UNREADABLE, what, why);
	if (options->warn)
		options->warn(options->context, str_printf(arena, "warning: %s: %s", what, why));
	return OK;
}

struct files {
	const char **paths;
	size_t n;
};

static enum code add_files(struct arena *arena, const struct seed_options *options,
			   const char *path, struct files *files, struct err *err)
{
	const char **found;
	size_t n;
	enum code code = file_list(arena, path, &found, &n, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		files->paths = arena_room(arena, files->paths, files->n, sizeof(*files->paths));
		files->paths[files->n++] = found[i];
	}
	return n == 0 ? warn(arena, options, path, "no files in it", err) : OK;
}

static enum code load_files(struct seed *seed, const struct files *files, struct err *err)
{
	for (size_t i = 0; i < files->n; i++) {
		enum code code = file_load(seed, files->paths[i], err);

		if (code != OK)
			return code;
	}
	return OK;
}

static enum code load_all(struct seed *seed, struct arena *arena, const char *path, struct err *err)
{
	struct files files = {.n = 0};
	enum code code = add_files(arena, seed_options(seed), path, &files, err);

	return code == OK ? load_files(seed, &files, err) : code;
}

static enum code judge_unused(const struct words *words, const struct seed_options *options,
			      struct err *err)
{
	for (size_t i = 0; i < words->parameter_count; i++) {
		const struct seed_parameter *parameter = &words->parameters[i];

		if (*parameter->is_used)
			continue;
		struct str what =
			str_printf(words->arena, "parameter " STR_FMT, STR_ARG(parameter->name));
		enum code code = warn(words->arena, options, what.p, "no file uses it", err);
		if (code != OK)
			return code;
	}
	return OK;
}

static struct str sum(struct arena *arena, const struct seed *seed)
{
	struct seed_counts counts = seed_counts(seed);
	struct buf buf = buf_in(arena);

	buf_printf(&buf, "%llu items", (unsigned long long)counts.items);
	if (counts.tables > 0)
		buf_printf(&buf, ", %llu tables made", (unsigned long long)counts.tables);
	if (counts.tables_there > 0)
		buf_printf(&buf, ", %llu tables were there already and stay as they are",
			   (unsigned long long)counts.tables_there);
	if (counts.bad > 0)
		buf_printf(&buf, ", %llu parts passed over", (unsigned long long)counts.bad);
	if (counts.warnings > 0)
		buf_printf(&buf, ", %llu warnings", (unsigned long long)counts.warnings);
	return buf_str(&buf);
}

/* `change` of struct seed_options. */
static enum code mask_seed_item(void *context, struct arena *arena, struct str table,
				const struct json *keys, struct str item, struct str *out,
				struct err *err)
{
	const struct words *words = context;

	mask_forget_unknowns(words->mask); /* of lines that were passed over */
	enum code code =
		strict_item(words->strict, words->mask, arena, table, keys, item, out, err);
	if (code != OK)
		return code;
	return strict_check(words->mask, err);
}

static enum code judge_rules(const struct words *words, const struct seed_options *options,
			     struct err *err)
{
	struct str path;

	for (size_t at = 0; words->mask && mask_unused(words->mask, &at, &path);) {
		struct str what = str_printf(words->arena, "%s: the rule for \"" STR_FMT "\"",
					     words->option.file, STR_ARG(path));
		enum code code = warn(words->arena, options, what.p, "it matched nothing", err);

		if (code != OK)
			return code;
	}
	return OK;
}

static struct seed_options options_of(struct words *words, struct destination *destination,
				      struct rehearsal *rehearsal)
{
	struct seed_options options = {
		.write = {.send = send_elsewhere, .context = destination},
		.check = local_rehearsal_target(rehearsal),
		.is_check_apart = !words->is_trial,
		.is_keep_going = words->is_keep_going,
		.is_strict = words->is_strict,
		.is_trial = words->is_trial,
		.table = str_of(words->table),
		.change = words->mask ? mask_seed_item : NULL,
		.change_context = words,
		.parameters = words->parameters,
		.parameter_count = words->parameter_count,
		.say = print_line,
		.warn = print_line,
	};

	if (words->is_trial)
		options.write = options.check;
	options.write.region = elsewhere_region(destination->elsewhere);
	options.write.account = seed_account(elsewhere_access_key(destination->elsewhere));
	if (words->is_trial)
		options.check = options.write;
	return options;
}

static enum code load_paths(struct seed *seed, const struct words *words,
			    struct seed_options *options, struct err *err)
{
	struct files files = {.n = 0};

	for (size_t i = 0; i < words->path_count; i++) {
		enum code code = add_files(words->arena, options, words->paths[i], &files, err);

		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < words->remark_count; i++) {
		enum code code = warn(words->arena, options, words->remarks[i].what,
				      words->remarks[i].why, err);

		if (code != OK)
			return code;
	}
	options->is_of_one_file = files.n == 1;
	enum code code = load_files(seed, &files, err);
	if (code != OK)
		return code;
	code = judge_unused(words, options, err);
	if (code != OK)
		return code;
	code = judge_rules(words, options, err);
	if (code != OK)
		return code;
	return words->is_trial ? preview_print(words->arena, &options->write, words->is_json, err)
			       : OK;
}

static int load(struct words *words, struct destination *destination, struct rehearsal *rehearsal)
{
	struct seed_options options = options_of(words, destination, rehearsal);
	struct seed *seed = seed_new(&options);
	struct err err = err_in(words->arena);
	enum code code = load_paths(seed, words, &options, &err);
	struct seed_counts counts = seed_counts(seed);
	if (code == OK || counts.items + counts.tables > 0)
		fprintf(words->is_json ? stderr : stdout, STR_FMT "\n",
			STR_ARG(sum(words->arena, seed)));
	if (code != OK)
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err.message));
	bool is_done = code == OK && counts.bad == 0;
	seed_free(seed);
	return is_done ? EXIT_DONE : EXIT_FAILED;
}

static int apply_with(struct words *words, struct err *err)
{
	struct rehearsal *rehearsal;
	struct destination destination = {elsewhere_new(words->endpoint, &words->reach),
					  str_of(words->endpoint)};

	if (!destination.elsewhere)
		return EXIT_MISUSE;
	if (local_rehearsal_new(&rehearsal, err) != OK) {
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err->message));
		elsewhere_free(destination.elsewhere);
		return EXIT_FAILED;
	}
	int status = load(words, &destination, rehearsal);
	elsewhere_free(destination.elsewhere);
	local_rehearsal_free(rehearsal);
	return status;
}

static int apply_masked(struct words *words, struct err *err)
{
	struct faker *faker = faker_new(mask_option_secret(words->arena));
	int status = EXIT_MISUSE;

	if (mask_option_open(&words->option, faker, NULL, NULL, &words->mask, err) == OK) {
		words->strict = strict_new();
		status = apply_with(words, err);
		strict_free(words->strict);
		mask_free(words->mask);
	} else {
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err->message));
	}
	faker_free(faker);
	return status;
}

int apply_run(struct arena *arena, int argc, char **argv)
{
	struct words words = {
		.arena = arena, .endpoint = elsewhere_default(), .reach = reach_usual()};
	struct err err = err_in(arena);

	if (!read_words(&words, argc, argv))
		return help_misuse("apply");
	return words.option.file ? apply_masked(&words, &err) : apply_with(&words, &err);
}

enum code apply_to(struct seed_target target, const char *path, struct err *err)
{
	const struct seed_options options = {
		.write = target, .check = target, .say = log_progress, .warn = log_warning};
	struct arena *arena = arena_new(0);
	struct seed *seed = seed_new(&options);
	enum code code = load_all(seed, arena, path, err);

	if (code == OK)
		log_line(LOG_INFO, "%s: " STR_FMT, path, STR_ARG(sum(arena, seed)));
	seed_free(seed);
	arena_free(arena);
	return code;
}

enum code apply_init(struct service *service, const char *path, struct err *err)
{
	return apply_to(local_target(service), path, err);
}
