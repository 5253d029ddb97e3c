#include "server/start/config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/rollouts.h"
#include "protocol/wire/json.h"
#include "server/start/backend.h"
#include "server/client/client.h"
#include "server/start/dropin.h"
#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/log.h"
#include "server/command/reach.h"
#include "server/command/suggest.h"
#include "server/push/trigger.h"

enum option_kind { KIND_TEXT, KIND_NUMBER, KIND_SWITCH, KIND_CHOICE };

static const struct option {
	const char *flag, *environment, *key, *otherwise, *help;
	enum option_kind kind;
	long low, high;
	size_t offset;
} options[] = {
#define OPTION(field, kind, flag, environment, key, otherwise, low, high, help)                    \
	{flag,      environment, key,                                                              \
	 otherwise, help,        KIND_##kind,                                                      \
	 low,       high,        offsetof(struct config, field)},
#include "server/start/options.def"
#undef OPTION
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))
#define PROBLEM_SIZE 1024 /* of a line about an option */
#define FILE_MAX (1024 * 1024)
#define ACCOUNT_SIZE 12
#define LINE_SHOWN 100 /* bytes of a line that is wrong */
#define HOLDS_ZERO "holds U+0000, which would end it early"
#define ENVIRONMENT "DYNALITH_" /* with which the names of options in the environment begin */
#define SCHEMA "$schema" /* a member that editors read */
#define DATA_FILE "dynalith.db" /* in a folder that is named as the data path */

/* Where the problem goes while config_read_text() runs in this thread; NULL: to stderr. */
struct complaint {
	struct arena *arena;
	struct str text;
};
static _Thread_local struct complaint *complaint;

static void complain_of_option(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain_of_option(const char *format, ...)
{
	char text[PROBLEM_SIZE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (complaint)
		complaint->text = str_copy(complaint->arena, str_of(text));
	else
		fprintf(stderr, "dynalith: %s; see dynalith help\n", text);
}

static bool fail(const char *source, const char *problem, const char *value)
{
	complain_of_option("%s: %s%s%s", source, problem, value ? " " : "", value ? value : "");
	return false;
}

/* Whether `value` is one of the words before ':' in the help, separated by '|'. */
static bool is_choice(const char *help, const char *value)
{
	size_t length = strlen(value);

	for (const char *word = help; *word;) {
		size_t n = strcspn(word, "|:");

		if (n == length && strncmp(word, value, n) == 0)
			return true;
		if (word[n] != '|')
			return false;
		word += n + 1;
	}
	return false;
}

/* Reports an unknown option; `nearest` is a likely one, or NULL. */
static bool fail_unknown(const char *source, const char *name, const char *nearest)
{
	complain_of_option("%s: unknown option%s%s%s%s%s", source, name ? " " : "",
			   name ? name : "", SUGGESTED(nearest));
	return false;
}

static bool fail_command(const char *word)
{
	const char *nearest = help_nearest_command(word);

	complain_of_option("unknown command %s%s%s%s", word, SUGGESTED(nearest));
	return false;
}

static bool set_switch(const struct option *option, bool *at, const char *source, const char *value)
{
	static const char *const words[][2] = {
		{"true", "false"}, {"1", "0"}, {"yes", "no"}, {"on", "off"}};

	(void)option;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (int k = 0; k < 2; k++) {
			if (strcmp(value, words[i][k]) == 0) {
				*at = k == 0;
				return true;
			}
		}
	}
	return fail(source, "wants true or false, not", value);
}

static bool set_number(const struct option *option, long *at, const char *source, const char *value)
{
	char *end;

	errno = 0;
	long number = strtol(value, &end, 10);
	if (errno || end == value || *end)
		return fail(source, "wants a number, not", value);
	if (number < option->low || number > option->high) {
		complain_of_option("%s: wants a number from %ld to %ld, not %s", source,
				   option->low, option->high, value);
		return false;
	}
	*at = number;
	return true;
}

/* Sets the option's field from a text; `source` names it in the error. */
static bool set(const struct option *option, struct config *config, struct arena *arena,
		const char *source, const char *value)
{
	char *at = (char *)config + option->offset;

	config->sources[option - options] = source;
	switch (option->kind) {
	case KIND_SWITCH:
		return set_switch(option, (bool *)at, source, value);
	case KIND_NUMBER:
		return set_number(option, (long *)at, source, value);
	case KIND_CHOICE:
		if (!is_choice(option->help, value)) {
			complain_of_option("%s: wants %.*s, not %s", source,
					   (int)strcspn(option->help, ":"), option->help, value);
			return false;
		}
		break;
	case KIND_TEXT:
		if (!*value)
			return fail(source, "wants a value", NULL);
		break;
	}
	*(const char **)at = str_copy(arena, str_of(value)).p;
	return true;
}

/* The text of config.example.json. */
static void config_print_example(FILE *out)
{
	fprintf(out, "{\n  \"" SCHEMA "\": \"docs/config.schema.json\",\n");
	for (size_t i = 0; i < OPTIONS; i++) {
		bool is_text = options[i].kind == KIND_TEXT || options[i].kind == KIND_CHOICE;

		fprintf(out, "  \"%s\": %s%s%s,\n", options[i].key, is_text ? "\"" : "",
			options[i].otherwise, is_text ? "\"" : "");
	}
	fprintf(out, "  \"credentials\": [\n    {\"access_key_id\": \"example\", "
		     "\"secret_access_key\": \"example-secret\"}\n  ]\n}\n");
}

static const struct option *find_flag(struct str flag)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		if (str_eq(str_of(options[i].flag), flag))
			return &options[i];
	}
	return NULL;
}

