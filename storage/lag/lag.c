#include "storage/lag/lag.h"

#include "core/buf.h"
#include "core/key.h"
#include "storage/store/row.h"

#define BEGUN STR("lag")
#define PREFIX "lag/"

static const struct keyspace versions = {0, SYSTEM_VERSIONS};
static const struct keyspace history = {0, SYSTEM_HISTORY};

static bool decode(struct str bytes, struct lag *lag)
{
	struct row_reader row = row_read(bytes);

	lag->table_ms = row_u32(&row);
	lag->index_ms = row_u32(&row);
	lag->jitter_ms = row_u32(&row);
	lag->seed = row_u64(&row);
	return row_is_whole(&row) && lag->table_ms <= LAG_MAX_MS && lag->index_ms <= LAG_MAX_MS &&
	       lag->jitter_ms <= LAG_MAX_MS;
}

static struct str encode(struct arena *arena, const struct lag *lag)
{
	struct buf buf = buf_in(arena);

	buf_add_be32(&buf, lag->table_ms);
	buf_add_be32(&buf, lag->index_ms);
	buf_add_be32(&buf, lag->jitter_ms);
	buf_add_be64(&buf, lag->seed);
	return buf_str(&buf);
}

bool lag_holds(struct str row, const struct lag *usual, struct lag *lag)
{
	if (!str_is_set(row) || !decode(row, lag))
		*lag = *usual;
	return lag_is_on(lag);
}

uint64_t lag_longest_ms(const struct lag *lag)
{
	return (uint64_t)(lag->table_ms > lag->index_ms ? lag->table_ms : lag->index_ms) +
	       lag->jitter_ms;
}

static struct str row_key(struct arena *arena, struct str key)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, STR(PREFIX));
	buf_add_str(&buf, key); /* which has zero bytes in it */
	return buf_str(&buf);
}

enum code lag_put(struct store_txn *txn, struct str key, const struct lag *lag, struct err *err)
{
	return store_put(txn, versions, row_key(err->arena, key), encode(err->arena, lag), err);
}

static struct store_range range_of(struct arena *arena, struct str space)
{
	struct str low = row_key(arena, space);

	return (struct store_range){low, key_after_prefix(arena, low), false};
}

enum code lag_remove_all(struct store_txn *txn, struct str space, struct err *err)
{
	struct store_range range = range_of(err->arena, space);

	return store_del_range(txn, versions, &range, err);
}

enum code lag_list(struct store_txn *txn, struct str space, struct arena *arena,
		   struct lag_settings *settings, struct err *err)
{
	struct store_range range = range_of(arena, space);
	size_t skip = sizeof(PREFIX) - 1 + space.n;
	struct store_page page = {.n = 0};
	enum code code =
		store_page(txn, versions, &range, (struct store_bounds){0, 0}, arena, &page, err);

	*settings = (struct lag_settings){0, ARENA_ARRAY(arena, struct lag_setting, page.n)};
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		struct lag_setting *setting = &settings->v[settings->n++];

		setting->name = row_behind(page.v[i].key, skip);
		if (!decode(page.v[i].value, &setting->lag))
			code = row_malformed(err, versions, page.v[i].key);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code lag_is_begun(struct store_txn *txn, bool *is_begun, struct err *err)
{
	struct str row;
	enum code code = store_get(txn, versions, BEGUN, err->arena, &row, err);

	*is_begun = code == OK && str_is_set(row);
	return code;
}

enum code lag_begin(struct store_txn *txn, struct err *err)
{
	bool is_begun;
	enum code code = lag_is_begun(txn, &is_begun, err);

	if (code != OK || is_begun)
		return code;
	code = store_create(txn, history, err);
	return code == OK ? store_put(txn, versions, BEGUN, STR("1"), err) : code;
}

enum code lag_inherit(struct store_txn *txn, struct str key, size_t space_n, uint64_t number,
		      struct err *err)
{
	struct currency_row row;
	struct str own, space;
	bool is_begun;
	enum code code = lag_is_begun(txn, &is_begun, err);

	if (code != OK || !is_begun)
		return code;
	code = store_get(txn, versions, row_key(err->arena, key), err->arena, &own, err);
	if (code != OK)
		return code;
	code = store_get(txn, versions, row_key(err->arena, row_first(key, space_n)), err->arena,
			 &space, err);
	if (code != OK)
		return code;
	code = currency_read(txn, number, &row, err);
	if (code != OK)
		return code;
	struct str wanted = str_is_set(own) ? own : space;
	bool is_same = str_is_set(wanted) == str_is_set(row.lag) &&
		       (!str_is_set(wanted) || str_eq(wanted, row.lag));
	return is_same ? OK : currency_put_lag(txn, number, wanted, err);
}

bool lag_is_sound(struct arena *arena, const struct store_row *row)
{
	struct lag lag;

	(void)arena;
	return str_eq(row->key, BEGUN) ||
	       (str_starts_with(row->key, STR(PREFIX)) && decode(row->value, &lag));
}
