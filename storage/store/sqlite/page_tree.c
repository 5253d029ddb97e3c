#include "storage/store/sqlite/page_tree.h"

#include "core/be.h"
#include "storage/store/sqlite/btree_page.h"
#include "storage/store/sqlite/page_file.h"

#define INNER_HEAD 12
#define LEAF_HEAD 8
#define BLOB_TYPE 12      /* of a record's columns: a blob of n bytes has this and 2 n more */
#define PAYLOAD_MAX (16 << 20) /* bytes; what is longer, or damaged so that it seems to be, is left to SQLite */
#define PREFETCHED_CELLS 16
#define OVERFLOW_HEAD 4   /* the number of the next page */

/* A cell's payload: the columns of a record. */
struct payload {
	struct str local;
	uint32_t overflow; /* the page where it goes on, or 0 */
	size_t size;
};

struct page_tree page_tree_of(struct snapshot *snapshot, struct page_roots roots)
{
	return (struct page_tree){.snapshot = snapshot, .roots = roots};
}

/* A page of a b-tree of the kind that has that leaf; an inner page's first byte is 8 less. */
static bool open_level(const struct page_tree *tree, uint32_t number, enum btree_kind leaf, struct page_level *level)
{
	const unsigned char *bytes = number > 1 ? snapshot_page(tree->snapshot, number) : NULL;

	if (!bytes || (bytes[0] | 8) != (unsigned char)leaf)
		return false;
	*level = (struct page_level){.bytes = bytes, .count = be16(bytes + 3), .is_inner = bytes[0] != (unsigned char)leaf};
	return INNER_HEAD + 2 * (size_t)level->count <= tree->roots.usable;
}

static size_t cell_place(const struct page_level *level, unsigned i)
{
	return be16(level->bytes + (level->is_inner ? INNER_HEAD : LEAF_HEAD) + 2 * (size_t)i);
}

/* What is left of an inner page's cell, or right of the last one. */
static uint32_t child_of(const struct page_level *level, size_t usable, unsigned i)
{
	if (i >= level->count)
		return be32(level->bytes + 8);
	size_t place = cell_place(level, i);
	return place + 4 <= usable ? be32(level->bytes + place) : 0;
}

/* A number of one or two bytes, as nearly all are; false for others. There are two bytes to read. */
static inline bool short_varint(const unsigned char **p, size_t *value)
{
	const unsigned char *at = *p;

	if (!(at[0] & 0x80)) {
		*value = at[0];
		*p = at + 1;
		return true;
	}
	if (at[1] & 0x80)
		return false;
	*value = (size_t)(at[0] & 0x7F) << 7 | at[1];
	*p = at + 2;
	return true;
}

/* The payload of an index's cell, or of one of a table that is one b-tree, and its first column. False where it goes on in other pages: see slow_entry(). */
static inline bool quick_key(const struct page_level *level, size_t usable, unsigned i, struct str *payload, struct str *key)
{
	size_t place = cell_place(level, i) + (level->is_inner ? 4 : 0), most = (usable - 12) * 64 / 255 - 23, size, type;
	const unsigned char *p = level->bytes + place;

	if (place + 8 > usable || !short_varint(&p, &size) || size > most || size < 3 || (size_t)(p - level->bytes) + size > usable)
		return false;
	const unsigned char *head = p + 1;
	if (!short_varint(&head, &type) || type < BLOB_TYPE || p[0] & 0x80 || p[0] + (type - BLOB_TYPE) / 2 > size)
		return false;
	*payload = (struct str){(const char *)p, size};
	*key = (struct str){(const char *)p + p[0], (type - BLOB_TYPE) / 2};
	return true;
}

static bool cell_payload(const struct page_level *level, size_t usable, unsigned i, struct payload *payload)
{
	struct btree_page page;
	struct btree_cell cell;

	if (!btree_page_open(level->bytes, 2, usable, &page) || !btree_page_cell(&page, i, &cell) || cell.size > PAYLOAD_MAX)
		return false;
	*payload = (struct payload){cell.local, cell.overflow, (size_t)cell.size};
	return true;
}

