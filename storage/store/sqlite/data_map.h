/*
 * data_map - the mapping of a data file that all connections of a store share; internal to storage/store/sqlite.
 *
 * SQLite would map a file once per connection, and RSS counts each of these mappings. This one covers the whole file, and address space for what it has yet
 * to grow by. What is written to the file shows in it at once.
 *
 * Reading past the end of the file through the mapping raises SIGBUS, which ends the process, so `seen` bounds each read. SQLite truncates the file only
 * through page_file, which lowers `seen` first. A page that the disk cannot read raises SIGBUS, too. So page_file reads each page by a system call first.
 */
#ifndef DYNALITH_STORAGE_SQLITE_DATA_MAP_H
#define DYNALITH_STORAGE_SQLITE_DATA_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct data_map {
	const unsigned char *bytes; /* NULL: none could be made; the file is then read by system calls */
	size_t n;                   /* of address space */
	int fd;                     /* of the caller, open as long as the mapping */
	_Atomic uint64_t seen;      /* bytes that the file has at least; written under the mutex */
	pthread_mutex_t mutex;
};

/* How many bytes of address space a mapping may take: `wanted`, but at most an eighth of what the process is limited to (RLIMIT_AS). */
size_t data_map_room(size_t wanted);

/* Maps the file, or less of it where address space is short. System calls then read the rest. */
void data_map_make(struct data_map *map, int fd);
void data_map_end(struct data_map *map);

/* `n` bytes at `at`, for any thread; NULL where the file or the mapping does not have them all. */
const unsigned char *data_map_at(struct data_map *map, uint64_t at, size_t n);

/* Around a truncation of the file to `size` bytes: nobody reads its length in between. The first call locks the mutex, the second unlocks it. */
void data_map_begin_cut(struct data_map *map, uint64_t size);
void data_map_end_cut(struct data_map *map);

#endif
