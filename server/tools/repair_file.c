#include "server/tools/repair_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base64.h"
#include "core/image.h"
#include "protocol/tables/settings.h"
#include "protocol/wire/json_out.h"
#include "server/command/interrupt.h"
#include "storage/check.h"
#include "storage/repair.h"
#include "storage/store/durable.h"
#include "storage/store/maintenance.h"
#include "storage/store/sqlite/file_repair.h"
#include "storage/store/sqlite/sqlite_store.h"

/* The rows set aside, a line each. */
struct aside {
	const char *path, *part; /* the name that it gets in the end, and the one until then */
	FILE *file;              /* NULL: there is no such row yet */
	struct arena *row;
	bool is_broken;
};

/* The state of a repair. */
struct job {
	struct arena *arena;
	struct aside aside;
	struct repair_report report;
	struct check_report check;
};

static void print_line(void *context, struct str line)
{
	(void)context;
	printf(STR_FMT "\n", STR_ARG(line));
}

static void add_base64(struct json_out *out, struct arena *arena, struct str name, struct str bytes)
{
	struct buf text = buf_in(arena);

	base64_encode(bytes, &text);
	json_out_name(out, name);
	json_out_string(out, buf_str(&text));
}

static void add_table(struct json_out *out, const struct table *table)
{
	json_out_field_string(out, "table", table->identity.name);
	json_out_field_string(out, "account", table->identity.account);
	json_out_field_string(out, "region", table->identity.region);
}

static struct str salvaged_name_of(struct arena *arena, struct keyspace keyspace)
{
	if (keyspace.table == 0)
		return keyspace.part == SYSTEM_TABLES ? STR("records of tables") : STR("system");
	return str_printf(arena, "%s of table %llu",
			  keyspace.part == PART_ITEMS    ? "items"
			  : keyspace.part == PART_STREAM ? "stream"
							 : "index",
			  (unsigned long long)keyspace.table);
}

/* The row with its bytes, and as an item where it still decodes as one, for a person to read and
 * put again. */
static struct str salvaged_line_of(struct arena *arena, const struct table *table,
				   const struct salvage_row *row)
{
	struct json_out out = json_out_in(arena);
	struct value item;

	json_out_open(&out, '{');
	if (table)
		add_table(&out, table);
	json_out_field_string(&out, "rows",
			      row->is_stray ? STR("not known")
					    : salvaged_name_of(arena, row->keyspace));
	json_out_field_string(&out, "reason", str_of(row->reason));
	if (str_is_set(row->key))
		add_base64(&out, arena, STR("key"), row->key);
	if (str_is_set(row->value) && row->keyspace.part == PART_ITEMS && row->keyspace.table &&
	    check_image(arena, row->value, &item)) {
		json_out_name(&out, STR("item"));
		json_out_image(&out, row->value);
	}
	if (str_is_set(row->value))
		add_base64(&out, arena, STR("bytes"), row->value);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static void set_aside(void *context, const struct table *table, const struct salvage_row *row)
{
	struct aside *aside = &((struct job *)context)->aside;

	if (!aside->file && !aside->is_broken) {
		int fd = open(aside->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		aside->file = fd < 0 ? NULL : fdopen(fd, "w");
		aside->is_broken = aside->file == NULL;
	}
	if (aside->is_broken)
		return;
	arena_reset(aside->row);
	struct str line = salvaged_line_of(aside->row, table, row);
	aside->is_broken =
		fwrite(line.p, 1, line.n, aside->file) != line.n || fputc('\n', aside->file) == EOF;
}

static bool close_aside(struct aside *aside)
{
	if (!aside->file)
		return !aside->is_broken;
	bool is_safe = fflush(aside->file) == 0 && durable_sync(fileno(aside->file)) == 0;
	is_safe = fclose(aside->file) == 0 && is_safe && !aside->is_broken;
	aside->file = NULL;
	return is_safe;
}

static enum code open_successor(const struct file_repair *repair, struct store **store,
				struct err *err)
{
	const struct sqlite_store_options options = {
		.path = repair->successor,
		.durability = DURABILITY_OFF,
		.readers = 1,
		.cache_bytes = 32 << 20,
	};

	return sqlite_store_open(&options, store, err);
}

static enum code fill_successor(struct job *job, struct file_repair *repair, int64_t now_ms,
				struct err *err)
{
	struct store *store;
	enum code code = open_successor(repair, &store, err);

	if (code != OK)
		return code;
	code = repair_store(repair->salvage, store, &settings_records, now_ms, &job->report, err);
	store_close(store);
	return code;
}

static enum code check_successor(struct job *job, struct store *store, int64_t now_ms,
				 struct err *err)
{
	enum code code =
		store->maintenance->verify(store, print_line, NULL, &job->check.findings, err);

	if (code != OK)
		return code;
	return check_store(store, &settings_records, now_ms, &job->check, err);
}

/* Fills the new file from the old one, then checks it as "dynalith check" does. */
static enum code make_successor(struct job *job, struct file_repair *repair, struct err *err)
{
	int64_t now_ms = (int64_t)time(NULL) * 1000;
	struct store *store;
	enum code code = fill_successor(job, repair, now_ms, err);

	if (code != OK)
		return code;
	code = open_successor(repair, &store, err);
	if (code != OK)
		return code;
	code = check_successor(job, store, now_ms, err);
	store_close(store);
	return code;
}

static enum repair_outcome fail(struct file_repair *repair, struct str why)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(why));
	file_repair_discard(repair);
	return REPAIR_FAILED;
}

