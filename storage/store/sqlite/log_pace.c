#include "storage/store/sqlite/log_pace.h"

#define PARTS 8       /* of the room: one brings the pause from nothing to its length, */
#define PACED_PARTS 3 /* and it begins with so many left */
#define FEW_PAGES 128 /* of fewer a round takes mostly its own time */

static uint64_t per_page(uint64_t ns, int pages)
{
	return ns / (uint64_t)(pages > FEW_PAGES ? pages : FEW_PAGES);
}

void log_pace_note(struct log_pace *pace, const struct log_pace_round *round)
{
	uint64_t ns =
		per_page(round->moving, round->moved) + per_page(round->syncing, round->synced);

	if (round->is_first || ns < pace->page_ns)
		pace->page_ns = ns;
}

uint64_t log_pace_pause(const struct log_pace *pace, int room, int allowed, int pages, int growth)
{
	int part = room / PARTS, beyond = pages - (allowed - PACED_PARTS * part);

	if (pace->page_ns == 0 || part == 0 || growth <= 0 || beyond <= 0 || pages > allowed)
		return 0;
	uint64_t most = (uint64_t)growth * pace->page_ns * LOG_PACE_SLOWER;
	return beyond < part ? most * (uint64_t)beyond / (uint64_t)part : most;
}
