#include "server/tools/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "server/start/backend.h"
#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/command/interrupt.h"
#include "server/messages.h"
#include "server/client/remote.h"
#include "server/tools/copy_masked.h"
#include "server/tools/part_file.h"
#include "storage/catalog/retired.h"
#include "storage/index_row.h"
#include "storage/monotonic.h"
#include "storage/store/transfer.h"
#include "storage/store/walk.h"
#include "storage/stream/stream_head.h"
#include "storage/upkeep/lease.h"

#define CACHE_BYTES ((size_t)32 << 20)
#define TICK_NS 1000000000ull
#define LINE_NS 10000000000ull /* between lines of progress where nobody watches */

struct words {
	const char *from, *to;
	struct reach reach;
	struct mask_option mask;
	bool is_replace, is_comparison;
};

/* A table's name by its number. */
struct named {
	uint64_t number;
	struct str name; /* account/region/name */
	struct table *table; /* where it has an index by reference; or NULL */
};

/* What a run has seen so far. */
struct progress {
	struct arena *arena;
	const struct words *words;
	size_t name_count;
	struct named *names;                /* by number */
	struct index_row_reference reference; /* of the last keyspace that was asked about */
	struct transfer_keyspace
		table; /* sums over the keyspaces of the table under way that are done */
	uint64_t items;                     /* of it */
	uint64_t all_rows, all_bytes, all_items, tables, written, deleted;
	uint64_t started_ns, said_ns;
	bool is_watched;
};

static bool read_copy_words(int argc, char **argv, struct words *words)
{
	*words = (struct words){.reach = reach_usual()};
	for (int i = 2; i < argc; i++) {
		bool has_value = i + 1 < argc;

		if (strcmp(argv[i], "--replace") == 0)
			words->is_replace = true;
		else if (strcmp(argv[i], "--compare") == 0)
			words->is_comparison = true;
		else if (strcmp(argv[i], "--from") == 0 && has_value)
			words->from = argv[++i];
		else if (strcmp(argv[i], "--to") == 0 && has_value)
			words->to = argv[++i];
		else if (!reach_take(&words->reach, argc, argv, &i) &&
			 !mask_option_take(&words->mask, argc, argv, &i))
			return false;
	}
	return words->from && words->to && !(words->is_replace && words->is_comparison) &&
	       mask_option_is_whole(&words->mask);
}

static int fail(int status, struct str problem)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(problem));
	return status;
}

static bool is_left_out(struct keyspace keyspace, struct str key)
{
	return lease_is_row(keyspace, key) || stream_head_is_row(keyspace, key);
}

static int compare_names(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->number == y->number ? 0 : x->number < y->number ? -1 : 1;
}

/* The table of a record where that matters: what it has beside its own fields is not looked at. */
static struct table *table_of_record(struct str record, struct err *err)
{
	struct table *table;
	bool is_by_reference = false;

	if (table_decode(record, NULL, &table, err) != OK)
		return NULL;
	for (size_t i = 0; i < table->indexes.n; i++)
		is_by_reference = is_by_reference || table->indexes.v[i].is_by_reference;
	if (is_by_reference)
		return table;
	table_unref(table);
	return NULL;
}

/* The names of the source's tables. What has none is kept of tables that are gone, or belongs to
 * snapshots, checkpoints and the like. */
static enum code read_table_names(struct progress *progress, struct store *store, struct err *err)
{
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_txn *txn;
	struct store_row row;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	struct walk walk = walk_begin(txn, (struct keyspace){0, SYSTEM_TABLES}, &all, err);
	while (walk_next(&walk, &row)) {
		struct named named;
		uint64_t version;

		if (retired_is_key(row.key) ||
		    !table_record_version(row.value, &named.number, &version))
			continue;
		char *bytes = arena_bytes(progress->arena, row.key.n);
		for (size_t i = 0; i < row.key.n; i++)
			bytes[i] = row.key.p[i] ? row.key.p[i] : '/';
		named.name = (struct str){bytes, row.key.n};
		named.table = table_of_record(row.value, err);
		progress->names = arena_room(progress->arena, progress->names, progress->name_count,
					     sizeof(named));
		progress->names[progress->name_count++] = named;
	}
	code = walk_end(&walk);
	store_abort(txn);
	if (progress->name_count > 0)
		qsort(progress->names, progress->name_count, sizeof(*progress->names),
		      compare_names);
	return code;
}