static enum repair_outcome sum_up_repair(const struct job *job, const struct file_repair *repair,
					 bool has_aside)
{
	const struct repair_report *report = &job->report;

	printf("%s is repaired: %llu tables, %llu items, %llu stream records; the damaged file is "
	       "now %s\n",
	       repair->path, (unsigned long long)report->tables, (unsigned long long)report->items,
	       (unsigned long long)report->records, repair->kept);
	if (has_aside)
		printf("%llu rows were set aside in %s\n", (unsigned long long)report->aside,
		       job->aside.path);
	return report->aside || report->losses ? REPAIR_PARTLY : REPAIR_WHOLE;
}

static enum repair_outcome replace_damaged(struct job *job, struct file_repair *repair)
{
	struct err err = err_in(job->arena);
	enum code code = make_successor(job, repair, &err);
	bool has_aside = job->aside.file != NULL;

	if (!close_aside(&job->aside))
		return fail(repair, str_printf(job->arena, "cannot write %s: %s", job->aside.part,
					       strerror(errno)));
	if (code != OK)
		return fail(repair, err.message);
	if (job->check.findings > 0)
		return fail(repair, STR("the repaired file is not sound; this is a defect of "
					"dynalith, please report it with the lines above"));
	code = file_repair_publish(repair, &err);
	if (code != OK)
		return fail(repair, err.message);
	if (has_aside && rename(job->aside.part, job->aside.path) != 0)
		job->aside.path = job->aside.part;
	return sum_up_repair(job, repair, has_aside);
}

static enum repair_outcome run_repair(struct job *job, struct file_repair *repair)
{
	struct interrupt_undo successor, aside;

	interrupt_undo_file(&successor, repair->successor);
	interrupt_undo_file(&aside, job->aside.part);
	enum repair_outcome outcome = replace_damaged(job, repair);
	interrupt_forget(&aside);
	interrupt_forget(&successor);
	return outcome;
}

enum repair_outcome repair_file_run(struct arena *arena, const char *path, const char *damaged)
{
	struct job job = {
		.arena = arena,
		.aside.row = arena_new(0),
		.aside.path = damaged ? damaged : str_printf(arena, "%s.damaged", path).p,
		.report = {.tell = print_line, .set_aside = set_aside},
		.check = {.tell = print_line},
	};
	struct err err = err_in(arena);
	struct file_repair *repair = NULL;
	enum repair_outcome outcome = REPAIR_FAILED;

	job.report.context = &job;
	job.aside.part = str_printf(arena, "%s.part", job.aside.path).p;
	if (access(job.aside.path, F_OK) == 0)
		fprintf(stderr,
			"dynalith: %s is there from an earlier repair: name another file by "
			"--damaged\n",
			job.aside.path);
	else if (file_repair_begin(path, &repair, &err) != OK)
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err.message));
	else
		outcome = run_repair(&job, repair);
	if (repair)
		file_repair_end(repair);
	arena_free(job.aside.row);
	return outcome;
}
