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

struct store_key currency_key(const struct table *table, char *bytes)
{
	put_be64(bytes, table->identity.number);
	return (struct store_key){versions, {bytes, CURRENCY_KEY_BYTES}};
}

static enum code read_row(struct store_txn *txn, const struct table *table, struct str *row, struct err *err)
{
	char bytes[CURRENCY_KEY_BYTES];
	struct store_key key = currency_key(table, bytes);

	return store_get(txn, key.keyspace, key.key, err->arena, row, err);
}

static uint64_t layout_of(struct str row)
{
	return str_be(row.p + 8, 8);
}

enum code currency_judge(const struct table *table, struct str row, struct err *err)
{
	return row.p && row.n == ROW_SIZE && layout_of(row) == table->currency.layout ? OK : err_default(err, ERR_TABLE_MOVED);
}

enum code currency_check(struct store_txn *txn, const struct table *table, struct err *err)
{
	struct str row;
	enum code code = read_row(txn, table, &row, err);

	return code != OK ? code : currency_judge(table, row, err);
}

enum code currency_check_version(struct store_txn *txn, const struct table *table, struct err *err)
{
	bool is_exact;
	enum code code = currency_is_exact(txn, table, &is_exact, err);

	return code != OK || is_exact ? code : err_default(err, ERR_TABLE_MOVED);
}

enum code currency_is_exact(struct store_txn *txn, const struct table *table, bool *is_exact, struct err *err)
{
	struct str row;
	enum code code = read_row(txn, table, &row, err);

	*is_exact = code == OK && row.p && row.n == ROW_SIZE && str_be(row.p, 8) == table->currency.version && layout_of(row) == table->currency.layout;
	return code;
}

void currency_follow(const struct table *current, struct table *next)
{
	next->currency.version = current ? current->currency.version + 1 : 1;
	next->currency.layout = current && table_is_alike(current, next) ? current->currency.layout : next->currency.version;
}

enum code currency_put(struct store_txn *txn, const struct table *table, struct err *err)
{
	char bytes[CURRENCY_KEY_BYTES], row[ROW_SIZE];

	put_be64(row, table->currency.version);
	put_be64(row + 8, table->currency.layout);
	return store_put(txn, versions, currency_key(table, bytes).key, (struct str){row, sizeof(row)}, err);
}

enum code currency_del(struct store_txn *txn, const struct table *table, struct err *err)
{
	char bytes[CURRENCY_KEY_BYTES];

	return store_del(txn, versions, currency_key(table, bytes).key, err);
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
