#include "storage/store/sqlite/file_salvage.h"

#include <stdlib.h>
#include <string.h>

#include "core/be.h"
#include "storage/store/sqlite/place.h"
#include "storage/store/store_messages.h"

#define FREE_LIST_AT 32 /* in the file's head: its first page, then how many pages it has */
#define FREE_HEAD 8     /* of a page of that list: the next one, and how many it names */
#define DEPTH_MAX 20    /* of a b-tree: SQLite's own limit */

/* Whose page it is, where it is none of a struct tree. */
enum { NO_TREE = -1, FREE = -2, SCHEMA = -3 };

struct page {
	int tree;
	bool is_index;
	bool is_matched; /* its tree is known by the index alone */
};

/* A SQL table, and its index of keys. Those of PLACE_TABLE_KEYS are left out: their rows follow
 * from others. */
struct tree {
	char name[KEYSPACE_NAME_MAX];
	uint32_t root, index_root;
	bool is_torn; /* rows may be missing, or their keys */
};

/* The rows of a keyspace: of a SQL table, or of a number in PLACE_SHARED. */
struct share {
	int tree;
	uint64_t number;
	struct keyspace keyspace;
	bool is_known;  /* it has a keyspace */
	bool is_given;  /* by a row of PLACE_KEYSPACE, not by its name */
	bool is_unused; /* free, with rows to be deleted, or PLACE_KEYSPACE itself */
};

/* A page that has rows of a share. */
struct run {
	uint32_t page;
	uint64_t number;
	const struct share *share; /* NULL: nobody knows whose they are */
};

/* Of the index of a torn tree. */
struct entry {
	uint64_t hash;
	int tree;
	bool is_there; /* a page has the row */
	uint64_t number;
	struct str key;
};

struct file_salvage {
	struct salvage base;
	const struct raw_file *file;
	struct arena *arena, *row; /* of all; of one cell */
	struct page *pages;        /* by number */
	bool is_free_list_whole;
	size_t tree_count;
	struct tree *trees;
	size_t share_count;
	struct share *shares; /* first one of each tree; in the end by tree and number */
	size_t entry_count;
	struct entry *entries; /* by hash; in the end those of rows that are lost */
	size_t run_count;
	struct run *runs;
	size_t keyspace_count;
	struct keyspace *keyspaces;
};

/* Goes through the cells of a tree's leaves, or of all pages of its index. */
struct cells {
	struct file_salvage *salvage;
	int tree;
	bool is_index;
	uint32_t number;
	struct raw_page page;
};

static struct cells cells_of(struct file_salvage *salvage, int tree, bool is_index)
{
	return (struct cells){.salvage = salvage, .tree = tree, .is_index = is_index};
}

static bool next_cell_of(struct cells *cells, struct raw_cell *cell)
{
	struct file_salvage *salvage = cells->salvage;

	while (!raw_file_next(&cells->page, cell)) {
		if (cells->number == salvage->file->page_count)
			return false;
		const struct page *page = &salvage->pages[++cells->number];
		if (page->tree != cells->tree || page->is_index != cells->is_index)
			continue;
		raw_file_page(salvage->file, cells->number, salvage->row, &cells->page);
		if (!cells->is_index && cells->page.kind != RAW_TABLE_LEAF)
			cells->page.count = cells->page.right = 0;
	}
	return true;
}

/* A row, or an entry of an index. Absent: unreadable. */
struct found {
	uint64_t number, hash; /* the hash is of all but the value */
	struct str key, value;
};

/* A row has a key and a value, an entry a key and a row number; where many share the SQL table, the
 * number comes first. */
static struct found found_in(const struct raw_cell *cell)
{
	const struct raw_column *column = cell->columns;
	struct found found = {.number = 0};

	if (column->is_integer)
		found.number = (uint64_t)(column++)->integer;
	found.key = column[0].bytes;
	found.value = column[1].bytes;
	int64_t rowid = column[1].is_integer ? column[1].integer : cell->rowid;
	found.hash = str_hash(found.key, found.number * 31 + (uint64_t)rowid);
	return found;
}

