#include "server/pull/pull_export.h"

#include <string.h>
#include <sys/mman.h>

#include "server/gzip.h"
#include "server/messages.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"
#include "server/pull/pull_choice.h"
#include "server/pull/pull_mark.h"
#include "server/pull/pull_page.h"

#define LINES_AT_ONCE 1000 /* written before the memory is used again */

/* One data file. */
struct export_file {
	const struct pull *pull;
	const struct pull_table *table;
	struct arena *arena, *page; /* of the file; of some lines */
	const char *path;
	double wanted; /* items, by the manifest */
};

static enum code export_broken(const char *path, const char *what, struct err *err)
{
	return err_set(err, MSG_PULL_EXPORT, path, what);
}

static enum code read_export_file(struct arena *arena, const char *path, struct str *text,
				  struct err *err)
{
	struct err own = err_in(arena);
	void *bytes;
	size_t size;

	if (document_map(path, &bytes, &size, &own) != OK)
		return export_broken(path, "it cannot be read", err);
	struct str whole = {bytes, size};
	bool is_packed = size >= 2 && memcmp(whole.p, "\x1f\x8b", 2) == 0;
	enum gzip_result result = GZIP_FINE;

	if (is_packed)
		result = gzip_decode(arena, GZIP_GZIP, whole, PULL_EXPORT_FILE_MAX, text);
	else
		*text = str_copy(arena, whole);
	if (size > 0)
		munmap(bytes, size);
	return result == GZIP_FINE ? OK : export_broken(path, "it is broken or too large", err);
}

/* Some lines: {"Item":{...}} each. */
static enum code write_lines(const struct export_file *file, struct str *rest, double *lines,
			     uint64_t *items, struct err *err)
{
	struct pull_page page = {.pull = file->pull, .table = file->table, .arena = file->page};
	enum code code;

	for (int i = 0; i < LINES_AT_ONCE && rest->n > 0; i++) {
		struct str line = str_trim(str_cut(rest, '\n')), item;
		struct err own = err_in(file->page);
		const struct json *root;

		if (line.n == 0)
			continue;
		if (json_parse(file->page, line, &root, &own) != OK ||
		    !json_text_get(root, "Item", JSON_OBJECT))
			return export_broken(file->path, "a line is no {\"Item\": {...}}", err);
		++*lines;
		item = json_text_find(line, STR("Item"));
		if (!pull_choice_has(file->pull, file->table, file->page, item))
			continue;
		code = pull_page_add(&page, item, err);
		if (code != OK)
			return code;
	}
	*items += page.n;
	return pull_page_end(&page, err);
}

static enum code write_export_file(const struct export_file *file, uint64_t *items, struct err *err)
{
	struct str rest;
	double lines = 0;
	enum code code = read_export_file(file->arena, file->path, &rest, err);

	if (code != OK)
		return code;
	while (rest.n > 0) {
		struct err own = err_in(file->page);

		code = write_lines(file, &rest, &lines, items, &own);
		if (code != OK) {
			err_copy(err, code, own.message);
			return code;
		}
		arena_reset(file->page);
	}
	return lines == file->wanted ? OK
				     : export_broken(file->path,
						     "it has not as many items as the "
						     "manifest says",
						     err);
}

/* The next file of the manifest, unless an earlier pull has written it. */
static enum code pull_export_file(const struct export_file *file, size_t number, size_t total,
				  uint64_t *items, struct err *err)
{
	struct pull_mark mark;
	enum code code = pull_mark_find(file->pull, file->arena, file->table->name, number, total,
					&mark, err);

	if (code != OK)
		return code;
	if (!mark.is_done) {
		mark.items = 0;
		code = write_export_file(file, &mark.items, err);
		if (code != OK)
			return code;
		mark.is_done = true;
		code = pull_mark_save(file->pull, file->arena, file->table->name, &mark, err);
	}
	*items += mark.items;
	return code;
}

static size_t count_lines(struct str text)
{
	size_t n = 0;

	while (text.n > 0)
		n += str_trim(str_cut(&text, '\n')).n > 0;
	return n;
}

/* A line of the manifest: which file, and how many items are in it. */
static enum code read_export_line(struct arena *arena, const char *folder, struct str line,
				  struct export_file *file, struct err *err)
{
	struct err own = err_in(arena);
	const struct json *root;

	if (json_parse(arena, line, &root, &own) != OK)
		return export_broken(folder, "manifest-files.json is broken", err);
	struct str key = json_text_string(arena, root, "dataFileS3Key");
	if (!str_is_set(key) || key.n == 0)
		return export_broken(folder, "manifest-files.json names no file", err);
	while (memchr(key.p, '/', key.n))
		(void)str_cut(&key, '/');
	file->path = str_printf(arena, "%s/data/" STR_FMT, folder, STR_ARG(key)).p;
	file->wanted = json_text_number(root, "itemCount");
	return OK;
}

static enum code pull_export_line(struct export_file *file, const char *folder, struct str line,
				  size_t number, size_t total, uint64_t *items, struct err *err)
{
	enum code code = read_export_line(file->arena, folder, line, file, err);

	if (code != OK)
		return code;
	return pull_export_file(file, number, total, items, err);
}

static enum code pull_export_all(struct export_file *file, const char *folder, struct str manifest,
				 uint64_t *items, struct err *err)
{
	size_t total = count_lines(manifest), number = 0;

	while (manifest.n > 0) {
		struct str line = str_trim(str_cut(&manifest, '\n'));

		if (line.n == 0)
			continue;
		arena_reset(file->arena);
		struct err own = err_in(file->arena);
		enum code code = pull_export_line(file, folder, line, number++, total, items, &own);
		if (code != OK) {
			err_copy(err, code, own.message);
			return code;
		}
	}
	return OK;
}

enum code pull_export_items(const struct pull *pull, const struct pull_table *table,
			    const char *folder, uint64_t *items, struct err *err)
{
	struct export_file file = {.pull = pull, .table = table};
	struct str manifest;
	enum code code = read_export_file(
		err->arena, str_printf(err->arena, "%s/manifest-files.json", folder).p, &manifest,
		err);

	*items = 0;
	if (code != OK)
		return code;
	file.arena = arena_new(0);
	file.page = arena_new(0);
	code = pull_export_all(&file, folder, manifest, items, err);
	arena_free(file.page);
	arena_free(file.arena);
	return code;
}
