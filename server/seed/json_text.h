/*
 * json_text - JSON as files of tables and items have it: parts of a text as they stand in it, so
 * that numbers keep all their digits, and members of a tree that may be anything.
 *
 * A text must be one that json_parse accepts; nothing is checked here.
 */
#ifndef DYNALITH_SERVER_JSON_TEXT_H
#define DYNALITH_SERVER_JSON_TEXT_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/str.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"

/* What stands behind the bracket that begins an object or an array: for the walks below. */
struct str json_text_inside(struct str container);

/* The next member of an object; *name is as it stands between its quotes. False at the end. */
bool json_text_member(struct str *rest, struct str *name, struct str *value);

/* The next element of an array. False at the end. */
bool json_text_element(struct str *rest, struct str *value);

/* The member's text where the object has one whose name, as it stands, is `name`; else absent. */
struct str json_text_find(struct str object, struct str name);

/* What a string of a text is, from its first quote to its last. Empty: it is none. */
struct str json_text_unquoted(struct arena *arena, struct str text);

/* Whether a name is one of `n` names; JSON_TEXT_IS_AMONG takes an array of them. */
bool json_text_is_among(struct str name, const char *const names[], size_t n);
#define JSON_TEXT_IS_AMONG(name, names)                                                            \
	json_text_is_among(name, names, sizeof(names) / sizeof((names)[0]))

/* "S", "N", "BOOL", ...: a type of DynamoDB. */
bool json_text_is_type(struct str name);

/* Whether an object is an item in DynamoDB's own form: each member's value is an object of one
 * member, whose name is a type. */
bool json_text_is_item(struct str object);

/* The first name that an object has twice, in the value or below it, as deep as 64; else absent. */
struct str json_text_twice(struct arena *arena, struct str value);

/*
 * An item in DynamoDB's form from an object in the form of document clients (lib-dynamodb, boto3's
 * resources): numbers, texts, true, false, null, arrays and objects are N, S, BOOL, NULL, L and M.
 * A Buffer as Node.js writes it, {"type": "Buffer", "data": [1, 2]}, is B.
 */
void json_text_add_item(struct buf *buf, struct str object);

/* The object's member where it is of that type; NULL where it is not, or `object` is none. */
const struct json *json_text_get(const struct json *object, const char *name, enum json_type type);
/* The same for a string; else absent. */
struct str json_text_string(struct arena *arena, const struct json *object, const char *name);

/* The same for a number; else 0. */
double json_text_number(const struct json *object, const char *name);

/* What an answer with an error says: its type without the service's name, and its text. Both are
 * absent where the body says nothing of the kind. */
void json_text_error(struct arena *arena, struct str body, struct str *type, struct str *message);

/* Writes the object's member, with its name, where it has one. `object` may be NULL. */
void json_text_copy(struct json_out *out, struct arena *arena, const struct json *object,
		    const char *name);

/* {NAME: VALUE}, as requests that only name a table or its ARN are. */
struct str json_text_request(struct arena *arena, const char *name, struct str value);

/* A value of a tree as JSON. */
void json_text_write(struct json_out *out, struct arena *arena, const struct json *value);

#endif
