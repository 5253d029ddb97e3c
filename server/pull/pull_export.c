#include "server/pull/pull_export.h"

#include <stdio.h>

#include "protocol/wire/json_out.h"
#include "server/export/export_reader.h"
#include "server/messages.h"
#include "server/pull/pull_change.h"
#include "server/pull/pull_choice.h"
#include "server/pull/pull_mark.h"
#include "server/pull/pull_page.h"
#include "server/pull/pull_state.h"
#include "server/pull/pull_work.h"

#define RECORDS_AT_ONCE 1000 /* written before the memory is used again */
#define BYTES_AT_ONCE ((size_t)8 << 20)

/* All files of a pull. */
struct export_run {
	const struct pull *pull;
	struct pull_table *table;
	struct strict *strict;
	struct arena *file, *page, *record; /* of a file; of some records; of one */
	struct arena_budget memory;         /* of one record */
	struct export_reader *reader;
	const struct export_manifest *manifest; /* under way, and its file */
	const struct export_manifest_file *data;
	uint64_t put, removed; /* of the file */
};

static enum code export_broken(const struct export_run *run, uint64_t line, struct str why,
			       struct err *err)
{
	struct str shown = export_place_shown(run->manifest->place, err->arena, run->data->name);

	if (line > 0)
		shown = str_printf(err->arena, STR_FMT ":%llu", STR_ARG(shown),
				   (unsigned long long)line);
	return err_set(err, MSG_PULL_EXPORT, STR_ARG(shown), STR_ARG(why));
}

/* *is_end: there was none. */
static enum code next_export_record(struct export_run *run, struct record_put *record, bool *is_end,
				    struct err *err)
{
	struct err own = err_in(run->page);

	arena_reset(run->record);
	enum code code = export_reader_next(run->reader, run->record, record, is_end, &own);
	return code == OK ? OK
			  : export_broken(run, export_reader_line(run->reader), own.message, err);
}

static enum code add_export_record(struct export_run *run, struct pull_page *page,
				   const struct record_put *record, struct err *err)
{
	struct json_out out = json_out_in(run->page);

	if (run->manifest->is_incremental)
		return pull_change_add(page, run->strict, record, err);
	json_out_item(&out, &record->item);
	struct str item = json_out_str(&out);
	return pull_choice_has(run->pull, run->table, run->page, item)
		       ? pull_page_add(page, item, err)
		       : OK;
}

/* Some records; *is_end: the last ones. */
static enum code write_records(struct export_run *run, uint64_t *read, bool *is_end,
			       struct err *err)
{
	struct pull_page page = {.pull = run->pull, .table = run->table, .arena = run->page};
	struct record_put record;

	for (int i = 0; i < RECORDS_AT_ONCE && arena_used(run->page) < BYTES_AT_ONCE; i++) {
		enum code code = next_export_record(run, &record, is_end, err);

		if (code != OK)
			return code;
		if (*is_end)
			break;
		++*read;
		code = add_export_record(run, &page, &record, err);
		if (code != OK)
			return code;
	}
	run->put += page.n;
	run->removed += page.removed;
	return pull_page_end(&page, err);
}

static enum code write_opened(struct export_run *run, struct err *err)
{
	uint64_t read = 0;

	for (bool is_end = false; !is_end;) {
		struct err own = err_in(run->page);
		enum code code = write_records(run, &read, &is_end, &own);

		if (code != OK) {
			err_copy(err, code, own.message);
			return code;
		}
		arena_reset(run->page);
	}
	return read == run->data->items
		       ? OK
		       : export_broken(run, 0,
				       str_printf(err->arena,
						  "it has %llu records, the manifest says %llu",
						  (unsigned long long)read,
						  (unsigned long long)run->data->items),
				       err);
}

static enum code write_data_file(struct export_run *run, struct err *err)
{
	struct str raw;
	enum code code = export_manifest_data(run->manifest, run->data, &raw, err);

	if (code != OK)
		return code;
	const struct records_form form = {.form = run->manifest->is_ion ? RECORD_ION : RECORD_JSON,
					  .is_changes = run->manifest->is_incremental};
	run->put = run->removed = 0;
	run->reader = export_reader_open(raw, &form);
	code = write_opened(run, err);
	export_reader_close(run->reader);
	return code;
}

/* The same, unless an earlier pull has written it. */
static enum code write_marked_file(struct export_run *run, size_t number, size_t total,
				   struct err *err)
{
	struct pull_mark mark;
	enum code code =
		pull_mark_find(run->pull, run->file, run->table->name, number, total, &mark, err);

	if (code != OK)
		return code;
	if (mark.is_done) {
		run->put = mark.items;
		run->removed = 0;
		return OK;
	}
	code = write_data_file(run, err);
	if (code != OK)
		return code;
	mark.items = run->put;
	mark.is_done = true;
	return pull_mark_save(run->pull, run->file, run->table->name, &mark, err);
}

/* When the full export is there, and no change behind it: whether the mask makes keys equal. */
static enum code check_full(struct export_run *run, size_t total, struct err *err)
{
	struct pull_mark mark;
	enum code code =
		pull_mark_find(run->pull, run->file, run->table->name, total, total, &mark, err);