/* Whether the page exists and nothing else has it. */
static bool claim_page(struct file_salvage *salvage, uint32_t number, int tree, bool is_index)
{
	if (number == 0 || number > salvage->file->page_count ||
	    salvage->pages[number].tree != NO_TREE)
		return false;
	salvage->pages[number] = (struct page){.tree = tree, .is_index = is_index};
	return true;
}

/*
 * Claims the pages of a table or of an index, from one of them on. Of the schema also what a
 * damaged page leads to: its rows prove themselves by the pages that they name. False where rows
 * may be missing, or a key cannot be read.
 */
static bool walk_tree(struct file_salvage *salvage, int tree, uint32_t number, bool is_index,
		      unsigned depth)
{
	struct raw_page page;
	struct raw_cell cell;
	bool is_whole = true;

	if (depth == DEPTH_MAX || !claim_page(salvage, number, tree, is_index))
		return false;
	raw_file_page(salvage->file, number, salvage->row, &page);
	if (page.state == RAW_DAMAGED && tree != SCHEMA)
		return false;
	bool is_inner = page.kind == (is_index ? RAW_INDEX_INNER : RAW_TABLE_INNER);
	if (!is_inner && page.kind != (is_index ? RAW_INDEX_LEAF : RAW_TABLE_LEAF))
		return false;
	while (raw_file_next(&page, &cell))
		is_whole = (is_inner ? walk_tree(salvage, tree, cell.child, is_index, depth + 1)
				     : str_is_set(found_in(&cell).key)) &&
			   is_whole;
	return is_whole;
}

static int tree_named(const struct file_salvage *salvage, const char *name)
{
	for (size_t i = 0; i < salvage->tree_count; i++) {
		if (strcmp(salvage->trees[i].name, name) == 0)
			return (int)i;
	}
	return NO_TREE;
}

static struct share *add_share(struct file_salvage *salvage, int tree, uint64_t number)
{
	salvage->shares = arena_room(salvage->arena, salvage->shares, salvage->share_count,
				     sizeof(*salvage->shares));
	salvage->shares[salvage->share_count] = (struct share){.tree = tree, .number = number};
	return &salvage->shares[salvage->share_count++];
}

/* NO_TREE where it is none that has rows of ours. */
static int add_tree(struct file_salvage *salvage, const char *name)
{
	bool is_places = strcmp(name, place_of_name(PLACE_KEYSPACE).name) == 0;
	int tree = (int)salvage->tree_count;
	struct keyspace keyspace = {0, 0};
	bool is_known = keyspace_name_read(name, &keyspace);

	if (!is_known && !is_places && strcmp(name, PLACE_SHARED) != 0)
		return NO_TREE;
	salvage->trees = arena_room(salvage->arena, salvage->trees, salvage->tree_count++,
				    sizeof(*salvage->trees));
	salvage->trees[tree] = (struct tree){.root = 0};
	memcpy(salvage->trees[tree].name, name, strlen(name) + 1);
	struct share *share = add_share(salvage, tree, 0);
	share->keyspace = keyspace;
	share->is_known = is_known;
	share->is_unused = is_places;
	return tree;
}

/* A row of SQLite's schema. What keeps rows is a table and the index that comes with it. */
static void take_schema(struct file_salvage *salvage, const struct raw_cell *cell)
{
	struct str kind = cell->columns[0].bytes, table = cell->columns[2].bytes;
	uint32_t root = (uint32_t)cell->columns[3].integer;
	char name[KEYSPACE_NAME_MAX] = "";

	if (!str_is_set(kind) || !str_is_set(table) || table.n >= sizeof(name))
		return;
	memcpy(name, table.p, table.n);
	int tree = tree_named(salvage, name);
	if (tree == NO_TREE)
		tree = add_tree(salvage, name);
	if (tree != NO_TREE && str_eq(kind, STR("table")))
		salvage->trees[tree].root = root;
	else if (tree != NO_TREE && str_eq(kind, STR("index")))
		salvage->trees[tree].index_root = root;
}

static void read_trees(struct file_salvage *salvage)
{
	struct cells schema = cells_of(salvage, SCHEMA, false);
	struct raw_cell cell;

	(void)walk_tree(salvage, SCHEMA, 1, false, 0);
	while (next_cell_of(&schema, &cell))
		take_schema(salvage, &cell);
	for (size_t i = 0; i < salvage->tree_count; i++) {
		struct tree *tree = &salvage->trees[i];

		tree->is_torn = !walk_tree(salvage, (int)i, tree->root, false, 0);
		(void)walk_tree(salvage, (int)i, tree->index_root, true, 0);
	}
}