static const char *nearest_flag(struct str flag)
{
	struct suggestion suggestion = {.typed = flag, .prefix_size = 2};

	suggest_offer(&suggestion, "--config");
	for (size_t i = 0; i < OPTIONS; i++)
		suggest_offer(&suggestion, options[i].flag);
	return suggestion.nearest;
}

/* A JSON scalar as the text that the environment would hold; NULL where that could not hold it. */
static const char *scalar_text(struct arena *arena, const struct json *value)
{
	int64_t number;

	switch (json_type(value)) {
	case JSON_STRING:
		return json_c_string(arena, value);
	case JSON_BOOLEAN:
		return json_boolean(value) ? "true" : "false";
	case JSON_NUMBER:
		return json_integer(value, &number) ? str_printf(arena, "%lld", (long long)number).p
						    : "a fraction";
	default:
		return "a list or object";
	}
}

/* AWS: the number of an account has 12 digits. */
static bool read_account(struct arena *arena, const struct json *member,
			 struct credential *credential, const char *file)
{
	struct str account =
		json_type(member) == JSON_STRING ? json_string(arena, member) : STR("");

	if (account.n != ACCOUNT_SIZE ||
	    strspn(str_copy(arena, account).p, "0123456789") != ACCOUNT_SIZE)
		return fail(file, "the account of a credential wants 12 digits in quotes", NULL);
	credential->account = account;
	return true;
}

/* The members that a signature check does not need. */
static bool read_rights(struct arena *arena, const struct json *entry,
			struct credential *credential, const char *file)
{
	const struct json *account = json_member(entry, "account"),
			  *control = json_member(entry, "control");

	if (control && json_type(control) != JSON_BOOLEAN)
		return fail(file, "the control of a credential wants true or false", NULL);
	credential->has_control = control != NULL;
	credential->may_control = control && json_boolean(control);
	credential->account = STR_ABSENT;
	return !account || read_account(arena, account, credential, file);
}

static bool read_credential(struct arena *arena, const struct json *entry,
			    struct credential *credential, const char *file)
{
	static const char *const names[] = {"access_key_id", "secret_access_key", "session_token"};
	struct str *const texts[] = {&credential->access_key, &credential->secret,
				     &credential->token};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct json *member =
			json_type(entry) == JSON_OBJECT ? json_member(entry, names[i]) : NULL;

		*texts[i] = STR_ABSENT;
		if (!member && texts[i] == &credential->token)
			continue;
		if (!member || json_type(member) != JSON_STRING)
			return fail(file, "a credential needs access_key_id and secret_access_key",
				    NULL);
		if (!json_c_string(arena, member))
			return fail(str_printf(arena, "%s: %s", file, names[i]).p, HOLDS_ZERO,
				    NULL);
		*texts[i] = json_string(arena, member);
	}
	return read_rights(arena, entry, credential, file);
}

