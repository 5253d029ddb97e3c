#include "server/maintain.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "protocol/tables/settings.h"
#include "server/repair_file.h"
#include "storage/check.h"
#include "storage/store/sqlite/sqlite_store.h"

enum { SOUND = 0, FINDINGS = 1, MISUSE = 2 };

/* What a command line says. */
struct words {
	const char *path, *target;
	bool is_repair;
	const char *damaged; /* where rows that are set aside go; NULL: the usual file */
};

static const struct command {
	const char *name;
	bool has_target, has_repair;
	const char *usage;
} commands[] = {
	{"check", false, true, "usage: dynalith check FILE [--repair [--damaged FILE]]"},
	{"backup", true, false, "usage: dynalith backup FILE TARGET"},
};

static const struct command *find(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return &commands[i];
	}
	return NULL;
}

bool maintain_is_asked(int argc, char **argv)
{
	return find(argc, argv) != NULL;
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

static enum code open_store(const char *path, struct store **store, struct err *err)
{
	const struct sqlite_store_options options = {.path = path, .durability = DURABILITY_NORMAL, .readers = 1, .cache_bytes = 8 << 20};

	return sqlite_store_open(&options, store, err);
}

static int sum_up(const char *path, const struct check_report *report)
{
	if (report->findings > 0)
		printf("%s: %llu findings\n", path, (unsigned long long)report->findings);
	else
		printf("%s is sound: %llu tables, %llu items, %llu rows of indexes, %llu of time to live, %llu stream records\n", path,
		       (unsigned long long)report->tables, (unsigned long long)report->items, (unsigned long long)report->index_rows,
		       (unsigned long long)report->expiry_rows, (unsigned long long)report->records);
	return report->findings > 0 ? FINDINGS : SOUND;
}

/* What cannot be opened, as where its first page is damaged, is a finding. */
static int check(struct arena *arena, const char *path)
{
	struct check_report report = {.tell = print_line};
	struct err err = err_in(arena);
	struct store *store = NULL;
	enum code code = open_store(path, &store, &err);

	if (code == OK)
		code = sqlite_store_verify(store, print_line, NULL, &report.findings, &err);
	if (code == OK)
		code = sqlite_store_keyspaces(store, arena, &report.keyspaces, &report.keyspace_count, &err);
	if (code == OK)
		code = check_store(store, &settings_records, (int64_t)time(NULL) * 1000, &report, &err);
	if (code != OK) {
		report.findings++;
		print_line(NULL, err.message);
	}
	store_close(store);
	return sum_up(path, &report);
}

static int backup(struct arena *arena, const char *path, const char *target)
{
	struct err err = err_in(arena);
	struct store *store = NULL;
	enum code code = open_store(path, &store, &err);

	if (code == OK)
		code = sqlite_store_copy(store, target, &err);
	store_close(store);
	return code == OK ? check(arena, target) : fail(FINDINGS, err.message);
}

/* False for words that the command does not take. */
static bool read_words(const struct command *command, int argc, char **argv, struct words *words)
{
	*words = (struct words){.path = NULL};
	for (int i = 2; i < argc; i++) {
		bool is_option = argv[i][0] == '-';

		if (command->has_repair && strcmp(argv[i], "--repair") == 0)
			words->is_repair = true;
		else if (command->has_repair && strcmp(argv[i], "--damaged") == 0 && i + 1 < argc)
			words->damaged = argv[++i];
		else if (!is_option && !words->path)
			words->path = argv[i];
		else if (!is_option && command->has_target && !words->target)
			words->target = argv[i];
		else
			return false;
	}
	return words->path && (words->target || !command->has_target) && (words->is_repair || !words->damaged);
}

/* A file that is sound stays as it is. */
static int check_and_repair(struct arena *arena, const struct words *words)
{
	static const int statuses[] = {[REPAIR_WHOLE] = SOUND, [REPAIR_PARTLY] = FINDINGS, [REPAIR_FAILED] = MISUSE};
	int status = check(arena, words->path);

	if (status == SOUND || !words->is_repair)
		return status;
	fflush(stdout);
	return statuses[repair_file_run(arena, words->path, words->damaged)];
}

int maintain_run(struct arena *arena, int argc, char **argv)
{
	const struct command *command = find(argc, argv);
	struct err err = err_in(arena);
	struct words words;

	if (!read_words(command, argc, argv, &words))
		return fail(MISUSE, str_of(command->usage));
	if (sqlite_store_is_there(words.path, &err) != OK)
		return fail(MISUSE, err.message);
	return words.target ? backup(arena, words.path, words.target) : check_and_repair(arena, &words);
}