static void forget_names(struct progress *progress)
{
	for (size_t i = 0; i < progress->name_count; i++)
		table_unref(progress->names[i].table);
}

static const struct named *find_named(const struct progress *progress, uint64_t number)
{
	const struct named wanted = {.number = number};

	return progress->name_count > 0 ? bsearch(&wanted, progress->names, progress->name_count,
						  sizeof(wanted), compare_names)
					: NULL;
}

static bool refers_to_keyspace(void *context, struct keyspace keyspace,
			       struct store_reference *reference)
{
	struct progress *progress = context;
	const struct named *found = find_named(progress, keyspace.table);
	const struct index *index =
		found && found->table && keyspace.part >= PART_INDEX
			? table_index_numbered(found->table, keyspace.part - PART_INDEX)
			: NULL;

	if (!index_row_reference(found ? found->table : NULL, index, &progress->reference))
		return false;
	*reference = progress->reference.base;
	return true;
}

static struct str shown_name_of(const struct progress *progress, uint64_t number, char *bytes,
				size_t size)
{
	const struct named *found = find_named(progress, number);

	if (found)
		return found->name;
	snprintf(bytes, size,
		 number == 0 ? "(lists of tables, tokens, counters)" : "(kept under number %llu)",
		 (unsigned long long)number);
	return str_of(bytes);
}

static void say_table(struct progress *progress)
{
	const struct transfer_keyspace *table = &progress->table;
	char unnamed[64], digest[2 * SHA256_SIZE + 1] = "";
	struct str name = shown_name_of(progress, table->keyspace.table, unnamed, sizeof(unnamed));

	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(digest + 2 * i, 3, "%02x", table->digest[i]);
	printf(STR_FMT
	       ": %llu items, %llu rows, %llu bytes, %llu written, %llu deleted, sha256 %s\n",
	       STR_ARG(name), (unsigned long long)progress->items, (unsigned long long)table->rows,
	       (unsigned long long)table->bytes, (unsigned long long)table->written,
	       (unsigned long long)table->deleted, digest);
	if (table->keyspace.table != 0 && name.p != unnamed)
		progress->tables++;
	progress->all_rows += table->rows;
	progress->all_bytes += table->bytes;
	progress->all_items += progress->items;
	progress->written += table->written;
	progress->deleted += table->deleted;
}

/* On a terminal one line that changes, each second; else a line from time to time. */
static void say_copy_progress(struct progress *progress, const struct transfer_keyspace *now)
{
	uint64_t at = monotonic_ns();
	uint64_t rows = progress->all_rows + progress->table.rows + now->rows,
		 bytes = progress->all_bytes + progress->table.bytes + now->bytes;
	char unnamed[64];

	if (at - progress->said_ns < (progress->is_watched ? TICK_NS : LINE_NS))
		return;
	progress->said_ns = at;
	struct str name = shown_name_of(progress, now->keyspace.table, unnamed, sizeof(unnamed));
	fprintf(stderr, "%s%llu of %zu tables, %llu rows, %llu MB, %llu s; at " STR_FMT "%s",
		progress->is_watched ? "\r" : "", (unsigned long long)progress->tables,
		progress->name_count, (unsigned long long)rows, (unsigned long long)(bytes >> 20),
		(unsigned long long)((at - progress->started_ns) / 1000000000ull), STR_ARG(name),
		progress->is_watched ? "\033[K" : "\n");
}