static bool read_credentials(struct arena *arena, const struct json *list, struct config *config,
			     const char *file)
{
	if (json_type(list) != JSON_ARRAY)
		return fail(file, "credentials must be a list", NULL);
	struct credential *credentials = ARENA_ARRAY(arena, struct credential, json_count(list));
	size_t n = 0;
	for (const struct json *entry = json_first(list); entry; entry = json_next(entry)) {
		if (!read_credential(arena, entry, &credentials[n++], file))
			return false;
	}
	config->credentials = credentials;
	config->credential_count = n;
	return true;
}

static bool read_option_value(struct arena *arena, const struct json *value,
			      const struct option *option, struct config *config, const char *file)
{
	const char *source = str_printf(arena, "%s: %s", file, option->key).p;

	if (option->kind == KIND_TEXT && json_type(value) != JSON_STRING)
		return fail(source, "wants a text", NULL);
	if (option->kind == KIND_SWITCH && json_type(value) != JSON_BOOLEAN)
		return fail(source, "wants true or false, without quotes", NULL);
	const char *text = scalar_text(arena, value);
	return text ? set(option, config, arena, source, text) : fail(source, HOLDS_ZERO, NULL);
}

/* "ttl" of "ttl.delay". */
static bool begins_a_key(struct str name)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		if (str_starts_with(str_of(options[i].key), name) && options[i].key[name.n] == '.')
			return true;
	}
	return false;
}

static bool read_option_members(struct arena *arena, const struct json *object, struct str prefix,
				struct config *config, const char *file);

/* {"ttl": {"delay": 3}} is {"ttl.delay": 3}: then the prefix is "ttl.". */
static bool read_option_member(struct arena *arena, const struct json *member, struct str prefix,
			       struct config *config, const char *file)
{
	struct str name = str_printf(arena, STR_FMT STR_FMT, STR_ARG(prefix),
				     STR_ARG(json_name(arena, member)));

	if (str_has_zero(json_name(arena, member)))
		return fail(str_printf(arena, "%s: %s", file, name.p).p, HOLDS_ZERO, NULL);
	if (str_eq(name, STR(SCHEMA)))
		return json_type(member) == JSON_STRING ||
		       fail(file, SCHEMA ": wants a text", NULL);
	if (str_eq(name, STR("credentials")))
		return read_credentials(arena, member, config, file);
	for (size_t i = 0; i < OPTIONS; i++) {
		if (str_eq(str_of(options[i].key), name) || str_eq(str_of(options[i].flag), name))
			return read_option_value(arena, member, &options[i], config, file);
	}
	if (prefix.n == 0 && json_type(member) == JSON_OBJECT && begins_a_key(name))
		return read_option_members(
			arena, member, str_printf(arena, STR_FMT ".", STR_ARG(name)), config, file);
	struct suggestion suggestion = {.typed = name};
	suggest_offer(&suggestion, "credentials");
	for (size_t i = 0; i < OPTIONS; i++)
		suggest_offer(&suggestion, options[i].key);
	return fail_unknown(file, name.p, suggestion.nearest);
}

static bool read_option_members(struct arena *arena, const struct json *object, struct str prefix,
				struct config *config, const char *file)
{
	for (const struct json *member = json_first(object); member; member = json_next(member)) {
		if (!read_option_member(arena, member, prefix, config, file))
			return false;
	}
	return true;
}

