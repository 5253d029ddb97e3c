/*
 * outline - the shape of an access as text without values: the same for all requests that differ in
 * values only.
 *
 * One walk serves both uses: it adds to a hash, or to texts. So two accesses have the same hash
 * where they have the same texts, in every process.
 */
#ifndef DYNALITH_PROTOCOL_OUTLINE_H
#define DYNALITH_PROTOCOL_OUTLINE_H

#include "core/buf.h"
#include "protocol/insight/access.h"

enum outline_part {
	OUTLINE_KIND,       /* "Query", "PutItem" */
	OUTLINE_TABLE,
	OUTLINE_INDEX,
	OUTLINE_KEY,        /* PK = "CUSTOMER#..." and begins_with(SK, "ORDER#...") */
	OUTLINE_FILTER,     /* status = ? */
	OUTLINE_PROJECTION, /* name, total; COUNT */
	OUTLINE_UPDATE,     /* SET status, total REMOVE draft */
	OUTLINE_CONDITION,  /* attribute_not_exists(PK) */
	OUTLINE_HOW,        /* consistent, descending */
	OUTLINE_PARTS
};

/* A marked text has these in place of quotes: what could be a prefix, and whether it is the whole
 * value. */
#define OUTLINE_PREFIX '\1'
#define OUTLINE_WHOLE '\2'
#define OUTLINE_MORE '\3'

struct outline {
	uint64_t hash;
	struct buf *texts; /* OUTLINE_PARTS of them, or NULL: only the hash is wanted */
	enum outline_part part;
	bool is_marked;    /* texts, for settle.h */
};

void outline_access(struct outline *outline, const struct access *access);

/*
 * A number for the same, within this process, for a tenth of the instructions: accesses of the same
 * number have the same outline. Those of one outline may have several. `key` goes into it.
 */
uint64_t outline_key(uint64_t key, const struct access *access);

#endif
