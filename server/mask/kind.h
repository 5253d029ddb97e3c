/*
 * kind - what an attribute holds, by its name and by its values: rows of kinds.def.
 */
#ifndef DYNALITH_SERVER_MASK_KIND_H
#define DYNALITH_SERVER_MASK_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

enum kind {
#define KIND(name, text, number, is_sure, shown) KIND_##name,
#include "server/mask/kinds.def"
	KIND_COUNT
};

struct kind_row {
	const char *text, *number; /* the action for a string, for a number */
	bool is_sure;
	const char *shown; /* to people */
};

const struct kind_row *kind_row(enum kind kind);

/* What the name of an attribute says; KIND_NONE: nothing. */
enum kind kind_of_name(struct str name);

/* What a string says by its form alone; KIND_NONE: nothing. */
enum kind kind_of_text(struct str text);

/* Whether fake_shift() can take a number as a moment: 9 to 13 digits. */
bool kind_is_moment(struct str number);

/*
 * Calls with each word of a name, in lower case and in the singular, until `each` returns true; it
 * returns whether one did. Words of more than 31 bytes are passed over.
 */
bool kind_words(struct str name, bool (*each)(void *context, struct str word), void *context);

/* Whether the word, in lower case and in the singular, is one of names or composite keys. */
bool kind_is_tag(struct str word);

#endif
