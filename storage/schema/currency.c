#include "storage/schema/currency.h"

#include "core/be.h"
#include "core/buf.h"
#include "storage/store/journal.h"
#include "storage/store/row.h"

#define CATALOG_KEY STR("\0\0\0\0\0\0\0\0") /* no table has the number 0 */
#define KEY_SIZE 8
#define ROW_SIZE 16 /* of a row that an older Dynalith wrote, or repair: nothing was counted */
#define ROW_SIZE_COUNT 24
#define ROW_SIZE_STACK                                                                             \
	32 /* with the number of the stack of checkpoints that the table's namespace has */
#define ROW_SIZE_LAG (ROW_SIZE_STACK + CURRENCY_LAG_SIZE)

static const struct keyspace versions = {0, SYSTEM_VERSIONS};

/*
 * Keys and rows of fixed size are built where they are used, since this runs in every transaction.
 * These are keys of a number and of a namespace, of other lengths or beginnings than those of
 * tables.
 */
static struct str stack_key(uint64_t stack, char *bytes)
{
	bytes[0] = 's';
	put_be64(bytes + 1, stack);
	return (struct str){bytes, 9};
}

static struct str space_key(struct arena *arena, struct str space)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, STR("namespace/"));
	buf_add_str(&buf, space); /* which has zero bytes in it */
	return buf_str(&buf);
}

static enum code arm(struct store_txn *txn, uint64_t stack, struct err *err)
{
	char key[9];
	uint64_t journal;
	enum code code =
		row_get_number(txn, versions, stack_key(stack, key), err->arena, &journal, err);

	if (code == OK && journal)
		journal_arm(txn, stack, journal);
	return code;
}

static struct store_key key_of(const struct table *table, char *bytes)
{
	put_be64(bytes, table->identity.number);
	return (struct store_key){versions, {bytes, KEY_SIZE}};
}

static bool decode_currency(struct str bytes, struct currency_row *out)
{
	struct row_reader row = row_read(bytes);
	bool is_there = str_is_set(bytes);

	*out = (struct currency_row){.is_there = is_there, .lag = STR_ABSENT};
	if (!is_there)
		return true;
	out->version = row_u64(&row);
	out->layout = row_u64(&row);
	if (bytes.n > ROW_SIZE)
		out->count = row_u64(&row);
	if (bytes.n > ROW_SIZE_COUNT)
		out->stack = row_u64(&row);
	if (bytes.n > ROW_SIZE_STACK)
		out->lag = row_take(&row, CURRENCY_LAG_SIZE);
	return row_is_whole(&row);
}

static enum code row_of(const struct store_key *at, struct str bytes, struct currency_row *out,
			struct err *err)
{
	return decode_currency(bytes, out) ? OK : row_malformed(err, at->keyspace, at->key);
}

enum code currency_read(struct store_txn *txn, uint64_t number, struct currency_row *row,
			struct err *err)
{
	char key[KEY_SIZE];
	struct str value = STR_ABSENT;

	put_be64(key, number);
	const struct store_key at = {versions, {key, sizeof(key)}};
	enum code code = store_get(txn, at.keyspace, at.key, err->arena, &value, err);
	if (code == OK)
		return row_of(&at, value, row, err);
	*row = (struct currency_row){.lag = STR_ABSENT};
	return code;
}

static enum code arm_by(struct store_txn *txn, const struct currency_row *row, struct err *err)
{
	return row->stack && txn->mode == STORE_WRITE ? arm(txn, row->stack, err) : OK;
}

/* The same for a transaction that goes on to use the table: its changes are noted where its
 * namespace has a checkpoint. */
static enum code read_row(struct store_txn *txn, const struct table *table,
			  struct currency_row *row, struct err *err)
{
	enum code code = currency_read(txn, table->identity.number, row, err);

	return code == OK ? arm_by(txn, row, err) : code;
}

