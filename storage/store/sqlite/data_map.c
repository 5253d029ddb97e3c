#include "storage/store/sqlite/data_map.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ADDRESS_BITS_MOST (sizeof(void *) > 4 ? 40 : 30) /* 1 TB: address space, which costs nothing until it is touched */
#define ADDRESS_BITS_LEAST 26                            /* 64 MB: less is not worth it */

void data_map_make(struct data_map *map, int fd)
{
	void *bytes = MAP_FAILED;
	unsigned bits = ADDRESS_BITS_MOST + 1;

	while (bytes == MAP_FAILED && bits > ADDRESS_BITS_LEAST)
		bytes = mmap(NULL, (size_t)1 << --bits, PROT_READ, MAP_SHARED, fd, 0);
	map->bytes = bytes == MAP_FAILED ? NULL : bytes;
	map->n = bytes == MAP_FAILED ? 0 : (size_t)1 << bits;
	map->fd = fd;
	atomic_store(&map->seen, 0);
}

void data_map_end(struct data_map *map)
{
	if (map->bytes)
		munmap((void *)(uintptr_t)map->bytes, map->n);
	map->bytes = NULL;
	map->n = 0;
}

/* Whether the file has grown to so many bytes since it was looked at. */
static bool has_grown(struct data_map *map, uint64_t end)
{
	uint64_t seen = atomic_load(&map->seen);
	struct stat status;

	if (fstat(map->fd, &status) != 0 || (uint64_t)status.st_size < end)
		return false;
	/* who shortens it meanwhile has the last word */
	return atomic_compare_exchange_strong(&map->seen, &seen, (uint64_t)status.st_size) || seen >= end;
}

const unsigned char *data_map_at(struct data_map *map, uint64_t at, size_t n)
{
	uint64_t end = at + n;

	if (end > map->n || (end > atomic_load_explicit(&map->seen, memory_order_relaxed) && !has_grown(map, end)))
		return NULL;
	return map->bytes + at;
}

void data_map_shorten(struct data_map *map, uint64_t size)
{
	uint64_t seen = atomic_load(&map->seen);

	while (seen > size && !atomic_compare_exchange_weak(&map->seen, &seen, size))
		continue;
}
