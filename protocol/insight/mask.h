/*
 * mask - what may be shown of a value: the prefix that names an entity, never what follows it.
 *
 * Single-table designs put the entity's type in front: CUSTOMER#42, order-2026-01-15, USER123. The
 * prefix is the letters up to the first of
 * '#', '|', ':', '~', that one included, of '/' behind capitals, or up to a number or date at the
 * end. A whole value is shown only where it is one word in capitals, as PROFILE or METADATA: a sort
 * key that names a part of an entity. Identifiers, addresses and all else show nothing. Whether a
 * report shows a prefix, prefixes.h decides by more than one value.
 */
#ifndef DYNALITH_PROTOCOL_MASK_H
#define DYNALITH_PROTOCOL_MASK_H

#include "core/value.h"

struct mask {
	struct str prefix; /* part of the value; empty: nothing may be shown */
	bool is_whole;
};

struct mask mask_of(const struct value *value);
struct mask mask_text(struct str text);

/* Whether no small letter is in it. */
bool mask_is_capitals(struct str text);

/* Whether what follows that prefix is like an identifier: it has a digit or an '@', or is one
 * random word. After a prefix in capitals any text is. */
bool mask_is_identifier(struct str prefix, struct str rest);

/* Whether a name inside a document is a word: maps have values as names too. */
bool mask_is_word(struct str name);

#endif
