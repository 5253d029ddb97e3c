#include "storage/catalog/catalog.h"

/* Whether the index is built or dropped under `next` as it was not under `current`. */
static bool is_started(const struct table *current, const struct index *index)
{
	const struct index *old = table_index_numbered(current, index->number);

	return index->status == STATUS_DELETING ? !old || old->status != STATUS_DELETING
						: index->is_backfilling && !old;
}

void catalog_schedule(const struct catalog *catalog, const struct table *current,
		      struct table *next, int64_t now_ms)
{
	int64_t transient = catalog_options(catalog)->transient_status_ms;
	int64_t settles_ms =
		next->state.status == STATUS_UPDATING && current->state.status != STATUS_UPDATING
			? now_ms + transient
			: 0;

	for (size_t i = 0; i < table_index_total(next); i++) {
		struct index *index = table_index_at(next, i);

		if (is_started(current, index)) {
			index->settles_ms = transient > 0 ? now_ms + transient : 0;
			/* of a creation the table takes part in the first half only */
			settles_ms = now_ms + (index->is_backfilling ? transient / 2 : transient);
		} else if (index->status == STATUS_UPDATING && settles_ms == 0) {
			settles_ms = now_ms + transient;
		}
		if (index->status == STATUS_UPDATING && transient == 0)
			index->status = STATUS_ACTIVE;
	}
	if (next->group.is_leaving) /* UPDATING until it has left its group */
		return;
	if (transient == 0 && next->state.status == STATUS_UPDATING)
		next->state.status = STATUS_ACTIVE;
	if (transient == 0)
		next->state.settles_ms = 0;
	else if (settles_ms > next->state.settles_ms)
		next->state.settles_ms = settles_ms;
}
