#include "storage/upkeep/history_sweep.h"

#include "storage/lag/history.h"
#include "storage/upkeep/lease.h"

#define LEASE "history"

static bool is_ours(void *context)
{
	return lease_is_ours(context, STR(LEASE));
}

enum code history_sweep(struct catalog *catalog, const struct times *times, bool is_turned,
			bool *more, struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct err own = err_in(scratch);
	struct str after = STR("");
	bool is_found = true;
	enum code code = OK;

	*more = false;
	while (code == OK && is_found) {
		bool has_more = false;
		int64_t now_ms;
		struct ns ns;

		code = history_find(catalog_store(catalog), scratch, &after, &ns, &is_found, &own);
		if (code != OK || !is_found || !times->tell(times->context, ns, &now_ms))
			continue;
		code = history_trim(catalog_store(catalog), scratch, ns, now_ms, is_turned, is_ours,
				    times->leases, &has_more, &own);
		*more = *more || has_more;
	}
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(scratch);
	return code == ERR_CONFLICT ? OK : code;
}
