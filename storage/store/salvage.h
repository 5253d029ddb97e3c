/*
 * salvage - the rows that a damaged data file still has, sorted by how far their bytes can be
 * trusted.
 *
 * A backend reads its file beneath its own engine, which a damaged file may keep from opening it,
 * and changes nothing.
 */
#ifndef DYNALITH_STORAGE_SALVAGE_H
#define DYNALITH_STORAGE_SALVAGE_H

#include "storage/store/store.h"

enum salvage_state {
	SALVAGE_SOUND,   /* its bytes are what was written */
	SALVAGE_MENDED,  /* the checksum showed which byte of its page was wrong: right unless there
			    were more of them */
	SALVAGE_DAMAGED, /* its page fails its checksum, or it is not certain that the row was not
			    deleted */
};

struct salvage_row {
	struct keyspace keyspace;
	bool is_stray;          /* which keyspace it belongs to is not known */
	enum salvage_state state;
	struct str key, value;  /* absent: unreadable */
	const char *reason;     /* why it is not sound; NULL */
};

/* Valid during the call only. */
typedef void salvage_visit(void *context, const struct salvage_row *row);

struct salvage;

struct salvage_ops {
	void (*close)(struct salvage *salvage);
	/* The keyspaces that the file has, in no order. */
	const struct keyspace *(*keyspaces)(const struct salvage *salvage, size_t *n);
	/* Visits the rows of a keyspace, each at most once, also those of which only the key is
	 * left. */
	void (*rows)(struct salvage *salvage, struct keyspace keyspace, salvage_visit *visit,
		     void *context);
	/* Visits the rows of no known keyspace. */
	void (*strays)(struct salvage *salvage, salvage_visit *visit, void *context);
};

/* The first member of every backend's. */
struct salvage {
	const struct salvage_ops *ops;
};

#endif
