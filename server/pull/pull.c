#include "server/pull/pull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/mask/mask_option.h"
#include "server/mask/proof.h"
#include "server/mask/suggest.h"
#include "server/messages.h"
#include "server/report/money.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"
#include "server/pull/pull_choice.h"
#include "server/pull/pull_credentials.h"
#include "server/pull/pull_export.h"
#include "server/pull/pull_mark.h"
#include "server/pull/pull_onto.h"
#include "server/pull/pull_pages.h"
#include "server/pull/pull_state.h"
#include "server/pull/pull_work.h"
#include "storage/store/copy_target.h"

struct pull_words {
	struct pull_table *tables;
	size_t table_count;
	struct mask_option mask;
	const char *to, *endpoint, *region, *profile, *s3;
	const char **exports; /* in the order in which they are applied */
	size_t export_count;
	struct export_manifest *manifests; /* of those that are open */
	struct pull_export opened;         /* the same; n: so many */
	struct elsewhere_keys keys; /* of a profile */
	struct str profile_region;
	bool has_signed_in;
	struct elsewhere *source;
	struct arena *arena;
	struct reach reach;
	struct proof *proof;
	double max_units;
	size_t segments;
	struct rule_condition *only;
	size_t only_count;
	double sample;
	struct pull_follow *follows;
	size_t follow_count;
	bool is_agreed, suggests;
	struct suggest *suggest; /* where it suggests */
	struct hashes followed;
};

static void pull_complain(struct str problem)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(problem));
}

/* ATTRIBUTE=PATTERN */
static bool take_only(struct arena *arena, struct pull_words *words, struct str text)
{
	struct str name = str_cut(&text, '=');

	words->only = arena_room(arena, words->only, words->only_count, sizeof(*words->only));
	words->only[words->only_count++] = (struct rule_condition){name, text};
	return name.n > 0 && text.n > 0;
}

/* ATTRIBUTE=TABLE, or ATTRIBUTE=TABLE:TEXT<key>TEXT */
static bool take_follow(struct arena *arena, struct pull_words *words, struct str text)
{
	struct pull_follow follow = {.attribute = str_cut(&text, '='),
				     .table = str_cut(&text, ':'),
				     .before = STR(""),
				     .behind = STR("")};

	if (text.n > 0) {
		follow.before = str_cut(&text, '<');
		if (!str_starts_with(text, STR("key>")))
			return false;
		follow.behind = (struct str){text.p + 4, text.n - 4};
	}
	words->follows =
		arena_room(arena, words->follows, words->follow_count, sizeof(*words->follows));
	words->follows[words->follow_count++] = follow;
	return follow.attribute.n > 0 && follow.table.n > 0;
}

/* "5%" */
static bool take_sample(struct pull_words *words, const char *value)
{
	char *end;

	words->sample = strtod(value, &end) / 100;
	return end != value && strcmp(end, "%") == 0 && words->sample > 0 && words->sample <= 1;
}

static bool take_pull_option(struct arena *arena, struct pull_words *words, const char *name,
			     const char *value)
{
	char *end = NULL;

	if (!value)
		return false;
	if (strcmp(name, "--table") == 0) {
		words->tables = arena_room(arena, words->tables, words->table_count,
					   sizeof(*words->tables));
		words->tables[words->table_count++] = (struct pull_table){.name = str_of(value)};
	} else if (strcmp(name, "--to") == 0) {
		words->to = value;
	} else if (strcmp(name, "--region") == 0) {
		words->region = value;
	} else if (strcmp(name, "--export") == 0) {
		words->exports = arena_room(arena, words->exports, words->export_count,
					    sizeof(*words->exports));
		words->exports[words->export_count++] = value;
	} else if (strcmp(name, "--s3") == 0) {
		words->s3 = value;
	} else if (strcmp(name, "--profile") == 0) {
		words->profile = value;
	} else if (strcmp(name, "--endpoint") == 0) {
		words->endpoint = value;
	} else if (strcmp(name, "--only") == 0) {
		return take_only(arena, words, str_of(value));
	} else if (strcmp(name, "--follow") == 0) {
		return take_follow(arena, words, str_of(value));
	} else if (strcmp(name, "--sample") == 0) {
		return take_sample(words, value);
	} else if (strcmp(name, "--segments") == 0) {
		words->segments = (size_t)strtoul(value, &end, 10);
		return end != value && !*end && words->segments > 0 &&
		       words->segments <= PULL_SEGMENTS_MAX;
	} else if (strcmp(name, "--max-units") == 0) {
		words->max_units = strtod(value, &end);
		return end != value && !*end && words->max_units > 0 && words->max_units < 1e9;
	} else {
		return false;
	}
	return true;
}

