#include "protocol/faults/fault_count.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/arena.h"

#define ROOM_FIRST 64

struct slot {
	uint64_t key, n; /* n 0: free */
};

/* Open addressing; never more than half full. */
struct fault_counts {
	pthread_mutex_t mutex;
	struct slot *slots;
	size_t room, used;
	uint64_t others;
};

struct fault_counts *fault_counts_new(void)
{
	struct fault_counts *counts = arena_checked(calloc(1, sizeof(*counts)));

	pthread_mutex_init(&counts->mutex, NULL);
	counts->room = ROOM_FIRST;
	counts->slots = arena_checked(calloc(ROOM_FIRST, sizeof(*counts->slots)));
	return counts;
}

void fault_counts_free(struct fault_counts *counts)
{
	if (!counts)
		return;
	pthread_mutex_destroy(&counts->mutex);
	free(counts->slots);
	free(counts);
}

static struct slot *find(struct slot *slots, size_t room, uint64_t key)
{
	size_t at = (size_t)(key & (room - 1));

	while (slots[at].n > 0 && slots[at].key != key)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static void grow_counts(struct fault_counts *counts)
{
	size_t room = counts->room * 2;
	struct slot *slots = arena_checked(calloc(room, sizeof(*slots)));

	for (size_t i = 0; i < counts->room; i++) {
		if (counts->slots[i].n > 0)
			*find(slots, room, counts->slots[i].key) = counts->slots[i];
	}
	free(counts->slots);
	counts->slots = slots;
	counts->room = room;
}

/* The lock is held. */
static uint64_t next_count(struct fault_counts *counts, uint64_t key)
{
	struct slot *slot = find(counts->slots, counts->room, key);

	if (slot->n == 0) {
		if (counts->used == FAULT_KEYS_MAX)
			return ++counts->others;
		if (counts->used * 2 >= counts->room) {
			grow_counts(counts);
			slot = find(counts->slots, counts->room, key);
		}
		counts->used++;
		slot->key = key;
	}
	return ++slot->n;
}

uint64_t fault_counts_next(struct fault_counts *counts, uint64_t key)
{
	pthread_mutex_lock(&counts->mutex);
	uint64_t n = next_count(counts, key);
	pthread_mutex_unlock(&counts->mutex);
	return n;
}
