#include "core/key.h"
#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/mark_walk.h"
#include "storage/store/row.h"

#define MARKS_PER_PAGE 100
#define ELSEWHERE_MAX                                                                              \
	4 /* marks of a name that are looked at: one of them at most is the namespace's own */

/* The first name that is wanted, or behind `after`. With --shared-db the keys of retired records
 * begin as those of tables do, and come first. */
static struct str first_key(struct arena *arena, struct str space, struct str after)
{
	struct buf key = buf_in(arena);

	buf_add_str(&key, space);
	buf_add_str(&key, after);
	buf_add_byte(&key, str_is_set(after) ? 0 : 1);
	return buf_str(&key);
}

/* A record of an older Dynalith says less in brief. */
static enum code is_record_listed(const struct catalog *catalog, struct str record, int64_t now_ms,
				  bool *is_listed, struct err *err)
{
	struct table_brief brief;
	struct table *table;

	*is_listed = true;
	if (table_record_brief(record, &brief)) {
		*is_listed = brief.gone_ms > now_ms;
		return OK;
	}
	enum code code = table_decode(record, catalog->options.settings, &table, err);
	if (code != OK)
		return code;
	*is_listed = !catalog_is_gone(table, now_ms);
	table_unref(table);
	return OK;
}

static enum code take_listed_names(const struct catalog *catalog, const struct store_page *page,
				   size_t prefix, int64_t now_ms, size_t limit,
				   struct name_page *names, struct err *err)
{
	for (size_t i = 0; i < page->n && !names->is_more; i++) {
		struct str key = page->v[i].key;
		bool is_there;
		enum code code =
			is_record_listed(catalog, page->v[i].value, now_ms, &is_there, err);

		if (code != OK)
			return code;
		if (!is_there)
			continue;
		names->is_more = names->n == limit;
		if (!names->is_more)
			names->v[names->n++] = row_behind(key, prefix);
	}
	return OK;
}

enum code catalog_list(struct catalog *catalog, struct ns ns, struct str after, size_t limit,
		       int64_t now_ms, struct arena *arena, struct name_page *names,
		       struct err *err)
{
	struct str space = catalog_key(arena, catalog, ns, STR(""));
	struct store_range range = {first_key(arena, space, after), key_after_prefix(arena, space),
				    false};
	struct store_page page = {.is_more = true};
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	*names = (struct name_page){.v = ARENA_ARRAY(arena, struct str, limit)};
	if (code != OK)
		return code;
	while (code == OK && page.is_more && !names->is_more) {
		code = store_page(txn, tables_keyspace, &range,
				  (struct store_bounds){limit - names->n + 1, 0}, arena, &page,
				  err);
		if (code != OK)
			break;
		code = take_listed_names(catalog, &page, space.n, now_ms, limit, names, err);
		if (code == OK && page.is_more)
			store_range_after(&range, &page, arena);
	}
	store_abort(txn);
	return code;
}

/* The namespace of a table's key, as catalog_key() wrote it. False for other keys: those of retired
 * records begin with a zero. */
static bool namespace_of(struct str key, struct ns *ns)
{
	struct str rest = key;

	ns->account = str_cut(&rest, '\0');
	ns->region = str_cut(&rest, '\0');
	return ns->account.n > 0 && ns->region.n > 0;
}

/* One row of each: the next search begins behind all keys of the namespace that was found. */
enum code catalog_namespaces(struct catalog *catalog, size_t limit, struct arena *arena,
			     struct ns_page *page, struct err *err)
{
	struct store_range range = {STR("\x01"), STR_ABSENT, false};
	struct store_page rows = {.n = 1};
	struct store_txn *txn;
	struct ns ns;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	*page = (struct ns_page){.v = ARENA_ARRAY(arena, struct ns, limit)};
	if (code != OK)
		return code;
	while (code == OK && rows.n > 0 && !page->is_more) {
		code = store_page(txn, tables_keyspace, &range, (struct store_bounds){1, 0}, arena,
				  &rows, err);
		if (code != OK || rows.n == 0 || !namespace_of(rows.v[0].key, &ns))
			break;
		page->is_more = page->n == limit;
		if (!page->is_more)
			page->v[page->n++] = ns;
		range.low = key_after_prefix(arena, catalog_key(arena, catalog, ns, STR("")));
	}
	store_abort(txn);
	return code;
}

enum code catalog_count(struct catalog *catalog, struct ns ns, int64_t now_ms, uint64_t *n,
			struct err *err)
{
	struct marks work = {.kind = MARK_WORK,
			     .within = catalog_key(err->arena, catalog, ns, STR("")),
			     .limit = MARKS_PER_PAGE,
			     .is_more = true};
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = table_rows_count(txn, work.within, n, err);
	while (code == OK && work.is_more) { /* what is not buried yet */
		code = table_rows_marks(txn, err->arena, &work, err);
		for (size_t i = 0; i < work.n && code == OK; i++)
			*n -= work.v[i].is_deleted && work.v[i].ms <= now_ms;
	}
	store_abort(txn);
	return code;
}

bool catalog_elsewhere(struct catalog *catalog, struct ns ns, struct str name, struct arena *arena,
		       struct ns *where)
{
	struct marks named = {
		.kind = MARK_NAME, .within = table_rows_named(arena, name), .limit = ELSEWHERE_MAX};
	struct str own = catalog_key(arena, catalog, ns, name);
	struct err err = err_in(arena);

	if (mark_walk_page(catalog, arena, &named, &err) != OK)
		return false;
	for (size_t i = 0; i < named.n; i++) {
		*where = named.v[i].ns;
		if (!str_eq(named.v[i].record, own))
			return true;
	}
	return false;
}
