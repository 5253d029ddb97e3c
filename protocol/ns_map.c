#include "protocol/ns_map.h"

#include <stdlib.h>

#include "storage/schema/ns_name.h"

struct ns_entry {
	struct ns_name ns; /* first */
	void *value;
};

void ns_map_init(struct ns_map *map, bool is_shared, void *(*ref)(void *value),
		 void (*unref)(void *value))
{
	*map = (struct ns_map){.is_shared = is_shared, .ref = ref, .unref = unref};
	pthread_rwlock_init(&map->lock, NULL);
}

void ns_map_free(struct ns_map *map)
{
	ns_map_clear(map, NULL);
	pthread_rwlock_destroy(&map->lock);
	free(map->entries);
}

bool ns_map_takes(const struct ns_map *map, struct ns ns)
{
	return map->is_shared || (ns.account.n == NS_ACCOUNT_SIZE && ns.region.n > 0 &&
				  ns.region.n <= NS_REGION_MAX && !str_has_zero(ns.region));
}

/* All namespaces are one: that of no name. */
static struct ns own_namespace(const struct ns_map *map, struct ns ns)
{
	return map->is_shared ? (struct ns){STR(""), STR("")} : ns;
}

/* Where the namespace's value is or would be. The lock is held. */
static size_t position(const struct ns_map *map, struct ns ns, bool *is_there)
{
	return ns_name_search(map->entries, ns_map_count(map), sizeof(*map->entries), ns, is_there);
}

void *ns_map_find(struct ns_map *map, struct ns ns)
{
	bool is_there;

	pthread_rwlock_rdlock(&map->lock);
	size_t at = position(map, own_namespace(map, ns), &is_there);
	void *value = is_there ? map->ref(map->entries[at].value) : NULL;
	pthread_rwlock_unlock(&map->lock);
	return value;
}

/* The lock is held for writing. */
static bool put_locked(struct ns_map *map, struct ns ns, void *value, size_t most)
{
	size_t n = ns_map_count(map);
	bool is_there;
	size_t at = position(map, ns, &is_there);

	if (is_there) {
		map->unref(map->entries[at].value);
		map->entries[at].value = value;
		return true;
	}
	if (n >= most)
		return false;
	map->entries = arena_checked(realloc(map->entries, (n + 1) * sizeof(*map->entries)));
	memmove(map->entries + at + 1, map->entries + at, (n - at) * sizeof(*map->entries));
	map->entries[at] = (struct ns_entry){ns_name_of(ns), value};
	atomic_store(&map->n, n + 1);
	return true;
}

bool ns_map_put(struct ns_map *map, struct ns ns, void *value, size_t most)
{
	pthread_rwlock_wrlock(&map->lock);
	bool is_put = put_locked(map, own_namespace(map, ns), value, most);
	pthread_rwlock_unlock(&map->lock);
	return is_put;
}

/* The lock is held for writing. */
static void drop(struct ns_map *map, size_t at)
{
	size_t n = ns_map_count(map);

	map->unref(map->entries[at].value);
	memmove(map->entries + at, map->entries + at + 1, (n - at - 1) * sizeof(*map->entries));
	atomic_store(&map->n, n - 1);
}

void ns_map_clear(struct ns_map *map, const struct ns *ns)
{
	bool is_there;

	pthread_rwlock_wrlock(&map->lock);
	if (ns) {
		size_t at = position(map, own_namespace(map, *ns), &is_there);

		if (is_there)
			drop(map, at);
	}
	while (!ns && ns_map_count(map) > 0)
		drop(map, ns_map_count(map) - 1);
	pthread_rwlock_unlock(&map->lock);
}
