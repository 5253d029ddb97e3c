#include "storage/schema/currency.h"

#define CATALOG_KEY STR("\0\0\0\0\0\0\0\0") /* no table has the number 0 */
#define ROW_SIZE 16

static const struct keyspace versions = {0, SYSTEM_VERSIONS};

/* Keys and rows of fixed size, built where they are used: this runs in every transaction. */
static void put_be64(char *bytes, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (char)(number >> (56 - 8 * i));
}

static enum code read_row(struct store_txn *txn, const struct table *table, uint64_t *version, uint64_t *layout, bool *is_there, struct err *err)
{
	char key[8];
	struct str row;

	put_be64(key, table->identity.number);
	enum code code = store_get(txn, versions, (struct str){key, sizeof(key)}, err->arena, &row, err);
	*is_there = code == OK && row.p && row.n == ROW_SIZE;
	if (*is_there) {
		*version = str_be(row.p, 8);
		*layout = str_be(row.p + 8, 8);
	}
	return code;
}

enum code currency_check(struct store_txn *txn, const struct table *table, struct err *err)
{
	uint64_t version = 0, layout = 0;
	bool is_there;
	enum code code = read_row(txn, table, &version, &layout, &is_there, err);

	return code != OK || (is_there && layout == table->currency.layout) ? code : err_default(err, ERR_TABLE_MOVED);
}

enum code currency_check_version(struct store_txn *txn, const struct table *table, struct err *err)
{
	bool is_exact;
	enum code code = currency_is_exact(txn, table, &is_exact, err);

	return code != OK || is_exact ? code : err_default(err, ERR_TABLE_MOVED);
}

enum code currency_is_exact(struct store_txn *txn, const struct table *table, bool *is_exact, struct err *err)
{
	uint64_t version = 0, layout = 0;
	enum code code = read_row(txn, table, &version, &layout, is_exact, err);

	*is_exact = *is_exact && version == table->currency.version && layout == table->currency.layout;
	return code;
}

void currency_follow(const struct table *current, struct table *next)
{
	next->currency.version = current ? current->currency.version + 1 : 1;
	next->currency.layout = current && table_is_alike(current, next) ? current->currency.layout : next->currency.version;
}

enum code currency_put(struct store_txn *txn, const struct table *table, struct err *err)
{
	char key[8], row[ROW_SIZE];

	put_be64(key, table->identity.number);
	put_be64(row, table->currency.version);
	put_be64(row + 8, table->currency.layout);
	return store_put(txn, versions, (struct str){key, sizeof(key)}, (struct str){row, sizeof(row)}, err);
}

enum code currency_del(struct store_txn *txn, const struct table *table, struct err *err)
{
	char key[8];

	put_be64(key, table->identity.number);
	return store_del(txn, versions, (struct str){key, sizeof(key)}, err);
}

enum code currency_catalog(struct store_txn *txn, uint64_t *version, struct err *err)
{
	struct str row;
	enum code code = store_get(txn, versions, CATALOG_KEY, err->arena, &row, err);

	*version = code == OK && str_is_set(row) && row.n == 8 ? str_be(row.p, 8) : 0;
	return code;
}

enum code currency_raise_catalog(struct store_txn *txn, uint64_t *version, struct err *err)
{
	char row[8];
	enum code code = currency_catalog(txn, version, err);

	if (code != OK)
		return code;
	put_be64(row, ++*version);
	return store_put(txn, versions, CATALOG_KEY, (struct str){row, sizeof(row)}, err);
}
