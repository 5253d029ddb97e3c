#include "storage/store/sqlite/commit_group.h"

#include <stdlib.h>

static _Thread_local struct {
	const struct commit_group *group; /* NULL: none is open */
	bool is_pending;
	bool has_member;
	bool has_failed;  /* since it was opened */
	uint64_t number;  /* of what is pending, or was the last time */
	uint64_t seen;
	uint64_t losses;
	uint64_t lost[COMMIT_GROUP_LOSSES]; /* the numbers of the last ones */
} own;

void commit_group_free(struct commit_group *group)
{
	free(group->outcomes);
}

bool commit_group_open(struct commit_group *group)
{
	unsigned rest = atomic_load_explicit(&group->rest, memory_order_relaxed);

	if (own.group)
		return false;
	if (rest > 0) {
		atomic_store_explicit(&group->rest, rest - 1, memory_order_relaxed);
		return false;
	}
	own.group = group;
	own.has_failed = false;
	return true;
}

void commit_group_close(struct commit_group *group)
{
	if (own.group == group)
		own.group = NULL;
}

bool commit_group_takes(const struct commit_group *group)
{
	return own.group == group && !own.has_failed;
}

uint64_t commit_group_pending(const struct commit_group *group)
{
	return own.group == group && own.is_pending ? own.number : 0;
}

void commit_group_add(struct commit_group *group, store_outcome *outcome, void *context)
{
	if (group->n == group->capacity) {
		group->capacity = group->capacity ? 2 * group->capacity : 16;
		group->outcomes = arena_checked(realloc(group->outcomes, group->capacity * sizeof(*group->outcomes)));
	}
	group->outcomes[group->n].call = outcome;
	group->outcomes[group->n++].context = context;
	own.number += !own.is_pending;
	own.is_pending = true;
	own.seen = own.number;
}

void commit_group_begin_member(struct commit_group *group)
{
	(void)group;
	own.has_member = true;
	own.seen = own.number;
}

bool commit_group_has_member(const struct commit_group *group)
{
	return own.group == group && own.has_member;
}

bool commit_group_end_member(struct commit_group *group)
{
	bool had = commit_group_has_member(group);

	if (had)
		own.has_member = false;
	return had;
}

static void end(struct commit_group *group, enum code code)
{
	own.is_pending = own.has_member = false;
	for (size_t i = 0; i < group->n; i++)
		group->outcomes[i].call(group->outcomes[i].context, code);
	group->n = 0;
}

void commit_group_end(struct commit_group *group)
{
	if (commit_group_pending(group))
		end(group, OK);
}

void commit_group_lose(struct commit_group *group)
{
	if (!commit_group_pending(group))
		return;
	own.has_failed = true;
	own.lost[own.losses++ % COMMIT_GROUP_LOSSES] = own.number;
	atomic_store_explicit(&group->rest, COMMIT_GROUP_REST, memory_order_relaxed);
	end(group, ERR_CONFLICT);
}

uint64_t commit_group_seen(void)
{
	uint64_t seen = own.seen;

	own.seen = 0;
	return seen;
}

bool commit_group_is_lost(uint64_t number)
{
	bool is_full = own.losses >= COMMIT_GROUP_LOSSES;

	if (is_full && number < own.lost[own.losses % COMMIT_GROUP_LOSSES]) /* too long ago to be known */
		return true;
	for (size_t i = 0; i < COMMIT_GROUP_LOSSES && i < own.losses; i++) {
		if (own.lost[i] == number)
			return number > 0;
	}
	return false;
}
