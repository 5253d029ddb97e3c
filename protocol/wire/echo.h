/*
 * echo - a part of a request as AWS shows it in the message of a constraint that it breaks.
 *
 * The older layer prints its Java model's toString: every member of every structure, all sixteen of
 * an attribute value's. BatchGetItem's newer one prints JSON. Source: recorded answers of
 * us-east-1, August to October 2026. Both end with "..." after ECHO_MAX bytes, our own limit, since
 * an answer of many times the request's size helps nobody. Where the arena is over they stop
 * anywhere; the caller checks for that.
 */
#ifndef DYNALITH_PROTOCOL_ECHO_H
#define DYNALITH_PROTOCOL_ECHO_H

#include "core/arena.h"
#include "core/str.h"
#include "protocol/wire/json.h"
#include "protocol/wire/shapes.h"

#define ECHO_MAX (1u << 17)

/* "[TransactGetItem(get=Get(key={pk=AttributeValue(s=a, n=null, ...)}, tableName=t, ...))]". The
 * names of maps are in Java's order. */
struct str echo_java(struct arena *arena, const struct shape *shape, const struct json *json);

/* The value as JSON without white space and nulls; names in byte order. */
struct str echo_json(struct arena *arena, const struct json *json);

#endif
