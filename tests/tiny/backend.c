/* The backends of the server, and tiny: (tiny_store.h), for a binary of the tests:
 * build/FLAVOUR/tests/tiny/dynalith. */
#include "server/start/backend.h"
#include "tests/tiny/tiny_store.h"

static enum code open_tiny(const struct backend_options *options, const char *rest,
			   struct store **store, struct err *err)
{
	(void)options, (void)rest, (void)err;
	*store = tiny_store_new();
	return OK;
}

#define BACKEND_OF_TESTS {"tiny:", "tiny:", NULL, true, false, open_tiny},
#include "server/start/backend.c"
