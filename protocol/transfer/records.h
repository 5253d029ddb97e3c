/*
 * records - the items in a file of an import, from bytes that come in pieces, whatever its form.
 *
 * AWS: Developer Guide, "Amazon S3 import formats for DynamoDB". DYNAMODB_JSON: a line is {"Item": {...}}. ION: values {Item: {...}}, text or binary. CSV: a
 * header, unless the import has one; key attributes have the types of the table, all others are strings, an empty field is no attribute.
 *
 * What is no JSON or no Ion at all ends a file: AWS counts one error for it and reads no more of that object (recorded: of 10 lines whose sixth is
 * garbage 6 are processed and 5 imported). What can be read but is no item is counted, and the next record is read.
 */
#ifndef DYNALITH_PROTOCOL_RECORDS_H
#define DYNALITH_PROTOCOL_RECORDS_H

#include "core/arena.h"
#include "core/err.h"
#include "core/value.h"
#include "protocol/transfer/csv.h"
#include "protocol/transfer/ion_binary.h"

#define RECORD_BYTES_MAX (4u << 20) /* of one record: an item of 400 KB takes less in any form */

enum record_form { RECORD_JSON, RECORD_ION, RECORD_CSV };

struct records_key {
	struct str name;
	enum type type;
};

/* How the files of an import are to be read. */
struct records_form {
	enum record_form form;
	char delimiter;          /* CSV; 0: a comma */
	const struct str *head;  /* CSV: the columns; NULL: the first line of each file has them */
	size_t head_n;
	const struct records_key *keys; /* CSV: the key attributes of the table and its indexes */
	size_t key_n;
	bool refuses_conditions; /* of bulk operations: a record with a ConditionExpression is bad, for it must not be put without */
};

enum record_kind {
	RECORD_ITEM,
	RECORD_BAD,    /* the error says why it is none */
	RECORD_BROKEN, /* the error says why nothing more can be read */
	RECORD_MORE,   /* give it more bytes, behind what it has left */
	RECORD_END,
};

struct records;

/* Of one file. Lives in the arena, which must not be reset meanwhile. */
struct records *records_new(struct arena *arena, const struct records_form *form);

/*
 * The bytes to read: what records_rest() left and those that follow. They must stay until they are read. With is_last nothing follows, and the last byte
 * must be a line feed.
 */
void records_give(struct records *records, struct str bytes, bool is_last);
struct str records_rest(const struct records *records);

/* The next one; the item lies in `arena`, which may be reset after it, as the bytes may go. */
enum record_kind records_next(struct records *records, struct arena *arena, struct value *item, struct err *err);

#endif
