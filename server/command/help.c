#include "server/command/help.h"

#include <stdio.h>
#include <string.h>

#include "core/str.h"
#include "server/start/dropin.h"
#include "server/command/exit_status.h"
#include "server/command/suggest.h"
#include "server/version.h"
#include "storage/store/sqlite/sqlite_store.h"

#define WIDTH 80
#define LEFT 28 /* columns of a flag, and of a command */

static const struct command {
	const char *word, *arguments, *summary, *options, *examples;
} commands[] = {
#define COMMAND(word, run, arguments, summary, options, examples)                                  \
	{word, arguments, summary, options, examples},
#include "server/command/commands.def"
#undef COMMAND
};

/* A group's row has a topic, an option's a flag. */
static const struct row {
	const char *topic, *title, *example;
	const char *flag, *value, *environment, *key, *otherwise, *help;
} rows[] = {
#define VALUE_TEXT " TEXT"
#define VALUE_NUMBER " N"
#define VALUE_SWITCH ""
#define VALUE_CHOICE " WORD"
#define GROUP(topic, title, example) {topic, title, example, NULL, NULL, NULL, NULL, NULL, NULL},
#define OPTION(field, kind, flag, environment, key, otherwise, low, high, help) \
	{NULL, NULL, NULL, flag, VALUE_##kind, environment, key, otherwise, help},
#include "server/start/options.def"
#undef OPTION
};

static const struct {
	const char *number, *help;
} statuses[] = {
#define EXIT_STATUS(name, number, help) {#number, help},
#include "server/command/exit_status.def"
#undef EXIT_STATUS
};

#define STATUS_TOPIC "status"
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Prints the text from column `at` on, in lines that begin at column `left` and end before WIDTH.
 */
void help_wrap(size_t at, size_t left, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > left && at + 1 + n > WIDTH) {
			printf("\n");
			at = 0;
		}
		if (at < left)
			printf("%*s", (int)(left - at), "");
		else if (at > left)
			printf(" ");
		at = (at < left ? left : at > left ? at + 1 : at) + n;
		printf("%.*s", (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
	printf("\n");
}

/* A name in the left column, what it is in the right one. */
static void print_pair(const char *name, const char *text)
{
	int n = printf("  %s", name);

	if (n >= LEFT) {
		printf("\n");
		n = 0;
	}
	help_wrap((size_t)n, LEFT, text);
}

static void print_option(const struct row *row)
{
	char name[64], about[160];

	snprintf(name, sizeof(name), "%s%s", row->flag, row->value);
	print_pair(name, row->help);
	snprintf(about, sizeof(about), "[%s, %s, default %s]", row->environment, row->key,
		 row->otherwise);
	help_wrap(0, LEFT, about);
}

/* The group and its options; the row behind it. */
static const struct row *print_group(const struct row *group)
{
	const struct row *row = group + 1;

	printf("%s\n  for example: ", group->title);
	help_wrap(15, 15, group->example);
	for (; row < rows + ROWS && row->flag; row++)
		print_option(row);
	return row;
}

static void print_topics(void)
{
	char topics[256] = "";
	size_t n = 0;

	for (const struct row *row = rows; row < rows + ROWS; row++) {
		if (row->topic)
			n += (size_t)snprintf(topics + n, sizeof(topics) - n, "%s%s",
					      n > 0 ? ", " : "", row->topic);
	}
	snprintf(topics + n, sizeof(topics) - n, ", " STATUS_TOPIC);
	print_pair("subjects", topics);
}

static void print_statuses(void)
{
	printf("Exit status\n");
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		print_pair(statuses[i].number, statuses[i].help);
}

void help_print_version(void)
{
	const char *note = sqlite_store_library_note();

	printf("dynalith " DYNALITH_VERSION "\nSQLite %s%s%s\n", sqlite_store_library_version(),
	       note ? ": " : "", note ? note : "");
}

void help_print_screen(void)
{
	static const char *const usual[][2] = {
		{"--port N", "TCP port (8000)"},
		{"--db-path FILE", "the data file (dynalith.db)"},
		{"--in-memory", "no file: data is gone when the server ends"},
		{"--init FILE", "load tables and items of a file or folder first"},
		{"--auth verify", "check signatures by the credentials of --config"},
		{"--iam enforce", "judge requests by IAM policies, as AWS does"},
		{"--timing aws", "changes of tables take as long as at AWS"},
		{"--insight on", "count access patterns, for dynalith report"},
		{"--log-level debug", "log every request"},
		{"--config FILE", "options and credentials from a JSON file"},
	};

	printf("dynalith " DYNALITH_VERSION ": a server for the DynamoDB API\n\n"
	       "usage: dynalith [OPTION]...          serve on http://127.0.0.1:8000\n"
	       "       dynalith COMMAND [OPTION]...\n\n");
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		print_pair(usual[i][0], usual[i][1]);
	printf("\n");
	for (size_t i = 0; i < COMMANDS; i++)
		print_pair(commands[i].word, commands[i].summary);
	printf("\n");
	print_pair("dynalith help COMMAND", "its options, and examples");
	print_pair("dynalith help SUBJECT", "its options");
	print_topics();
	print_pair("dynalith --help", "every option");
}

void help_print_options(void)
{
	printf("dynalith " DYNALITH_VERSION
	       ": a server for the DynamoDB API\n\nusage: dynalith [OPTION]...\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("       dynalith %s%s%s\n", commands[i].word,
		       *commands[i].arguments ? " " : "", commands[i].arguments);
	printf("\nIn brackets: the environment variable, the name in a configuration file, the\n"
	       "default. A flag wins over the environment, which wins over the file.\n");
	for (const struct row *row = rows; row < rows + ROWS;) {
		printf("\n");
		row = print_group(row);
	}
	printf("\nConfiguration\n");
	print_pair("--config FILE", "options by the names in brackets, and credentials, as JSON");
	help_wrap(0, LEFT, "[DYNALITH_CONFIG]");
	print_pair("--print-config-example", "such a file with every option");
	print_pair("-h, --help, -V, --version", "one screen, all of this, the version");
	printf("\n");
	print_statuses();
	printf("\n");
	dropin_help();
}

/* Calls for each of the command's options with its name, as "--endpoint URL", and what it is. */
static void each_option(const struct command *command,
			void (*each)(const char *name, const char *text))
{
	for (const char *line = command->options; *line;) {
		char name[64], text[256];
		size_t n = strcspn(line, "\t"), end = strcspn(line, "\n");

		snprintf(name, sizeof(name), "%.*s", (int)n, line);
		snprintf(text, sizeof(text), "%.*s", (int)(end - n - 1), line + n + 1);
		each(name, text);
		line += end + 1;
	}
}

/* Empty where there are none, or `arguments` has their place. */
static const char *options_in_usage(const struct command *command)
{
	if (!*command->options || strstr(command->arguments, "[OPTION]"))
		return "";
	return " [OPTION]...";
}

static void print_command_help(const struct command *command)
{
	printf("usage: dynalith %s%s%s%s\n\n", command->word, *command->arguments ? " " : "",
	       command->arguments, options_in_usage(command));
	printf("%c%s.\n", command->summary[0] - ('a' - 'A'), command->summary + 1);
	if (*command->options)
		printf("\n");
	each_option(command, print_pair);
	printf("\nexamples:\n");
	for (const char *line = command->examples; *line; line += strcspn(line, "\n") + 1)
		printf("  %.*s\n", (int)strcspn(line, "\n"), line);
}

static const struct command *find_command(const char *word)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].word, word) == 0)
			return &commands[i];
	}
	return NULL;
}

