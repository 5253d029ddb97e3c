#include "server/maintain.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "protocol/tables/settings.h"
#include "storage/check.h"
#include "storage/store/sqlite/sqlite_store.h"

enum { SOUND = 0, FINDINGS = 1, MISUSE = 2 };

static const struct command {
	const char *name;
	int words; /* behind the name */
	const char *usage;
} commands[] = {
	{"check", 1, "usage: dynalith check FILE"},
	{"backup", 2, "usage: dynalith backup FILE TARGET"},
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

int maintain_run(struct arena *arena, int argc, char **argv)
{
	const struct command *command = find(argc, argv);
	struct err err = err_in(arena);

	if (argc != 2 + command->words)
		return fail(MISUSE, str_of(command->usage));
	if (sqlite_store_is_there(argv[2], &err) != OK)
		return fail(MISUSE, err.message);
	return command->words == 1 ? check(arena, argv[2]) : backup(arena, argv[2], argv[3]);
}
