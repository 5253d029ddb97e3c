#include "storage/upkeep/replica_group.h"

enum code replica_group_read(struct catalog *catalog, struct arena *arena, struct table *table,
			     int64_t now_ms, struct replica_group *group, struct err *err)
{
	*group = (struct replica_group){ARENA_ARRAY(arena, struct table *, table->group.n + 1), 0};
	group->v[group->n++] = table_ref(table);
	for (size_t i = 0; i < table->group.n; i++) {
		struct ns ns = {table->identity.account, table->group.v[i].region};
		struct table *other;
		enum code code =
			catalog_get(catalog, ns, table->identity.name, now_ms, &other, err);

		if (code == OK && table_is_global(other))
			group->v[group->n++] = other;
		else if (code == OK)
			table_unref(other);
		else if (code == ERR_RESOURCE_NOT_FOUND)
			code = OK;
		if (code != OK)
			return code;
	}
	return OK;
}

void replica_group_free(const struct replica_group *group)
{
	for (size_t i = 0; i < group->n; i++)
		table_unref(group->v[i]);
}
