/*
 * mask - what may be shown of a value: the prefix that names an entity, never what follows it.
 *
 * Single-table designs put the entity's type in front: CUSTOMER#42, order-2026-01-15, USER123. The prefix is the letters up to the first of
 * '#', '|', ':', '/', '~', that one included, or up to a digit. A whole value is shown only where it is one word in capitals, as PROFILE or METADATA:
 * a sort key that names a part of an entity. UUIDs, ULIDs, hexadecimal digits and all else show nothing.
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

/* Whether a name inside a document is a word: maps have values as names too. */
bool mask_is_word(struct str name);

#endif
