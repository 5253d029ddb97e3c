#include "storage/catalog/catalog_internal.h"

struct str catalog_key(struct arena *arena, const struct catalog *catalog, struct ns ns,
		       struct str name)
{
	struct buf buf = buf_in(arena);

	if (!catalog->options.is_shared) {
		buf_add_str(&buf, ns.account);
		buf_add_byte(&buf, 0);
		buf_add_str(&buf, ns.region);
	}
	buf_add_byte(&buf, 0);
	buf_add_str(&buf, name);
	return buf_str(&buf);
}

struct str catalog_space(struct arena *arena, const struct catalog *catalog,
			 const struct table *table)
{
	return catalog_key(arena, catalog, catalog_ns_of(table), STR(""));
}

struct str catalog_key_of(struct arena *arena, const struct catalog *catalog,
			  const struct table *table)
{
	return catalog_key(arena, catalog, catalog_ns_of(table), table->identity.name);
}

enum code catalog_stored(const struct catalog *catalog, struct store_txn *txn, struct str key,
			 struct table **out, struct err *err)
{
	struct str record;
	struct table *table = NULL;
	enum code code = store_get(txn, tables_keyspace, key, err->arena, &record, err);

	if (code != OK)
		return code;
	if (str_is_set(record))
		code = table_decode(record, catalog->options.settings, &table, err);
	return RESULT(code, out, table);
}
