#include "server/backend.h"

#include <string.h>

#include "core/arena.h"
#include "core/buf.h"

/* The rest of a URL behind its scheme. */
typedef enum code open_backend(const struct backend_options *options, const char *rest, struct store **store, struct err *err);

static enum code open_sqlite(const struct backend_options *options, const char *rest, struct store **store, struct err *err)
{
	const struct sqlite_store_options own = {
		.path = *rest ? rest : NULL, .durability = options->durability, .readers = options->readers, .cache_bytes = options->cache_bytes,
		.limit_bytes = options->limit_bytes,
	};

	return sqlite_store_open(&own, store, err);
}

static const struct backend {
	const char *scheme;
	const char *form; /* of its URLs, for people */
	bool has_file;    /* what follows the scheme is a file; else nothing may follow */
	bool is_shared;   /* several processes can have it open at once */
	open_backend *open;
} backends[] = {
	{"sqlite:", "sqlite:FILE", true, false, open_sqlite},
	{"memory:", "memory:", false, false, open_sqlite},
};

#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static const struct backend *find(const char *url)
{
	for (size_t i = 0; i < BACKENDS; i++) {
		if (strncmp(url, backends[i].scheme, strlen(backends[i].scheme)) == 0)
			return &backends[i];
	}
	return NULL;
}

static const char *rest_of(const struct backend *backend, const char *url)
{
	return url + strlen(backend->scheme);
}

bool backend_check(struct arena *arena, const char *url, struct str *problem)
{
	const struct backend *backend = find(url);
	struct buf forms = buf_in(arena);

	if (backend && (*rest_of(backend, url) != '\0') == backend->has_file)
		return true;
	for (size_t i = 0; i < BACKENDS; i++)
		buf_printf(&forms, "%s%s", i == 0 ? "" : i + 1 < BACKENDS ? ", " : " or ", backends[i].form);
	*problem = str_printf(arena, "wants " STR_FMT ", not %s", STR_ARG(buf_str(&forms)), url);
	return false;
}

const char *backend_file(const char *url)
{
	const struct backend *backend = find(url);

	return backend && backend->has_file ? rest_of(backend, url) : NULL;
}

bool backend_is_shared(const char *url)
{
	const struct backend *backend = find(url);

	return backend && backend->is_shared;
}

const char *backend_url(struct arena *arena, bool in_memory, const char *file)
{
	return in_memory ? "memory:" : str_printf(arena, "sqlite:%s", file).p;
}

enum code backend_open(const struct backend_options *options, struct store **store, struct err *err)
{
	const struct backend *backend = find(options->url);

	return backend->open(options, rest_of(backend, options->url), store, err);
}
