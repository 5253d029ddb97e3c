#include "storage/state/policies.h"

#include "storage/state/space.h"
#include "storage/store/row.h"

static const struct keyspace versions = {0, SYSTEM_VERSIONS};
static const struct str version_key = STR_INIT("policies/version"),
			document_key = STR_INIT("policies/document");

static enum code read_version(struct store_txn *txn, struct arena *arena, uint64_t *version,
			      struct err *err)
{
	return row_get_number(txn, versions, version_key, arena, version, err);
}

enum code policies_version(struct catalog *catalog, struct arena *arena, uint64_t *version,
			   struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = read_version(txn, arena, version, err);
	store_abort(txn);
	return code;
}

static enum code read_document(struct store_txn *txn, struct arena *arena, struct str *document,
			       uint64_t *version, struct err *err)
{
	enum code code = read_version(txn, arena, version, err);

	if (code != OK)
		return code;
	return store_get(txn, versions, document_key, arena, document, err);
}

enum code policies_get(struct catalog *catalog, struct arena *arena, struct str *document,
		       uint64_t *version, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = read_document(txn, arena, document, version, err);
	store_abort(txn);
	return code;
}

static enum code apply_policies(struct space *space, void *context, struct err *err)
{
	const struct str *document = context;
	struct buf buf = buf_in(space->arena);
	uint64_t version;
	enum code code = read_version(space->txn, space->arena, &version, err);

	if (code != OK)
		return code;
	buf_add_be64(&buf, version + 1);
	code = store_put(space->txn, versions, version_key, buf_str(&buf), err);
	if (code != OK)
		return code;
	return str_is_set(*document) ? store_put(space->txn, versions, document_key, *document, err)
				     : store_del(space->txn, versions, document_key, err);
}

enum code policies_put(struct catalog *catalog, struct str document, struct err *err)
{
	return space_change(catalog, (struct ns){STR(""), STR("")}, SPACE_BARE | SPACE_QUIET,
			    apply_policies, &document, err);
}
