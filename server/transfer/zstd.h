/*
 * zstd - a zstd stream that comes in pieces. The only door to libzstd, which is loaded when the
 * first one is read.
 *
 * A server that reads none does not load it, and starts where it is not installed. Built without
 * the library's header, none can be read.
 */
#ifndef DYNALITH_SERVER_ZSTD_H
#define DYNALITH_SERVER_ZSTD_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

struct zstd_reader;

/* NULL and *problem, in the arena, where the library is not there. */
struct zstd_reader *zstd_reader_new(struct arena *arena, struct str *problem);
void zstd_reader_free(struct zstd_reader *reader);
/* As gzip_reader_read; frames behind the first are joined. */
bool zstd_reader_read(struct zstd_reader *reader, struct str *in, char *to, size_t room, size_t *n);
bool zstd_reader_is_whole(const struct zstd_reader *reader);

#endif
