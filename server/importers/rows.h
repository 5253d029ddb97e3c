/*
 * rows - files of items. An item is in DynamoDB's JSON ({"pk":{"S":"a"}}) or in the form of
 * document clients ({"pk":"a","n":1}).
 */
#ifndef DYNALITH_SERVER_IMPORTERS_ROWS_H
#define DYNALITH_SERVER_IMPORTERS_ROWS_H

#include "server/seed/seed.h"

/* Texts begin at `first_line` of the file. */

/* Lines of JSON objects; {"Item": {...}} of an export is the item within. Lines of white space are
 * passed over. */
enum code rows_read_lines(struct seed *seed, struct str text, size_t first_line,
			  struct err *err) WARN_UNUSED;

/* RFC 4180: the first line names the attributes; values are strings, but for keys of the table and
 * its indexes. An empty field is no attribute. */
enum code rows_read_csv(struct seed *seed, struct str text, struct err *err) WARN_UNUSED;

/*
 * Amazon Ion, text or binary: structs that are items, or that have one in Item and nothing else, as
 * exports have it. Text must end with white space.
 */
enum code rows_read_ion(struct seed *seed, struct str text, struct err *err) WARN_UNUSED;

/*
 * A JSON document, `root` its tree: an array of items; a Scan's or Query's answer with Items;
 * BatchGetItem's answer with Responses; BatchWriteItem's RequestItems, {"T":[{"PutRequest":...}]},
 * bare or within {"RequestItems": ...}; PutItem's body; or one item. Requests of other operations
 * are refused, and so are conditions.
 */
enum code rows_read_document(struct seed *seed, struct str text, size_t first_line,
			     const struct json *root, struct err *err) WARN_UNUSED;

/* An item that is a part of the document that is read. */
enum code rows_put_value(struct seed *seed, struct str table, const struct json *item,
			 struct err *err) WARN_UNUSED;

#endif
