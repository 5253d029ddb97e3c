/*
 * masked - a request's or an answer's body without the values of attributes: {"S":"CUSTOMER#42"}
 * becomes {"S":"CUSTOMER#…"}.
 *
 * Names of tables, indexes and attributes, expressions and options stay. Of a value stays a prefix
 * in capitals (protocol/insight/mask.h); of a value whose type is missing or wrong, nothing. In
 * PartiQL statements literals become '?', and comments go. Tokens of pages go. An error's message
 * ends where it repeats a value of its request.
 */
#ifndef DYNALITH_SERVER_MASKED_H
#define DYNALITH_SERVER_MASKED_H

#include "protocol/wire/json_out.h"

/* Writes the JSON text of a request; null where it is no JSON. The arena is that of `out`. */
void masked_write(struct json_out *out, struct arena *arena, struct str request);

/* The same of its answer. Messages are hidden whole where the request is absent, as one that was
 * not kept is, or no JSON. */
void masked_write_answer(struct json_out *out, struct arena *arena, struct str request,
			 struct str answer);

#endif
