/*
 * service_fixture - the API over an empty store in memory: one caller whom everyone lets in, a
 * clock that stands still.
 */
#ifndef DYNALITH_TEST_SERVICE_FIXTURE_H
#define DYNALITH_TEST_SERVICE_FIXTURE_H

#include <stdlib.h>

#include "protocol/op.h"
#include "protocol/tables/settings.h"
#include "storage/store/sqlite/sqlite_store.h"

#define SERVICE_FIXTURE_NOW_MS 1700000000000 /* 2023-11-14T22:13:20Z */

struct service_fixture {
	struct service service;
	struct store *store;
};

static inline int64_t service_fixture_now(void *context, struct ns ns)
{
	(void)context, (void)ns;
	return SERVICE_FIXTURE_NOW_MS;
}

static inline enum code service_fixture_let_in(void *context, struct ns *ns, struct err *err)
{
	(void)context, (void)err;
	*ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	return OK;
}

/* Ends the process where the store cannot be had. */
static inline void service_fixture_open(struct service_fixture *fixture, struct arena *arena)
{
	struct sqlite_store_options options = {.readers = 1, .cache_bytes = 1 << 20};
	struct catalog_options catalog_options = {.settings = &settings_records,
						  .vector_memory_bytes = 1 << 20};
	struct err err = err_in(arena);

	*fixture = (struct service_fixture){.service = {.now_ms = service_fixture_now}};
	if (sqlite_store_open(&options, &fixture->store, &err) != OK ||
	    catalog_open(fixture->store, &catalog_options, &fixture->service.catalog, &err) != OK)
		abort();
}

static inline void service_fixture_close(struct service_fixture *fixture)
{
	catalog_close(fixture->service.catalog);
	store_close(fixture->store);
}

/* `op` is a name, or with a point in it a whole target. The response lies in `arena`. */
static inline struct op_response service_fixture_call(struct service_fixture *fixture,
						      struct arena *arena, struct str op,
						      struct str body)
{
	bool is_target = str_contains(op, STR("."));
	struct op_request request = {
		.arena = arena,
		.target = str_printf(arena, "%s" STR_FMT, is_target ? "" : "DynamoDB_20120810.",
				     STR_ARG(op)),
		.body = body,
		.authenticate = service_fixture_let_in,
	};
	struct op_response response = {0};

	op_run(&fixture->service, &request, &response);
	return response;
}

#endif