static bool read_pull_words(struct arena *arena, int argc, char **argv, struct pull_words *words)
{
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--yes") == 0) {
			words->is_agreed = true;
		} else if (strcmp(argv[i], "--suggest") == 0) {
			words->suggests = true;
		} else if (!reach_take(&words->reach, argc, argv, &i) &&
			   !mask_option_take(&words->mask, argc, argv, &i)) {
			if (!take_pull_option(arena, words, argv[i],
					      i + 1 < argc ? argv[i + 1] : NULL))
				return false;
			i++;
		}
	}
	bool chooses = words->only_count > 0 || words->follow_count > 0 || words->sample < 1;
	if (words->export_count > 0 &&
	    (words->suggests || words->table_count != 1 || words->follow_count > 0))
		return false;
	return words->table_count > 0 && words->suggests == !words->to &&
	       !(words->suggests && chooses);
}

/* The system's own. Without any, a machine on the way could pass for AWS. */
static const char *system_authorities(void)
{
	static const char *const files[] = {"/etc/ssl/certs/ca-certificates.crt",
					    "/etc/pki/tls/certs/ca-bundle.crt",
					    "/etc/ssl/cert.pem"};
	const char *named = getenv("SSL_CERT_FILE");

	for (size_t i = 0; !named && i < sizeof(files) / sizeof(files[0]); i++) {
		if (access(files[i], R_OK) == 0)
			named = files[i];
	}
	return named;
}

static bool is_aws(const struct pull_words *words)
{
	const char *all = getenv("AWS_ENDPOINT_URL"), *own = getenv("AWS_ENDPOINT_URL_DYNAMODB");

	return !words->endpoint && !(own && *own) && !(all && *all);
}

static const char *pull_endpoint(struct arena *arena, struct pull_words *words, struct str region)
{
	if (!is_aws(words))
		return words->endpoint ? words->endpoint : elsewhere_default();
	if (!words->reach.authorities)
		words->reach.authorities = system_authorities();
	if (!words->reach.authorities) {
		pull_complain(STR(PULL_AUTHORITIES));
		return NULL;
	}
	return str_printf(arena, "https://dynamodb." STR_FMT ".amazonaws.com", STR_ARG(region)).p;
}

/* Prints what a table costs to read. */
static void print_estimate(struct arena *arena, const struct pull_table *table)
{
	struct err err = err_in(arena);
	struct money money;
	double units = table->bytes / PULL_UNIT_BYTES;

	printf(STR_FMT ": about %.0f items, %.0f bytes, %.0f read units, %.0f s at %g units/s",
	       STR_ARG(table->name), table->items, table->bytes, units, units / table->max_units,
	       table->max_units);
	if (money_read(arena, NULL, &money, &err) == OK)
		printf(", " STR_FMT " %.4f on demand (" STR_FMT ")\n", STR_ARG(money.currency),
		       units * money.read / 1e6, STR_ARG(money.source));
	else
		printf(", price unknown\n");
}

