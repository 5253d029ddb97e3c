/*
 * json - reading JSON: cJSON made strict, and the only door to it.
 *
 * Strict: valid UTF-8, one value and nothing but white space after it, bounded nesting; U+0000 in
 * strings is kept. The tree lives in the arena; nothing is freed. AWS answers every malformed body
 * with SerializationException.
 */
#ifndef DYNALITH_PROTOCOL_JSON_H
#define DYNALITH_PROTOCOL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

enum json_type { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json; /* a value of the tree */

/*
 * How deep texts may nest. AWS: reads attribute values of 2,000 levels, and refuses them as nested
 * too deeply; somewhere from there to 5,000 levels it refuses the text (captured 2026-10-09). Each
 * level takes two of JSON, beside three of the request. What lies deeper than JSON_DEPTH_KEPT is
 * read, and not kept: there the containers of the tree are empty.
 */
#define JSON_DEPTH_MAX 4004
#define JSON_DEPTH_KEPT 256

/* Parses a whole text into the arena. ERR_SERIALIZATION for anything malformed or nested too
 * deeply; ERR_SERVICE_UNAVAILABLE where the arena is over. */
enum code json_parse(struct arena *arena, struct str text, const struct json **root,
		     struct err *err) WARN_UNUSED;

/* The offset, in bytes, of what is wrong in a text that json_parse() refuses, for messages to
 * people. */
size_t json_stops_at(struct arena *arena, struct str text);

enum json_type json_type(const struct json *value);
bool json_boolean(const struct json *value);
double json_number(const struct json *value);
/* Whether a number was written with a point or an exponent. */
bool json_is_decimal(const struct json *value);
/* The number as an integer; false when it has a fraction or does not fit. */
bool json_integer(const struct json *value, int64_t *out);
struct str json_string(struct arena *arena, const struct json *value);
/* The same for those that take C strings; NULL where it holds U+0000, which would end one early. */
const char *json_c_string(struct arena *arena, const struct json *value);

/* Children of arrays and objects in the order of the text; NULL at the end. */
const struct json *json_first(const struct json *container);
const struct json *json_next(const struct json *child);
size_t json_count(const struct json *container);
/* An object member's name. */
struct str json_name(struct arena *arena, const struct json *member);
/* The member of that exact name, the last one where it stands twice; or NULL. */
const struct json *json_member(const struct json *object, const char *name);
const struct json *json_find(const struct json *object, struct str name);

#endif
