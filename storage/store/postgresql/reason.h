/*
 * reason - why a database cannot be used, by the words of libpq or of the database. It is for health checks and metrics, which anybody may see: unlike the
 * words, it names no host and no user.
 */
#ifndef DYNALITH_STORAGE_REASON_H
#define DYNALITH_STORAGE_REASON_H

#include "storage/store/store.h"

enum store_reason reason_of(const char *words);

#endif
