/*
 * times - what time it is for a table. Each namespace may have a clock of its own, so work that
 * goes through all tables asks for each of them. It also says by whose leases that work is shared
 * with other processes (storage/upkeep/lease.h).
 */
#ifndef DYNALITH_STORAGE_TIMES_H
#define DYNALITH_STORAGE_TIMES_H

#include "storage/schema/schema.h"

struct leases;

struct times {
	/* Sets *now_ms to the Unix time in milliseconds of the namespace. False: the work passes
	 * over the namespace's tables. */
	bool (*tell)(void *context, struct ns ns, int64_t *now_ms);
	void *context;
	struct leases
		*leases; /* NULL: this process does the work, even if another one does it too */
};

static inline bool times_tell(const struct times *times, const struct table *table, int64_t *now_ms)
{
	return times->tell(times->context,
			   (struct ns){table->identity.account, table->identity.region}, now_ms);
}

#endif
