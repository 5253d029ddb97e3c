#include "storage/upkeep/token_sweep.h"

#include "storage/upkeep/lease.h"
#include "storage/write/write.h"

#define LEASE "tokens"

static bool is_ours(void *context)
{
	return lease_is_ours(context, STR(LEASE));
}

enum code token_sweep(struct catalog *catalog, const struct times *times, bool *more,
		      struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct str after = STR("");
	bool is_found = true;
	enum code code = clocks_refresh(catalog_options(catalog)->clocks, err);

	*more = false;
	while (code == OK && is_found) {
		bool has_more = false;
		int64_t now_ms;
		struct ns ns;

		code = write_find_tokens(catalog_store(catalog), scratch, &after, &ns, &is_found,
					 err);
		if (code != OK || !is_found || !times->tell(times->context, ns, &now_ms))
			continue;
		code = write_expire_tokens(catalog_store(catalog), scratch, ns, now_ms, is_ours,
					   times->leases, &has_more, err);
		*more = *more || has_more;
	}
	arena_free(scratch);
	return code == ERR_CONFLICT ? OK : code;
}
