/*
 * backend - where the data is kept: one row per kind of store, chosen by the scheme of a URL
 * (--store).
 *
 * - sqlite:FILE: a data file, created where it is missing; a folder means dynalith.db in it
 * - memory: or memory:FILE: in memory, gone when the server ends. It begins as a copy of the data
 *   file, which stays as it is.
 * - postgresql://USER@HOST/DATABASE, as libpq takes it; nothing: as its environment says (PGHOST,
 *   PGSERVICE, ...)
 *
 * --db-path and --in-memory are short for the first two.
 */
#ifndef DYNALITH_SERVER_BACKEND_H
#define DYNALITH_SERVER_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/store.h"

struct backend_options {
	const char *url;            /* one that backend_check accepts */
	enum durability durability;
	unsigned readers;           /* threads that read at once */
	size_t cache_bytes;         /* per reader */
	uint64_t limit_bytes;       /* of the data; 0: none */
	unsigned follower_lag_ms;   /* of a database: how far standbys may be behind that answer
				       reads; 0: none does */
};

/* Whether the URL names a backend of this build and what that needs; *problem is for the operator.
 */
bool backend_check(struct arena *arena, const char *url, struct str *problem);

/* The data file that the URL names; NULL where there is none. */
const char *backend_file(const char *url);

/* Whether the data lies in a database, which several processes can have open at once. */
bool backend_is_shared(const char *url);

/* The URL for people: without a password. */
struct str backend_shown(struct arena *arena, const char *url);

/* The URL of the short forms. */
const char *backend_url(struct arena *arena, bool in_memory, const char *file);

/* Opens the store. ERR_INTERNAL with one line for the operator. */
enum code backend_open(const struct backend_options *options, struct store **store,
		       struct err *err) WARN_UNUSED;

#endif