/* `context`: struct pull_words. */
static bool is_agreed(const void *context)
{
	const struct pull_words *words = context;
	char answer[8] = "";

	fflush(stdout);
	if (words->is_agreed)
		return true;
	if (!isatty(STDIN_FILENO)) {
		pull_complain(STR("nobody can be asked here: --yes begins to read"));
		return false;
	}
	printf("Read the items? [y/N] ");
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static void print_unknowns(const struct mask *mask)
{
	size_t n;
	const struct mask_unknown *unknowns = mask_unknowns(mask, &n);

	for (size_t i = 0; i < n; i++)
		fprintf(stderr, STR_FMT ": " STR_FMT ": %llu values on this page\n",
			STR_ARG(unknowns[i].table), STR_ARG(unknowns[i].path),
			(unsigned long long)unknowns[i].count);
}

static enum code pull_scanned_items(const struct pull *pull, struct pull_table *table,
				    struct err *err)
{
	struct pull_state state;
	enum code code = pull_state_begin(pull, err->arena, table, &state, err);

	if (code != OK)
		return code;
	code = pull_pages(pull, table, &table->read, err);
	if (code != OK)
		return code;
	code = pull_work_check(pull, table, err);
	if (code != OK)
		return code;
	pull_state_end(pull, err->arena, table->name, &state);
	printf(STR_FMT ": %llu items\n", STR_ARG(table->name), (unsigned long long)table->read);
	return OK;
}

static enum code pull_all(const struct pull *pull, struct pull_words *words, struct err *err)
{
	enum code code = pull_marks_prepare(pull, err->arena, err);

	for (size_t i = 0; code == OK && i < words->table_count; i++)
		code = pull_work_prepare(pull, &words->tables[i], err);
	for (size_t i = 0; code == OK && i < words->table_count; i++) {
		struct pull_table *table = &words->tables[i];

		code = words->export_count > 0 ? pull_export_items(pull, table, &words->opened, err)
					       : pull_scanned_items(pull, table, err);
	}
	return code == OK ? pull_marks_remove(pull, err) : code;
}

/* A file of the target's name must not be there, nor a log of one. */
static enum code check_pull_target(const char *target, struct err *err)
{
	const char *part;

	return copy_target_begin(err->arena, target, &part, err);
}

/* All that is written to the file, and its end: it is closed then. */
static enum code fill_file(struct pull *pull, struct pull_words *words, struct err *err)
{
	struct rehearsal *file;
	enum code code = local_rehearsal_in(pull->part, &file, err);

	if (code != OK)
		return code;
	pull->target = local_rehearsal_target(file);
	pull->target.region = pull->region;
	code = pull_all(pull, words, err);
	local_rehearsal_free(file);
	if (code != OK)
		return code;
	/* in no page that is free either */
	return proof_file(words->proof, pull->part, err);
}

static enum code pull_to_file(struct pull *pull, struct pull_words *words, struct err *err)
{
	enum code code = fill_file(pull, words, err);

	if (code == ERR_VALIDATION)
		copy_target_discard(err->arena, pull->part); /* nothing can go on with it */
	if (code != OK)
		return code;
	return copy_target_publish(err->arena, pull->part, words->to, err);
}

static enum code describe_all(const struct pull *pull, struct pull_words *words, struct err *err)
{
	for (size_t i = 0; i < words->table_count; i++) {
		enum code code = pull_work_describe(pull, err->arena, &words->tables[i], err);

		if (code != OK)
			return code;
		if (words->export_count == 0)
			print_estimate(err->arena, &words->tables[i]);
	}
	pull_export_show(&words->opened, err->arena);
	return OK;
}

/* --follow names tables that are pulled. */
static enum code check_follows(const struct pull *pull, struct err *err)
{
	for (size_t i = 0; i < pull->follow_count; i++) {
		if (!pull_choice_table(pull, pull->follows[i].table))
			return err_set(err, MSG_PULL_FOLLOW, STR_ARG(pull->follows[i].table));
	}
	return OK;
}

/* *agreed: whether the items were to be read. */
static enum code pull_if_agreed(struct pull *pull, struct pull_words *words, bool *agreed,
				struct err *err)
{
	enum code code = check_pull_target(words->to, err);

	*agreed = true;
	if (code != OK)
		return code;
	code = describe_all(pull, words, err);
	if (code != OK)
		return code;
	*agreed = is_agreed(words);
	return *agreed ? pull_to_file(pull, words, err) : OK;
}

static enum code pull_changes(struct pull *pull, struct pull_words *words, bool *agreed,
			      struct err *err)
{
	const struct pull_onto onto = {.pull = pull,
				       .table = &words->tables[0],
				       .exports = &words->opened,
				       .proof = words->proof,
				       .file = words->to,
				       .is_agreed = is_agreed,
				       .context = words};

	*agreed = true;
	if (access(words->to, F_OK) != 0)
		return err_set(err, MSG_PULL_NO_BASE, words->exports[0]);
	return pull_onto_run(&onto, agreed, err);
}

static int pull_with(struct pull *pull, struct pull_words *words, struct err *err)
{
	bool agreed, is_onto = pull_export_is_changes(&words->opened);
	enum code code = is_onto ? pull_changes(pull, words, &agreed, err)
				 : pull_if_agreed(pull, words, &agreed, err);

	if (!agreed)
		return EXIT_MISUSE;
	if (code == OK) {
		if (!is_onto) /* changes need not have every attribute */
			mask_option_warn_unused(pull->mask);
		return EXIT_DONE;
	}
	print_unknowns(pull->mask);
	pull_complain(err->message);
	return EXIT_FAILED;
}

/* An item of a sample, for the mask that is suggested. */
struct sampling {
	const struct pull *pull;
	struct suggest *suggest;
	struct str table;
};

static void suggest_from(void *context, struct arena *arena, struct str item)
{
	const struct sampling *sampling = context;

	suggest_next_item(sampling->suggest);
	(void)mask_item(sampling->pull->mask, arena, sampling->table, item);
}

static enum code sample_all(const struct pull *pull, struct pull_words *words, struct err *err)
{
	for (size_t i = 0; i < words->table_count; i++) {
		struct pull_table *table = &words->tables[i];
		struct sampling sampling = {pull, words->suggest, table->name};
		enum code code = pull_work_describe(pull, err->arena, table, err);

		if (code != OK)
			return code;
		suggest_table(words->suggest, table->name, table->description);
		code = pull_pages_sample(pull, table, suggest_from, &sampling, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* The mask on standard output, what is unsure on the other. */
static int suggest_with(const struct pull *pull, struct pull_words *words, struct err *err)
{
	struct str mask, path;
	const char *reason;
	size_t at = 0;

	if (sample_all(pull, words, err) != OK) {
		pull_complain(err->message);
		return EXIT_FAILED;
	}
	mask = suggest_write(words->suggest, err->arena);
	fwrite(mask.p, 1, mask.n, stdout);
	while (suggest_unsure(words->suggest, &at, err->arena, &path, &reason))
		fprintf(stderr, "unsure: " STR_FMT ": %s\n", STR_ARG(path), reason);
	return EXIT_DONE;
}

/* Of all that says which items become what. */
static struct str choice_fingerprint(struct arena *arena, const struct faker *faker,
				     const struct json *rules, const struct pull_words *words)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '[');
	if (rules)
		json_text_write(&out, arena, rules);
	json_out_boolean(&out, words->mask.keeps_unknown);
	json_out_string(&out, str_printf(arena, "%.17g", words->sample));
	for (size_t i = 0; i < words->only_count; i++) {
		json_out_string(&out, words->only[i].name);
		json_out_string(&out, words->only[i].pattern);
	}
	for (size_t i = 0; i < words->follow_count; i++) {
		json_out_string(&out, words->follows[i].attribute);
		json_out_string(&out, words->follows[i].table);
		json_out_string(&out, words->follows[i].before);
		json_out_string(&out, words->follows[i].behind);
	}
	json_out_close(&out, ']');
	return fake_hash(faker, arena, json_out_str(&out));
}

/* The same with the exports: a pull that goes on must have the same ones. */
static struct str rules_fingerprint(struct arena *arena, const struct faker *faker,
				    struct str choice, const struct pull_words *words)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '[');
	json_out_string(&out, choice);
	for (size_t i = 0; i < words->export_count; i++)
		json_out_string(&out, str_of(words->exports[i]));
	json_out_close(&out, ']');
	return fake_hash(faker, arena, json_out_str(&out));
}