/* SQLite: "Database File Format", 1.5 "The Freelist". */
static void read_free_list(struct file_salvage *salvage)
{
	unsigned char page[STORE_PAGE];
	uint32_t seen = 0;

	salvage->is_free_list_whole = raw_file_read(salvage->file, 1, page) != RAW_DAMAGED;
	uint32_t next = be32(page + FREE_LIST_AT), count = be32(page + FREE_LIST_AT + 4);
	while (claim_page(salvage, next, FREE, false)) {
		if (raw_file_read(salvage->file, next, page) == RAW_DAMAGED)
			break;
		uint32_t n = be32(page + 4);
		for (uint32_t at = FREE_HEAD; n > 0 && at < STORE_PAGE; n--, at += 4)
			seen += claim_page(salvage, be32(page + at), FREE, false);
		seen++;
		next = be32(page);
	}
	salvage->is_free_list_whole = salvage->is_free_list_whole && seen == count;
}

static int order_of_entries(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return (left->hash > right->hash) - (left->hash < right->hash);
}

static void read_entries(struct file_salvage *salvage, int tree)
{
	struct cells index = cells_of(salvage, tree, true);
	struct raw_cell cell;

	while (next_cell_of(&index, &cell)) {
		struct found found = found_in(&cell);

		if (cell.state == RAW_DAMAGED || !str_is_set(found.key))
			continue;
		salvage->entries = arena_room(salvage->arena, salvage->entries,
					      salvage->entry_count, sizeof(*salvage->entries));
		salvage->entries[salvage->entry_count++] =
			(struct entry){.hash = found.hash,
				       .tree = tree,
				       .number = found.number,
				       .key = str_copy(salvage->arena, found.key)};
	}
}

