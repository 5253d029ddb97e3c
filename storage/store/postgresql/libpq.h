/*
 * libpq - the door to PostgreSQL's client library, which is loaded when the first such store is
 * opened.
 *
 * A server on SQLite does not load it, and starts where it is not installed.
 */
#ifndef DYNALITH_STORAGE_LIBPQ_H
#define DYNALITH_STORAGE_LIBPQ_H

#include <libpq-fe.h>

#include "core/err.h"

/* Its functions by their names. */
struct libpq {
#define CALL(name) __typeof__(name) *name;
#include "storage/store/postgresql/libpq.def"
#undef CALL
	void *library;
};

/* Loads it. ERR_INTERNAL with one line for the operator where it is not installed, or is older than
 * version 14. */
enum code libpq_load(struct libpq *pq, struct err *err) WARN_UNUSED;
void libpq_unload(struct libpq *pq);

#endif
