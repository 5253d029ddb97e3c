/*
 * ns_map - what a process keeps for namespaces: a value for each that has one, by account and
 * region.
 *
 * The values are counted references: the map holds one, and each that looks a value up gets its
 * own. Thread-safe.
 */
#ifndef DYNALITH_PROTOCOL_NS_MAP_H
#define DYNALITH_PROTOCOL_NS_MAP_H

#include <pthread.h>
#include <stdatomic.h>

#include "storage/schema/schema.h"

struct ns_entry;

struct ns_map {
	bool is_shared; /* all namespaces are one */
	void *(*ref)(void *value);
	void (*unref)(void *value);
	atomic_size_t n;
	pthread_rwlock_t lock; /* of `entries` */
	struct ns_entry *entries; /* by account and region */
};

void ns_map_init(struct ns_map *map, bool is_shared, void *(*ref)(void *value),
		 void (*unref)(void *value));
void ns_map_free(struct ns_map *map);

/* Whether it can have a value: an account of 12 digits and a region of 1 to 63 characters; any
 * where all are one. */
bool ns_map_takes(const struct ns_map *map, struct ns ns);

/* How many namespaces have a value: one load. */
static inline size_t ns_map_count(const struct ns_map *map)
{
	return atomic_load_explicit(&map->n, memory_order_relaxed);
}

/* The namespace's value with a reference, or NULL. */
void *ns_map_find(struct ns_map *map, struct ns ns);

/* Sets the namespace's value and takes the reference over; false where `most` others have one, and
 * then it does not. */
bool ns_map_put(struct ns_map *map, struct ns ns, void *value, size_t most);

/* The namespace has none any more; `ns` NULL: no namespace has. */
void ns_map_clear(struct ns_map *map, const struct ns *ns);

#endif