static enum code read_mask(struct arena *arena, const struct pull_words *words, struct pull *pull,
			   struct err *err)
{
	struct source *source = source_new(arena);
	const struct mask_options pulls = {.faker = pull->faker,
					   .is_lenient = words->mask.keeps_unknown,
					   .source = source,
					   .seen = proof_saw,
					   .context = words->proof};
	const struct mask_options suggests = {.faker = pull->faker,
					      .source = source,
					      .met = suggest_met,
					      .context = words->suggest};
	const struct json *root = NULL;
	enum code code = OK;

	if (words->mask.file)
		code = document_load(arena, source, words->mask.file, &root, err);
	if (code != OK)
		return code;
	pull->choice = choice_fingerprint(arena, pull->faker, root, words);
	pull->fingerprint = rules_fingerprint(arena, pull->faker, pull->choice, words);
	return mask_new(root, words->suggests ? &suggests : &pulls, &pull->mask, err);
}

/* `renew` of struct pull: the profile's keys again, where they are others now. */
static bool renew_keys(void *context)
{
	struct pull_words *words = context;
	struct err ignored = err_in(words->arena);
	struct elsewhere_keys keys;
	struct str region;

	if (pull_credentials_read(words->arena, words->profile, is_aws(words), &keys, &region,
				  &ignored) != OK ||
	    !str_is_set(keys.access_key) || str_eq(keys.access_key, words->keys.access_key))
		return false;
	words->keys = keys;
	elsewhere_sign_by(words->source, &keys);
	return true;
}

