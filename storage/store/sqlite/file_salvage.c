#include "storage/store/sqlite/file_salvage.h"

#include <stdlib.h>

#include "core/buf.h"
#include "storage/store/sqlite/btree_page.h"
#include "storage/store/sqlite/place.h"
#include "storage/store/sqlite/raw_row.h"
#include "storage/store/store_messages.h"

#define FREE_LIST_AT 32       /* in the file's head: its first page, then how many pages it has */
#define DEPTH_MAX 20          /* of a b-tree. SQLite's own limit */
#define SCHEMA_COLUMNS 5

/* Pages, or row numbers. */
struct list {
	size_t n;
	uint64_t *v;
};

struct rowids {
	uint64_t first, last;
};

/* The rows of a keyspace in a SQL table that many share, or of one that is not known. */
struct share {
	uint64_t number;
	struct keyspace keyspace;
	bool is_known, is_dropped;
	struct list leaves, index_pages;
};

/* A SQL table, and its index of keys. */
struct tree {
	char name[KEYSPACE_NAME_MAX];
	struct keyspace keyspace;     /* whose rows it has */
	bool has_keyspace;
	bool is_unused;               /* free, or with rows to be deleted */
	bool is_shared;
	bool is_keys;                 /* of PLACE_TABLE_KEYS: it has an index only, whose rows follow from other tables */
	size_t part_count;            /* of a shared one, by number */
	struct share *parts;
	uint32_t root, index_root;
	struct list leaves, index_pages;
	size_t range_count;
	struct rowids *ranges;        /* of its leaves but the damaged ones */
	struct list loose;            /* row numbers on damaged leaves */
	bool is_torn;                 /* there are leaves that cannot be reached */
};

/* A leaf that nothing refers to. */
struct orphan {
	uint32_t page;
	struct tree *tree;            /* whose index has most of its rows; NULL: not known */
	size_t matches, most;         /* rows that the index of the tree under way has, and that of the one above */
	bool is_doubtful;             /* two trees have as many */
};

/* A row of an orphan, by which an index finds it. */
struct mark {
	uint64_t hash;
	struct orphan *orphan;
};

struct file_salvage {
	struct salvage base;
	const struct raw_file *file;
	struct arena *arena, *row;    /* of all; of one row */
	size_t usable;                /* bytes of a page */
	unsigned char *is_known;      /* by page number: something refers to it */
	size_t tree_count;
	struct tree *trees;
	size_t keyspace_count;
	struct keyspace *keyspaces;
	bool is_free_list_whole;
	size_t orphan_count;
	struct orphan *orphans;
	size_t mark_count;            /* a power of two */
	struct mark *marks;
};

static void add_to(struct file_salvage *salvage, struct list *list, uint64_t value)
{
	list->v = arena_room(salvage->arena, list->v, list->n, sizeof(*list->v));
	list->v[list->n++] = value;
}

/* Whether the page exists and is referred to for the first time. */
static bool claim(struct file_salvage *salvage, uint32_t number)
{
	if (number == 0 || number > salvage->file->page_count || salvage->is_known[number])
		return false;
	salvage->is_known[number] = true;
	return true;
}

static enum raw_state worse(enum raw_state a, enum raw_state b)
{
	return a > b ? a : b;
}

/* The payload of a cell, in the row's arena; absent where a page of it is damaged. */
static struct str payload_of(struct file_salvage *salvage, const struct btree_cell *cell, enum raw_state *state)
{
	unsigned char page[STORE_PAGE];
	uint32_t next = cell->overflow;
	struct buf out = buf_in(salvage->row);

	if (cell->size > (uint64_t)salvage->file->page_count * STORE_PAGE)
		return STR_ABSENT;
	buf_reserve(&out, (size_t)cell->size);
	buf_add_str(&out, cell->local);
	while (out.n < cell->size) {
		size_t rest = (size_t)cell->size - out.n, n = salvage->usable - 4 < rest ? salvage->usable - 4 : rest;

		*state = worse(*state, raw_file_read(salvage->file, next, page));
		if (*state == RAW_DAMAGED)
			return STR_ABSENT;
		buf_add(&out, page + 4, n);
		next = (uint32_t)str_be((const char *)page, 4);
	}
	return buf_str(&out);
}

