/* times_fixture - one time for all namespaces, for the tests: TIMES_AT(ms) is a struct times that
 * lives as long as the block. */
#ifndef DYNALITH_TEST_TIMES_FIXTURE_H
#define DYNALITH_TEST_TIMES_FIXTURE_H

#include "storage/catalog/times.h"

static inline bool times_tell_one(void *context, struct ns ns, int64_t *now_ms)
{
	(void)ns;
	*now_ms = *(int64_t *)context;
	return true;
}

#define TIMES_AT(ms) (&(struct times){.tell = times_tell_one, .context = &(int64_t){ms}})

#endif