static struct str pull_region(const struct pull_words *words)
{
	const char *region = words->region ? words->region : getenv("AWS_REGION");

	if (!region || !*region)
		region = getenv("AWS_DEFAULT_REGION");
	if (region && *region)
		return str_of(region);
	return str_is_set(words->profile_region) ? words->profile_region : STR("us-east-1");
}

/* Keys of the environment or a profile, once. AWS wants some. */
static enum code sign_in(struct pull_words *words, bool is_for_aws, struct err *err)
{
	if (words->has_signed_in)
		return OK;
	words->has_signed_in = true;
	return pull_credentials_read(words->arena, words->profile, is_for_aws, &words->keys,
				     &words->profile_region, err);
}

/* NULL: AWS's in the region. */
static const char *s3_named(const struct pull_words *words)
{
	const char *own = getenv("AWS_ENDPOINT_URL_S3"), *all = getenv("AWS_ENDPOINT_URL");

	if (words->s3)
		return words->s3;
	return own && *own ? own : all && *all ? all : NULL;
}

static struct elsewhere_keys s3_keys(const struct pull_words *words)
{
	const char *key = getenv("AWS_ACCESS_KEY_ID"), *secret = getenv("AWS_SECRET_ACCESS_KEY"),
		   *token = getenv("AWS_SESSION_TOKEN");

	if (str_is_set(words->keys.access_key) || !key || !*key || !secret)
		return words->keys;
	return (struct elsewhere_keys){str_of(key), str_of(secret),
				       token && *token ? str_of(token) : STR_ABSENT};
}

static enum code reach_s3(struct pull_words *words, struct export_place_s3 *s3, struct err *err)
{
	const char *named = s3_named(words), *authorities = words->reach.authorities;
	enum code code = sign_in(words, is_aws(words) || !named, err);

