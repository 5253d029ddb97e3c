#include "storage/catalog/size_rows.h"

#include "core/buf.h"
#include "storage/store/row.h"

#define SIZE STR("size/")
#define COUNT STR("count/")
#define UNFLUSHED STR("unflushed/")
#define LIFE STR("life/")
#define NUMBER_BYTES 8
#define SLOT_BYTES 4
#define KEY_BYTES 40 /* more than any key has */

static const struct keyspace counters = {0, SYSTEM_COUNTERS};

/* A key of fixed size, built where it is used. */
struct key {
	size_t n;
	char bytes[KEY_BYTES];
};

static struct str str_of_key(const struct key *key)
{
	return (struct str){key->bytes, key->n};
}

static struct key key_of(struct str prefix)
{
	struct key key = {.n = prefix.n};

	memcpy(key.bytes, prefix.p, prefix.n);
	return key;
}

static void add_be(struct key *key, uint64_t number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		key->bytes[key->n++] = (char)(number >> (8 * (n - 1 - i)));
}

static struct key key_of_slot(uint64_t table, uint64_t epoch, uint32_t slot, char what)
{
	struct key key = key_of(SIZE);

	add_be(&key, table, NUMBER_BYTES);
	add_be(&key, epoch, NUMBER_BYTES);
	add_be(&key, slot, SLOT_BYTES);
	key.bytes[key.n++] = what;
	return key;
}

/* All keys that begin with these bytes. */
static struct store_range range_of(const struct key *low, struct key *high)
{
	*high = *low;
	high->bytes[high->n++] = (char)0xFF; /* no number of ours begins so */
	return (struct store_range){str_of_key(low), str_of_key(high), false};
}

static enum code add(struct store_txn *txn, const struct key *key, long long delta, struct err *err)
{
	return delta ? store_add(txn, counters, str_of_key(key), delta, err) : OK;
}

enum code size_rows_add(struct store_txn *txn, uint64_t table, uint64_t epoch,
			const struct tally_slot *change, struct err *err)
{
	struct key items = key_of_slot(table, epoch, change->slot, 'i'),
		   bytes = key_of_slot(table, epoch, change->slot, 'b');
	enum code code = add(txn, &items, change->change.items, err);

	return code == OK ? add(txn, &bytes, change->change.bytes, err) : code;
}

static bool take_size_number(struct arena *arena, struct size_rows *rows,
			     const struct store_row *row)
{
	struct row_reader key = row_read(row_behind(row->key, SIZE.n + 2 * NUMBER_BYTES));
	uint32_t slot = row_u32(&key);
	unsigned what = row_byte(&key);
	uint64_t number;

	if (!row_is_whole(&key) || (what != 'i' && what != 'b') ||
	    !row_is_number(row->value, &number))
		return false;
	if (rows->n == 0 || rows->slots[rows->n - 1].slot != slot) {
		rows->slots = arena_room(arena, rows->slots, rows->n, sizeof(*rows->slots));
		rows->slots[rows->n++] = (struct tally_slot){.slot = slot};
	}
	struct size_change *change = &rows->slots[rows->n - 1].change;
	*(what == 'i' ? &change->items : &change->bytes) = (int64_t)number;
	return true;
}

enum code size_rows_read(struct store_txn *txn, struct arena *arena, uint64_t table, uint64_t epoch,
			 struct size_rows *rows, struct err *err)
{
	struct key low = key_of(SIZE), high;
	struct store_page page;

	*rows = (struct size_rows){0, NULL};
	add_be(&low, table, NUMBER_BYTES);
	add_be(&low, epoch, NUMBER_BYTES);
	struct store_range range = range_of(&low, &high);
	/* two rows for each of at most 31 slots: one page */
	enum code code =
		store_page(txn, counters, &range, (struct store_bounds){0, 0}, arena, &page, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		if (!take_size_number(arena, rows, &page.v[i]))
			code = row_malformed(err, counters, page.v[i].key);
		if (code != OK)
			return code;
	}
	return OK;
}

struct size_change size_rows_of(const struct size_rows *rows, uint32_t slot)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->slots[i].slot == slot)
			return rows->slots[i].change;
	}
	return (struct size_change){0, 0};
}

