/*
 * split_store - a decorator for backends whose values are limited: it keeps larger ones in pieces,
 * so that nothing above it has such a limit.
 *
 * The row itself has the first piece and the length of all. The others lie in a keyspace beside
 * that of the row, in the order of rows. A value that fits is kept as it is, behind one byte more.
 * Numbers (store_add) are kept as they are.
 *
 * For backends whose keyspaces are prefixes: the keyspaces of pieces are not created, and none of
 * the system's need be there.
 */
#ifndef DYNALITH_STORAGE_SPLIT_STORE_H
#define DYNALITH_STORAGE_SPLIT_STORE_H

#include "storage/store/store.h"

/* Wraps `inner`; closing the wrapper closes it too. A store without a limit of values is given back
 * as it is. */
struct store *split_store_new(struct store *inner);

#endif
