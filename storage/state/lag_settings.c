#include "storage/state/lag_settings.h"

#include "storage/state/space.h"

static enum code inherit_all(struct space *space, struct err *err)
{
	struct space_records records;
	enum code code = space_records(space, &records, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n; i++) {
		uint64_t number = 0;

		if (records.v[i].is_retired)
			continue;
		code = space_number(space, &records.v[i], &number, err);
		if (code != OK)
			return code;
		code = catalog_inherit_lag(space->catalog, space->txn, space->ns, records.v[i].key,
					   number, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code apply_lag_settings(struct space *space, void *context, struct err *err)
{
	const struct lag_settings *settings = context;
	struct lag_settings known;
	struct str key = catalog_key(space->arena, space->catalog, space->ns, STR(""));
	enum code code = lag_list(space->txn, key, space->arena, &known, err);

	if (code != OK || (known.n == 0 && settings->n == 0))
		return code;
	code = lag_begin(space->txn, err);
	if (code != OK)
		return code;
	code = lag_remove_all(space->txn, key, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < settings->n; i++) {
		key = catalog_key(space->arena, space->catalog, space->ns, settings->v[i].name);
		code = lag_put(space->txn, key, &settings->v[i].lag, err);
		if (code != OK)
			return code;
	}
	return inherit_all(space, err);
}

enum code lag_settings_put(struct catalog *catalog, struct ns ns,
			   const struct lag_settings *settings, struct err *err)
{
	struct lag_settings own = *settings;

	return space_change(catalog, ns, SPACE_BARE | SPACE_QUIET, apply_lag_settings, &own, err);
}

enum code lag_settings_list(struct catalog *catalog, struct ns ns, struct arena *arena,
			    struct lag_settings *settings, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = lag_list(txn, catalog_key(arena, catalog, ns, STR("")), arena, settings, err);
	store_abort(txn);
	return code;
}

static enum code apply_begin(struct space *space, void *context, struct err *err)
{
	(void)context;
	return lag_begin(space->txn, err);
}

enum code lag_settings_begin(struct catalog *catalog, struct err *err)
{
	return space_change(catalog, (struct ns){STR(""), STR("")}, SPACE_BARE | SPACE_QUIET,
			    apply_begin, NULL, err);
}