static enum code drop_range(struct store_txn *txn, const struct key *low, struct err *err)
{
	struct key high;
	struct store_range range = range_of(low, &high);

	return store_del_range(txn, counters, &range, err);
}

enum code size_rows_drop_slot(struct store_txn *txn, uint64_t table, uint64_t epoch, uint32_t slot,
			      struct err *err)
{
	struct key items = key_of_slot(table, epoch, slot, 'i'),
		   bytes = key_of_slot(table, epoch, slot, 'b');
	enum code code = store_del(txn, counters, str_of_key(&items), err);

	return code == OK ? store_del(txn, counters, str_of_key(&bytes), err) : code;
}

enum code size_rows_drop_epoch(struct store_txn *txn, uint64_t table, uint64_t epoch,
			       struct err *err)
{
	struct key low = key_of(SIZE);

	add_be(&low, table, NUMBER_BYTES);
	add_be(&low, epoch, NUMBER_BYTES);
	return drop_range(txn, &low, err);
}

static struct key key_of_count(uint64_t table)
{
	struct key key = key_of(COUNT);

	add_be(&key, table, NUMBER_BYTES);
	return key;
}

enum code size_rows_put_count(struct store_txn *txn, struct arena *arena,
			      const struct size_count *count, struct err *err)
{
	struct key key = key_of_count(count->table);
	struct buf value = buf_in(arena);

	buf_add_be64(&value, count->epoch);
	buf_add_be64(&value, count->record.n);
	buf_add_str(&value, count->record);
	buf_add_str(&value, count->next);
	return store_put(txn, counters, str_of_key(&key), buf_str(&value), err);
}

enum code size_rows_del_count(struct store_txn *txn, uint64_t table, struct err *err)
{
	struct key key = key_of_count(table);

	return store_del(txn, counters, str_of_key(&key), err);
}

enum code size_rows_drop(struct store_txn *txn, uint64_t table, struct err *err)
{
	struct key low = key_of(SIZE);

	add_be(&low, table, NUMBER_BYTES);
	enum code code = drop_range(txn, &low, err);
	return code == OK ? size_rows_del_count(txn, table, err) : code;
}

static bool read_count(struct str value, struct size_count *count)
{
	struct row_reader row = row_read(value);

	count->epoch = row_u64(&row);
	count->record = row_take(&row, row_u64(&row));
	count->next = row_rest(&row);
	return row_is_whole(&row);
}

static bool read_count_row(const struct store_row *row, struct size_count *count)
{
	struct row_reader key = row_read(row_behind(row->key, COUNT.n));

	count->table = row_table(&key);
	return row_is_whole(&key) && read_count(row->value, count);
}

enum code size_rows_get_count(struct store_txn *txn, struct arena *arena, uint64_t table,
			      struct size_count *count, bool *is_there, struct err *err)
{
	struct key key = key_of_count(table);
	struct str value;
	enum code code = store_get(txn, counters, str_of_key(&key), arena, &value, err);

	count->table = table;
	*is_there = code == OK && str_is_set(value);
	return *is_there && !read_count(value, count)
		       ? row_malformed(err, counters, str_of_key(&key))
		       : code;
}

enum code size_rows_next_count(struct store_txn *txn, struct arena *arena, uint64_t after,
			       struct size_count *count, bool *is_there, struct err *err)
{
	struct key low = key_of_count(after + 1), prefix = key_of(COUNT), high;
	struct store_range range = {str_of_key(&low), range_of(&prefix, &high).high, false};
	struct store_page page = {.n = 0};
	enum code code =
		store_page(txn, counters, &range, (struct store_bounds){1, 0}, arena, &page, err);

	*is_there = code == OK && page.n == 1;
	if (!*is_there)
		return code;
	return read_count_row(&page.v[0], count) ? OK : row_malformed(err, counters, page.v[0].key);
}

static struct key key_of_mark(uint64_t process, uint64_t table)
{
	struct key key = key_of(UNFLUSHED);

	add_be(&key, process, NUMBER_BYTES);
	add_be(&key, table, NUMBER_BYTES);
	return key;
}

