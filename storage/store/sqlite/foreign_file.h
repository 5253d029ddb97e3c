/*
 * foreign_file - reads a data file of DynamoDB Local, whose format is SQLite's too. Nothing is ever
 * written to it.
 *
 * Source: files that DynamoDB Local 3.3.1 wrote (format v2.4.0): "dm" has a row per table, with its
 * keys and indexes as JSON; "sm" a row per stream; each table has one of its own name, with each
 * item as the API's JSON.
 */
#ifndef DYNALITH_STORAGE_FOREIGN_FILE_H
#define DYNALITH_STORAGE_FOREIGN_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

struct foreign_file;

/* ERR_INTERNAL with one line for the operator: it cannot be opened, or is no file of DynamoDB
 * Local. */
enum code foreign_file_open(const char *path, struct foreign_file **out,
			    struct err *err) WARN_UNUSED;
void foreign_file_close(struct foreign_file *file);

struct foreign_table {
	struct str name;
	struct str
		info; /* JSON: Attributes, SQLiteIndex, GSIList, LSIList, TimeToLiveAttributeName */
	struct str stream_info;   /* JSON: StreamViewType; absent without a stream */
	int64_t read_units, write_units;
	bool is_on_demand, is_protected;
};

/* All tables in the order of their names, in the arena. ERR_INTERNAL where the file cannot be read.
 */
enum code foreign_file_tables(struct foreign_file *file, struct arena *arena,
			      const struct foreign_table **tables, size_t *n,
			      struct err *err) WARN_UNUSED;

/* Each item of a table, as JSON that is valid until the next; `visit` gives OK or a code that ends
 * it, which becomes the answer. */
enum code foreign_file_items(struct foreign_file *file, struct str table,
			     enum code (*visit)(void *context, struct str item), void *context,
			     struct err *err) WARN_UNUSED;

#endif
