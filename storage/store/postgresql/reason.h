/*
 * reason - why a database cannot be used, by the database's code, or by the words of libpq where it
 * gave none.
 *
 * It is for health checks and metrics, which anybody may see: unlike the words, it names no host
 * and no user.
 */
#ifndef DYNALITH_STORAGE_REASON_H
#define DYNALITH_STORAGE_REASON_H

#include "storage/store/store.h"

/* `state`: SQLSTATE, or empty. */
enum store_reason reason_of(const char *state, const char *words);

#endif
