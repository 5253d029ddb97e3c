/*
 * prefixes - which beginnings of keys a report may show: those that name a kind of items, and are
 * no value of one.
 *
 * mask.h says what could be a prefix. It is shown when at least three different values of the table
 * have it and go on with what looks like an identifier. A word in capitals, as PROFILE, is shown
 * when it stands in three different items or partitions. A table with more beginnings than a design
 * has shows none of them: they are values then. Those in small letters are names of people sooner.
 * None of this depends on the order of requests.
 */
#ifndef DYNALITH_PROTOCOL_PREFIXES_H
#define DYNALITH_PROTOCOL_PREFIXES_H

#include "protocol/insight/access.h"

#define PREFIX_VALUES 3
#define PREFIXES_MAX 48   /* of a table; more are no kinds of items */
#define PREFIXES_SMALL 8  /* of those, in small letters; more are names */

struct prefix {
	uint64_t hash; /* of its text */
	uint64_t values[PREFIX_VALUES];
	unsigned n;    /* of values */
	bool is_small; /* not in capitals */
};

struct prefixes {
	size_t n; /* PREFIXES_MAX + 1: more than are kept */
	size_t small_count;
	struct prefix v[PREFIXES_MAX];
};

/* Takes in the keys of an access to the table. */
void prefixes_note(struct prefixes *prefixes, const struct access *access);

/* Whether a prefix, as mask.h gives it, may be shown; of NULL none. */
bool prefixes_show(const struct prefixes *prefixes, struct str text);

#endif
