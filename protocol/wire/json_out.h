/*
 * json_out - a streaming writer of JSON into a buf: no output tree.
 *
 * Commas are the writer's business: json_out_name() and the value calls put them where they belong.
 * Items make an answer long. Once the arena is over the writer leaves items out, and the text is
 * "cut": it must not be sent.
 */
#ifndef DYNALITH_PROTOCOL_JSON_OUT_H
#define DYNALITH_PROTOCOL_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/value.h"

struct json_out {
	struct buf buf;
	bool needs_comma, is_cut;
	bool is_hashed;    /* number sets are written in number_order() */
	bool is_malformed; /* an image was: the text must not be sent either */
};

struct json_out json_out_in(struct arena *arena);
static inline struct str json_out_str(const struct json_out *out)
{
	return buf_str(&out->buf);
}

void json_out_open(struct json_out *out, char bracket);  /* '{' or '[' */
void json_out_close(struct json_out *out, char bracket); /* '}' or ']' */
void json_out_name(struct json_out *out, struct str name);
void json_out_string(struct json_out *out, struct str s);
void json_out_integer(struct json_out *out, int64_t value);
/* Capacity units and the like: shortest form, "0.5", "1.0". */
void json_out_units(struct json_out *out, double value);
/* The shortest decimal that reads back as the number: "0.4000000059604645", "2.0". Must be finite.
 */
void json_out_double(struct json_out *out, double value);
/* Unix time in seconds with millisecond fraction, AWS's form of timestamps: 1700000000.123. */
void json_out_time_ms(struct json_out *out, int64_t ms);
void json_out_boolean(struct json_out *out, bool value);
void json_out_null(struct json_out *out);

/* Name and value in one call; the name is a literal. */
#define json_out_field_string(out, literal, s)                                                     \
	(json_out_name((out), STR(literal)), json_out_string((out), (s)))
#define json_out_field_integer(out, literal, v)                                                    \
	(json_out_name((out), STR(literal)), json_out_integer((out), (v)))
#define json_out_field_boolean(out, literal, v)                                                    \
	(json_out_name((out), STR(literal)), json_out_boolean((out), (v)))

/* The wire form of attribute values: {"S":"x"}; of items: {"pk":{"S":"x"}, ...}. */
void json_out_value(struct json_out *out, const struct value *value);
void json_out_item(struct json_out *out, const struct value *item);
/* The same straight from an item's image, without building values. */
void json_out_image(struct json_out *out, struct str image);
/* Makes room for `n` images of `bytes` in all, so that the text is not moved while it grows. */
void json_out_expect(struct json_out *out, size_t n, size_t bytes);

#endif
