/*
 * schema_internal - what the fields of a table's own structs are; not for others.
 */
#ifndef DYNALITH_STORAGE_SCHEMA_INTERNAL_H
#define DYNALITH_STORAGE_SCHEMA_INTERNAL_H

#include "storage/schema/record.h"
#include "storage/schema/schema.h"

/* Without settings, keys, indexes, streams and what is in memory only. */
extern const struct record table_record, index_record, stream_record;

#endif
