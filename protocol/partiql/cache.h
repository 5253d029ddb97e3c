/*
 * cache - the trees of statements parsed before, by their text; not for others.
 *
 * A tree depends on the text alone: parameters are put in when it is lowered, so one tree serves
 * every request with the same text. Trees are immutable and counted, each in an arena of its own.
 * The cache is bounded: a place holds one tree, and a newer tree replaces it. Safe for any number
 * of threads.
 */
#ifndef DYNALITH_PROTOCOL_PARTIQL_CACHE_H
#define DYNALITH_PROTOCOL_PARTIQL_CACHE_H

#include "protocol/partiql/syntax.h"

#define PARTIQL_CACHE_PLACES 256
#define PARTIQL_CACHE_TEXT_MAX 2048 /* bytes of text; longer statements are parsed each time */

/*
 * The tree of the text: from the call's service's cache, else parsed, and kept where there is a
 * cache and the text is right. It lives until the call ends. ERR_VALIDATION as partiql_parse_text.
 */
enum code partiql_cache_parse(struct call *call, struct str text, struct partiql_tree *out,
			      struct err *err) WARN_UNUSED;

#endif