/* Names the place, and shows its line. */
static bool fail_json(struct arena *arena, struct str text, const char *source)
{
	size_t at = json_stops_at(arena, text), line = 1, start = 0;

	for (size_t i = 0; i < at; i++) {
		if (text.p[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	const char *end = memchr(text.p + start, '\n', text.n - start);
	size_t n = end ? (size_t)(end - text.p) - start : text.n - start;
	n = n < LINE_SHOWN ? n : LINE_SHOWN;
	complain_of_option("%s:%zu:%zu: is not JSON here: %.*s", source, line, at - start + 1,
			   (int)n, text.p + start);
	return false;
}

/* The options of a JSON object; `source` names it in the error. */
static bool read_option_text(struct arena *arena, struct str text, struct config *config,
			     const char *source)
{
	const struct json *root;
	struct err err = err_in(arena);

	if (text.n == 0)
		return fail(source, "is empty, and no JSON object", NULL);
	if (json_parse(arena, text, &root, &err) != OK)
		return fail_json(arena, text, source);
	if (json_type(root) != JSON_OBJECT)
		return fail(source, "is not a JSON object", NULL);
	return read_option_members(arena, root, STR(""), config, source);
}

static bool read_option_file(struct arena *arena, const char *path, struct config *config)
{
	FILE *file = fopen(path, "re");
	char *text = arena_bytes(arena, FILE_MAX);

	if (!file)
		return fail(path, strerror(errno), NULL);
	size_t n = fread(text, 1, FILE_MAX, file);
	fclose(file);
	return read_option_text(arena, (struct str){text, n}, config, path);
}

/*
 * Kubernetes and Docker set DYNALITH_SERVICE_HOST, DYNALITH_PORT=tcp://10.0.0.1:8000,
 * DYNALITH_PORT_8000_TCP and the like in containers beside a service "dynalith".
 */
static bool is_service_link(const char *name, const char *value)
{
	return strncmp(name, ENVIRONMENT "SERVICE_", strlen(ENVIRONMENT "SERVICE_")) == 0 ||
	       strncmp(name, ENVIRONMENT "PORT_", strlen(ENVIRONMENT "PORT_")) == 0 ||
	       strncmp(value, "tcp://", 6) == 0;
}

/* Whether the variable is an option; else a likely one. */
static bool is_known_option(struct str name, const char **nearest)
{
	struct suggestion suggestion = {.typed = name, .prefix_size = strlen(ENVIRONMENT)};
	bool is_option = str_eq(name, STR(ENVIRONMENT "CONFIG"));

	suggest_offer(&suggestion, ENVIRONMENT "CONFIG");
	for (size_t i = 0; i < OPTIONS; i++) {
		is_option = is_option || str_eq(name, str_of(options[i].environment));
		suggest_offer(&suggestion, options[i].environment);
	}
	*nearest = suggestion.nearest;
	return is_option;
}

void config_warn_of_environment(char *const *environment)
{
	for (; *environment; environment++) {
		const char *equals = strchr(*environment, '='), *nearest;

		if (!equals || strncmp(*environment, ENVIRONMENT, strlen(ENVIRONMENT)) != 0)
			continue;
		struct str name = {*environment, (size_t)(equals - *environment)};
		if (!is_known_option(name, &nearest) && !is_service_link(*environment, equals + 1))
			log_line(LOG_WARN,
				 STR_FMT " in the environment is no option and has no effect%s%s%s",
				 STR_ARG(name), SUGGESTED(nearest));
	}
}

bool config_names(const char *text)
{
	return strcmp(text, "none") != 0;
}

struct str config_data(struct arena *arena, const struct config *config)
{
	if (backend_is_shared(config->store))
		return backend_shown(arena, config->store);
	char *path = config->in_memory ? NULL : realpath(config->db_path, NULL);
	struct str data = str_copy(arena, str_of(config->in_memory ? "memory"
						 : path            ? path
								   : config->db_path));

	free(path);
	return data;
}

static bool read_environment(struct arena *arena, struct config *config)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const char *value = getenv(options[i].environment);

		if (value && !is_service_link(options[i].environment, value) &&
		    !set(&options[i], config, arena, options[i].environment, value))
			return false;
	}
	return true;
}

static bool is_folder(const char *path)
{
	struct stat about;

	return path && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* "--flag value", "--flag=value"; a switch takes a value only by '='. */
static bool read_flag(struct arena *arena, int argc, char **argv, int *i, struct config *config)
{
	struct str flag = {argv[*i], strcspn(argv[*i], "=")};
	const char *value = argv[*i][flag.n] == '=' ? argv[*i] + flag.n + 1 : NULL;
	const struct dropin *dropin = dropin_find(flag);
	const struct option *option = find_flag(dropin ? str_of(dropin->ours) : flag);

	if ((dropin && !dropin->ours) ||
	    (config->is_dropin &&
	     argv[*i][0] != '-')) /* DynamoDB Local passes over words that are no flags */
		return true;
	if (str_eq(flag, STR("--config"))) {
		*i += value == NULL; /* read before */
		return true;
	}
	if (!option && argv[*i][0] != '-')
		return fail_command(argv[*i]);
	if (!option)
		return fail_unknown(argv[*i], NULL, nearest_flag(flag));
	if (!value && option->kind == KIND_SWITCH)
		value = "true";
	if (!value && *i + 1 < argc)
		value = argv[++*i];
	if (dropin && dropin->is_folder && !is_folder(value))
		return fail(argv[*i - 1], "Invalid directory for database creation.", value);
	return value ? set(option, config, arena, option->flag, value)
		     : fail(option->flag, "wants a value", NULL);
}

static const char *config_file(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--config=", 9) == 0)
			return argv[i] + 9;
		if (strcmp(argv[i], "--config") == 0)
			return i + 1 < argc ? argv[i + 1] : "";
	}
	return getenv("DYNALITH_CONFIG");
}

static bool is_information(const char *flag)
{
	if (dropin_inform(flag))
		return true;
	if (strcmp(flag, "-h") == 0)
		help_print_screen();
	else if (strcmp(flag, "--help") == 0)
		help_print_options();
	else if (strcmp(flag, "--version") == 0 || strcmp(flag, "-V") == 0)
		help_print_version();
	else if (strcmp(flag, "--print-config-example") == 0)
		config_print_example(stdout);
	else
		return false;
	return true;
}

/* TLS wants both of its files. */
static enum config_result fail_of_half(const struct config *config)
{
	bool has_certificate = config_names(config->tls_cert);

	complain_of_option("%s %s: %s is missing", has_certificate ? "--tls-cert" : "--tls-key",
			   has_certificate ? config->tls_cert : config->tls_key,
			   has_certificate ? "--tls-key" : "--tls-cert");
	return CONFIG_FAILED;
}

/* --store and its two short forms say the same from here on. */
static void name_store(struct arena *arena, struct config *config)
{
	const char *file = config_names(config->store) ? backend_file(config->store) : NULL;

	if (config_names(config->store) && !file) { /* its URL is as it should be */
		config->in_memory = !backend_is_shared(config->store);
		return;
	}
	if (file) {
		config->in_memory = false;
		config->db_path = file;
	}
	if (is_folder(config->db_path))
		config->db_path = str_printf(arena, "%s/" DATA_FILE, config->db_path).p;
	config->store = backend_url(arena, config->in_memory, config->db_path);
}

/* --s3: a folder, or a URL with its credentials. */
static bool is_s3(const struct config *config)
{
	struct client_target target;
	bool is_url =
		strncmp(config->s3, "http://", 7) == 0 || strncmp(config->s3, "https://", 8) == 0;

	return config->s3[0] && (!is_url || client_read_any_target(str_of(config->s3), &target)) &&
	       (!config_names(config->s3_credentials) || strchr(config->s3_credentials, ':'));
}

/* --kinesis: a URL with its credentials. */
static bool is_kinesis(const struct config *config)
{
	struct client_target target;

	return client_read_any_target(str_of(config->kinesis), &target) &&
	       strchr(config->kinesis_credentials, ':');
}

static const struct option *option_at(size_t offset)
{
	const struct option *option = options;

	while (option->offset != offset)
		option++;
	return option;
}

/* What set it; NULL: nothing did. */
static const char *source_of(const struct config *config, size_t offset)
{
	return config->sources[option_at(offset) - options];
}

/* Options that say two things about one subject, wherever they come from. */
static bool agree(const struct config *config)
{
	const char *store = config_names(config->store)
				    ? source_of(config, offsetof(struct config, store))
				    : NULL;
	const char *path = source_of(config, offsetof(struct config, db_path));
	const char *memory =
		config->in_memory ? source_of(config, offsetof(struct config, in_memory)) : NULL;
	const char *namespaces = strcmp(config->namespaces, "shared") != 0
					 ? source_of(config, offsetof(struct config, namespaces))
					 : NULL;
	const char *shared =
		config->shared_db ? source_of(config, offsetof(struct config, shared_db)) : NULL;
	const char *values = config->show_values
				     ? source_of(config, offsetof(struct config, show_values))
				     : NULL;
	const char *insight = strcmp(config->insight, "off") == 0
				      ? source_of(config, offsetof(struct config, insight))
				      : NULL;
	const char *const pairs[][2] = {{memory, path},
					{store, path},
					{store, memory},
					{shared, namespaces},
					{values, insight}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (pairs[i][0] && pairs[i][1]) {
			complain_of_option("%s and %s contradict each other: leave one out",
					   pairs[i][0], pairs[i][1]);
			return false;
		}
	}
	return true;
}

bool config_is_used(const struct config *config)
{
#define MORE(member, of)                                                                           \
	{                                                                                          \
		offsetof(struct config, member), offsetof(struct config, of)                       \
	}
	static const size_t pairs[][2] = {
		MORE(policies, iam),
		MORE(iam_report, iam),
		MORE(record_values, record),
		MORE(trigger_filter, trigger),
	};
#undef MORE

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct option *more = option_at(pairs[i][0]), *of = option_at(pairs[i][1]);
		const char *value = *(const char *const *)((const char *)config + more->offset);

		if (strcmp(value, more->otherwise) != 0 && !source_of(config, of->offset)) {
			complain_of_option("%s has no effect without %s",
					   source_of(config, more->offset), of->flag);
			return false;
		}
	}
	return true;
}

