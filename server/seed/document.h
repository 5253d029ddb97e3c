/*
 * document - a file of JSON or YAML as a tree whose values know where they stand.
 */
#ifndef DYNALITH_SERVER_SEED_DOCUMENT_H
#define DYNALITH_SERVER_SEED_DOCUMENT_H

#include "core/err.h"
#include "server/seed/source.h"

/* The whole file, mapped: munmap() `size` bytes unless it is 0. ERR_VALIDATION: it cannot be read.
 */
enum code document_map(const char *path, void **bytes, size_t *size, struct err *err) WARN_UNUSED;

/* The line where the text stops being JSON; it begins at `first_line`. */
size_t document_json_line(struct arena *arena, struct str text, size_t first_line);

/* Without the mark of byte order that editors of Windows put in front. */
struct str document_text(struct str text);

/* YAML of that file, in the source's arena. ERR_VALIDATION: FILE:LINE: reason. */
enum code document_parse_yaml(struct arena *arena, struct source *source, const char *path,
			      struct str text, const struct json **root,
			      struct err *err) WARN_UNUSED;

/* Notes in the source each name that an object has twice, below `value`, which is located. */
void document_note_names(struct arena *arena, struct source *source, const struct json *value);

/*
 * Another file that a document names, 16 MB at most: JSON where it begins with a bracket and is
 * some, else YAML. ERR_VALIDATION: FILE: or FILE:LINE: reason.
 */
enum code document_load(struct arena *arena, struct source *source, const char *path,
			const struct json **root, struct err *err) WARN_UNUSED;

/* `name` as it stands in the file `path`: from its folder, unless it begins with /. */
const char *document_beside(struct arena *arena, const char *path, struct str name);

#endif
