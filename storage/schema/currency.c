#include "storage/schema/currency.h"

#include "core/buf.h"
#include "storage/store/journal.h"

#define CATALOG_KEY STR("\0\0\0\0\0\0\0\0") /* no table has the number 0 */
#define ROW_SIZE 16
#define MARKED_SIZE 24 /* with the number of the stack of checkpoints that the table's namespace has */

static const struct keyspace versions = {0, SYSTEM_VERSIONS};

/* Keys and rows of fixed size, built where they are used: this runs in every transaction. */
static void put_be64(char *bytes, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (char)(number >> (56 - 8 * i));
}

/* Keys of a number and of a namespace, of other lengths or beginnings than those of tables. */
static struct str stack_key(uint64_t stack, char *bytes)
{
	bytes[0] = 's';
	put_be64(bytes + 1, stack);
	return (struct str){bytes, 9};
}

static struct str space_key(struct arena *arena, struct str space)
{
	return str_printf(arena, "namespace/" STR_FMT, STR_ARG(space));
}

static enum code arm(struct store_txn *txn, uint64_t stack, struct err *err)
{
	char key[9];
	struct str journal;
	enum code code = store_get(txn, versions, stack_key(stack, key), err->arena, &journal, err);

	if (code == OK && str_is_set(journal))
		journal_arm(txn, stack, str_be(journal.p, journal.n));
	return code;
}

struct store_key currency_key(const struct table *table, char *bytes)
{
	put_be64(bytes, table->identity.number);
	return (struct store_key){versions, {bytes, CURRENCY_KEY_BYTES}};
}

static bool is_row(struct str row)
{
	return row.p && (row.n == ROW_SIZE || row.n == MARKED_SIZE);
}

static uint64_t layout_of(struct str row)
{
	return str_be(row.p + 8, 8);
}

static enum code read_row(struct store_txn *txn, const struct table *table, struct str *row, struct err *err)
{
	char bytes[CURRENCY_KEY_BYTES];
	struct store_key key = currency_key(table, bytes);
	enum code code = store_get(txn, key.keyspace, key.key, err->arena, row, err);

	return code == OK && row->p && row->n == MARKED_SIZE && txn->mode == STORE_WRITE ? arm(txn, str_be(row->p + 16, 8), err) : code;
}

enum code currency_judge(const struct table *table, struct str row, struct err *err)
{
	return is_row(row) && layout_of(row) == table->currency.layout ? OK : err_default(err, ERR_TABLE_MOVED);
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

	*is_exact = code == OK && is_row(row) && str_be(row.p, 8) == table->currency.version && layout_of(row) == table->currency.layout;
	return code;
}

void currency_follow(const struct table *current, struct table *next)
{
	next->currency.version = current ? current->currency.version + 1 : 1;
	next->currency.layout = current && table_is_alike(current, next) ? current->currency.layout : next->currency.version;
}

enum code currency_put(struct store_txn *txn, const struct table *table, struct err *err)
{
	char key[8], row[MARKED_SIZE];

	put_be64(key, table->identity.number);
	put_be64(row, table->currency.version);
	put_be64(row + 8, table->currency.layout);
	put_be64(row + 16, txn->stack);
	return store_put(txn, versions, (struct str){key, sizeof(key)}, (struct str){row, txn->stack ? MARKED_SIZE : ROW_SIZE}, err);
}

enum code currency_del(struct store_txn *txn, const struct table *table, struct err *err)
{
	return currency_del_number(txn, table->identity.number, err);
}

enum code currency_del_number(struct store_txn *txn, uint64_t number, struct err *err)
{
	char key[8];

	put_be64(key, number);
	return store_del(txn, versions, (struct str){key, sizeof(key)}, err);
}

enum code currency_mark(struct store_txn *txn, uint64_t number, uint64_t stack, struct err *err)
{
	char key[8], marked[MARKED_SIZE];
	struct str row;

	put_be64(key, number);
	enum code code = store_get(txn, versions, (struct str){key, sizeof(key)}, err->arena, &row, err);
	if (code != OK || !str_is_set(row) || row.n < ROW_SIZE) /* of a file that an older Dynalith wrote to */
		return code;
	memcpy(marked, row.p, ROW_SIZE);
	put_be64(marked + ROW_SIZE, stack);
	return store_put(txn, versions, (struct str){key, sizeof(key)}, (struct str){marked, stack ? MARKED_SIZE : ROW_SIZE}, err);
}

/* Each change of a table raises the catalog's version too: so that is at least the table's, whatever became of the table's row. */
enum code currency_renew(struct store_txn *txn, struct table *table, uint64_t stack, struct err *err)
{
	uint64_t version = 0;
	enum code code = currency_catalog(txn, &version, err);

	if (code != OK)
		return code;
	version = (version > table->currency.version ? version : table->currency.version) + 1;
	table->currency = (struct currency){version, version, version};
	code = currency_put(txn, table, err);
	return code == OK ? currency_mark(txn, table->identity.number, stack, err) : code;
}

enum code currency_stack(struct store_txn *txn, struct str space, uint64_t *stack, struct err *err)
{
	struct str row;
	enum code code = store_get(txn, versions, space_key(err->arena, space), err->arena, &row, err);

	*stack = code == OK && str_is_set(row) ? str_be(row.p, row.n) : 0;
	return code;
}

enum code currency_arm(struct store_txn *txn, struct str space, struct err *err)
{
	uint64_t stack;
	enum code code = currency_stack(txn, space, &stack, err);

	return code == OK && stack ? arm(txn, stack, err) : code;
}

enum code currency_put_stack(struct store_txn *txn, struct str space, uint64_t stack, uint64_t journal, struct err *err)
{
	struct str key = space_key(err->arena, space);
	char bytes[9], number[8];
	enum code code;

	put_be64(number, stack);
	code = journal ? store_put(txn, versions, key, (struct str){number, 8}, err) : store_del(txn, versions, key, err);
	if (code != OK)
		return code;
	put_be64(number, journal);
	return journal ? store_put(txn, versions, stack_key(stack, bytes), (struct str){number, 8}, err)
		       : store_del(txn, versions, stack_key(stack, bytes), err);
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