/* The digest of a table is over those of its keyspaces. */
static void add_keyspace(struct progress *progress, const struct transfer_keyspace *now)
{
	struct transfer_keyspace *table = &progress->table;
	char digests[2 * SHA256_SIZE];

	table->keyspace = now->keyspace;
	table->is_done = true;
	table->rows += now->rows;
	table->bytes += now->bytes;
	table->written += now->written;
	table->deleted += now->deleted;
	memcpy(digests, table->digest, SHA256_SIZE);
	memcpy(digests + SHA256_SIZE, now->digest, SHA256_SIZE);
	sha256_of((struct str){digests, sizeof(digests)}, table->digest);
	if (now->keyspace.table != 0 && now->keyspace.part == PART_ITEMS)
		progress->items += now->rows;
}

/* A table is over when the next one begins. */
static void on_keyspace(void *context, const struct transfer_keyspace *now)
{
	struct progress *progress = context;

	if (progress->table.is_done && progress->table.keyspace.table != now->keyspace.table) {
		say_table(progress);
		progress->table = (struct transfer_keyspace){0};
		progress->items = 0;
	}
	say_copy_progress(progress, now);
	if (now->is_done)
		add_keyspace(progress, now);
}

static int sum_up_copy(struct progress *progress, struct str from, struct str to)
{
	uint64_t changes;
	double seconds = (double)(monotonic_ns() - progress->started_ns) / 1e9;

	say_table(progress);
	changes = progress->written + progress->deleted;
	if (progress->is_watched)
		fprintf(stderr, "\r\033[K");
	if (!progress->words->is_comparison || changes == 0) {
		printf(STR_FMT " is equal to " STR_FMT ": %llu tables, %llu items, %llu rows; %llu "
						       "rows written, %llu deleted in %.1f s\n",
		       STR_ARG(to), STR_ARG(from), (unsigned long long)progress->tables,
		       (unsigned long long)progress->all_items,
		       (unsigned long long)progress->all_rows,
		       (unsigned long long)progress->written, (unsigned long long)progress->deleted,
		       seconds);
		return EXIT_DONE;
	}
	printf(STR_FMT " differs from " STR_FMT
		       ": it lacks %llu rows and has %llu too many, or more\n",
	       STR_ARG(to), STR_ARG(from), (unsigned long long)progress->written,
	       (unsigned long long)progress->deleted);
	return EXIT_FOUND;
}

static enum code open_copy_store(const char *url, bool is_there, struct store **store,
				 struct err *err)
{
	const struct backend_options options = {.url = url,
						.durability = DURABILITY_NORMAL,
						.readers = 2,
						.cache_bytes = CACHE_BYTES};
	const char *file = backend_file(url);
	enum code code = file && is_there ? sqlite_store_is_there(file, err) : OK;

	if (code != OK)
		return code;
	return backend_open(&options, store, err);
}

/* The target is nothing that somebody needs, unless they said so. */
static enum code check_copy_target(const struct words *words, struct store *to, struct str shown,
				   struct err *err)
{
	bool is_empty, is_unfinished;
	enum code code = transfer_is_empty(to, &is_empty, err);

	if (code != OK)
		return code;
	code = transfer_is_unfinished(to, &is_unfinished, err);
	if (code != OK || is_empty || is_unfinished || words->is_replace || words->is_comparison)
		return code;
	return err_set(err, MSG_COPY_FULL, STR_ARG(shown));
}

static enum code name_and_run(struct progress *progress, const struct transfer *run,
			      struct store *from, struct err *err)
{
	enum code code = read_table_names(progress, from, err);

	if (code != OK)
		return code;
	return transfer_run(run, err);
}

static int transfer(struct arena *arena, const struct words *words, struct store *from,
		    struct store *to)
{
	struct err err = err_in(arena);
	struct str shown_from = backend_shown(arena, words->from),
		   shown_to = backend_shown(arena, words->to);
	struct progress progress = {.arena = arena,
				    .words = words,
				    .started_ns = monotonic_ns(),
				    .is_watched = isatty(STDERR_FILENO)};
	const struct transfer run = {from,        to,          words->is_comparison,
				     is_left_out, on_keyspace, refers_to_keyspace,
				     &progress};
	enum code code = check_copy_target(words, to, shown_to, &err);

