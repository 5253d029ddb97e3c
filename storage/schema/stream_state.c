#include "storage/schema/stream_state.h"

#include <stdlib.h>

#include "core/arena.h"

struct stream_state *stream_state_new(void)
{
	struct stream_state *state = arena_checked(calloc(1, sizeof(*state)));

	atomic_init(&state->refs, 1);
	pthread_mutex_init(&state->lock, NULL);
	return state;
}

struct stream_state *stream_state_ref(struct stream_state *state)
{
	atomic_fetch_add(&state->refs, 1);
	return state;
}

void stream_state_unref(struct stream_state *state)
{
	if (!state || atomic_fetch_sub(&state->refs, 1) > 1)
		return;
	pthread_mutex_destroy(&state->lock);
	free(state->lanes);
	free(state);
}

/* Under the lock. NULL: nothing was kept of it. */
static struct stream_tail *tail_of(struct stream_state *state, unsigned lane)
{
	if (lane == 0)
		return &state->tail;
	return state->lanes ? &state->lanes[lane - 1] : NULL;
}

struct stream_tail stream_state_tail(struct stream_state *state, unsigned lane)
{
	pthread_mutex_lock(&state->lock);
	const struct stream_tail *known = tail_of(state, lane);
	struct stream_tail tail = known ? *known : (struct stream_tail){0};
	pthread_mutex_unlock(&state->lock);
	return tail;
}

void stream_state_forget(struct stream_state *state, unsigned lane)
{
	pthread_mutex_lock(&state->lock);
	struct stream_tail *known = tail_of(state, lane);
	if (known)
		*known = (struct stream_tail){0};
	pthread_mutex_unlock(&state->lock);
}

void stream_state_keep(struct stream_state *state, unsigned lane, const struct stream_tail *tail)
{
	pthread_mutex_lock(&state->lock);
	if (lane > 0 && !state->lanes)
		state->lanes = arena_checked(calloc(STREAM_LANES, sizeof(*state->lanes)));
	struct stream_tail *known = tail_of(state, lane);
	if (tail->next >= known->next)
		*known = *tail;
	pthread_mutex_unlock(&state->lock);
}
