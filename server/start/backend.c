#include "server/start/backend.h"

#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "storage/store/split/split_store.h"
#include "server/messages.h"
#include "storage/store/postgresql/postgresql_store.h"

#define WRITERS 4 /* connections of upkeep, triggers and the like */

/* The rest of a URL behind its scheme. */
typedef enum code open_backend(const struct backend_options *options, const char *rest,
			       struct store **store, struct err *err);

static enum code open_sqlite(const struct backend_options *options, const char *rest,
			     struct store **store, struct err *err)
{
	const struct sqlite_store_options own = {
		.path = rest,
		.durability = options->durability,
		.readers = options->readers,
		.cache_bytes = options->cache_bytes,
		.limit_bytes = options->limit_bytes,
	};

	return sqlite_store_open(&own, store, err);
}

static enum code open_memory(const struct backend_options *options, const char *rest,
			     struct store **store, struct err *err)
{
	const struct sqlite_store_options own = {
		.copied = *rest ? rest : NULL,
		.durability = options->durability,
		.readers = options->readers,
		.cache_bytes = options->cache_bytes,
		.limit_bytes = options->limit_bytes,
	};

	return sqlite_store_open(&own, store, err);
}

#ifdef WITH_POSTGRESQL
static enum code open_postgresql(const struct backend_options *options, const char *rest,
				 struct store **store, struct err *err)
{
	const struct postgresql_store_options own = {
		.url = *rest ? options->url : "",
		.name = backend_shown(err->arena, options->url).p,
		.durability = options->durability,
		.connections = options->readers + WRITERS,
		.follower_lag_ms = options->follower_lag_ms,
	};

	return postgresql_store_open(&own, store, err);
}
#else
static enum code open_postgresql(const struct backend_options *options, const char *rest,
				 struct store **store, struct err *err)
{
	(void)options, (void)rest, (void)store;
	return err_set(err, MSG_NO_POSTGRESQL);
}
#endif

static const struct backend {
	const char *scheme;
	const char *form;   /* of its URLs, for people */
	const char *needs;  /* what must follow the scheme, NULL: nothing may; "": anything */
	bool may_be_bare;   /* nothing need follow */
	bool is_shared;
	open_backend *open;
} backends[] = {
	{"sqlite:", "sqlite:FILE", "", false, false, open_sqlite},
	{"memory:", "memory:", "", true, false, open_memory},
	{"postgresql:", "postgresql://USER@HOST/DATABASE", "//", true, true, open_postgresql},
#ifdef BACKEND_OF_TESTS
	BACKEND_OF_TESTS /* tests/tiny/backend.c */
#endif
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

/* More than the password may go with it where the URL is no good one; never less. */
struct str backend_shown(struct arena *arena, const char *url)
{
	static const char key[] = "password=";
	struct buf shown = buf_in(arena);
	const struct backend *backend = find(url);

	if (!backend || !backend->is_shared)
		return str_copy(arena, str_of(url));
	const char *start = rest_of(backend, url), *at = strrchr(start, '@');
	const char *colon = at ? memchr(start, ':', (size_t)(at - start)) : NULL,
		   *from = colon ? at : url;
	if (colon)
		buf_printf(&shown, STR_FMT ":***",
			   STR_ARG(((struct str){url, (size_t)(colon - url)})));
	for (const char *found; (found = strstr(from, key)) != NULL;
	     from = found + strlen(key) + strcspn(found + strlen(key), "&"))
		buf_printf(&shown, STR_FMT "%s***",
			   STR_ARG(((struct str){from, (size_t)(found - from)})), key);
	buf_printf(&shown, "%s", from);
	return str_copy(arena, buf_str(&shown));
}

static bool is_fitting(const struct backend *backend, const char *rest)
{
	if (*rest == '\0')
		return backend->may_be_bare;
	return backend->needs && strncmp(rest, backend->needs, strlen(backend->needs)) == 0;
}

bool backend_check(struct arena *arena, const char *url, struct str *problem)
{
	const struct backend *backend = find(url);
	struct buf forms = buf_in(arena);

	if (backend && is_fitting(backend, rest_of(backend, url)))
		return true;
	for (size_t i = 0; i < BACKENDS; i++)
		buf_printf(&forms, "%s%s",
			   i == 0             ? ""
			   : i + 1 < BACKENDS ? ", "
					      : " or ",
			   backends[i].form);
	*problem = str_printf(arena, "wants " STR_FMT ", not " STR_FMT, STR_ARG(buf_str(&forms)),
			      STR_ARG(backend_shown(arena, url)));
	return false;
}

const char *backend_file(const char *url)
{
	const struct backend *backend = find(url);

	return backend && backend->open == open_sqlite ? rest_of(backend, url) : NULL;
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

	enum code code = backend->open(options, rest_of(backend, options->url), store, err);

	if (code != OK)
		return code;
	*store = split_store_new(*store);
	return OK;
}