static enum code judge(const struct table *table, const struct currency_row *row, struct err *err)
{
	return row->is_there && row->layout == table->currency.layout
		       ? OK
		       : err_default(err, ERR_TABLE_MOVED);
}

enum code currency_write(struct store_txn *txn, uint64_t number, const struct currency_row *from,
			 struct err *err)
{
	size_t n = str_is_set(from->lag) ? ROW_SIZE_LAG
		   : from->stack         ? ROW_SIZE_STACK
					 : ROW_SIZE_COUNT;
	char key[8], row[ROW_SIZE_LAG];

	put_be64(key, number);
	put_be64(row, from->version);
	put_be64(row + 8, from->layout);
	put_be64(row + 16, from->count);
	put_be64(row + 24, from->stack);
	if (str_is_set(from->lag))
		memcpy(row + ROW_SIZE_STACK, row_first(from->lag, CURRENCY_LAG_SIZE).p,
		       from->lag.n < CURRENCY_LAG_SIZE ? from->lag.n : CURRENCY_LAG_SIZE);
	return store_put(txn, versions, (struct str){key, sizeof(key)}, (struct str){row, n}, err);
}

enum code currency_foresee(struct store_txn *txn, struct arena *arena, const struct table *table,
			   struct err *err)
{
	if (!store_foresees(txn))
		return OK;
	struct store_key *key = ARENA_NEW(arena, struct store_key);

	*key = key_of(table, arena_bytes(arena, KEY_SIZE));
	return store_foresee(txn, key, 1, err);
}

enum code currency_check(struct store_txn *txn, const struct table *table, uint64_t *count,
			 struct err *err)
{
	struct currency_row row = {0};
	enum code code = read_row(txn, table, &row, err);

	if (count)
		*count = row.count;
	return code != OK ? code : judge(table, &row, err);
}

enum code currency_check_lag(struct store_txn *txn, const struct table *table, struct str *lag,
			     struct err *err)
{
	struct currency_row row = {0};
	enum code code = read_row(txn, table, &row, err);

	*lag = row.lag;
	return code != OK ? code : judge(table, &row, err);
}

static bool is_next_table(const struct currency_item *items, size_t i)
{
	return i == 0 || items[i].table != items[i - 1].table;
}

/* A keyspace is missing: most likely that of a table that is gone. */
static enum code explain_missing(struct store_txn *txn, const struct currency_item *items, size_t n,
				 struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		enum code code = currency_check(txn, items[i].table, NULL, err);
		if (code != OK)
			return code;
	}
	return err_default(err, ERR_RESOURCE_NOT_FOUND);
}

/* In front of the items of a table, its version, whose key gets its bytes from `bytes`. */
static size_t ask(const struct currency_item *items, size_t n, struct store_key *keys,
		  char (*bytes)[KEY_SIZE])
{
	size_t asked = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_next_table(items, i))
			keys[asked++] = key_of(items[i].table, bytes[i]);
		keys[asked++] = (struct store_key){table_items(items[i].table), items[i].row_key};
	}
	return asked;
}

static enum code take_currency_items(struct store_txn *txn, struct currency_item *items, size_t n,
				     const struct store_key *keys, const struct str *values,
				     struct err *err)
{
	struct currency_row row = {0};

	for (size_t i = 0; i < n; i++) {
		if (is_next_table(items, i)) {
			enum code code = row_of(keys++, *values++, &row, err);
			if (code != OK)
				return code;
			code = judge(items[i].table, &row, err);
			if (code != OK)
				return code;
			code = arm_by(txn, &row, err);
			if (code != OK)
				return code;
		}
		items[i].count = row.count;
		items[i].lag = row.lag;
		items[i].image = *values++;
		keys++;
	}
	return OK;
}

enum code currency_get_items(struct store_txn *txn, struct arena *arena,
			     struct currency_item *items, size_t n, struct err *err)
{
	struct store_key few_keys[2] = {{.key = STR_ABSENT}}, *keys = few_keys;
	struct str few_values[2], *values = few_values;
	char few_bytes[1][KEY_SIZE], (*bytes)[KEY_SIZE] = few_bytes;