/* Copies bytes of a payload from where it goes on: `from` counts from there. */
static bool copy_overflow(const struct page_tree *tree, uint32_t number, size_t from, size_t n, char *out)
{
	size_t each = tree->roots.usable - OVERFLOW_HEAD;

	while (n > 0) {
		const unsigned char *page = number > 1 ? snapshot_page(tree->snapshot, number) : NULL;

		if (!page)
			return false;
		if (from < each) {
			size_t step = each - from < n ? each - from : n;

			memcpy(out, page + OVERFLOW_HEAD + from, step);
			out += step;
			n -= step;
			from = each;
		}
		from -= each;
		number = be32(page);
	}
	return true;
}

static bool copy_payload(const struct page_tree *tree, const struct payload *payload, size_t from, size_t n, char *out)
{
	size_t local = from < payload->local.n ? payload->local.n - from : 0;

	if (from > payload->size || n > payload->size - from)
		return false;
	if (local > n)
		local = n;
	memcpy(out, payload->local.p + (local ? from : 0), local);
	return local == n || copy_overflow(tree, payload->overflow, from + local - payload->local.n, n - local, out + local);
}

/* Takes a record of two columns apart: a key, and a number or a value. */
static bool read_entry(struct str payload, struct page_entry *entry)
{
	struct btree_column columns[2];

	if (!btree_page_record(payload, columns, 2) || !str_is_set(columns[0].bytes))
		return false;
	*entry = (struct page_entry){columns[0].bytes, !str_is_set(columns[1].bytes), columns[1].integer, columns[1].bytes};
	return true;
}

/* An entry whose payload goes on in other pages, or has another form. */
static bool slow_entry(const struct page_tree *tree, const struct page_level *level, unsigned i, struct arena *arena, struct page_entry *entry)
{
	struct payload payload;

	if (!cell_payload(level, tree->roots.usable, i, &payload))
		return false;
	if (payload.overflow == 0)
		return read_entry(payload.local, entry);
	char *bytes = arena_bytes(arena, payload.size);
	return copy_payload(tree, &payload, 0, payload.size, bytes) && read_entry((struct str){bytes, payload.size}, entry);
}

/* The second column of an index's entry is nearly always a positive number of up to four bytes. */
static inline bool quick_number(struct str payload, struct str key, int64_t *number)
{
	const unsigned char *p = (const unsigned char *)key.p + key.n;
	size_t n = (size_t)(payload.p + payload.n - key.p) - key.n, type = (unsigned char)key.p[-1];
	uint64_t value = 0;

	if (type != n || n < 1 || n > 4 || p[0] & 0x80)
		return false;
	for (size_t i = 0; i < n; i++)
		value = value << 8 | p[i];
	*number = (int64_t)value;
	return true;
}

static bool entry_at(const struct page_tree *tree, const struct page_level *level, unsigned i, struct arena *arena, struct page_entry *entry)
{
	struct str payload, key;

	if (!quick_key(level, tree->roots.usable, i, &payload, &key))
		return slow_entry(tree, level, i, arena, entry);
	*entry = (struct page_entry){.key = key, .has_number = true};
	return quick_number(payload, key, &entry->number) || read_entry(payload, entry);
}

static inline uint64_t first_eight(struct str s)
{
	return (uint64_t)be32(s.p) << 32 | be32(s.p + 4);
}

/* As SQLite orders blobs: by bytes, the shorter one first. `first` are the bytes that `b` begins with, where it has eight. */
static inline int compare(struct str a, struct str b, uint64_t first)
{
	if (a.n >= 8 && b.n >= 8) {
		uint64_t own = first_eight(a);

		if (own != first)
			return own < first ? -1 : 1;
	}
	return str_cmp(a, b);
}