/* A region and a day that rollouts.def can answer for. */
static bool is_as(struct arena *arena, const struct config *config)
{
	struct err err = err_in(arena);
	bool is_fixed;
	rollout_set set;

	if (rollouts_read(str_of(config->as), &is_fixed, &set, &err) == OK)
		return true;
	complain_of_option("as: " STR_FMT, STR_ARG(err.message));
	return false;
}

/* What options must be beyond the kinds of their rows; the short forms of some become the long
 * ones. */
static bool finish_config(struct arena *arena, struct config *config)
{
	struct str problem;

	if (!config->is_dropin && !agree(config))
		return false;
	if (!trigger_specs_are_valid(config->trigger, &problem)) {
		complain_of_option("trigger: wants TABLE=http://HOST:PORT/PATH, not " STR_FMT,
				   STR_ARG(problem));
		return false;
	}
	if (!trigger_filter_is_valid(arena, config->trigger_filter, &problem)) {
		complain_of_option(
			"trigger-filter: wants none, FilterCriteria as JSON or a file of it, "
			"not " STR_FMT,
			STR_ARG(problem));
		return false;
	}
	if (!is_s3(config)) {
		complain_of_option(
			"s3: wants none, a folder, or http://HOST[:PORT] or https://HOST[:PORT] "
			"with s3-credentials ACCESS_KEY:SECRET");
		return false;
	}
	if (config_names(config->kinesis) && !is_kinesis(config)) {
		complain_of_option(
			"kinesis: wants none, or http://HOST[:PORT] or https://HOST[:PORT] with "
			"kinesis-credentials ACCESS_KEY:SECRET");
		return false;
	}
	if (config_names(config->store) && !backend_check(arena, config->store, &problem)) {
		complain_of_option("--store: " STR_FMT, STR_ARG(problem));
		return false;
	}
	if (!is_as(arena, config))
		return false;
	name_store(arena, config);
	config->shared_db = config->shared_db || strcmp(config->namespaces, "shared") == 0;
	return true;
}