	if (n > 1) {
		keys = arena_alloc(arena, 2 * n * sizeof(*keys));
		values = arena_alloc(arena, 2 * n * sizeof(*values));
		bytes = arena_alloc(arena, n * sizeof(*bytes));
	}
	size_t asked = ask(items, n, keys, bytes);
	enum code code = store_get_many(txn, keys, asked, arena, values, err);
	if (code == ERR_RESOURCE_NOT_FOUND)
		return explain_missing(txn, items, n, err);
	return code == OK ? take_currency_items(txn, items, n, keys, values, err) : code;
}

static bool is_exact(const struct currency_row *row, const struct table *table)
{
	return row->is_there && row->version == table->currency.version &&
	       row->layout == table->currency.layout;
}

enum code currency_intend(struct store_txn *txn, uint64_t number, struct err *err)
{
	char bytes[KEY_SIZE];

	put_be64(bytes, number);
	return store_intend(txn, &(struct store_key){versions, {bytes, KEY_SIZE}}, err);
}

enum code currency_check_version(struct store_txn *txn, const struct table *table, uint64_t *count,
				 struct err *err)
{
	struct currency_row row = {0};
	enum code code = currency_intend(txn, table->identity.number, err);

	if (code != OK)
		return code;
	code = read_row(txn, table, &row, err);
	if (code != OK)
		return code;
	if (count)
		*count = row.count;
	return is_exact(&row, table) ? OK : err_default(err, ERR_TABLE_MOVED);
}

enum code currency_is_exact(struct store_txn *txn, const struct table *table, bool *out,
			    struct err *err)
{
	struct currency_row row;
	enum code code = currency_read(txn, table->identity.number, &row, err);

	return RESULT(code, out, is_exact(&row, table));
}

void currency_follow(const struct table *current, struct table *next)
{
	next->currency.version = current ? current->currency.version + 1 : 1;
	next->currency.layout = current && table_is_alike(current, next) ? current->currency.layout
									 : next->currency.version;
}

enum code currency_put(struct store_txn *txn, const struct table *table, uint64_t count,
		       struct err *err)
{
	struct currency_row row;
	enum code code = currency_read(txn, table->identity.number, &row, err);

	row = (struct currency_row){
		table->currency.version, table->currency.layout, count, txn->stack, true, row.lag};
	return code == OK ? currency_write(txn, table->identity.number, &row, err) : code;
}

enum code currency_del(struct store_txn *txn, const struct table *table, struct err *err)
{
	return currency_del_number(txn, table->identity.number, err);
}

/* With the rows that other shelves keep under keys that begin with the number. */
enum code currency_del_number(struct store_txn *txn, uint64_t number, struct err *err)
{
	char low[8], high[8];

	put_be64(low, number);
	put_be64(high, number + 1);
	const struct store_range range = {{low, sizeof(low)}, {high, sizeof(high)}, false};
	return store_del_range(txn, versions, &range, err);
}

enum code currency_mark(struct store_txn *txn, uint64_t number, uint64_t stack, struct err *err)
{
	struct currency_row row;
	enum code code = currency_read(txn, number, &row, err);

	row.stack = stack;
	return code == OK && row.is_there
		       ? currency_write(txn, number, &row, err)
		       : code; /* it is not there in a file that an older Dynalith wrote to */
}

enum code currency_put_lag(struct store_txn *txn, uint64_t number, struct str lag, struct err *err)
{
	struct currency_row row;
	enum code code = currency_read(txn, number, &row, err);

	row.lag = lag;
	return code == OK && row.is_there ? currency_write(txn, number, &row, err) : code;
}

static struct str version_key(struct arena *arena, struct str space)
{
	struct buf key = buf_in(arena);

	buf_add_str(&key, STR("changes/"));
	buf_add_str(&key, space);
	return buf_str(&key);
}