static bool print_topic(const char *topic)
{
	const struct command *command = find_command(topic);

	if (command) {
		print_command_help(command);
		return true;
	}
	for (const struct row *row = rows; row < rows + ROWS; row++) {
		if (row->topic && strcmp(row->topic, topic) == 0) {
			print_group(row);
			return true;
		}
	}
	if (strcmp(topic, STATUS_TOPIC) != 0)
		return false;
	print_statuses();
	return true;
}

int help_misuse(const char *word)
{
	const struct command *command = find_command(word);

	fprintf(stderr, "usage: dynalith %s %s%s; see dynalith help %s\n", word, command->arguments,
		options_in_usage(command), word);
	return EXIT_MISUSE;
}

/* The option of `list`, as commands.def has it, whose name that is; NULL: none. */
static const char *option_of(const char *list, struct str name)
{
	for (const char *line = list; *line; line += strcspn(line, "\n") + 1) {
		if (str_eq(name, (struct str){line, strcspn(line, " \t")}))
			return line;
	}
	return NULL;
}

static bool is_of_server(struct str name)
{
	for (const struct row *row = rows; row < rows + ROWS; row++) {
		if (row->flag && str_eq(name, str_of(row->flag)))
			return true;
	}
	return str_eq(name, STR("--config"));
}

static const char *nearest_option(const char *list, struct str name)
{
	struct suggestion suggestion = {.typed = name, .prefix_size = 2};
	static char offered[64];

	for (const char *line = list; *line; line += strcspn(line, "\n") + 1) {
		char option[sizeof(offered)];

		snprintf(option, sizeof(option), "%.*s", (int)strcspn(line, " \t"), line);
		suggest_offer(&suggestion, option);
		if (suggestion.nearest != option)
			continue;
		memcpy(offered, option, sizeof(offered));
		suggestion.nearest = offered;
	}
	return suggestion.nearest;
}

