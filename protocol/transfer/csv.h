/*
 * csv - records of separated fields, from bytes that come in pieces.
 *
 * RFC 4180, with a delimiter of choice. A quoted field may hold the delimiter, line breaks and
 * doubled quotes; what follows its closing quote counts as it is. Lines end with LF or CRLF. Empty
 * lines are passed over.
 *
 * The shelf protocol/transfer/ holds exports and imports: the forms of their files, the rules of
 * their operations, their descriptions.
 */
#ifndef DYNALITH_PROTOCOL_CSV_H
#define DYNALITH_PROTOCOL_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"

/* Of a record. Ours: AWS names 255 for a HeaderList (API Reference, CsvOptions), and nothing for a
 * file's own header. */
#define CSV_FIELDS_MAX 65536

struct csv {
	struct str rest;    /* not read yet */
	bool is_last;       /* no bytes follow `rest` */
	char delimiter;
	size_t line;        /* of what comes next, from 1 */
	size_t record_line; /* of the record */
	struct str *fields; /* of the record, in the arena; their texts are there or in `rest` as it
			       was */
	size_t n;           /* those from CSV_FIELDS_MAX on are counted and not kept */
};

enum csv_result {
	CSV_RECORD,
	CSV_MORE,   /* the bytes end within a record: nothing was taken */
	CSV_END,
	CSV_BROKEN, /* a quoted field does not end */
};

enum csv_result csv_next(struct csv *csv, struct arena *arena);

#endif
