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

struct page_tree page_tree_of(struct snapshot *snapshot, struct page_roots roots)
{
	return (struct page_tree){.snapshot = snapshot, .roots = roots};
}

/* A page that is not the first; NULL where it cannot be read. */
static const unsigned char *read_page(const struct page_tree *tree, uint32_t number)
{
	return number > 1 ? snapshot_page(tree->snapshot, number) : NULL;
}

/* A page of a b-tree of the kind that has that leaf; an inner page's first byte is 8 less. */
static bool level_of(const struct page_tree *tree, const unsigned char *bytes, enum btree_kind leaf, struct page_level *level)
{
	if (!bytes || (bytes[0] | 8) != (unsigned char)leaf)
		return false;
	*level = (struct page_level){.bytes = bytes, .count = be16(bytes + 3), .is_inner = bytes[0] != (unsigned char)leaf};
	return INNER_HEAD + 2 * (size_t)level->count <= tree->roots.usable;
}

static bool open_level(const struct page_tree *tree, uint32_t number, enum btree_kind leaf, struct page_level *level)
{
	return level_of(tree, read_page(tree, number), leaf, level);
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

static bool cell_payload(const struct page_level *level, size_t usable, unsigned i, struct page_payload *payload)
{
	struct btree_page page;
	struct btree_cell cell;

	if (!btree_page_open(level->bytes, 2, usable, &page) || !btree_page_cell(&page, i, &cell) || cell.size > PAYLOAD_MAX)
		return false;
	*payload = (struct page_payload){cell.local, cell.overflow, (size_t)cell.size};
	return true;
}

/* Copies bytes of a payload from where it goes on: `from` counts from there. */
static bool copy_overflow(const struct page_tree *tree, uint32_t number, size_t from, size_t n, char *out)
{
	size_t each = tree->roots.usable - OVERFLOW_HEAD;

	while (n > 0) {
		const unsigned char *page = read_page(tree, number);

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

static bool copy_payload(const struct page_tree *tree, const struct page_payload *payload, size_t from, size_t n, char *out)
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
	*entry = (struct page_entry){.key = columns[0].bytes, .has_number = !str_is_set(columns[1].bytes), .number = columns[1].integer, .value = columns[1].bytes};
	return true;
}

/* An entry whose payload goes on in other pages, or has another form. */
static bool slow_entry(const struct page_tree *tree, const struct page_level *level, unsigned i, struct arena *arena, struct page_entry *entry)
{
	struct page_payload payload;

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

/* What keys lead to, level by level for all of them; entries without key: there is no such row. */
static bool find_entries(const struct page_tree *tree, const struct str *keys, size_t n, struct arena *arena, struct page_entry *entries)
{
	uint32_t numbers[PAGE_TREE_GROUP];
	struct page_level levels[PAGE_TREE_GROUP];
	size_t left = n;

	for (size_t i = 0; i < n; i++) {
		numbers[i] = tree->roots.keys;
		entries[i] = (struct page_entry){.key = STR_ABSENT};
	}
	for (unsigned depth = 0; left > 0; depth++) {
		if (depth == PAGE_TREE_DEPTH)
			return false;
		for (size_t i = 0; i < n && n > 1; i++)
			snapshot_prefetch(tree->snapshot, numbers[i]);
		for (size_t i = 0; i < n; i++) {
			if (numbers[i] != 0 && !open_level(tree, numbers[i], BTREE_INDEX_LEAF, &levels[i]))
				return false;
			if (numbers[i] != 0)
				page_prefetch(levels[i].bytes);
		}
		for (size_t i = 0; i < n; i++) {
			bool is_there = false;

			if (numbers[i] == 0)
				continue;
			if (!seek_key(tree, &levels[i], keys[i], arena, &is_there) || (is_there && !entry_at(tree, &levels[i], levels[i].at, arena, &entries[i])))
				return false;
			bool is_over = is_there || !levels[i].is_inner;
			numbers[i] = is_over ? 0 : child_of(&levels[i], tree->roots.usable, levels[i].at);
			if (!is_over && numbers[i] == 0)
				return false;
			left -= is_over;
		}
	}
	return true;
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

/* A leaf of rows. */
static bool open_leaf(const struct page_tree *tree, const unsigned char *bytes, struct page_level *level)
{
	return level_of(tree, bytes, BTREE_TABLE_LEAF, level) && !level->is_inner;
}

/*
 * The number of the leaf that has the row if there is one; 0 where a page cannot be read. The first look-up reads its leaf, and so learns the depth of all
 * leaves. Later ones leave *bytes NULL and do not read the leaf, so that the caller can prefetch it. Rows that were written together lie together: it tries
 * the last leaf first.
 */
static uint32_t find_leaf(struct page_tree *tree, int64_t row, const unsigned char **bytes)
{
	int64_t after = INT64_MIN, last = INT64_MAX;
	uint32_t number = tree->roots.rows;
	bool is_there;

	*bytes = NULL;
	if (tree->leaf.number != 0 && tree->leaf.after < row && row <= tree->leaf.last)
		return tree->leaf.number;
	tree->leaf.number = 0;
	for (unsigned depth = 0; depth == 0 || depth != tree->leaf.depth; depth++) {
		struct page_level level;

		if (depth == PAGE_TREE_DEPTH || !open_level(tree, number, BTREE_TABLE_LEAF, &level))
			return 0;
		if (!level.is_inner) {
			tree->leaf.depth = depth;
			*bytes = level.bytes;
			return number;
		}
		if (!seek_number(tree, &level, row, &is_there))
			return 0;
		if (tree->leaf.depth != 0 && ((level.at > 0 && !row_number(tree, &level, level.at - 1, &after)) ||
					      (level.at < level.count && !row_number(tree, &level, level.at, &last))))
			return 0;
		number = child_of(&level, tree->roots.usable, level.at);
	}
	tree->leaf.number = number;
	tree->leaf.after = after;
	tree->leaf.last = last;
	return number;
}

/* The heads of a leaf's cells, which seek_number() compares, so that they come into the processor's cache together. The leaf of a table has few. */
static bool prefetch_cells(const struct page_tree *tree, const unsigned char *leaf)
{
	struct page_level level;

	if (!open_leaf(tree, leaf, &level))
		return false;
	for (unsigned i = 0; i < level.count && i < PREFETCHED_CELLS; i++)
		__builtin_prefetch(leaf + cell_place(&level, i));
	return true;
}

/* The payload of a row; without size where there is none. */
static bool find_in_leaf(const struct page_tree *tree, const unsigned char *leaf, int64_t row, struct page_payload *payload)
{
	struct page_level level;
	bool is_there;

	*payload = (struct page_payload){.size = 0};
	if (!open_leaf(tree, leaf, &level) || !seek_number(tree, &level, row, &is_there))
		return false;
	return !is_there || cell_payload(&level, tree->roots.usable, level.at, payload);
}

static void prefetch_bytes(struct str bytes)
{
	for (size_t at = 0; at < bytes.n; at += PAGE_LINE)
		__builtin_prefetch(bytes.p + at);
}

/* The leaves of the entries that have numbers; NULL for others. The first line of each is prefetched. */
static bool find_leaves(struct page_tree *tree, const struct page_entry *entries, size_t n, const unsigned char **leaves)
{
	uint32_t numbers[PAGE_TREE_GROUP];

	for (size_t i = 0; i < n; i++) {
		leaves[i] = NULL;
		numbers[i] = entries[i].has_number ? find_leaf(tree, entries[i].number, &leaves[i]) : 0;
		if (numbers[i] == 0 && entries[i].has_number)
			return false;
		if (!leaves[i])
			snapshot_prefetch(tree->snapshot, numbers[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (leaves[i] || !entries[i].has_number)
			continue;
		leaves[i] = i > 0 && numbers[i] == numbers[i - 1] ? leaves[i - 1] : read_page(tree, numbers[i]);
		if (!leaves[i])
			return false;
		__builtin_prefetch(leaves[i]);
	}
	return true;
}

bool page_tree_find_rows(struct page_tree *tree, struct page_entry *entries, size_t n)
{
	const unsigned char *leaves[PAGE_TREE_GROUP];

	if (!find_leaves(tree, entries, n, leaves))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (leaves[i] && (i == 0 || leaves[i] != leaves[i - 1]) && !prefetch_cells(tree, leaves[i]))
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		entries[i].row = (struct page_payload){.size = 0};
		if (leaves[i] && !find_in_leaf(tree, leaves[i], entries[i].number, &entries[i].row))
			return false;
		if (n > 1)
			prefetch_bytes(entries[i].row.local);
	}
	return true;
}

/* Where the two columns of a row begin, both blobs. */
struct columns {
	size_t key, value, end;
};

static bool row_columns(const struct page_payload *payload, struct columns *columns)
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
static bool copy_row(const struct page_tree *tree, const struct page_payload *payload, bool has_key, struct arena *arena, struct store_row *row)
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

/* What a key leads to in a table that is one b-tree: the number of a row means that the row stands for it. */
static struct str entry_value(const struct page_entry *entry)
{
	return entry->has_number ? STORE_REFERENCE : entry->value;
}

bool page_tree_get(struct page_tree *tree, const struct str *keys, size_t n, struct arena *arena, struct str *values)
{
	struct page_entry entries[PAGE_TREE_GROUP];
	struct store_row row;

	if (!find_entries(tree, keys, n, arena, entries) || (tree->roots.rows != 0 && !page_tree_find_rows(tree, entries, n)))
		return false;
	for (size_t i = 0; i < n; i++) {
		values[i] = STR_ABSENT;
		if (!str_is_set(entries[i].key))
			continue;
		if (tree->roots.rows == 0) {
			values[i] = str_copy(arena, entry_value(&entries[i]));
			continue;
		}
		if (!entries[i].has_number || !copy_row(tree, &entries[i].row, false, arena, &row))
			return false;
		values[i] = row.value;
	}
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

/* The next entry; without key where the range is over. */
static bool next_entry(struct page_tree_cursor *cursor, struct page_entry *entry)
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

bool page_tree_next(struct page_tree_cursor *cursor, size_t most, struct page_entry *entries, size_t *n)
{
	for (*n = 0; *n < most; ++*n) {
		if (!next_entry(cursor, &entries[*n]))
			return false;
		if (!str_is_set(entries[*n].key))
			break;
	}
	return true;
}

bool page_tree_row(const struct page_tree *tree, const struct page_entry *entry, struct arena *arena, struct store_row *row)
{
	if (tree->roots.rows != 0)
		return entry->has_number && copy_row(tree, &entry->row, true, arena, row);
	*row = (struct store_row){str_copy(arena, entry->key), str_copy(arena, entry_value(entry))};
	return true;
}