/* Marks the pages where a payload goes on. */
static void claim_overflow(struct file_salvage *salvage, const struct btree_cell *cell)
{
	unsigned char page[STORE_PAGE];

	for (uint32_t next = cell->overflow; claim(salvage, next); next = (uint32_t)str_be((const char *)page, 4)) {
		if (raw_file_read(salvage->file, next, page) == RAW_DAMAGED)
			break;
	}
}

static bool read_page(struct file_salvage *salvage, uint32_t number, unsigned char *bytes, enum raw_state *state, struct btree_page *page)
{
	*state = raw_file_read(salvage->file, number, bytes);
	return btree_page_open(bytes, number, salvage->usable, page);
}

static void add_leaf(struct file_salvage *salvage, struct tree *tree, uint32_t number, const struct btree_page *page, enum raw_state state)
{
	struct btree_cell cell;
	struct rowids range = {UINT64_MAX, 0};

	add_to(salvage, &tree->leaves, number);
	for (unsigned i = 0; i < page->count; i++) {
		if (!btree_page_cell(page, i, &cell))
			continue;
		if (state == RAW_DAMAGED)
			add_to(salvage, &tree->loose, cell.rowid);
		range.first = cell.rowid < range.first ? cell.rowid : range.first;
		range.last = cell.rowid > range.last ? cell.rowid : range.last;
	}
	if (state == RAW_DAMAGED || range.first > range.last)
		return;
	tree->ranges = arena_room(salvage->arena, tree->ranges, tree->range_count, sizeof(*tree->ranges));
	tree->ranges[tree->range_count++] = range;
}

/* Finds the pages of a table or of an index from one of its pages on. */
static void explore(struct file_salvage *salvage, struct tree *tree, uint32_t number, bool is_index, unsigned depth)
{
	unsigned char bytes[STORE_PAGE];
	struct btree_page page;
	struct btree_cell cell;
	enum raw_state state;

	if (!claim(salvage, number) || !read_page(salvage, number, bytes, &state, &page)) {
		tree->is_torn = tree->is_torn || !is_index;
		return;
	}
	bool is_leaf = page.kind == BTREE_TABLE_LEAF || page.kind == BTREE_INDEX_LEAF;
	bool is_of_index = page.kind == BTREE_INDEX_LEAF || page.kind == BTREE_INDEX_INNER;
	if (is_index != is_of_index || (!is_leaf && (state == RAW_DAMAGED || depth == DEPTH_MAX))) {
		tree->is_torn = tree->is_torn || !is_index;
		return;
	}
	if (is_index && state != RAW_DAMAGED)
		add_to(salvage, &tree->index_pages, number);
	else if (!is_index && is_leaf)
		add_leaf(salvage, tree, number, &page, state);
	for (unsigned i = 0; i < page.count && !is_leaf; i++) {
		if (btree_page_cell(&page, i, &cell))
			explore(salvage, tree, cell.child, is_index, depth + 1);
		else
			tree->is_torn = tree->is_torn || !is_index;
	}
	if (!is_leaf)
		explore(salvage, tree, page.right, is_index, depth + 1);
}

static struct tree *tree_named(struct file_salvage *salvage, const char *name)
{
	for (size_t i = 0; i < salvage->tree_count; i++) {
		if (strcmp(salvage->trees[i].name, name) == 0)
			return &salvage->trees[i];
	}
	return NULL;
}

