#include "server/tools/maintain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "protocol/tables/settings.h"
#include "server/tools/dump.h"
#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/messages.h"
#include "server/client/remote.h"
#include "server/tools/part_file.h"
#include "server/tools/repair_file.h"
#include "storage/check.h"
#include "storage/store/maintenance.h"
#include "storage/store/copy_target.h"
#include "storage/store/sqlite/sqlite_store.h"

/* The parts of a command line. */
struct words {
	const char *path;        /* of a file, or the URL of a server */
	const char *target;
	bool is_repair;
	const char *damaged;     /* where rows that are set aside go; NULL: the usual file */
	const char *account, *region; /* the namespace; NULL: that of the signature */
	struct mask_option mask;      /* of dump and load */
	struct reach reach;
};

static const struct command {
	const char *name;
	bool has_target, has_repair;
	bool is_of_server;       /* takes no file, and a namespace */
} commands[] = {
	{"check", false, true, false},
	{"backup", true, false, false},
	{"dump", true, false, true},
	{"load", true, false, true},
};

static const struct command *find(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int fail(int status, struct str problem)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(problem));
	return status;
}

static void print_line(void *context, struct str line)
{
	(void)context;
	printf(STR_FMT "\n", STR_ARG(line));
}

static enum code open_file_store(const char *path, struct store **store, struct err *err)
{
	const struct sqlite_store_options options = {.path = path,
						     .durability = DURABILITY_NORMAL,
						     .readers = 1,
						     .cache_bytes = 8 << 20};

	return sqlite_store_open(&options, store, err);
}

static int sum_up_check(const char *path, const struct check_report *report)
{
	if (report->findings > 0)
		printf("%s: %llu finding%s\n", path, (unsigned long long)report->findings,
		       report->findings == 1 ? "" : "s");
	else
		printf("%s is sound: %llu tables, %llu items, %llu rows of indexes, %llu of time "
		       "to live, %llu stream records\n",
		       path, (unsigned long long)report->tables, (unsigned long long)report->items,
		       (unsigned long long)report->index_rows,
		       (unsigned long long)report->expiry_rows,
		       (unsigned long long)report->records);
	return report->findings > 0 ? EXIT_FOUND : EXIT_DONE;
}

/* A file that cannot be opened, for instance because its first page is damaged, is a finding.
 * `shown` is its name in the output. */
static enum code check_opened(struct store *store, struct arena *arena, struct check_report *report,
			      struct err *err)
{
	enum code code =
		store->maintenance->verify(store, print_line, NULL, &report->findings, err);

	if (code != OK)
		return code;
	code = store_keyspaces_now(store, arena, &report->keyspaces, err);
	if (code != OK)
		return code;
	return check_store(store, &settings_records, (int64_t)time(NULL) * 1000, report, err);
}

static enum code open_and_check(struct arena *arena, const char *path, struct check_report *report,
				struct err *err)
{
	struct store *store;
	enum code code = open_file_store(path, &store, err);

	if (code != OK)
		return code;
	code = check_opened(store, arena, report, err);
	store_close(store);
	return code;
}

static int check_file(struct arena *arena, const char *path, const char *shown)
{
	struct check_report report = {.tell = print_line};
	struct err err = err_in(arena);

	if (open_and_check(arena, path, &report, &err) != OK) {
		report.findings++;
		print_line(NULL, err.message);
	}
	return sum_up_check(shown, &report);
}

static int check_server(struct arena *arena, const struct words *words)
{
	struct remote *remote = remote_new(words->path, &words->reach);
	struct check_report report = {.tell = print_line};
	struct err err = err_in(arena);

	if (!remote)
		return fail(EXIT_MISUSE,
			    str_printf(arena, "%s is no URL of a server", words->path));
	enum code code = remote_check(remote, &report, &err);
	remote_free(remote);
	return code == OK ? sum_up_check(words->path, &report) : fail(EXIT_FAILED, err.message);
}

static enum code copy_file(const struct words *words, const char *part, struct err *err)
{
	struct store *store;
	enum code code = open_file_store(words->path, &store, err);

	if (code != OK)
		return code;
	code = store->maintenance->copy(store, part, err);
	store_close(store);
	return code;
}

/* Copies to the part, checks it there, and gives it the target's name where it is sound. */
static enum code copy_and_publish(struct arena *arena, const struct words *words, const char *part,
				  int *status, struct err *err)
{
	enum code code = remote_is_url(words->path)
				 ? remote_backup(words->path, &words->reach, part, err)
				 : copy_file(words, part, err);

	if (code != OK)
		return code;
	*status = check_file(arena, part, words->target);
	if (*status != EXIT_DONE)
		return OK;
	return copy_target_publish(arena, part, words->target, err);
}

static int backup(struct arena *arena, const struct words *words)
{
	struct err err = err_in(arena);
	struct part_file part;
	int status = EXIT_FAILED;
	enum code code = part_file_begin(&part, words->target, &err);

	if (code != OK)
		return fail(EXIT_FAILED, err.message);
	code = copy_and_publish(arena, words, part.path, &status, &err);
	part_file_end(&part, arena);
	return code != OK            ? fail(EXIT_FAILED, err.message)
	       : status == EXIT_DONE ? EXIT_DONE
				     : EXIT_FAILED;
}

static enum code dump_to_part(struct remote *remote, const struct words *words,
			      const struct dump_options *options, const char *part, struct err *err)
{
	int fd;
	enum code code = copy_target_open(part, &fd, err);

	if (code != OK)
		return code;
	code = dump_write(remote, options, words->target, fd, err);
	close(fd);
	if (code != OK)
		return code;
	code = options->remask ? remask_prove(options->remask, part, err) : OK;
	if (code != OK)
		return code;
	return copy_target_publish(err->arena, part, words->target, err);
}

