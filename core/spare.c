#include "core/spare.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 64

struct block {
	void *p;
	size_t size;
};

static struct {
	pthread_mutex_t lock;
	atomic_size_t limit;
	size_t held, n;
	struct block v[BLOCKS_MAX]; /* by age, the oldest first */
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct block remove_at(size_t at)
{
	struct block block = spare.v[at];

	spare.n--;
	memmove(spare.v + at, spare.v + at + 1, (spare.n - at) * sizeof(*spare.v));
	spare.held -= block.size;
	return block;
}

/* For one block more, of `size`. */
static void make_room(size_t size, size_t limit)
{
	while (spare.n == BLOCKS_MAX || (spare.n > 0 && spare.held + size > limit))
		free(remove_at(0).p);
}

void spare_limit(size_t bytes)
{
	pthread_mutex_lock(&spare.lock);
	atomic_store_explicit(&spare.limit, bytes, memory_order_relaxed);
	make_room(0, bytes);
	pthread_mutex_unlock(&spare.lock);
}

void spare_free(void)
{
	pthread_mutex_lock(&spare.lock);
	make_room(0, 0);
	pthread_mutex_unlock(&spare.lock);
}

/* The place of the smallest block that fits; spare.n where none does. */
static size_t find_smallest_fit(size_t size)
{
	size_t found = spare.n;

	for (size_t i = 0; i < spare.n; i++) {
		size_t has = spare.v[i].size;

		if (has >= size && has / 2 <= size &&
		    (found == spare.n || has < spare.v[found].size))
			found = i;
	}
	return found;
}

void *spare_take(size_t *size)
{
	void *p = NULL;

	if (*size < SPARE_MIN || atomic_load_explicit(&spare.limit, memory_order_relaxed) == 0)
		return NULL;
	pthread_mutex_lock(&spare.lock);
	size_t at = find_smallest_fit(*size);
	if (at < spare.n) {
		struct block block = remove_at(at);

		p = block.p;
		*size = block.size;
	}
	pthread_mutex_unlock(&spare.lock);
	return p;
}

bool spare_keep(void *block, size_t size)
{
	size_t limit = atomic_load_explicit(&spare.limit, memory_order_relaxed);

	if (size < SPARE_MIN || size > limit)
		return false;
	pthread_mutex_lock(&spare.lock);
	limit = atomic_load_explicit(&spare.limit, memory_order_relaxed);
	bool is_kept = size <= limit;
	if (is_kept) {
		make_room(size, limit);
		spare.v[spare.n++] = (struct block){block, size};
		spare.held += size;
	}
	pthread_mutex_unlock(&spare.lock);
	return is_kept;
}