static bool set_defaults(struct arena *arena, struct config *config)
{
	memset(config, 0, sizeof(*config));
	config->sources = ARENA_ARRAY(arena, const char *, OPTIONS);
	for (size_t i = 0; i < OPTIONS; i++) {
		if (!set(&options[i], config, arena, options[i].key, options[i].otherwise))
			return false;
		config->sources[i] = NULL;
	}
	return true;
}

enum config_result config_read(struct arena *arena, int argc, char **argv, struct config *config)
{
	if (!set_defaults(arena, config))
		return CONFIG_FAILED;
	struct reach reach = reach_usual();
	config->is_health = argc > 1 && strcmp(argv[1], "health") == 0;
	argc -= config->is_health;
	argv += config->is_health;
	if (!dropin_strip(arena, &argc, &argv, &config->is_dropin))
		return CONFIG_FAILED;
	const char *file = config_file(argc, argv);
	for (int i = 1; i < argc; i++) {
		if (is_information(argv[i]))
			return CONFIG_DONE;
	}
	if (config->is_dropin) {
		config->cors = "*";
		config->namespaces = "key";
	}
	if ((file && !read_option_file(arena, file, config)) || !read_environment(arena, config))
		return CONFIG_FAILED;
	if (dropin_is_given(argc, argv)) { /* its command line alone says where the data goes */
		config->in_memory = false;
		config->store = "none";
	}
	for (int i = 1; i < argc; i++) {
		if (config->is_health && strcmp(argv[i], "--timeout") == 0 &&
		    reach_take(&reach, argc, argv, &i))
			continue;
		if (!read_flag(arena, argc, argv, &i, config))
			return CONFIG_FAILED;
	}
	config->health_wait_ms = reach.is_given ? reach.wait_ms : 0;
	if (!config->is_health && config_names(config->tls_cert) != config_names(config->tls_key))
		return fail_of_half(config);
	return finish_config(arena, config) ? CONFIG_RUN : CONFIG_FAILED;
}

