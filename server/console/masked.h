/*
 * masked - a request's or an answer's body without the values of attributes: {"S":"CUSTOMER#42"}
 * becomes {"S":"CUSTOMER#…"}.
 *
 * Names of tables, indexes and attributes, expressions and options stay. Of a value stays a prefix
 * in capitals (protocol/insight/mask.h). Literals in PartiQL statements become '?', and what an
 * error's message repeats of a value is left out.
 */
#ifndef DYNALITH_SERVER_MASKED_H
#define DYNALITH_SERVER_MASKED_H

#include "protocol/wire/json_out.h"

/* Writes the JSON text `body`; null where it is no JSON. The arena is that of `out`. */
void masked_write(struct json_out *out, struct arena *arena, struct str body);

#endif