	progress.said_ns = progress.started_ns;
	if (code != OK)
		return fail(EXIT_FAILED, err.message);
	code = name_and_run(&progress, &run, from, &err);
	forget_names(&progress);
	return code == OK ? sum_up_copy(&progress, shown_from, shown_to)
			  : fail(EXIT_FAILED, err.message);
}

static enum code open_both(const struct words *words, const char *from_url, struct store **from,
			   struct store **to, struct err *err)
{
	enum code code = open_copy_store(from_url, true, from, err);

	if (code != OK)
		return code;
	return open_copy_store(words->to, words->is_comparison, to, err);
}

static int copy_stores(struct arena *arena, const struct words *words, const char *from_url)
{
	struct err err = err_in(arena);
	struct store *from = NULL, *to = NULL;
	const char *file = backend_file(words->to);
	bool is_new = file && sqlite_store_is_there(file, &err) != OK;
	struct interrupt_undo undo;

	if (is_new)
		interrupt_undo_file(&undo, file);
	enum code code = open_both(words, from_url, &from, &to, &err);
	int status = code == OK ? transfer(arena, words, from, to) : fail(EXIT_FAILED, err.message);
	store_close(to);
	store_close(from);
	if (is_new)
		interrupt_forget(&undo);
	return status;
}

/* By a backup of the server, in a file of our own. */
static int copy_from_server(struct arena *arena, const struct words *words)
{
	struct err err = err_in(arena);
	struct part_file part;

	if (part_file_begin_temporary(&part, "dynalith-copy", &err) != OK)
		return fail(EXIT_FAILED, err.message);
	int status =
		remote_backup(words->from, &words->reach, part.path, &err) == OK
			? copy_stores(arena, words, str_printf(arena, "sqlite:%s", part.path).p)
			: fail(EXIT_FAILED, err.message);
	part_file_end(&part, arena);
	return status;
}

/* What --mask cannot do; NULL: it can. */
static const char *refuse_masked(const struct words *words)
{
	if (words->is_replace || words->is_comparison || !backend_file(words->to))
		return "--mask makes a new file: --to sqlite:FILE, without --replace and --compare";
	return NULL;
}

static int copy_to_mask(struct arena *arena, const struct words *words)
{
	struct err err = err_in(arena);
	struct copy_masked_source from = {.reach = &words->reach};
	const char *refused = refuse_masked(words);

	if (refused)
		return fail(EXIT_MISUSE, str_of(refused));
	if (remote_is_url(words->from))
		from.url = words->from;
	else if (open_copy_store(words->from, true, &from.store, &err) != OK)
		return fail(EXIT_FAILED, err.message);
	enum code code = copy_masked_run(&words->mask, &from, backend_file(words->to), &err);
	if (from.store)
		store_close(from.store);
	return code == OK ? EXIT_DONE : fail(EXIT_FAILED, err.message);
}

int copy_run(struct arena *arena, int argc, char **argv)
{
	struct words words;
	struct str problem;

	if (!read_copy_words(argc, argv, &words))
		return help_misuse("copy");
	bool is_server = remote_is_url(words.from);
	if (!is_server && !backend_check(arena, words.from, &problem))
		return fail(EXIT_MISUSE, str_printf(arena, "--from " STR_FMT, STR_ARG(problem)));
	if (!backend_check(arena, words.to, &problem))
		return fail(EXIT_MISUSE, str_printf(arena, "--to " STR_FMT, STR_ARG(problem)));
	if (words.mask.file)
		return copy_to_mask(arena, &words);
	return is_server ? copy_from_server(arena, &words) : copy_stores(arena, &words, words.from);
}
