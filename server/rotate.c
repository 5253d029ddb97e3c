#include "server/rotate.h"

#include "storage/catalog/mark_walk.h"

#define MOVES_MAX 10 /* times a table is looked up again because it was changed meanwhile */

/* Takes over the reference. */
static enum code rotate_table(struct service *service, struct table *table, int64_t now_ms,
			      struct err *err)
{
	enum code code = stream_rotate(catalog_store(service->catalog), table, now_ms, err);

	for (int i = 0; i < MOVES_MAX && code == ERR_TABLE_MOVED; i++) {
		struct table *next;

		code = catalog_get_current(
			service->catalog,
			(struct ns){table->identity.account, table->identity.region},
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

/* One that was deleted, or whose stream was disabled, since it was listed, is passed over. */
static enum code rotate_marked(struct service *service, const struct mark *mark, size_t *rotated,
			       struct err *err)
{
	struct table *table;
	enum code code = catalog_marked(service->catalog, mark, &table, err);

	if (code != OK || !table)
		return code;
	if (table->streams.view == STREAM_OFF) {
		table_unref(table);
		return OK;
	}
	code = rotate_table(service, table, service->now_ms(service->clock_context, mark->ns), err);
	*rotated += code == OK;
	return code == ERR_RESOURCE_NOT_FOUND ? OK : code;
}

/* The marks of the streams of that name in the namespace, or of the tables of that name. */
static struct marks marks_of(struct service *service, struct arena *arena, const struct ns *ns,
			     struct str table_name)
{
	struct str space = ns ? catalog_key(arena, service->catalog, *ns, STR("")) : STR_ABSENT;

	if (!ns)
		return (struct marks){.kind = MARK_NAME,
				      .within = table_rows_named(arena, table_name),
				      .is_more = true};
	return (struct marks){.kind = MARK_STREAM,
			      .within = table_rows_streams(arena, space, table_name),
			      .is_more = true};
}

enum code rotate_streams(struct service *service, const struct ns *ns, struct str table_name,
			 size_t *rotated, struct err *err)
{
	struct marks marks = marks_of(service, err->arena, ns, table_name);
	uint64_t last = 0;
	enum code code = clocks_refresh(catalog_options(service->catalog)->clocks, err);

	*rotated = 0;
	while (code == OK && marks.is_more) {
		code = mark_walk_page(service->catalog, err->arena, &marks, err);
		for (size_t i = 0; i < marks.n && code == OK; i++) {
			const struct mark *mark = &marks.v[i];

			/* a table may have several streams, of which one at most is enabled */
			if ((ns || mark->has_stream) && !mark->is_deleted && mark->number != last)
				code = rotate_marked(service, mark, rotated, err);
			last = mark->number;
		}
	}
	if (code != OK)
		return code;
	if (*rotated == 0)
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	return OK;
}