/* One row of SQLite's schema: what keeps keyspaces is a table and the index that comes with it. */
static void add_schema_row(struct file_salvage *salvage, const struct btree_column *columns)
{
	struct str kind = columns[0].bytes, name = columns[2].bytes;
	uint32_t root = (uint32_t)columns[3].integer;
	struct tree found = {.root = 0};

	if (!str_is_set(kind) || !str_is_set(name) || name.n >= sizeof(found.name))
		return;
	memcpy(found.name, name.p, name.n);
	found.is_shared = strcmp(found.name, PLACE_SHARED) == 0;
	found.is_keys = place_is_keys(found.name);
	found.has_keyspace = keyspace_name_read(found.name, &found.keyspace);
	if (!found.is_shared && !found.is_keys && !found.has_keyspace && strcmp(found.name, place_of_name(PLACE_KEYSPACE).name) != 0)
		return;
	struct tree *tree = tree_named(salvage, found.name);
	if (!tree) {
		salvage->trees = arena_room(salvage->arena, salvage->trees, salvage->tree_count, sizeof(*salvage->trees));
		tree = &salvage->trees[salvage->tree_count++];
		*tree = found;
	}
	if (str_eq(kind, STR("table")))
		*(tree->is_keys ? &tree->index_root : &tree->root) = root;
	else if (str_eq(kind, STR("index")))
		tree->index_root = root;
}

/* What can be read of a row of a leaf. */
struct leaf_row {
	uint64_t rowid;
	struct str payload; /* all of it, or absent */
	struct str local;   /* its beginning */
	enum raw_state state;
};

typedef void visit_cell(void *context, const struct leaf_row *row);

static void each_cell(struct file_salvage *salvage, uint32_t number, visit_cell *visit, void *context)
{
	unsigned char bytes[STORE_PAGE];
	struct btree_page page;
	struct btree_cell cell;
	enum raw_state page_state;

	if (!read_page(salvage, number, bytes, &page_state, &page))
		return;
	for (unsigned i = 0; i < page.count; i++) {
		struct leaf_row row = {.payload = STR_ABSENT, .state = page_state};

		arena_reset(salvage->row);
		if (!btree_page_cell(&page, i, &cell) || cell.size == 0)
			continue;
		row.rowid = cell.rowid;
		row.local = cell.local;
		if (page_state != RAW_DAMAGED || !cell.overflow) /* else the pages where it goes on may be anybody's */
			row.payload = payload_of(salvage, &cell, &row.state);
		visit(context, &row);
	}
}

static void visit_schema_cell(void *context, const struct leaf_row *row)
{
	struct btree_column columns[SCHEMA_COLUMNS];

	if (str_is_set(row->payload) && btree_page_record(row->payload, columns, SCHEMA_COLUMNS))
		add_schema_row(context, columns);
}

/* Rows of the schema are taken from damaged pages too: what they say proves itself by the pages that they name. */
static void read_schema(struct file_salvage *salvage)
{
	struct tree schema = {.root = 1};

	explore(salvage, &schema, 1, false, 0);
	for (size_t i = 0; i < schema.leaves.n; i++)
		each_cell(salvage, (uint32_t)schema.leaves.v[i], visit_schema_cell, salvage);
	for (size_t i = 0; i < salvage->tree_count; i++) {
		struct tree *tree = &salvage->trees[i];

		explore(salvage, tree, tree->is_keys ? tree->index_root : tree->root, tree->is_keys, 0);
		explore(salvage, tree, tree->index_root, true, 0);
	}
}

/* SQLite: File Format, "The Freelist". */
static void read_free_list(struct file_salvage *salvage)
{
	unsigned char page[STORE_PAGE];
	uint64_t seen = 0;

	salvage->is_free_list_whole = raw_file_read(salvage->file, 1, page) != RAW_DAMAGED;
	uint32_t next = (uint32_t)str_be((const char *)page + FREE_LIST_AT, 4);
	uint64_t count = str_be((const char *)page + FREE_LIST_AT + 4, 4);
	while (next != 0 && claim(salvage, next)) {
		if (raw_file_read(salvage->file, next, page) == RAW_DAMAGED) {
			salvage->is_free_list_whole = false;
			return;
		}
		uint64_t n = str_be((const char *)page + 4, 4);
		for (uint64_t i = 0; i < n && 8 + i * 4 < salvage->usable; i++)
			seen += claim(salvage, (uint32_t)str_be((const char *)page + 8 + i * 4, 4));
		seen++;
		next = (uint32_t)str_be((const char *)page, 4);
	}
	salvage->is_free_list_whole = salvage->is_free_list_whole && seen == count;
}

