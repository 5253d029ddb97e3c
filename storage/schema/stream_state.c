#include "storage/schema/stream_state.h"

#include <stdlib.h>

#include "core/arena.h"

struct stream_state *stream_state_new(void)
{
	struct stream_state *state = arena_checked(calloc(1, sizeof(*state)));

	atomic_init(&state->refs, 1);
	return state;
}

struct stream_state *stream_state_ref(struct stream_state *state)
{
	atomic_fetch_add(&state->refs, 1);
	return state;
}

void stream_state_unref(struct stream_state *state)
{
	if (state && atomic_fetch_sub(&state->refs, 1) == 1)
		free(state);
}
