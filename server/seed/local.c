#include "server/seed/local.h"

#include <stdlib.h>
#include <time.h>

#include "protocol/op.h"
#include "protocol/tables/settings.h"
#include "storage/store/sqlite/sqlite_store.h"

static enum code send_locally(void *context, struct arena *arena, const struct seed_request *asked,
			      struct seed_reply *reply, struct err *err)
{
	const struct ns ns = {str_is_set(asked->account) ? asked->account : STR("000000000000"),
			      str_is_set(asked->region) ? asked->region : STR("us-east-1")};
	struct op_request request =
		op_request_inside(arena, &ns, str_of(asked->operation), asked->body);
	struct op_response response = {0};

	(void)err;
	request.is_long = true;
	op_run(context, &request, &response); /* without a slice it comes to its end */
	*reply = (struct seed_reply){response.status, response.body};
	return OK;
}

struct seed_target local_target(struct service *service)
{
	return (struct seed_target){.send = send_locally, .context = service};
}

struct rehearsal {
	struct store *store, *own; /* own: to be closed; or NULL */
	struct service service;
};

static int64_t now_ms(void *context, struct ns ns)
{
	(void)context;
	(void)ns;
	return (int64_t)time(NULL) * 1000;
}

static enum code open_catalog(struct rehearsal *rehearsal, struct err *err)
{
	const struct catalog_options options = {.settings = &settings_records};

	rehearsal->service.now_ms = now_ms;
	return catalog_open(rehearsal->store, &options, &rehearsal->service.catalog, err);
}

static enum code open_rehearsal(struct rehearsal *rehearsal, const char *file, struct err *err)
{
	const struct sqlite_store_options where = {.path = file,
						   .durability = DURABILITY_NORMAL,
						   .readers = 1,
						   .cache_bytes = file ? 32 << 20 : 1 << 20};
	enum code code = sqlite_store_open(&where, &rehearsal->own, err);

	if (code != OK)
		return code;
	rehearsal->store = rehearsal->own;
	return open_catalog(rehearsal, err);
}

enum code local_rehearsal_new(struct rehearsal **out, struct err *err)
{
	return local_rehearsal_in(NULL, out, err);
}

enum code local_rehearsal_in(const char *file, struct rehearsal **out, struct err *err)
{
	struct rehearsal *rehearsal = arena_checked(calloc(1, sizeof(*rehearsal)));
	enum code code = open_rehearsal(rehearsal, file, err);
	if (code != OK) {
		store_close(rehearsal->own);
		free(rehearsal);
	}
	return RESULT(code, out, rehearsal);
}

enum code local_rehearsal_over(struct store *store, struct rehearsal **out, struct err *err)
{
	struct rehearsal *rehearsal = arena_checked(calloc(1, sizeof(*rehearsal)));

	rehearsal->store = store;
	enum code code = open_catalog(rehearsal, err);
	if (code != OK)
		free(rehearsal);
	return RESULT(code, out, rehearsal);
}

void local_rehearsal_free(struct rehearsal *rehearsal)
{
	catalog_close(rehearsal->service.catalog);
	store_close(rehearsal->own);
	free(rehearsal);
}

struct seed_target local_rehearsal_target(struct rehearsal *rehearsal)
{
	return local_target(&rehearsal->service);
}

struct service *local_rehearsal_service(struct rehearsal *rehearsal)
{
	return &rehearsal->service;
}