/* Puts the level before the first cell whose key is not less. */
static bool seek_key(const struct page_tree *tree, struct page_level *level, struct str key, struct arena *arena, bool *is_there)
{
	uint64_t first = key.n >= 8 ? first_eight(key) : 0;
	unsigned low = 0, high = level->count;

	*is_there = false;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		struct str payload, own;

		if (!quick_key(level, tree->roots.usable, middle, &payload, &own)) {
			struct page_entry entry;

			if (!slow_entry(tree, level, middle, arena, &entry))
				return false;
			own = entry.key;
		}
		int order = compare(own, key, first);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
		*is_there = order == 0;
		if (*is_there)
			break;
	}
	level->at = high;
	return true;
}

static bool find_entry(const struct page_tree *tree, struct str key, struct arena *arena, struct page_entry *entry)
{
	struct page_level level;
	uint32_t number = tree->roots.keys;
	bool is_there = false;

	entry->key = STR_ABSENT;
	for (unsigned depth = 0; depth < PAGE_TREE_DEPTH; depth++) {
		if (!open_level(tree, number, BTREE_INDEX_LEAF, &level))
			return false;
		page_prefetch(level.bytes);
		if (!seek_key(tree, &level, key, arena, &is_there))
			return false;
		if (is_there)
			return entry_at(tree, &level, level.at, arena, entry);
		if (!level.is_inner)
			return true;
		number = child_of(&level, tree->roots.usable, level.at);
	}
	return false;
}

/* The number of a row in a table's cell. */
static inline bool row_number(const struct page_tree *tree, const struct page_level *level, unsigned i, int64_t *number)
{
	size_t place = cell_place(level, i);
	const unsigned char *p = level->bytes + place, *end = level->bytes + tree->roots.usable;

	if (place + 4 > tree->roots.usable)
		return false;
	if (level->is_inner)
		p += 4;
	else /* past the payload's size */
		while (*p++ & 0x80 && p < end)
			continue;
	uint64_t value = 0;
	for (int k = 0; k < 8 && p < end; k++) {
		value = value << 7 | (*p & 0x7F);
		if (!(*p++ & 0x80)) {
			*number = (int64_t)value;
			return true;
		}
	}
	struct btree_page page;
	struct btree_cell cell;
	if (!btree_page_open(level->bytes, 2, tree->roots.usable, &page) || !btree_page_cell(&page, i, &cell))
		return false;
	*number = (int64_t)cell.rowid;
	return true;
}

/* Puts the level before the first cell whose number is not less. */
static bool seek_number(const struct page_tree *tree, struct page_level *level, int64_t number, bool *is_there)
{
	unsigned low = 0, high = level->count;
	int64_t own;

	*is_there = false;
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (!row_number(tree, level, middle, &own))
			return false;
		if (own < number)
			low = middle + 1;
		else
			high = middle;
		*is_there = *is_there || own == number;
	}
	level->at = low;
	return true;
}

/* Whether the leaf that had the last row has this one; rows that were written together lie together. */
static bool is_in_leaf(const struct page_tree *tree, struct page_level *level, int64_t number, bool *is_there)
{
	int64_t first, last;

	if (!tree->leaf)
		return false;
	*level = (struct page_level){.bytes = tree->leaf, .count = be16(tree->leaf + 3)};
	return level->count > 0 && row_number(tree, level, 0, &first) && row_number(tree, level, level->count - 1, &last) && first <= number &&
	       number <= last && seek_number(tree, level, number, is_there);
}

/* The heads of a leaf's cells, which seek_number() compares, so that they come into the processor's cache together. The leaf of a table has few. */
static void prefetch_cells(const struct page_level *level)
{
	for (unsigned i = 0; i < level->count && i < PREFETCHED_CELLS && !level->is_inner; i++)
		__builtin_prefetch(level->bytes + cell_place(level, i));
}

