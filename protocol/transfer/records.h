/*
 * records - the items in a file of an import, from bytes that come in pieces, whatever its form.
 *
 * AWS: Developer Guide, "Amazon S3 import formats for DynamoDB". DYNAMODB_JSON: a line is {"Item":
 * {...}}. ION: values {Item: {...}}, text or binary. CSV: a header, unless the import has one; key
 * attributes have the types of the table, all others are strings, an empty field is no attribute.
 *
 * A record of a bulk operation may have ConditionExpression, ExpressionAttributeNames and
 * ExpressionAttributeValues beside Item, in Ion too (AWS: Developer Guide, "Amazon S3 input formats
 * for bulk put items").
 *
 * A record of an incremental export is {"Metadata": {...}, "Keys": {...}, "NewImage": {...},
 * "OldImage": {...}}; in Ion that lies in a field Record. An item that was deleted has no NewImage.
 *
 * What is no JSON or no Ion at all ends a file: AWS counts one error for it and reads no more of
 * that object (recorded: of 10 lines whose sixth is garbage 6 are processed and 5 imported). What
 * can be read but is no item is counted, and the next record is read.
 */
#ifndef DYNALITH_PROTOCOL_RECORDS_H
#define DYNALITH_PROTOCOL_RECORDS_H

#include "core/arena.h"
#include "core/err.h"
#include "core/expr.h"
#include "core/value.h"
#include "protocol/transfer/csv.h"
#include "protocol/transfer/ion_binary.h"
#include "protocol/wire/shapes.h"

#define RECORD_BYTES_MAX (4u << 20) /* of one record: an item of 400 KB takes less in any form */
#define RECORD_MEMORY_MAX                                                                          \
	((size_t)64 << 20) /* for the budget of an arena that records are read into; all values of \
			      an item take less */

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
	bool takes_conditions; /* of bulk operations: a record may have a ConditionExpression.
				  Others do not look at it */
	bool is_changes;       /* of incremental exports: JSON or Ion */
};

/* One of them. */
struct record_put {
	struct value item;    /* of changes: none */
	struct str condition; /* ConditionExpression, with its names and values; absent: none */
	struct expression_attribute_name_map names;
	const struct value *values; /* NULL: none */
	/* Of changes. An image may be NULL. */
	const struct value *keys, *new_image, *old_image;
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
 * The bytes to read: what records_rest() left and those that follow. They must stay until they are
 * read. With is_last nothing follows, and the last byte must be a line feed.
 */
void records_give(struct records *records, struct str bytes, bool is_last);
struct str records_rest(const struct records *records);

/*
 * The next one; it lies in `arena`, which may be reset after it, as the bytes may go. One that
 * takes more than the arena's budget is bad, or, where it ends within it, broken.
 */
enum record_kind records_next(struct records *records, struct arena *arena,
			      struct record_put *record, struct err *err);

/* Whether it has one, or anything of one. */
static inline bool records_have_condition(const struct record_put *record)
{
	return str_is_set(record->condition) || record->names.v || record->values;
}

/* Parses it, as that of a PutItem. The tree lies in `arena`, and needs the record no more.
 * ERR_VALIDATION. */
enum code records_condition(struct arena *arena, const struct record_put *record,
			    const struct node **condition, struct err *err) WARN_UNUSED;

#endif