static struct mark *next_mark(struct file_salvage *salvage, struct mark *mark)
{
	return mark + 1 == salvage->marks + salvage->mark_count ? salvage->marks : mark + 1;
}

static struct mark *first_mark(struct file_salvage *salvage, uint64_t hash)
{
	return &salvage->marks[hash & (salvage->mark_count - 1)];
}

/* What each_cell() carries to the functions below. */
struct visit {
	struct file_salvage *salvage;
	struct orphan *orphan;
	struct tree *tree;
	struct share *part;            /* of a shared tree: no other rows; NULL: all */
	uint32_t page;
	const char *reason;
	salvage_visit *visit;
	void *context;
	size_t count;
};

static void count_cell(void *context, const struct leaf_row *row)
{
	struct visit *visit = context;

	(void)row;
	visit->count++;
}

static void mark_cell(void *context, const struct leaf_row *row)
{
	struct visit *visit = context;
	struct raw_row keyed;

	(void)raw_row_read(row->payload, row->local, &keyed);
	if (!str_is_set(keyed.key))
		return;
	uint64_t hash = raw_row_hash(row->rowid, keyed.key);
	struct mark *mark = first_mark(visit->salvage, hash);
	while (mark->orphan)
		mark = next_mark(visit->salvage, mark);
	*mark = (struct mark){hash, visit->orphan};
}