/* The payload of a row; without size where there is none. */
static bool find_row(struct page_tree *tree, int64_t row, struct payload *payload)
{
	struct page_level level;
	uint32_t number = tree->roots.rows;
	bool is_there = false, is_leaf = is_in_leaf(tree, &level, row, &is_there);

	for (unsigned depth = 0; depth < PAGE_TREE_DEPTH && !is_leaf; depth++) {
		if (!open_level(tree, number, BTREE_TABLE_LEAF, &level))
			return false;
		prefetch_cells(&level);
		if (!seek_number(tree, &level, row, &is_there))
			return false;
		is_leaf = !level.is_inner;
		if (!is_leaf)
			number = child_of(&level, tree->roots.usable, level.at);
	}
	*payload = (struct payload){.size = 0};
	if (!is_leaf)
		return false;
	tree->leaf = level.bytes;
	return !is_there || cell_payload(&level, tree->roots.usable, level.at, payload);
}

/* Where the two columns of a row begin, both blobs. */
struct columns {
	size_t key, value, end;
};

static bool row_columns(const struct payload *payload, struct columns *columns)
{
	const unsigned char *start = (const unsigned char *)payload->local.p, *p = start + 1;
	uint64_t sizes[2];

	/* a head of a record has five bytes at most, the local part of a row many more */
	if (payload->local.n < 3 || start[0] > payload->local.n || start[0] & 0x80)
		return false;
	for (int i = 0; i < 2; i++) {
		uint64_t type = 0;

		while (p < start + start[0] && *p & 0x80)
			type = type << 7 | (*p++ & 0x7F);
		if (p >= start + start[0])
			return false;
		type = type << 7 | *p++;
		if (type < BLOB_TYPE || type > UINT32_MAX)
			return false;
		sizes[i] = (type - BLOB_TYPE) / 2;
	}
	*columns = (struct columns){start[0], start[0] + sizes[0], start[0] + sizes[0] + sizes[1]};
	return p == start + start[0] && columns->end == payload->size;
}

/* A row with its key and its value, or its value alone. */
static bool copy_row(const struct page_tree *tree, const struct payload *payload, bool has_key, struct arena *arena, struct store_row *row)
{
	struct columns columns;

	if (!row_columns(payload, &columns))
		return false;
	size_t from = has_key ? columns.key : columns.value, key_n = columns.value - from, n = columns.end - from;
	char *bytes = arena_bytes(arena, n + 1);
	if (!copy_payload(tree, payload, from, n, bytes))
		return false;
	bytes[n] = '\0';
	*row = (struct store_row){{bytes, key_n}, {bytes + key_n, n - key_n}};
	return true;
}

bool page_tree_row(struct page_tree *tree, int64_t number, struct arena *arena, struct store_row *row)
{
	struct payload payload;

	*row = (struct store_row){STR_ABSENT, STR_ABSENT};
	return find_row(tree, number, &payload) && (payload.size == 0 || copy_row(tree, &payload, true, arena, row));
}

/* What a key leads to in a table that is one b-tree: the number of a row means that the row stands for it. */
static struct str entry_value(const struct page_entry *entry)
{
	return entry->has_number ? STORE_REFERENCE : entry->value;
}

bool page_tree_get(struct page_tree *tree, struct str key, struct arena *arena, struct str *value)
{
	struct page_entry entry;
	struct payload payload;
	struct store_row row;

	*value = STR_ABSENT;
	if (!find_entry(tree, key, arena, &entry))
		return false;
	if (!str_is_set(entry.key))
		return true;
	if (tree->roots.rows == 0) {
		*value = str_copy(arena, entry_value(&entry));
		return true;
	}
	if (!entry.has_number || !find_row(tree, entry.number, &payload) || !copy_row(tree, &payload, false, arena, &row))
		return false;
	*value = row.value;
	return true;
}

