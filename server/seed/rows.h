/*
 * rows - files of items. An item is in DynamoDB's JSON ({"pk":{"S":"a"}}) or in the form of document clients ({"pk":"a","n":1}).
 */
#ifndef DYNALITH_SERVER_SEED_ROWS_H
#define DYNALITH_SERVER_SEED_ROWS_H

#include "server/seed/seed.h"

/* Lines of JSON objects; {"Item": {...}} of an export is the item within. Lines of white space are passed over. */
enum code rows_read_lines(struct seed *seed, struct str text, struct err *err) WARN_UNUSED;

/* RFC 4180: the first line names the attributes; values are strings, but for keys of the table and its indexes. An empty field is no attribute. */
enum code rows_read_csv(struct seed *seed, struct str text, struct err *err) WARN_UNUSED;

/*
 * A JSON document, `root` its tree: an array of items; a Scan's or Query's answer with Items; BatchWriteItem's RequestItems, {"T":[{"PutRequest":...}]},
 * bare or within {"RequestItems": ...}; or one item.
 */
enum code rows_read_document(struct seed *seed, struct str text, const struct json *root, struct err *err) WARN_UNUSED;

#endif