/* The first entry whose hash is not below; the end where there is none. */
static struct entry *first_entry(const struct file_salvage *salvage, uint64_t hash)
{
	size_t low = 0, high = salvage->entry_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (salvage->entries[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return salvage->entries + low;
}

/* Of a page of a tree: notes which of its entries have their rows there. Of another: counts the
 * entries of each tree that have them nowhere else. */
static void match_page(struct file_salvage *salvage, uint32_t number, uint32_t *counts)
{
	const struct entry *end = salvage->entries + salvage->entry_count;
	int tree = salvage->pages[number].tree;
	struct raw_page page;
	struct raw_cell cell;

	raw_file_page(salvage->file, number, salvage->row, &page);
	while (page.kind == RAW_TABLE_LEAF && raw_file_next(&page, &cell)) {
		uint64_t hash = found_in(&cell).hash;

		for (struct entry *entry = first_entry(salvage, hash);
		     entry < end && entry->hash == hash; entry++) {
			if (tree == NO_TREE)
				counts[entry->tree] += !entry->is_there;
			else if (tree == entry->tree)
				entry->is_there = true;
		}
	}
}

/* The tree that misses most of a page's rows: two may have rows in common. NO_TREE where two miss
 * as many. */
static int most_of(const uint32_t *counts, size_t n)
{
	uint32_t most = 0;
	int tree = NO_TREE;

	for (size_t i = 0; i < n; i++) {
		if (counts[i] == most)
			tree = NO_TREE;
		if (counts[i] <= most)
			continue;
		most = counts[i];
		tree = (int)i;
	}
	return tree;
}

static void match_pages(struct file_salvage *salvage)
{
	uint32_t *counts = ARENA_ARRAY(salvage->arena, uint32_t, salvage->tree_count);

	for (uint32_t number = 1; number <= salvage->file->page_count; number++) {
		if (salvage->pages[number].tree >= 0 && !salvage->pages[number].is_index)
			match_page(salvage, number, counts);
	}
	for (uint32_t number = 1; number <= salvage->file->page_count; number++) {
		struct page *page = &salvage->pages[number];

		if (page->tree != NO_TREE)
			continue;
		memset(counts, 0, salvage->tree_count * sizeof(*counts));
		match_page(salvage, number, counts);
		page->tree = most_of(counts, salvage->tree_count);
		page->is_matched = page->tree != NO_TREE;
		if (page->is_matched)
			match_page(salvage, number, counts);
	}
}

/* Gives leaves that no root led to to the trees that miss their rows, and finds out which rows are
 * lost. */
static void read_torn(struct file_salvage *salvage)
{
	size_t n = 0;

	for (size_t i = 0; i < salvage->tree_count; i++) {
		if (salvage->trees[i].is_torn)
			read_entries(salvage, (int)i);
	}
	if (salvage->entry_count == 0)
		return;
	qsort(salvage->entries, salvage->entry_count, sizeof(*salvage->entries), order_of_entries);
	match_pages(salvage);
	for (size_t i = 0; i < salvage->entry_count; i++) {
		if (!salvage->entries[i].is_there)
			salvage->entries[n++] = salvage->entries[i];
	}
	salvage->entry_count = n;
}

/* NULL where there is no such SQL table. */
static struct share *share_at(struct file_salvage *salvage, const struct place *place)
{
	int tree = tree_named(salvage, place->name);

	if (tree == NO_TREE)
		return NULL;
	return place->number ? add_share(salvage, tree, place->number) : &salvage->shares[tree];
}

/* A row of PLACE_KEYSPACE. Also one of a damaged page, as with the schema. */
static void take_place(struct file_salvage *salvage, const struct raw_cell *cell)
{
	const struct found row = found_in(cell);
	struct keyspace keyspace;
	struct place place;
	struct share *share;

	if (!str_is_set(row.key) || !str_is_set(row.value))
		return;
	if (place_read_unused(row.key, &place)) {
		share = share_at(salvage, &place);
		if (share)
			share->is_unused = true;
		return;
	}
	if (!place_read_key(row.key, &keyspace) || !place_read_value(row.value, &place))
		return;
	bool is_given = place.name[0] != '\0';
	if (!is_given)
		place = place_of_name(keyspace);
	share = share_at(salvage, &place);
	if (!share || (share->is_given && !is_given))
		return;
	share->is_known = share->is_given = is_given;
	share->keyspace = keyspace;
}

static int order_of_shares(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	if (left->tree != right->tree)
		return left->tree < right->tree ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static const struct share *share_of(const struct file_salvage *salvage, int tree, uint64_t number)
{
	const struct share wanted = {.tree = tree, .number = number};

	return bsearch(&wanted, salvage->shares, salvage->share_count, sizeof(wanted),
		       order_of_shares);
}

static void read_shares(struct file_salvage *salvage)
{
	struct cells places =
		cells_of(salvage, tree_named(salvage, place_of_name(PLACE_KEYSPACE).name), false);
	struct raw_cell cell;

	while (places.tree != NO_TREE && next_cell_of(&places, &cell))
		take_place(salvage, &cell);
	qsort(salvage->shares, salvage->share_count, sizeof(*salvage->shares), order_of_shares);
	salvage->keyspaces = ARENA_ARRAY(salvage->arena, struct keyspace, salvage->share_count);
	for (size_t i = 0; i < salvage->share_count; i++) {
		if (salvage->shares[i].is_known)
			salvage->keyspaces[salvage->keyspace_count++] = salvage->shares[i].keyspace;
	}
}

/* Finds out which shares have rows on a page. */
static void add_runs(struct file_salvage *salvage, uint32_t number)
{
	size_t first = salvage->run_count, i;
	struct raw_page page;
	struct raw_cell cell;

	raw_file_page(salvage->file, number, salvage->row, &page);
	while (page.kind == RAW_TABLE_LEAF && raw_file_next(&page, &cell)) {
		struct run run = {.page = number, .number = found_in(&cell).number};

		for (i = first; i < salvage->run_count; i++) {
			if (salvage->runs[i].number == run.number)
				break;
		}
		if (i < salvage->run_count)
			continue;
		run.share = share_of(salvage, salvage->pages[number].tree, run.number);
		salvage->runs = arena_room(salvage->arena, salvage->runs, i, sizeof(run));
		salvage->runs[salvage->run_count++] = run;
	}
}

static struct salvage_row salvaged_row_of(const struct file_salvage *salvage, uint32_t number,
					  const struct raw_cell *cell)
{
	static const enum salvage_state states[] = {SALVAGE_SOUND, SALVAGE_MENDED, SALVAGE_DAMAGED};
	static const char *const reasons[] = {NULL, SALVAGE_PAGE_MENDED, SALVAGE_PAGE_DAMAGED};
	const struct found found = found_in(cell);
	struct salvage_row row = {.state = states[cell->state],
				  .reason = reasons[cell->state],
				  .key = found.key,
				  .value = found.value};

	if (salvage->pages[number].is_matched && !salvage->is_free_list_whole) {
		row.state = SALVAGE_DAMAGED;
		row.reason = SALVAGE_PAGE_STRAY;
	} else if (row.state != SALVAGE_DAMAGED && !str_is_set(row.value)) {
		row.state = SALVAGE_DAMAGED;
		row.reason = SALVAGE_ROW_MALFORMED;
	}
	return row;
}

/* Whether the share is of the keyspace; where that is NULL, whether nobody knows whose it is. */
static bool is_wanted(const struct share *share, const struct keyspace *keyspace)
{
	if (share && share->is_unused)
		return false;
	if (!share || !share->is_known)
		return !keyspace;
	return keyspace && keyspace_is_same(share->keyspace, *keyspace);
}

static void visit_run(struct file_salvage *salvage, const struct run *run,
		      const struct keyspace *keyspace, salvage_visit *visit, void *context)
{
	struct raw_page page;
	struct raw_cell cell;

	raw_file_page(salvage->file, run->page, salvage->row, &page);
	while (raw_file_next(&page, &cell)) {
		if (found_in(&cell).number != run->number)
			continue;
		struct salvage_row row = salvaged_row_of(salvage, run->page, &cell);
		row.is_stray = !keyspace;
		if (keyspace)
			row.keyspace = *keyspace;
		visit(context, &row);
	}
}

static void visit_rows(struct file_salvage *salvage, const struct keyspace *keyspace,
		       salvage_visit *visit, void *context)
{
	for (size_t i = 0; i < salvage->run_count; i++) {
		if (is_wanted(salvage->runs[i].share, keyspace))
			visit_run(salvage, &salvage->runs[i], keyspace, visit, context);
	}
	for (size_t i = 0; i < salvage->entry_count; i++) {
		const struct entry *lost = &salvage->entries[i];
		struct salvage_row row = {.is_stray = !keyspace,
					  .state = SALVAGE_DAMAGED,
					  .reason = SALVAGE_PAGE_DAMAGED,
					  .key = lost->key,
					  .value = STR_ABSENT};

		if (keyspace)
			row.keyspace = *keyspace;
		if (is_wanted(share_of(salvage, lost->tree, lost->number), keyspace))
			visit(context, &row);
	}
}

static void file_rows(struct salvage *base, struct keyspace keyspace, salvage_visit *visit,
		      void *context)
{
	visit_rows((struct file_salvage *)base, &keyspace, visit, context);
}

static void file_strays(struct salvage *base, salvage_visit *visit, void *context)
{
	visit_rows((struct file_salvage *)base, NULL, visit, context);
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

enum code file_salvage_open(const struct raw_file *file, const char *path, struct salvage **out,
			    struct err *err)
{
	static const struct salvage_ops ops = {file_close, file_keyspaces, file_rows, file_strays};
	struct arena *arena = arena_new(0);
	struct file_salvage *salvage = ARENA_NEW(arena, struct file_salvage);

	*salvage = (struct file_salvage){
		.base.ops = &ops, .file = file, .arena = arena, .row = arena_new(1024 * 1024)};
	salvage->pages = ARENA_ARRAY(arena, struct page, (size_t)file->page_count + 1);
	for (uint32_t number = 0; number <= file->page_count; number++)
		salvage->pages[number].tree = NO_TREE;
	read_trees(salvage);
	if (salvage->tree_count == 0) {
		file_close(&salvage->base);
		return err_set(err, MSG_STORE_NO_SCHEMA, path);
	}
	read_free_list(salvage);
	read_torn(salvage);
	read_shares(salvage);
	for (uint32_t number = 1; number <= file->page_count; number++) {
		const struct page *page = &salvage->pages[number];

		if ((page->tree >= 0 || page->tree == NO_TREE) && !page->is_index)
			add_runs(salvage, number);
	}
	*out = &salvage->base;
	return OK;
}