/* Without a place for the data it is in memory. No signature is there to be checked, unless the
 * options want one. */
static bool read_own(struct arena *arena, struct str text, struct config *config)
{
	if (!set_defaults(arena, config))
		return false;
	const char *usual = config->db_path;

	config->auth = "off";
	if (!read_option_text(arena, text, config, "options"))
		return false;
	config->in_memory = config->in_memory || config->db_path == usual;
	return finish_config(arena, config);
}

bool config_read_text(struct arena *arena, struct str text, struct config *config,
		      struct str *problem)
{
	struct complaint own = {arena, STR("")};

	complaint = &own;
	bool is_read = read_own(arena, text, config);
	complaint = NULL;
	*problem = own.text;
	return is_read;
}

static const char *option_value_of(struct arena *arena, const struct option *option,
				   const struct config *config)
{
	const char *at = (const char *)config + option->offset;

	switch (option->kind) {
	case KIND_SWITCH:
		return *(const bool *)at ? "true" : "false";
	case KIND_NUMBER:
		return str_printf(arena, "%ld", *(const long *)at).p;
	default:
		return *(const char *const *)at;
	}
}

static int show_config(struct arena *arena, int argc, char **argv)
{
	struct config config;
	enum config_result result = config_read(arena, argc, argv, &config);

	if (result != CONFIG_RUN)
		return result == CONFIG_DONE ? EXIT_DONE : EXIT_MISUSE;
	for (size_t i = 0; i < OPTIONS; i++) {
		bool is_secret = strstr(options[i].key, "credentials") &&
				 config_names(option_value_of(arena, &options[i], &config));

		printf("%-26s %-30s %s\n", options[i].key,
		       is_secret ? "(not shown)" : option_value_of(arena, &options[i], &config),
		       config.sources[i] ? config.sources[i] : "default");
	}
	printf("%-26s %zu\n", "credentials", config.credential_count);
	return EXIT_DONE;
}

int config_run(struct arena *arena, int argc, char **argv)
{
	struct config config;

	if (argc > 2 && strcmp(argv[2], "show") == 0)
		return show_config(arena, argc - 2, argv + 2);
	if (argc != 4 || strcmp(argv[2], "check") != 0)
		return help_misuse("config");
	if (access(argv[3], R_OK) != 0) {
		fail(argv[3], strerror(errno), NULL);
		return EXIT_FAILED;
	}
	if (!set_defaults(arena, &config) || !read_option_file(arena, argv[3], &config) ||
	    !finish_config(arena, &config))
		return EXIT_FOUND;
	if (config_names(config.tls_cert) != config_names(config.tls_key)) {
		fail_of_half(&config);
		return EXIT_FOUND;
	}
	printf("%s is a configuration that a server takes\n", argv[3]);
	return EXIT_DONE;
}