	if (code != OK)
		return code;
	struct str region = str_copy(words->arena, pull_region(words));
	struct elsewhere_keys keys = s3_keys(words);
	if (!named && !authorities)
		authorities = system_authorities();
	if (!named && !authorities)
		return err_set(err, MSG_PULL_AUTHORITIES);
	if (!named)
		named = str_printf(words->arena, "https://s3." STR_FMT ".amazonaws.com",
				   STR_ARG(region))
				.p;
	*s3 = (struct export_place_s3){named,           region.p,    authorities,
				       keys.access_key, keys.secret, keys.token};
	return OK;
}

static enum code open_export(struct pull_words *words, const char *where, struct err *err)
{
	struct export_place_s3 s3 = {0};
	struct export_place *place;
	enum code code = export_place_is_s3(where) ? reach_s3(words, &s3, err) : OK;

	if (code != OK)
		return code;
	code = export_place_open(where, &s3, &place, err);
	if (code != OK)
		return code;
	code = export_manifest_read(place, where, &words->manifests[words->opened.n], err);
	if (code == OK)
		words->opened.n++;
	else
		export_place_close(place);
	return code;
}

static enum code open_exports(struct pull_words *words, struct err *err)
{
	words->manifests =
		ARENA_ARRAY(words->arena, struct export_manifest, words->export_count + 1);
	words->opened.manifests = words->manifests;
	for (size_t i = 0; i < words->export_count; i++) {
		enum code code = open_export(words, words->exports[i], err);

		if (code != OK)
			return code;
	}
	return export_manifest_chain(words->manifests, words->opened.n, words->tables[0].name, err);
}

static int pull_from_source(struct pull *pull, struct pull_words *words, struct err *err)
{
	if (open_exports(words, err) != OK) {
		pull_complain(err->message);
		return EXIT_FAILED;
	}
	if (pull_export_is_changes(&words->opened)) {
		pull->region = words->region ? str_of(words->region) : words->manifests[0].region;
		return pull_with(pull, words, err);
	}
	if (sign_in(words, is_aws(words), err) != OK) {
		pull_complain(err->message);
		return EXIT_MISUSE;
	}
	pull->region = pull_region(words);
	const char *endpoint = pull_endpoint(err->arena, words, pull->region);
	pull->source = endpoint ? elsewhere_new(endpoint, &words->reach) : NULL;
	if (!pull->source)
		return EXIT_MISUSE;
	if (str_is_set(words->keys.access_key))
		elsewhere_sign_by(pull->source, &words->keys);
	words->source = pull->source;
	return words->suggests ? suggest_with(pull, words, err) : pull_with(pull, words, err);
}

int pull_run(struct arena *arena, int argc, char **argv)
{
	struct pull_words words = {
		.reach = reach_usual(), .arena = arena, .segments = 4, .sample = 1};
	struct err err = err_in(arena);

	if (!read_pull_words(arena, argc, argv, &words))
		return help_misuse("pull");
	words.proof = proof_new();
	words.suggest = suggest_new();
	struct faker *faker = faker_new(mask_option_secret(arena));
	struct pull pull = {.faker = faker,
			    .renew = renew_keys,
			    .context = &words,
			    .max_units = words.max_units,
			    .segments = words.segments,
			    .only = words.only,
			    .only_count = words.only_count,
			    .sample = words.sample,
			    .follows = words.follows,
			    .follow_count = words.follow_count,
			    .followed = &words.followed,
			    .tables = words.tables,
			    .table_count = words.table_count,
			    .part = words.to ? str_printf(arena, "%s.pull", words.to).p : NULL};
	int status = EXIT_MISUSE;
	if (check_follows(&pull, &err) == OK && read_mask(arena, &words, &pull, &err) == OK) {
		status = pull_from_source(&pull, &words, &err);
		mask_free(pull.mask);
	} else {
		pull_complain(err.message);
	}
	elsewhere_free(pull.source);
	for (size_t i = 0; i < words.opened.n; i++)
		export_place_close(words.manifests[i].place);
	suggest_free(words.suggest);
	hashes_free(&words.followed);
	proof_free(words.proof);
	faker_free(faker);
	return status;
}
