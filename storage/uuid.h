/* uuid - random names: version 4 UUIDs. */
#ifndef DYNALITH_STORAGE_UUID_H
#define DYNALITH_STORAGE_UUID_H

#include "core/arena.h"
#include "core/str.h"

/* 36 bytes in small letters, in the arena. */
struct str uuid_new(struct arena *arena);

#endif
