/*
 * export_reader - a data file of an export as records: decompressed where it is, and taken apart.
 */
#ifndef DYNALITH_SERVER_EXPORT_READER_H
#define DYNALITH_SERVER_EXPORT_READER_H

#include <stdint.h>

#include "protocol/transfer/records.h"

struct export_reader;

/* `raw`: the file's bytes; they stay, as the form does, until it is closed. Compressed where they
 * begin as gzip does. */
struct export_reader *export_reader_open(struct str raw, const struct records_form *form);
void export_reader_close(struct export_reader *reader);

/* The next one, in `arena`; *is_end: there was none. ERR_VALIDATION: the file is broken, or what
 * comes next is no record. */
enum code export_reader_next(struct export_reader *reader, struct arena *arena,
			     struct record_put *record, bool *is_end, struct err *err) WARN_UNUSED;

/* The line, from 1, on which the last record ends, or that is wrong. */
uint64_t export_reader_line(const struct export_reader *reader);

#endif
