#include "tests/scale/resources.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/arena.h"
#include "tests/simulation/fiber.h"

struct turn {
	struct turn *next;
	bool is_given;
};

void resources_sleep(int64_t ns)
{
	const char here = 0;

	if (ns > 0)
		fiber_wait(&here, fiber_now_ns() + ns);
}

void cores_take(struct cores *cores)
{
	if (cores->busy < cores->n) {
		cores->busy++;
		return;
	}
	struct turn *turn = arena_checked(calloc(1, sizeof(*turn)));
	if (cores->last)
		cores->last->next = turn;
	else
		cores->first = turn;
	cores->last = turn;
	while (!turn->is_given)
		fiber_wait(turn, FIBER_NEVER);
	free(turn);
}

void cores_give(struct cores *cores)
{
	struct turn *turn = cores->first;

	if (!turn) {
		cores->busy--;
		return;
	}
	cores->first = turn->next;
	cores->last = cores->first ? cores->last : NULL;
	turn->is_given = true;
	fiber_wake(turn);
}

void cores_work(struct cores *cores, int64_t ns)
{
	cores->used_ns += ns;
	resources_sleep(ns);
}

void disk_flush(struct disk *disk)
{
	int64_t now_ns = fiber_now_ns(), end_ns;

	if (disk->flush_ns == 0)
		return;
	if (disk->next_end_ns && now_ns >= disk->end_ns) {
		disk->end_ns = disk->next_end_ns;
		disk->next_end_ns = 0;
	}
	if (now_ns >= disk->end_ns) {
		end_ns = disk->end_ns = now_ns + disk->flush_ns;
		disk->flushes++;
	} else {
		disk->flushes += disk->next_end_ns == 0;
		end_ns = disk->next_end_ns = disk->end_ns + disk->flush_ns;
	}
	resources_sleep(end_ns - now_ns);
}