static enum code dump_server(struct remote *remote, const struct words *words,
			     const struct dump_options *options, struct err *err)
{
	struct part_file part;
	enum code code = part_file_begin(&part, words->target, err);

	if (code != OK)
		return code;
	code = dump_to_part(remote, words, options, part.path, err);
	part_file_end(&part, err->arena);
	return code;
}

static enum code load_masked_part(struct remote *remote, const struct words *words,
				  const struct dump_options *options, const char *part,
				  struct err *err)
{
	int fd;
	enum code code = copy_target_open(part, &fd, err);

	if (code != OK)
		return code;
	code = dump_remask(options->remask, words->target, part, fd, err);
	close(fd);
	if (code != OK)
		return code;
	code = remask_prove(options->remask, part, err);
	if (code != OK)
		return code;
	return dump_load(remote, options, part, err);
}

/* The masked items go to a file of their own, where no original may be found, before they are
 * loaded. */
static enum code load_masked(struct remote *remote, const struct words *words,
			     const struct dump_options *options, struct err *err)
{
	struct part_file part;
	enum code code = part_file_begin_temporary(&part, "dynalith-load", err);

	if (code != OK)
		return code;
	code = load_masked_part(remote, words, options, part.path, err);
	part_file_end(&part, err->arena);
	return code;
}

static enum code move_namespace(struct remote *remote, const struct command *command,
				const struct words *words, const struct dump_options *options,
				struct err *err)
{
	if (strcmp(command->name, "dump") == 0)
		return dump_server(remote, words, options, err);
	return options->remask ? load_masked(remote, words, options, err)
			       : dump_load(remote, options, words->target, err);
}

/* `dynalith dump` and `dynalith load`. */
static int move_state(struct arena *arena, const struct command *command, const struct words *words)
{
	struct dump_options options = {.account = words->account, .region = words->region};
	struct err err = err_in(arena);

	if (words->mask.file && remask_new(&words->mask, &options.remask, &err) != OK)
		return fail(EXIT_MISUSE, err.message);
	struct remote *remote = remote_new(words->path, &words->reach);
	if (!remote) {
		remask_free(options.remask);
		return fail(EXIT_MISUSE,
			    str_printf(arena, "%s is no URL of a server", words->path));
	}
	enum code code = move_namespace(remote, command, words, &options, &err);
	remote_free(remote);
	remask_free(options.remask);
	return code == OK ? EXIT_DONE : fail(EXIT_FAILED, err.message);
}

/* False for arguments that the command does not have. */
static bool read_maintain_words(const struct command *command, int argc, char **argv,
				struct words *words)
{
	*words = (struct words){.reach = reach_usual()};
	for (int i = 2; i < argc; i++) {
		bool is_option = argv[i][0] == '-';

		if (command->has_repair && strcmp(argv[i], "--repair") == 0)
			words->is_repair = true;
		else if (command->has_repair && strcmp(argv[i], "--damaged") == 0 && i + 1 < argc)
			words->damaged = argv[++i];
		else if (command->is_of_server && strcmp(argv[i], "--account") == 0 && i + 1 < argc)
			words->account = argv[++i];
		else if (command->is_of_server && strcmp(argv[i], "--region") == 0 && i + 1 < argc)
			words->region = argv[++i];
		else if (command->is_of_server && mask_option_take(&words->mask, argc, argv, &i))
			continue;
		else if (is_option && reach_take(&words->reach, argc, argv, &i))
			continue;
		else if (!is_option && !words->path)
			words->path = argv[i];
		else if (!is_option && command->has_target && !words->target)
			words->target = argv[i];
		else
			return false;
	}
	bool is_url = words->path && remote_is_url(words->path);
	return words->path && (words->target || !command->has_target) &&
	       (words->is_repair || !words->damaged) && (is_url || !words->reach.is_given) &&
	       !(is_url && words->is_repair) && (is_url || !command->is_of_server) &&
	       mask_option_is_whole(&words->mask);
}

/* A file that is sound stays as it is. */
static int check_and_repair(struct arena *arena, const struct words *words)
{
	static const int statuses[] = {[REPAIR_WHOLE] = EXIT_DONE,
				       [REPAIR_PARTLY] = EXIT_FOUND,
				       [REPAIR_FAILED] = EXIT_FAILED};
	int status = check_file(arena, words->path, words->path);

	if (status == EXIT_DONE || !words->is_repair)
		return status;
	fflush(stdout);
	return statuses[repair_file_run(arena, words->path, words->damaged)];
}

/* A word with a scheme may be meant as a store (backend.h). */
static struct str no_such_file(struct arena *arena, const struct command *command, const char *word,
			       struct str problem)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz");

	if (n == 0 || word[n] != ':')
		return problem;
	return str_printf(arena,
			  STR_FMT "; %s wants a data file or the URL of a server, and no store",
			  STR_ARG(problem), command->name);
}

int maintain_run(struct arena *arena, int argc, char **argv)
{
	const struct command *command = find(argc, argv);
	struct err err = err_in(arena);
	struct words words;

	if (!read_maintain_words(command, argc, argv, &words))
		return help_misuse(command->name);
	bool is_url = remote_is_url(words.path);
	if (!is_url && sqlite_store_is_there(words.path, &err) != OK)
		return fail(EXIT_FAILED, no_such_file(arena, command, words.path, err.message));
	if (command->is_of_server)
		return move_state(arena, command, &words);
	if (words.target)
		return backup(arena, &words);
	return is_url ? check_server(arena, &words) : check_and_repair(arena, &words);
}
