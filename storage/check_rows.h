/*
 * check_rows - whether a row can be read: each kind of row by the decoder that reads it. What rows
 * say together is the business of check.
 *
 * The system's keyspaces have many kinds of rows, told apart by how their keys begin; one of no
 * kind is unsound, too.
 */
#ifndef DYNALITH_STORAGE_CHECK_ROWS_H
#define DYNALITH_STORAGE_CHECK_ROWS_H

#include "storage/schema/schema.h"

/* Rows of indexes are read by their tables, and are sound here. `arena` is for what the row's
 * decoder makes. */
bool check_rows_is_sound(struct arena *arena, const struct settings_records *records,
			 struct keyspace keyspace, const struct store_row *row);

#endif
