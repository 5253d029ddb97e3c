#include "storage/schema/tally.h"

#include <stdlib.h>
#include <string.h>

struct tally *tally_new(void)
{
	struct tally *tally = arena_checked(calloc(1, sizeof(*tally)));

	atomic_init(&tally->refs, 1);
	pthread_mutex_init(&tally->mutex, NULL);
	return tally;
}

struct tally *tally_ref(struct tally *tally)
{
	atomic_fetch_add(&tally->refs, 1);
	return tally;
}

void tally_unref(struct tally *tally)
{
	if (!tally || atomic_fetch_sub(&tally->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&tally->mutex);
	free(tally->slots);
	free(tally);
}

void tally_replace(struct tally **to, struct tally *of)
{
	tally_ref(of);
	tally_unref(*to);
	*to = of;
}

/* The mutex is held, here and below. `hint`: where the slot probably is. */
static struct tally_slot *find_tally_slot(struct tally *tally, uint32_t slot, size_t hint)
{
	if (hint < tally->n && tally->slots[hint].slot == slot)
		return &tally->slots[hint];
	for (size_t i = 0; i < tally->n; i++) {
		if (tally->slots[i].slot == slot)
			return &tally->slots[i];
	}
	if (tally->n == tally->capacity) {
		tally->capacity = tally->capacity ? tally->capacity * 2 : 4;
		tally->slots = arena_checked(
			realloc(tally->slots, tally->capacity * sizeof(*tally->slots)));
	}
	tally->slots[tally->n] = (struct tally_slot){.slot = slot};
	return &tally->slots[tally->n++];
}

static void forget(struct tally *tally)
{
	tally->n = 0;
	tally->is_marked = tally->is_doubtful = tally->has_known = false;
}

/* Epochs only rise: the commit of a process with an older one is refused. */
static bool enter(struct tally *tally, uint64_t epoch)
{
	if (epoch > tally->epoch) {
		forget(tally);
		tally->epoch = epoch;
	}
	return epoch == tally->epoch;
}

static void add(struct tally *tally, const struct tally_slot *changes, size_t n, int sign)
{
	for (size_t i = 0; i < n; i++) {
		struct size_change *change = &find_tally_slot(tally, changes[i].slot, i)->change;

		change->items += sign * changes[i].change.items;
		change->bytes += sign * changes[i].change.bytes;
	}
}

unsigned tally_join(struct tally *tally, uint64_t epoch, const struct tally_slot *changes, size_t n)
{
	unsigned needs = 0;

	pthread_mutex_lock(&tally->mutex);
	tally->in_flight++;
	if (enter(tally, epoch)) {
		add(tally, changes, n, 1);
		needs = (tally->is_marked ? 0u : TALLY_NEEDS_MARK) |
			(tally->is_listed ? 0u : TALLY_NEEDS_LIST);
		tally->is_listed = true;
	}
	pthread_mutex_unlock(&tally->mutex);
	return needs;
}

/* Whether a commit with this code may have been done: a disk that fails leaves that open too. */
static bool is_doubt(enum code code)
{
	return code == ERR_STORE_UNKNOWN || code == ERR_INTERNAL;
}

void tally_leave(struct tally *tally, uint64_t epoch, const struct tally_slot *changes, size_t n,
		 bool was_marked, enum code code)
{
	pthread_mutex_lock(&tally->mutex);
	tally->in_flight--;
	if (tally->epoch == epoch && code == OK)
		tally->is_marked = tally->is_marked || was_marked;
	else if (tally->epoch == epoch)
		add(tally, changes, n, -1);
	if (tally->epoch == epoch && is_doubt(code))
		tally->is_doubtful = true;
	pthread_mutex_unlock(&tally->mutex);
}

struct size_change tally_pending(struct tally *tally, uint64_t epoch, uint32_t slot)
{
	struct size_change pending = {0, 0};

	pthread_mutex_lock(&tally->mutex);
	for (size_t i = 0; i < tally->n && tally->epoch == epoch; i++) {
		if (tally->slots[i].slot == slot)
			pending = tally->slots[i].change;
	}
	pthread_mutex_unlock(&tally->mutex);
	return pending;
}

bool tally_known_bytes(struct tally *tally, uint64_t epoch, const uint32_t *slots, size_t n,
		       long long *bytes)
{
	pthread_mutex_lock(&tally->mutex);
	bool is_known = enter(tally, epoch) && tally->has_known;
	*bytes = tally->known_bytes;
	for (size_t i = 0; i < n && is_known; i++)
		*bytes += find_tally_slot(tally, slots[i], i)->change.bytes;
	pthread_mutex_unlock(&tally->mutex);
	return is_known;
}

void tally_know(struct tally *tally, uint64_t epoch, long long bytes)
{
	pthread_mutex_lock(&tally->mutex);
	if (enter(tally, epoch)) {
		tally->has_known = true;
		tally->known_bytes = bytes;
	}
	pthread_mutex_unlock(&tally->mutex);
}

void tally_take(struct tally *tally, struct arena *arena, struct tally_batch *batch)
{
	pthread_mutex_lock(&tally->mutex);
	*batch = (struct tally_batch){
		.epoch = tally->epoch,
		.n = tally->n,
		.slots = ARENA_ARRAY(arena, struct tally_slot, tally->n),
		.unmarks = tally->in_flight == 0,
		.is_doubtful = tally->is_doubtful,
	};
	if (tally->n)
		memcpy(batch->slots, tally->slots, tally->n * sizeof(*batch->slots));
	if (batch->unmarks) /* a process that joins from now on puts the row again */
		tally->is_marked = false;
	pthread_mutex_unlock(&tally->mutex);
}

bool tally_flushed(struct tally *tally, const struct tally_batch *batch, enum code code)
{
	bool is_clean = true;

	pthread_mutex_lock(&tally->mutex);
	bool is_same = tally->epoch == batch->epoch;
	for (size_t i = 0; i < batch->n && is_same && code == OK; i++) {
		struct size_change *left = &find_tally_slot(tally, batch->slots[i].slot, i)->change;

		left->items -= batch->slots[i].change.items;
		left->bytes -= batch->slots[i].change.bytes;
	}
	if (is_same && code == OK)
		tally->has_known = false; /* others may have flushed too */
	if (is_same && code == OK && batch->is_doubtful)
		tally->is_doubtful = false;
	if (is_same && is_doubt(code))
		tally->is_doubtful = true;
	for (size_t i = 0; i < tally->n; i++)
		is_clean = is_clean && tally->slots[i].change.items == 0 &&
			   tally->slots[i].change.bytes == 0;
	is_clean = is_clean && code == OK && tally->in_flight == 0 && !tally->is_marked &&
		   !tally->is_doubtful;
	if (is_clean)
		tally->is_listed = false;
	pthread_mutex_unlock(&tally->mutex);
	return is_clean;
}

void tally_drop(struct tally *tally, uint64_t epoch)
{
	pthread_mutex_lock(&tally->mutex);
	if (tally->epoch == epoch)
		forget(tally);
	pthread_mutex_unlock(&tally->mutex);
}