static bool push(struct page_tree_cursor *cursor, uint32_t number)
{
	if (cursor->depth == PAGE_TREE_DEPTH || !open_level(cursor->tree, number, BTREE_INDEX_LEAF, &cursor->levels[cursor->depth]))
		return false;
	page_prefetch(cursor->levels[cursor->depth].bytes);
	cursor->depth++;
	return true;
}

static struct page_level *top(struct page_tree_cursor *cursor)
{
	return &cursor->levels[cursor->depth - 1];
}

bool page_tree_seek(struct page_tree_cursor *cursor, struct page_tree *tree, const struct store_range *range, struct arena *arena)
{
	struct str bound = range->is_reverse ? range->high : range->low;
	uint32_t number = tree->roots.keys;
	bool is_there = false, is_leaf = false;

	cursor->tree = tree;
	cursor->arena = arena;
	cursor->range = *range;
	cursor->depth = 0;
	/* a cursor that goes forwards reaches an inner page's cell with the bound as its key from the end of the child left of it */
	while (!is_leaf) {
		if (!push(cursor, number))
			return false;
		struct page_level *level = top(cursor);
		level->at = range->is_reverse ? level->count : 0;
		if (str_is_set(bound) && !seek_key(tree, level, bound, arena, &is_there))
			return false;
		is_leaf = !level->is_inner;
		if (!is_leaf)
			number = child_of(level, tree->roots.usable, level->at);
	}
	return true;
}

/* From an inner page's cell, which was read last, to the leaf beside it. */
static bool leave_inner(struct page_tree_cursor *cursor)
{
	bool is_reverse = cursor->range.is_reverse;
	struct page_level *level = top(cursor);

	if (!is_reverse)
		level->at++;
	while (level->is_inner) {
		if (!push(cursor, child_of(level, cursor->tree->roots.usable, level->at)))
			return false;
		level = top(cursor);
		level->at = is_reverse ? level->count : 0;
	}
	return true;
}

static bool is_over(const struct page_level *level, bool is_reverse)
{
	return is_reverse ? level->at == 0 : level->at >= level->count;
}

/* Whether a key lies beyond the end that the cursor goes to. */
static bool is_beyond(const struct store_range *range, struct str key)
{
	if (range->is_reverse)
		return str_is_set(range->low) && str_cmp(key, range->low) < 0;
	return str_is_set(range->high) && str_cmp(key, range->high) >= 0;
}

bool page_tree_next(struct page_tree_cursor *cursor, struct page_entry *entry)
{
	bool is_reverse = cursor->range.is_reverse;

	entry->key = STR_ABSENT;
	if (cursor->depth == 0)
		return true;
	if (top(cursor)->is_inner && !leave_inner(cursor))
		return false;
	while (cursor->depth > 0 && is_over(top(cursor), is_reverse))
		cursor->depth--;
	if (cursor->depth == 0)
		return true;
	struct page_level *level = top(cursor);
	if (!entry_at(cursor->tree, level, is_reverse ? level->at - 1 : level->at, cursor->arena, entry))
		return false;
	/* a leaf's cell is passed; an inner page's has a child on its other side, where leave_inner() goes */
	if (is_reverse)
		level->at--;
	else if (!level->is_inner)
		level->at++;
	if (is_beyond(&cursor->range, entry->key)) {
		entry->key = STR_ABSENT;
		cursor->depth = 0;
	}
	return true;
}

bool page_tree_entry_row(struct page_tree_cursor *cursor, const struct page_entry *entry, struct store_row *row)
{
	struct page_tree *tree = cursor->tree;
	struct payload payload;

	if (tree->roots.rows != 0)
		return entry->has_number && find_row(tree, entry->number, &payload) && copy_row(tree, &payload, true, cursor->arena, row);
	*row = (struct store_row){str_copy(cursor->arena, entry->key), str_copy(cursor->arena, entry_value(entry))};
	return true;
}
