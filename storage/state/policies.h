/*
 * policies - the document of policies that all servers on a store go by: two rows, its version and
 * its text. What it says is for others to know.
 */
#ifndef DYNALITH_STORAGE_POLICIES_H
#define DYNALITH_STORAGE_POLICIES_H

#include "storage/catalog/catalog.h"

/* Rises with each change; 0: there was none yet. One read. */
enum code policies_version(struct catalog *catalog, struct arena *arena, uint64_t *version,
			   struct err *err) WARN_UNUSED;

/* The document with its version; absent: there is none. */
enum code policies_get(struct catalog *catalog, struct arena *arena, struct str *document,
		       uint64_t *version, struct err *err) WARN_UNUSED;

/* Absent: there is none from now on. */
enum code policies_put(struct catalog *catalog, struct str document, struct err *err) WARN_UNUSED;

#endif
