/*
 * spare - keeps large freed blocks of malloc for the next allocations of that size.
 *
 * Some C libraries, such as the one that zig links, return each large block to the system at once.
 * The kernel then clears new pages for the next one, which took a third of the time of a Scan of 1
 * MB. glibc has a setting for it (platform_keep_heap). Without a limit nothing is kept.
 * Thread-safe.
 */
#ifndef DYNALITH_CORE_SPARE_H
#define DYNALITH_CORE_SPARE_H

#include <stdbool.h>
#include <stddef.h>

#define SPARE_MIN ((size_t)64 * 1024) /* bytes; smaller blocks are malloc's own business */

/* How many bytes are kept at most, at first 0. */
void spare_limit(size_t bytes);

/* Frees all that is kept. */
void spare_free(void);

/* A kept block of *size to twice as many bytes, or NULL. *size is then what it has. */
void *spare_take(size_t *size);

/* Takes over a block of malloc of `size` bytes, and frees the oldest ones where it needs room.
 * False where it is not kept: the caller frees it. */
bool spare_keep(void *block, size_t size);

#endif