int help_check_options(const char *word, int argc, char **argv)
{
	const struct command *command = find_command(word);

	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		struct str rest = str_of(argv[i]), name = str_cut(&rest, '=');
		const char *option = option_of(command->options, name);
		const char *nearest;

		if (option && option[strcspn(option, " \t")] == ' ' && name.n == strlen(argv[i]))
			i++; /* its value */
		if (option || !str_starts_with(name, STR("--")) || is_of_server(name))
			continue;
		nearest = nearest_option(command->options, name);
		fprintf(stderr,
			"dynalith: " STR_FMT ": unknown option%s%s%s; see dynalith help %s\n",
			STR_ARG(name), SUGGESTED(nearest), word);
		return EXIT_MISUSE;
	}
	return EXIT_DONE;
}

static void offer_commands(struct suggestion *suggestion)
{
	for (size_t i = 0; i < COMMANDS; i++)
		suggest_offer(suggestion, commands[i].word);
}

const char *help_nearest_command(const char *word)
{
	struct suggestion suggestion = {.typed = str_of(word)};

	offer_commands(&suggestion);
	return suggestion.nearest;
}

static void print_flag(const char *name, const char *text)
{
	(void)text;
	printf(" %.*s", (int)strcspn(name, " "), name);
}

static void print_server_flags(void)
{
	for (const struct row *row = rows; row < rows + ROWS; row++) {
		if (row->flag)
			printf(" %s", row->flag);
	}
	printf(" --config --print-config-example --help --version");
}

/* bash; zsh has a layer for it. A command's own options behind it, else the server's; files where
 * no option is meant. */
static void print_bash(void)
{
	printf("_dynalith() {\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} words\n"
	       "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < COMMANDS; i++) {
		printf("\t%s) words='", commands[i].word);
		each_option(&commands[i], print_flag);
		printf("' ;;\n");
	}
	printf("\t*) words='");
	print_server_flags();
	printf("' ;;\n\tesac\n"
	       "\t[ \"$COMP_CWORD\" -gt 1 ] || words=\"");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("%s ", commands[i].word);
	printf("$words\"\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	       "}\n"
	       "complete -o default -F _dynalith dynalith\n");
}

/* In single quotes of fish. */
static void print_quoted(const char *text)
{
	for (; *text; text++)
		printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
}

static const char *fish_command; /* whose options print_fish_option() prints */

static void print_fish_option(const char *name, const char *text)
{
	size_t n = strcspn(name, " ");

	printf("complete -c dynalith -n '__fish_seen_subcommand_from %s' -l %.*s%s -d '",
	       fish_command, (int)(n - 2), name + 2, name[n] ? " -r" : "");
	print_quoted(text);
	printf("'\n");
}

static void print_fish(void)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		printf("complete -c dynalith -n __fish_use_subcommand -a %s -d '",
		       commands[i].word);
		print_quoted(commands[i].summary);
		printf("'\n");
		fish_command = commands[i].word;
		each_option(&commands[i], print_fish_option);
	}
	for (const struct row *row = rows; row < rows + ROWS; row++) {
		if (!row->flag)
			continue;
		printf("complete -c dynalith -n __fish_use_subcommand -l %s%s -d '", row->flag + 2,
		       *row->value ? " -r" : "");
		print_quoted(row->help);
		printf("'\n");
	}
}

static bool print_completion(const char *shell)
{
	if (strcmp(shell, "bash") == 0) {
		print_bash();
	} else if (strcmp(shell, "zsh") == 0) {
		printf("autoload -U +X bashcompinit && bashcompinit\n");
		print_bash();
	} else if (strcmp(shell, "fish") == 0) {
		print_fish();
	} else {
		return false;
	}
	return true;
}

bool help_is_wanted(int argc, char **argv)
{
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
			return true;
	}
	return false;
}

int help_run_command(const char *word)
{
	return print_topic(word) ? 0 : EXIT_MISUSE;
}

int help_run(struct arena *arena, int argc, char **argv)
{
	(void)arena;
	if (argc == 2)
		help_print_screen();
	if (argc == 2 || (argc == 3 && print_topic(argv[2])))
		return 0;
	if (argc > 3)
		return help_misuse("help");
	struct suggestion suggestion = {.typed = str_of(argv[2])};
	offer_commands(&suggestion);
	for (const struct row *row = rows; row < rows + ROWS; row++) {
		if (row->topic)
			suggest_offer(&suggestion, row->topic);
	}
	suggest_offer(&suggestion, STATUS_TOPIC);
	fprintf(stderr, "dynalith: no help about %s%s%s%s\n", argv[2],
		SUGGESTED(suggestion.nearest));
	if (!suggestion.nearest)
		fprintf(stderr, "dynalith help lists commands and subjects\n");
	return EXIT_MISUSE;
}

int help_run_version(struct arena *arena, int argc, char **argv)
{
	(void)arena, (void)argv;
	if (argc > 2)
		return help_misuse("version");
	help_print_version();
	return 0;
}

int help_run_completion(struct arena *arena, int argc, char **argv)
{
	(void)arena;
	return argc == 3 && print_completion(argv[2]) ? 0 : help_misuse("completion");
}