/* In a store of an older Dynalith the row begins where the catalog's version ended. */
static enum code space_version(struct store_txn *txn, struct str key, uint64_t *version,
			       struct err *err)
{
	struct str row;
	enum code code = store_get(txn, versions, key, err->arena, &row, err);

	if (code != OK)
		return code;
	if (!row_is_number(row, version))
		return row_malformed(err, versions, key);
	return str_is_set(row) ? OK : currency_catalog(txn, version, err);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Each change of a table raises the namespace's version too: so that is at least the table's,
 * whatever became of the table's row. */
enum code currency_renew(struct store_txn *txn, struct str space, struct table *table,
			 uint64_t stack, struct currency_row *row, struct err *err)
{
	uint64_t version = 0;
	enum code code = space_version(txn, version_key(err->arena, space), &version, err);

	if (code != OK)
		return code;
	version = later(later(version, row->is_there ? row->version : 0), table->currency.version) +
		  1;
	table->currency = (struct currency){version, version, version};
	*row = (struct currency_row){version, version, row->count, stack, true, row->lag};
	return currency_write(txn, table->identity.number, row, err);
}

enum code currency_stack(struct store_txn *txn, struct str space, uint64_t *stack, struct err *err)
{
	return row_get_number(txn, versions, space_key(err->arena, space), err->arena, stack, err);
}

enum code currency_arm(struct store_txn *txn, struct str space, struct err *err)
{
	uint64_t stack;
	enum code code = currency_stack(txn, space, &stack, err);

	return code == OK && stack ? arm(txn, stack, err) : code;
}

enum code currency_put_stack(struct store_txn *txn, struct str space, uint64_t stack,
			     uint64_t journal, struct err *err)
{
	struct str key = space_key(err->arena, space);
	char bytes[9], number[8];
	enum code code;

	put_be64(number, stack);
	code = journal ? store_put(txn, versions, key, (struct str){number, 8}, err)
		       : store_del(txn, versions, key, err);
	if (code != OK)
		return code;
	put_be64(number, journal);
	return journal ? store_put(txn, versions, stack_key(stack, bytes), (struct str){number, 8},
				   err)
		       : store_del(txn, versions, stack_key(stack, bytes), err);
}

enum code currency_catalog(struct store_txn *txn, uint64_t *version, struct err *err)
{
	return row_get_number(txn, versions, CATALOG_KEY, err->arena, version, err);
}

enum code currency_raise(struct store_txn *txn, struct str space, struct err *err)
{
	struct str key = version_key(err->arena, space);
	uint64_t version;
	char row[8];
	enum code code = store_intend(txn, &(struct store_key){versions, key}, err);

	if (code != OK)
		return code;
	code = space_version(txn, key, &version, err);
	if (code != OK)
		return code;
	put_be64(row, version + 1);
	return store_put(txn, versions, key, (struct str){row, sizeof(row)}, err);
}

/* The keys of shards that are open begin with the number of their table, as its own does: the row
 * of two numbers that such a key has. */
static bool is_of_shard(const struct store_row *row)
{
	struct row_reader key = row_read(row->key), value = row_read(row->value);

	(void)row_table(&key);
	(void)row_u64(&value);
	(void)row_u64(&value);
	return row_byte(&key) == 's' && !key.is_cut && key.rest.n <= 1 && row_is_whole(&value);
}

bool currency_is_sound(struct arena *arena, const struct store_row *row)
{
	struct currency_row out;
	uint64_t number;

	(void)arena;
	if (row->key.n == KEY_SIZE && !str_eq(row->key, CATALOG_KEY))
		return decode_currency(row->value, &out);
	bool is_numbered = str_eq(row->key, CATALOG_KEY) ||
			   str_starts_with(row->key, STR("namespace/")) ||
			   str_starts_with(row->key, STR("changes/")) ||
			   (row->key.n == KEY_SIZE + 1 && row_at(row->key, 0) == 's');
	return is_numbered ? row_is_number(row->value, &number) : is_of_shard(row);
}
