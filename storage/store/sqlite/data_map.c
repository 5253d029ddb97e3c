#include "storage/store/sqlite/data_map.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define ADDRESS_MOST ((size_t)1 << (sizeof(void *) > 4 ? 40 : 30)) /* bytes: address space, which costs nothing until it is touched */
#define ADDRESS_LEAST ((size_t)16 << 20)                           /* less is not worth it */

size_t data_map_room(size_t wanted)
{
	struct rlimit limit;
	bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;

	return is_limited && limit.rlim_cur / 8 < wanted ? (size_t)(limit.rlim_cur / 8) : wanted;
}

void data_map_make(struct data_map *map, int fd)
{
	size_t n = data_map_room(ADDRESS_MOST);
	void *bytes = MAP_FAILED;

	for (; bytes == MAP_FAILED && n >= ADDRESS_LEAST; n /= 2) {
		bytes = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
		map->n = n;
	}
	map->bytes = bytes == MAP_FAILED ? NULL : bytes;
	map->n = bytes == MAP_FAILED ? 0 : map->n;
	map->fd = fd;
	atomic_store(&map->seen, 0);
	if (map->bytes)
		pthread_mutex_init(&map->mutex, NULL);
}

void data_map_end(struct data_map *map)
{
	if (!map->bytes)
		return;
	munmap((void *)(uintptr_t)map->bytes, map->n);
	pthread_mutex_destroy(&map->mutex);
}

/* Whether the file now has `end` bytes. Reads its length again. */
static bool has_grown(struct data_map *map, uint64_t end)
{
	struct stat status;

	pthread_mutex_lock(&map->mutex);
	if (fstat(map->fd, &status) == 0)
		atomic_store(&map->seen, (uint64_t)status.st_size);
	pthread_mutex_unlock(&map->mutex);
	return atomic_load(&map->seen) >= end;
}

const unsigned char *data_map_at(struct data_map *map, uint64_t at, size_t n)
{
	uint64_t end = at + n;

	if (end > map->n || (end > atomic_load_explicit(&map->seen, memory_order_relaxed) && !has_grown(map, end)))
		return NULL;
	return map->bytes + at;
}

void data_map_begin_cut(struct data_map *map, uint64_t size)
{
	pthread_mutex_lock(&map->mutex);
	if (atomic_load(&map->seen) > size)
		atomic_store(&map->seen, size);
}

void data_map_end_cut(struct data_map *map)
{
	pthread_mutex_unlock(&map->mutex);
}