enum code size_rows_put_mark(struct store_txn *txn, struct arena *arena,
			     const struct size_mark *mark, struct err *err)
{
	struct key key = key_of_mark(mark->process, mark->table);
	struct buf value = buf_in(arena);

	buf_add_be64(&value, mark->epoch);
	buf_add_be64(&value, mark->flushes);
	buf_add_str(&value, mark->record);
	return store_put(txn, counters, str_of_key(&key), buf_str(&value), err);
}

enum code size_rows_hold_mark(struct store_txn *txn, struct arena *arena, uint64_t process,
			      uint64_t table, struct err *err)
{
	struct key key = key_of_mark(process, table);
	struct str ignored;

	return store_get(txn, counters, str_of_key(&key), arena, &ignored, err);
}

enum code size_rows_del_mark(struct store_txn *txn, struct arena *arena, uint64_t process,
			     uint64_t table, struct err *err)
{
	struct key key = key_of_mark(process, table);
	struct str value;
	enum code code = store_get(txn, counters, str_of_key(&key), arena, &value, err);

	return code == OK && str_is_set(value) ? store_del(txn, counters, str_of_key(&key), err)
					       : code;
}

static bool read_mark(const struct store_row *row, struct size_mark *mark)
{
	struct row_reader key = row_read(row_behind(row->key, UNFLUSHED.n)),
			  value = row_read(row->value);

	*mark = (struct size_mark){.process = row_u64(&key), .epoch = row_u64(&value)};
	mark->table = row_table(&key);
	mark->flushes = row_u64(&value);
	mark->record = row_rest(&value);
	return row_is_whole(&key) && row_is_whole(&value);
}

enum code size_rows_marks(struct store_txn *txn, struct arena *arena, const struct size_mark *after,
			  size_t limit, struct size_mark **out, size_t *n, struct err *err)
{
	struct key low = after ? key_of_mark(after->process, after->table + 1) : key_of(UNFLUSHED),
		   prefix = key_of(UNFLUSHED), high;
	struct store_range range = {str_of_key(&low), range_of(&prefix, &high).high, false};
	struct store_page page = {.n = 0};
	enum code code = store_page(txn, counters, &range, (struct store_bounds){limit, 0}, arena,
				    &page, err);

	struct size_mark *marks = ARENA_ARRAY(arena, struct size_mark, page.n);
	size_t count = 0;
	while (code == OK && count < page.n) {
		code = read_mark(&page.v[count], &marks[count])
			       ? OK
			       : row_malformed(err, counters, page.v[count].key);
		count++;
	}
	(void)RESULT(code, out, marks);
	return RESULT(code, n, count);
}

static struct key key_of_life(uint64_t process)
{
	struct key key = key_of(LIFE);

	add_be(&key, process, NUMBER_BYTES);
	return key;
}

enum code size_rows_life(struct store_txn *txn, uint64_t process, int64_t *life, struct err *err)
{
	struct key key = key_of_life(process);
	uint64_t number;
	enum code code = row_get_number(txn, counters, str_of_key(&key), err->arena, &number, err);

	*life = (int64_t)number;
	return code;
}

enum code size_rows_live(struct store_txn *txn, uint64_t process, struct err *err)
{
	struct key key = key_of_life(process);

	return store_add(txn, counters, str_of_key(&key), 1, err);
}

enum code size_rows_end_life(struct store *store, uint64_t process, struct err *err)
{
	struct key key = key_of_life(process);
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = store_del(txn, counters, str_of_key(&key), err);
	return store_end(txn, code, err);
}

bool size_rows_is_key(struct str key)
{
	return str_starts_with(key, LIFE) || str_starts_with(key, SIZE) ||
	       str_starts_with(key, COUNT) || str_starts_with(key, UNFLUSHED);
}

bool size_rows_is_sound(struct arena *arena, const struct store_row *row)
{
	struct size_rows numbers = {0, NULL};
	struct size_count count;
	struct size_mark mark;

	if (str_starts_with(row->key, SIZE))
		return take_size_number(arena, &numbers, row);
	return str_starts_with(row->key, COUNT) ? read_count_row(row, &count)
						: read_mark(row, &mark);
}
