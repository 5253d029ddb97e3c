#include "server/rotate.h"

#define MOVES_MAX 10 /* times a table is looked up again because it was changed meanwhile */

/* Takes over the reference. */
static enum code rotate_table(struct service *service, struct table *table, int64_t now_ms, struct err *err)
{
	enum code code = stream_rotate(catalog_store(service->catalog), table, now_ms, err);

	for (int i = 0; i < MOVES_MAX && code == ERR_TABLE_MOVED; i++) {
		struct table *next;

		code = catalog_refresh(service->catalog, err);
		if (code == OK)
			code = catalog_get(service->catalog, (struct ns){table->identity.account, table->identity.region},
					   table->identity.name, now_ms, &next, err);
		if (code != OK)
			break;
		table_unref(table);
		table = next;
		code = stream_rotate(catalog_store(service->catalog), table, now_ms, err);
	}
	table_unref(table);
	return code;
}

enum code rotate_streams(struct service *service, const struct ns *ns, struct str table_name, size_t *rotated, struct err *err)
{
	struct table_list list = {0, NULL};
	enum code code = catalog_refresh(service->catalog, err);

	*rotated = 0;
	if (code == OK)
		code = catalog_streamed(service->catalog, ns, table_name, err->arena, &list, err);
	struct table **tables = list.v;
	for (size_t i = 0; i < list.n; i++) {
		if (code != OK || tables[i]->streams.view == STREAM_OFF) {
			table_unref(tables[i]);
			continue;
		}
		int64_t now_ms = service->now_ms(service->clock_context, (struct ns){tables[i]->identity.account, tables[i]->identity.region});
		code = rotate_table(service, tables[i], now_ms, err);
		*rotated += code == OK;
		if (code == ERR_RESOURCE_NOT_FOUND) /* deleted, or its stream disabled, since it was listed */
			code = OK;
	}
	if (code == OK && *rotated == 0)
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	return code;
}
