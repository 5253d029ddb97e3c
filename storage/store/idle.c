#include "storage/store/idle.h"

#include <stdatomic.h>
#include <stddef.h>

static _Thread_local unsigned thread_number; /* from 1 */

static unsigned own_place(void)
{
	static atomic_uint threads;

	if (!thread_number)
		thread_number = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
	return thread_number % IDLE_PLACES;
}

static void *take(struct idle *idle, unsigned place)
{
	/* an empty place is left alone: writing it would take the line from its thread */
	return atomic_load(&idle->places[place].kept)
		       ? atomic_exchange(&idle->places[place].kept, NULL)
		       : NULL;
}

void *idle_take(struct idle *idle)
{
	return take(idle, own_place());
}

bool idle_keep(struct idle *idle, void *object)
{
	void *none = NULL;

	return atomic_compare_exchange_strong(&idle->places[own_place()].kept, &none, object);
}

void *idle_take_any(struct idle *idle)
{
	unsigned own = own_place();
	void *object = NULL;

	for (unsigned i = 0; i < IDLE_PLACES && !object; i++)
		object = take(idle, (own + i) % IDLE_PLACES);
	return object;
}