	if (code != OK || mark.is_done)
		return code;
	code = pull_work_check(run->pull, run->table, err);
	if (code != OK)
		return code;
	mark.is_done = true;
	return pull_mark_save(run->pull, run->file, run->table->name, &mark, err);
}

static size_t count_files(const struct pull_export *exports)
{
	size_t n = 0;

	for (size_t i = 0; i < exports->n; i++)
		n += exports->manifests[i].file_count;
	return n;
}

/* The files of one export, the first of which has that number. */
static enum code write_export(struct export_run *run, struct pull_export *exports, size_t number,
			      bool is_marked, struct err *err)
{
	const struct export_manifest *manifest = run->manifest;

	for (size_t i = 0; i < manifest->file_count; i++) {
		arena_reset(run->file);
		arena_reset(run->page);
		struct err own = err_in(run->file);
		run->data = &manifest->files[i];
		enum code code =
			is_marked ? write_marked_file(run, number + i, count_files(exports), &own)
				  : write_data_file(run, &own);
		if (code != OK) {
			err_copy(err, code, own.message);
			return code;
		}
		if (manifest->is_incremental) {
			exports->put += run->put;
			exports->removed += run->removed;
		} else {
			run->table->read += run->put;
		}
	}
	return OK;
}

static enum code write_exports(struct export_run *run, struct pull_export *exports, bool is_marked,
			       struct err *err)
{
	size_t number = 0;

	for (size_t i = 0; i < exports->n; i++) {
		run->manifest = &exports->manifests[i];
		enum code code = write_export(run, exports, number, is_marked, err);

		if (code != OK)
			return code;
		code = run->manifest->is_incremental ? OK
						     : check_full(run, count_files(exports), err);
		if (code != OK)
			return code;
		number += run->manifest->file_count;
	}
	return OK;
}

static enum code run_exports(const struct pull *pull, struct pull_table *table,
			     struct pull_export *exports, bool is_marked, struct err *err)
{
	struct export_run run = {.pull = pull,
				 .table = table,
				 .strict = strict_new(),
				 .file = arena_new(0),
				 .page = arena_new(0),
				 .memory = {.limit = RECORD_MEMORY_MAX}};

	run.record = arena_new_within(1 << 20, &run.memory);
	table->read = exports->put = exports->removed = 0;
	enum code code = write_exports(&run, exports, is_marked, err);
	strict_free(run.strict);
	arena_free(run.record);
	arena_free(run.page);
	arena_free(run.file);
	return code;
}

static const struct export_manifest *last_export(const struct pull_export *exports)
{
	return &exports->manifests[exports->n - 1];
}

bool pull_export_is_changes(const struct pull_export *exports)
{
	return exports->n > 0 && exports->manifests[0].is_incremental;
}

void pull_export_show(const struct pull_export *exports, struct arena *arena)
{
	for (size_t i = 0; i < exports->n; i++) {
		const struct export_manifest *manifest = &exports->manifests[i];

		printf(STR_FMT ": %s of %s, as of " STR_FMT ", no read units\n",
		       STR_ARG(manifest->table), manifest->is_incremental ? "changes" : "items",
		       manifest->where, STR_ARG(export_manifest_time(arena, manifest->until_ms)));
	}
}

/* What came of them, and of which moment the table is now. */
static void end_exports(const struct pull *pull, const struct pull_table *table,
			const struct pull_export *exports, struct arena *arena)
{
	const struct export_manifest *last = last_export(exports);
	const struct pull_state state = {last->table_id, last->until_ms, last->until_ms};

	pull_state_save(pull, arena, table->name, &state);
	if (!pull_export_is_changes(exports))
		printf(STR_FMT ": %llu items\n", STR_ARG(table->name),
		       (unsigned long long)table->read);
	if (last->is_incremental)
		printf(STR_FMT ": %llu items put and %llu deleted by changes until " STR_FMT "\n",
		       STR_ARG(table->name), (unsigned long long)exports->put,
		       (unsigned long long)exports->removed,
		       STR_ARG(export_manifest_time(arena, last->until_ms)));
}

enum code pull_export_check(const struct pull *pull, const struct pull_table *table,
			    const struct pull_export *exports, struct err *err)
{
	for (size_t i = 0; i < exports->n; i++) {
		const struct export_manifest *manifest = &exports->manifests[i];

		if (manifest->is_incremental && !manifest->has_old_images &&
		    pull_change_needs_old(pull, table, err->arena))
			return err_set(err, MSG_PULL_WHEN, manifest->where);
	}
	return OK;
}

enum code pull_export_items(const struct pull *pull, struct pull_table *table,
			    struct pull_export *exports, struct err *err)
{
	enum code code = pull_export_check(pull, table, exports, err);

	if (code != OK)
		return code;
	code = run_exports(pull, table, exports, !pull_export_is_changes(exports), err);
	if (code == OK)
		end_exports(pull, table, exports, err->arena);
	return code;
}