static int order_of_ranges(const void *a, const void *b)
{
	const struct rowids *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

static int order_of_numbers(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static bool is_reached(const struct tree *tree, uint64_t rowid)
{
	size_t low = 0, high = tree->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tree->ranges[middle].last < rowid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tree->range_count && tree->ranges[low].first <= rowid;
}

/* The entries of a keyspace's index whose rows were not reached. */
typedef void visit_missing(struct visit *visit, struct str key, uint64_t rowid);

static void each_missing(struct file_salvage *salvage, struct tree *tree, visit_missing *on_missing, struct visit *visit)
{
	const struct list *pages = visit->part ? &visit->part->index_pages : &tree->index_pages;
	unsigned char bytes[STORE_PAGE];
	struct btree_page page;
	struct raw_entry entry;
	struct btree_cell cell;
	enum raw_state state;

	for (size_t i = 0; i < pages->n && !tree->is_keys; i++) {
		if (!read_page(salvage, (uint32_t)pages->v[i], bytes, &state, &page))
			continue;
		for (unsigned k = 0; k < page.count; k++) {
			arena_reset(salvage->row);
			if (btree_page_cell(&page, k, &cell) && raw_row_entry(payload_of(salvage, &cell, &state), tree->is_shared, &entry) &&
			    (!visit->part || visit->part->number == entry.number) && !is_reached(tree, entry.rowid))
				on_missing(visit, entry.key, entry.rowid);
		}
	}
}

/* Counts the orphans that have the row of the index's entry. */
static void match(struct visit *visit, struct str key, uint64_t rowid)
{
	uint64_t hash = raw_row_hash(rowid, key);

	for (struct mark *mark = first_mark(visit->salvage, hash); mark->orphan; mark = next_mark(visit->salvage, mark))
		mark->orphan->matches += mark->hash == hash;
}

/* Two tables may have rows in common: an orphan is of the one that has most of its rows. */
static void compare(struct file_salvage *salvage, struct tree *tree)
{
	for (size_t i = 0; i < salvage->orphan_count; i++) {
		struct orphan *orphan = &salvage->orphans[i];

		orphan->is_doubtful = orphan->matches == orphan->most ? orphan->is_doubtful || orphan->most > 0 : orphan->is_doubtful && orphan->matches < orphan->most;
		if (orphan->matches > orphan->most) {
			orphan->most = orphan->matches;
			orphan->tree = tree;
		}
		orphan->matches = 0;
	}
}

static void claim_overflow_of(struct file_salvage *salvage, const struct list *pages)
{
	unsigned char bytes[STORE_PAGE];
	struct btree_page page;
	struct btree_cell cell;
	enum raw_state state;

	for (size_t i = 0; i < pages->n; i++) {
		bool is_read = read_page(salvage, (uint32_t)pages->v[i], bytes, &state, &page) && state != RAW_DAMAGED;

		for (unsigned k = 0; is_read && k < page.count; k++) {
			if (btree_page_cell(&page, k, &cell))
				claim_overflow(salvage, &cell);
		}
	}
}

static void find_orphans(struct file_salvage *salvage)
{
	unsigned char bytes[STORE_PAGE];
	struct visit visit = {.salvage = salvage};
	struct btree_page page;
	enum raw_state state;

	for (size_t i = 0; i < salvage->tree_count; i++) {
		claim_overflow_of(salvage, &salvage->trees[i].leaves);
		claim_overflow_of(salvage, &salvage->trees[i].index_pages);
	}
	for (uint32_t number = 1; number <= salvage->file->page_count; number++) {
		if (salvage->is_known[number] || !read_page(salvage, number, bytes, &state, &page) || state == RAW_DAMAGED ||
		    page.kind != BTREE_TABLE_LEAF)
			continue;
		salvage->orphans = arena_room(salvage->arena, salvage->orphans, salvage->orphan_count, sizeof(*salvage->orphans));
		salvage->orphans[salvage->orphan_count++] = (struct orphan){.page = number};
		each_cell(salvage, number, count_cell, &visit);
	}
	for (salvage->mark_count = 16; salvage->mark_count < visit.count * 2;)
		salvage->mark_count *= 2;
	salvage->marks = ARENA_ARRAY(salvage->arena, struct mark, salvage->mark_count);
}

static void sort_ranges(struct tree *tree)
{
	if (tree->range_count)
		qsort(tree->ranges, tree->range_count, sizeof(*tree->ranges), order_of_ranges);
	if (tree->loose.n)
		qsort(tree->loose.v, tree->loose.n, sizeof(*tree->loose.v), order_of_numbers);
}

/* Gives the orphans to the trees that miss them. */
static void assign_orphans(struct file_salvage *salvage)
{
	unsigned char bytes[STORE_PAGE];
	struct btree_page page;
	enum raw_state state;

	find_orphans(salvage);
	for (size_t i = 0; i < salvage->orphan_count; i++)
		each_cell(salvage, salvage->orphans[i].page, mark_cell, &(struct visit){.salvage = salvage, .orphan = &salvage->orphans[i]});
	for (size_t i = 0; i < salvage->tree_count; i++) {
		struct visit visit = {.salvage = salvage, .tree = &salvage->trees[i]};

		if (!visit.tree->is_torn)
			continue;
		each_missing(salvage, visit.tree, match, &visit);
		compare(salvage, visit.tree);
	}
	for (size_t i = 0; i < salvage->orphan_count && salvage->is_free_list_whole; i++) {
		struct orphan *orphan = &salvage->orphans[i];

		if (orphan->tree && !orphan->is_doubtful && read_page(salvage, orphan->page, bytes, &state, &page))
			add_leaf(salvage, orphan->tree, orphan->page, &page, state);
	}
	for (size_t i = 0; i < salvage->tree_count; i++)
		sort_ranges(&salvage->trees[i]);
}

static int order_of_parts(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

static struct share *part_numbered(const struct tree *tree, uint64_t number)
{
	const struct share wanted = {.number = number};

	return tree->part_count ? bsearch(&wanted, tree->parts, tree->part_count, sizeof(*tree->parts), order_of_parts) : NULL;
}

static struct share *add_part(struct file_salvage *salvage, struct tree *tree, uint64_t number)
{
	tree->parts = arena_room(salvage->arena, tree->parts, tree->part_count, sizeof(*tree->parts));
	tree->parts[tree->part_count] = (struct share){.number = number};
	return &tree->parts[tree->part_count++];
}

static void note_page(struct file_salvage *salvage, struct tree *tree, uint64_t number, uint32_t page, bool is_index)
{
	struct share *part = part_numbered(tree, number);

	if (!part) { /* the row that says whose it is was lost */
		add_part(salvage, tree, number);
		qsort(tree->parts, tree->part_count, sizeof(*tree->parts), order_of_parts);
		part = part_numbered(tree, number);
	}
	struct list *list = is_index ? &part->index_pages : &part->leaves;
	if (list->n == 0 || list->v[list->n - 1] != page)
		add_to(salvage, list, page);
}

static void note_row(void *context, const struct leaf_row *row)
{
	struct visit *visit = context;
	struct raw_row keyed;

	if (raw_row_read(row->payload, row->local, &keyed) || str_is_set(keyed.key))
		note_page(visit->salvage, visit->tree, keyed.number, visit->page, false);
}

/* Finds the pages that have rows of each part of a shared tree. */
static void note_pages(struct file_salvage *salvage, struct tree *tree)
{
	unsigned char bytes[STORE_PAGE];
	struct visit visit = {.salvage = salvage, .tree = tree};
	struct btree_page page;
	struct btree_cell cell;
	struct raw_entry entry;
	enum raw_state state;

	if (tree->part_count)
		qsort(tree->parts, tree->part_count, sizeof(*tree->parts), order_of_parts);
	for (size_t i = 0; i < tree->leaves.n; i++) {
		visit.page = (uint32_t)tree->leaves.v[i];
		each_cell(salvage, visit.page, note_row, &visit);
	}
	for (size_t i = 0; i < tree->index_pages.n; i++) {
		uint32_t number = (uint32_t)tree->index_pages.v[i];

		for (unsigned k = 0; read_page(salvage, number, bytes, &state, &page) && k < page.count; k++) {
			arena_reset(salvage->row);
			if (btree_page_cell(&page, k, &cell) && raw_row_entry(payload_of(salvage, &cell, &state), tree->is_shared, &entry))
				note_page(salvage, tree, entry.number, number, true);
		}
	}
}

/* What a row says of SQL tables that are not those of their names: the first time of those without a keyspace, then of the others. */
static void take_place(struct file_salvage *salvage, const struct raw_row *row, bool is_second)
{
	struct keyspace keyspace;
	struct place place = {.number = 0};
	bool is_unused = place_read_unused(row->key, &place), is_place = place_read_key(row->key, &keyspace) && place_read_value(row->value, &place);

	if (is_place && !place.name[0] && !is_second)
		place = place_of_name(keyspace);
	else if (is_place == !is_second)
		return;
	struct tree *tree = tree_named(salvage, place.name);
	if (!tree || (place.number != 0) != tree->is_shared)
		return;
	if (tree->is_shared) {
		struct share *part = add_part(salvage, tree, place.number);

		part->is_known = is_place;
		part->is_dropped = is_unused;
		part->keyspace = is_place ? keyspace : part->keyspace;
		return;
	}
	tree->has_keyspace = is_place && is_second;
	tree->is_unused = tree->is_unused || is_unused;
	if (tree->has_keyspace)
		tree->keyspace = keyspace;
}

static void visit_place(void *context, const struct leaf_row *row)
{
	const struct visit *visit = context;
	struct raw_row keyed;

	if (raw_row_read(row->payload, row->local, &keyed))
		take_place(visit->salvage, &keyed, visit->count > 0);
}

/* Rows of damaged pages are taken too, as those of the schema are. */
static void read_places(struct file_salvage *salvage)
{
	const struct tree *places = tree_named(salvage, place_of_name(PLACE_KEYSPACE).name);
	struct tree *shared = tree_named(salvage, PLACE_SHARED);

	for (struct visit visit = {.salvage = salvage}; places && visit.count < 2; visit.count++) {
		for (size_t i = 0; i < places->leaves.n; i++)
			each_cell(salvage, (uint32_t)places->leaves.v[i], visit_place, &visit);
	}
	if (shared)
		note_pages(salvage, shared);
	for (size_t i = 0; i < salvage->tree_count; i++)
		salvage->keyspace_count += salvage->trees[i].has_keyspace;
	salvage->keyspaces = ARENA_ARRAY(salvage->arena, struct keyspace, salvage->keyspace_count + (shared ? shared->part_count : 0));
	salvage->keyspace_count = 0;
	for (size_t i = 0; i < salvage->tree_count; i++) {
		if (salvage->trees[i].has_keyspace)
			salvage->keyspaces[salvage->keyspace_count++] = salvage->trees[i].keyspace;
	}
	for (size_t i = 0; shared && i < shared->part_count; i++) {
		if (shared->parts[i].is_known)
			salvage->keyspaces[salvage->keyspace_count++] = shared->parts[i].keyspace;
	}
}

static bool is_adopted(const struct file_salvage *salvage, const struct orphan *orphan)
{
	return orphan->tree && !orphan->is_doubtful && salvage->is_free_list_whole;
}

static void visit_cell_of_leaf(void *context, const struct leaf_row *found)
{
	static const enum salvage_state states[] = {
		[RAW_SOUND] = SALVAGE_SOUND, [RAW_MENDED] = SALVAGE_MENDED, [RAW_DAMAGED] = SALVAGE_DAMAGED,
	};
	static const char *const reasons[] = {[RAW_MENDED] = SALVAGE_PAGE_MENDED, [RAW_DAMAGED] = SALVAGE_PAGE_DAMAGED};
	struct visit *visit = context;
	struct salvage_row row = {.state = states[found->state], .reason = reasons[found->state]};
	struct raw_row keyed;
	bool is_read = raw_row_read(found->payload, found->local, &keyed);
	const struct share *part = visit->part;

	if (part && part->number != keyed.number)
		return;
	if (!part && visit->tree && visit->tree->is_shared)
		part = part_numbered(visit->tree, keyed.number);
	if (part ? part->is_dropped : visit->tree && visit->tree->is_unused)
		return;
	if (part)
		row.keyspace = part->keyspace;
	else if (visit->tree)
		row.keyspace = visit->tree->keyspace;
	row.is_stray = !(part ? part->is_known : visit->tree && visit->tree->has_keyspace);
	if (visit->reason) {
		row.state = SALVAGE_DAMAGED;
		row.reason = visit->reason;
	}
	row.key = keyed.key;
	row.value = keyed.value;
	if (!is_read)
		row.state = SALVAGE_DAMAGED;
	if (row.state == SALVAGE_DAMAGED && !row.reason)
		row.reason = SALVAGE_ROW_MALFORMED;
	visit->visit(visit->context, &row);
}

/* A row of which nothing but the index's entry is left. */
static void visit_lost(struct visit *visit, struct str key, uint64_t rowid)
{
	const struct list *loose = &visit->tree->loose;
	const struct salvage_row row = {
		.keyspace = visit->part ? visit->part->keyspace : visit->tree->keyspace, .state = SALVAGE_DAMAGED, .key = key, .value = STR_ABSENT,
		.reason = SALVAGE_PAGE_DAMAGED,
	};

	if (!loose->n || !bsearch(&rowid, loose->v, loose->n, sizeof(*loose->v), order_of_numbers))
		visit->visit(visit->context, &row);
}

/* The rows of a tree, or of a part of it. */
static void visit_tree(struct visit *visit)
{
	const struct list *leaves = visit->part ? &visit->part->leaves : &visit->tree->leaves;

	for (size_t k = 0; k < leaves->n; k++)
		each_cell(visit->salvage, (uint32_t)leaves->v[k], visit_cell_of_leaf, visit);
}

static void file_rows(struct salvage *base, struct keyspace keyspace, salvage_visit *on_row, void *context)
{
	struct file_salvage *salvage = (struct file_salvage *)base;

	for (size_t i = 0; i < salvage->tree_count; i++) {
		struct visit visit = {.salvage = salvage, .tree = &salvage->trees[i], .visit = on_row, .context = context};
		bool is_whole = visit.tree->has_keyspace && keyspace_is_same(visit.tree->keyspace, keyspace);

		for (size_t k = 0; k < visit.tree->part_count && !visit.part; k++) {
			if (visit.tree->parts[k].is_known && keyspace_is_same(visit.tree->parts[k].keyspace, keyspace))
				visit.part = &visit.tree->parts[k];
		}
		if (!is_whole && !visit.part)
			continue;
		visit_tree(&visit);
		each_missing(salvage, visit.tree, visit_lost, &visit);
	}
}

/* The rows of SQL tables of which it is not known whose they are. */
static void visit_unknown(struct visit *visit)
{
	struct tree *tree = visit->tree;
	bool is_lost = !tree->has_keyspace && !tree->is_unused && !tree->is_shared && strcmp(tree->name, place_of_name(PLACE_KEYSPACE).name) != 0;

	if (is_lost)
		visit_tree(visit);
	for (size_t k = 0; k < tree->part_count; k++) {
		visit->part = &tree->parts[k];
		if (!visit->part->is_known && !visit->part->is_dropped)
			visit_tree(visit);
	}
}

static void file_strays(struct salvage *base, salvage_visit *on_row, void *context)
{
	struct file_salvage *salvage = (struct file_salvage *)base;

	for (size_t i = 0; i < salvage->tree_count; i++)
		visit_unknown(&(struct visit){.salvage = salvage, .tree = &salvage->trees[i], .visit = on_row, .context = context});
	for (size_t i = 0; i < salvage->orphan_count; i++) {
		struct orphan *orphan = &salvage->orphans[i];
		struct visit visit = {
			.salvage = salvage, .tree = orphan->is_doubtful ? NULL : orphan->tree, .reason = SALVAGE_PAGE_STRAY, .visit = on_row, .context = context,
		};

		if (!is_adopted(salvage, orphan))
			each_cell(salvage, orphan->page, visit_cell_of_leaf, &visit);
	}
}

static const struct keyspace *file_keyspaces(const struct salvage *base, size_t *n)
{
	const struct file_salvage *salvage = (const struct file_salvage *)base;

	*n = salvage->keyspace_count;
	return salvage->keyspaces;
}

static void file_close(struct salvage *base)
{
	struct file_salvage *salvage = (struct file_salvage *)base;

	arena_free(salvage->row);
	arena_free(salvage->arena);
}

static const struct salvage_ops file_ops = {file_close, file_keyspaces, file_rows, file_strays};

enum code file_salvage_open(const struct raw_file *file, struct salvage **out, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct file_salvage *salvage = ARENA_NEW(arena, struct file_salvage);
	bool is_torn = false;

	*salvage = (struct file_salvage){.base.ops = &file_ops, .file = file, .arena = arena, .row = arena_new(1024 * 1024)};
	salvage->usable = STORE_PAGE - (file->has_checksums ? PAGE_CHECK_BYTES : 0);
	salvage->is_known = arena_calloc(arena, (size_t)file->page_count + 1, 1);
	read_schema(salvage);
	read_free_list(salvage);
	for (size_t i = 0; i < salvage->tree_count; i++) {
		sort_ranges(&salvage->trees[i]);
		is_torn = is_torn || salvage->trees[i].is_torn;
	}
	if (is_torn)
		assign_orphans(salvage);
	read_places(salvage);
	if (salvage->tree_count == 0) {
		file_close(&salvage->base);
		return err_set(err, MSG_STORE_NO_SCHEMA, file->path);
	}
	*out = &salvage->base;
	return OK;
}
