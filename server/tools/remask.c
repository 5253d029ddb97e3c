#include "server/tools/remask.h"

#include <stdlib.h>

#include "server/mask/proof.h"
#include "server/pull/carry.h"
#include "storage/state/snapshot_file.h"

#define NAME STR("mask")

static const struct ns space = {STR_INIT("000000000000"), STR_INIT("us-east-1")};

struct remask {
	struct arena *arena, *cursors;
	struct faker *faker;
	struct mask *mask;
	struct proof *proof;
	struct rehearsal *from, *to;
	struct str cursor; /* of the next masked block; absent: the first one */
	bool is_ended;
};

static enum code remask_open(struct remask *remask, const struct mask_option *option,
			     struct err *err)
{
	enum code code = mask_option_open(option, remask->faker, proof_saw, remask->proof,
					  &remask->mask, err);

	if (code != OK) {
		remask->mask = NULL;
		return code;
	}
	code = local_rehearsal_new(&remask->from, err);
	if (code != OK) {
		remask->from = NULL;
		return code;
	}
	code = local_rehearsal_new(&remask->to, err);
	if (code != OK)
		remask->to = NULL;
	return code;
}

enum code remask_new(const struct mask_option *option, struct remask **out, struct err *err)
{
	struct remask *remask = arena_checked(calloc(1, sizeof(*remask)));

	remask->arena = arena_new(0);
	remask->cursors = arena_new(0);
	remask->faker = faker_new(mask_option_secret(remask->arena));
	remask->proof = proof_new();
	remask->cursor = STR_ABSENT;
	enum code code = remask_open(remask, option, err);
	if (code != OK)
		remask_free(remask);
	return RESULT(code, out, remask);
}

void remask_free(struct remask *remask)
{
	if (!remask)
		return;
	if (remask->from)
		local_rehearsal_free(remask->from);
	if (remask->to)
		local_rehearsal_free(remask->to);
	proof_free(remask->proof);
	mask_free(remask->mask);
	faker_free(remask->faker);
	arena_free(remask->cursors);
	arena_free(remask->arena);
	free(remask);
}

static struct catalog *catalog_of(struct rehearsal *rehearsal)
{
	return local_rehearsal_service(rehearsal)->catalog;
}

enum code remask_take(struct remask *remask, struct str block, bool *is_done, struct err *err)
{
	return snapshot_file_write(catalog_of(remask->from), space, NAME, block, is_done, err);
}

static struct seed_target remask_target(struct rehearsal *rehearsal)
{
	struct seed_target target = local_rehearsal_target(rehearsal);

	target.region = space.region;
	target.account = space.account;
	return target;
}

/* The snapshot that was taken in, with when it was made and its clock. */
static enum code remask_find(struct remask *remask, struct snapshot *snapshot, struct err *err)
{
	struct snapshots all = {0};
	enum code code = snapshot_list(catalog_of(remask->from), space, err->arena, &all, err);

	for (size_t i = 0; code == OK && i < all.n; i++)
		*snapshot = all.v[i];
	return code;
}

static enum code remask_carry(struct remask *remask, struct err *err)
{
	const struct carry carry = {remask->mask, remask_target(remask->from),
				    remask_target(remask->to)};
	struct carry_counts counts = {0};
	enum code code = carry_check(&carry, err);

	if (code != OK)
		return code;
	return carry_write(&carry, &counts, err);
}

enum code remask_run(struct remask *remask, struct err *err)
{
	struct snapshot snapshot = {0};
	struct str extra;
	enum code code = remask_find(remask, &snapshot, err);

	if (code != OK)
		return code;
	code = snapshot_restore(catalog_of(remask->from), space, NAME, &extra, err);
	if (code != OK)
		return code;
	code = remask_carry(remask, err);
	if (code != OK)
		return code;
	return snapshot_take(catalog_of(remask->to), space, &snapshot, err);
}

enum code remask_next(struct remask *remask, struct str *block, struct err *err)
{
	struct str next;

	if (remask->is_ended)
		return RESULT(OK, block, STR_ABSENT);
	enum code code = snapshot_file_read(catalog_of(remask->to), space, NAME, remask->cursor,
					    block, &next, err);
	if (code != OK)
		return code;
	next = str_is_set(next) ? str_copy(err->arena, next) : next;
	arena_reset(remask->cursors);
	remask->is_ended = !str_is_set(next);
	remask->cursor = remask->is_ended ? STR_ABSENT : str_copy(remask->cursors, next);
	return OK;
}

enum code remask_prove(struct remask *remask, const char *path, struct err *err)
{
	enum code code = proof_file(remask->proof, path, err);

	if (code == OK)
		mask_option_warn_unused(remask->mask);
	return code;
}
