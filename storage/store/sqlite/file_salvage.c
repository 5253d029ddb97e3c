#include "storage/store/sqlite/file_salvage.h"

#include <stdlib.h>

#include "storage/store/sqlite/page_lens.h"
#include "storage/store/sqlite/place.h"
#include "storage/store/store_messages.h"

#define FREE_LIST_AT 32  /* in the file's head: its first page, then how many pages it has */
#define TABLE_LEAF 13    /* the first byte of such a page */
#define NO_TREE (-1)
#define STATE_STRAY 3    /* behind enum raw_state: the row may have been deleted */

/* The rows of a keyspace in a SQL table that many share. */
struct share {
	uint64_t number;
	struct keyspace keyspace;
	bool is_known, is_dropped;
};

/* A SQL table, and its index of keys. */
struct tree {
	char name[KEYSPACE_NAME_MAX];
	struct keyspace keyspace;     /* whose rows it has */
	bool has_keyspace;
	bool is_unused;               /* free, or with rows to be deleted */
	bool is_shared;
	bool is_keys;                 /* of PLACE_TABLE_KEYS: its rows follow from other tables */
	bool is_torn;                 /* some of its rows could not be reached from the root */
	size_t part_count;            /* of a shared one, by number */
	struct share *parts;
	uint32_t root, index_root;
};

/*
 * What is read is kept in a database of SQLite's own, in a file that goes with the process: `rows`,
 * with the tree that they belong to, and of trees that are torn `entries` of the index of keys.
 * `page` is where a row was found that no root led to.
 */
static const char make_sql[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA "
			       "locking_mode = EXCLUSIVE; PRAGMA cache_size = -32768;"
			       "CREATE TABLE rows (tree, n, rid, k, v, state, page); CREATE TABLE "
			       "entries (tree, n, rid, k); BEGIN";
static const char index_sql[] = "CREATE INDEX rows_of_tree ON rows (tree, n, rid); CREATE INDEX "
				"rows_of_key ON rows (k, rid) WHERE tree < 0;"
				"CREATE INDEX entries_of_tree ON entries (tree, n)";

enum query {
	/* of the file; each twice, for tables of one keyspace and for shared ones */
	ROWS_UP,
	ROWS_UP_SHARED,
	ROWS_DOWN,
	ROWS_DOWN_SHARED,
	VALUE,
	VALUE_SHARED,
	KEYS_UP,
	KEYS_UP_SHARED,
	KEYS_DOWN,
	KEYS_DOWN_SHARED,
	SCHEMA_UP,
	SCHEMA_DOWN,
	QUERIES_OF_FILE,
	ADD_ROW = QUERIES_OF_FILE,
	ADD_ENTRY,
	MATCHES,
	ADOPT,
	ROWS_OF,
	LOST_OF,
	ALL_ROWS,
	QUERY_COUNT
};

static const char *const queries[QUERY_COUNT] = {
	[ROWS_UP] = "SELECT rowid, 0, k FROM own NOT INDEXED WHERE typeof(k) = 'blob'",
	[ROWS_UP_SHARED] = "SELECT rowid, n, k FROM shared NOT INDEXED WHERE typeof(n) = 'integer'",
	[ROWS_DOWN] = "SELECT rowid, 0, k FROM own NOT INDEXED WHERE rowid > ?1 AND typeof(k) = "
		      "'blob' ORDER BY rowid DESC",
	[ROWS_DOWN_SHARED] = "SELECT rowid, n, k FROM shared NOT INDEXED WHERE rowid > ?1 AND "
			     "typeof(n) = 'integer' ORDER BY rowid DESC",
	[VALUE] = "SELECT v FROM own NOT INDEXED WHERE rowid = ?1",
	[VALUE_SHARED] = "SELECT v FROM shared NOT INDEXED WHERE rowid = ?1",
	[KEYS_UP] = "SELECT rowid, 0, k FROM own INDEXED BY own_key ORDER BY k",
	[KEYS_UP_SHARED] = "SELECT rowid, n, k FROM shared INDEXED BY shared_key ORDER BY n, k",
	[KEYS_DOWN] = "SELECT rowid, 0, k FROM own INDEXED BY own_key WHERE ?2 IS NULL OR k > ?2 "
		      "ORDER BY k DESC",
	[KEYS_DOWN_SHARED] = "SELECT rowid, n, k FROM shared INDEXED BY shared_key WHERE ?2 IS "
			     "NULL OR (n, k) > (?1, ?2) ORDER BY n DESC, k DESC",
	[SCHEMA_UP] = "SELECT type, tbl_name, rootpage FROM entries",
	[SCHEMA_DOWN] = "SELECT type, tbl_name, rootpage FROM entries ORDER BY rowid DESC",
	[ADD_ROW] = "INSERT INTO rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[ADD_ENTRY] = "INSERT INTO entries VALUES (?1, ?2, ?3, ?4)",
	/* how many rows of a page without a tree the index of a tree has, of those that it misses
	 */
	[MATCHES] = "SELECT r.page, e.tree, count(*) FROM entries AS e JOIN rows AS r ON r.k = e.k "
		    "AND r.rid = e.rid AND r.n = e.n AND r.tree < 0 WHERE NOT EXISTS "
		    "(SELECT 1 FROM rows AS own WHERE own.tree = e.tree AND own.n = e.n AND "
		    "own.rid = e.rid) GROUP BY 1, 2 ORDER BY 1, 3 DESC",
	[ADOPT] = "UPDATE rows SET tree = ?1, state = max(state, ?2) WHERE page = ?3 AND tree < 0",
	[ROWS_OF] = "SELECT tree, n, k, v, state FROM rows WHERE tree = ?1 AND (?2 IS NULL OR n = "
		    "?2) ORDER BY rid",
	[LOST_OF] =
		"SELECT tree, n, k, NULL, 2 FROM entries AS e WHERE tree = ?1 AND (?2 IS NULL OR n "
		"= ?2) AND NOT EXISTS "
		"(SELECT 1 FROM rows AS r WHERE r.tree = e.tree AND r.n = e.n AND r.rid = e.rid)",
	[ALL_ROWS] = "SELECT tree, n, k, v, state FROM rows",
};

struct file_salvage {
	struct salvage base;
	const struct raw_file *file;
	struct arena *arena;
	struct page_lens *lens;
	sqlite3 *found;
	sqlite3_stmt *statements[QUERY_COUNT];
	size_t tree_count;
	struct tree *trees;
	size_t keyspace_count;
	struct keyspace *keyspaces;
	bool is_free_list_whole, is_broken; /* broken: what was found could not be kept */
};

static sqlite3_stmt *query(struct file_salvage *salvage, enum query query)
{
	sqlite3_reset(salvage->statements[query]);
	sqlite3_clear_bindings(salvage->statements[query]);
	return salvage->statements[query];
}

static enum query of_kind(enum query query, bool is_shared)
{
	return query + is_shared;
}

/* A value of bytes; absent where it is something else. Valid until the statement goes on. */
static struct str bytes_of(sqlite3_stmt *statement, int column)
{
	int kind = sqlite3_column_type(statement, column);
	const void *bytes = sqlite3_column_blob(statement, column);
	size_t n = (size_t)sqlite3_column_bytes(statement, column);

	return kind == SQLITE_BLOB || kind == SQLITE_TEXT ? (struct str){bytes ? bytes : "", n}
							  : STR_ABSENT;
}

static void bind(sqlite3_stmt *statement, int at, struct str bytes)
{
	if (str_is_set(bytes))
		sqlite3_bind_blob64(statement, at, bytes.p, bytes.n, SQLITE_STATIC);
}

static void keep(struct file_salvage *salvage, sqlite3_stmt *statement)
{
	salvage->is_broken = sqlite3_step(statement) != SQLITE_DONE || salvage->is_broken;
	sqlite3_reset(statement);
}

static struct tree *tree_named(struct file_salvage *salvage, const char *name)
{
	for (size_t i = 0; i < salvage->tree_count; i++) {
		if (strcmp(salvage->trees[i].name, name) == 0)
			return &salvage->trees[i];
	}
	return NULL;
}

static struct tree *tree_at(struct file_salvage *salvage, int tree)
{
	return tree < 0 ? NULL : &salvage->trees[tree];
}

/* One row of SQLite's schema: what keeps keyspaces is a table and the index that comes with it. */
static void add_schema_row(struct file_salvage *salvage, struct str kind, struct str name,
			   uint32_t root)
{
	struct tree found = {.root = 0};

	if (!str_is_set(kind) || !str_is_set(name) || name.n >= sizeof(found.name))
		return;
	memcpy(found.name, name.p, name.n);
	found.is_shared = strcmp(found.name, PLACE_SHARED) == 0;
	found.is_keys = place_is_keys(found.name);
	found.has_keyspace = keyspace_name_read(found.name, &found.keyspace);
	if (!found.is_shared && !found.is_keys && !found.has_keyspace &&
	    strcmp(found.name, place_of_name(PLACE_KEYSPACE).name) != 0)
		return;
	struct tree *tree = tree_named(salvage, found.name);
	if (!tree) {
		salvage->trees = arena_room(salvage->arena, salvage->trees, salvage->tree_count,
					    sizeof(*salvage->trees));
		tree = &salvage->trees[salvage->tree_count++];
		*tree = found;
	}
	if (str_eq(kind, STR("table")))
		tree->root = root;
	else if (str_eq(kind, STR("index")))
		tree->index_root = root;
}

/* Rows of the schema are taken from damaged pages too: what they say proves itself by the pages
 * that they name. */
static void read_schema(struct file_salvage *salvage)
{
	page_lens_put(salvage->lens, LENS_SCHEMA, LENS_ALL, 1, NO_TREE);
	for (enum query way = SCHEMA_UP; way <= SCHEMA_DOWN; way++) {
		sqlite3_stmt *row = query(salvage, way);
		int result;

		while ((result = sqlite3_step(row)) == SQLITE_ROW)
			add_schema_row(salvage, bytes_of(row, 0), bytes_of(row, 1),
				       (uint32_t)sqlite3_column_int64(row, 2));
		sqlite3_reset(row);
		if (result == SQLITE_DONE)
			return;
	}
}

/* Where rows come from. */
struct source {
	int tree;        /* NO_TREE: not known */
	uint32_t page;   /* 0: they were reached from the tree's root */
	bool is_shared;
	enum raw_state state;
	int64_t last;    /* row number */
};

/* Keeps the row that the statement has come to, with its value where that can be read. */
static void add_row(struct file_salvage *salvage, struct source *source, sqlite3_stmt *row)
{
	sqlite3_stmt *value = query(salvage, of_kind(VALUE, source->is_shared)),
		     *add = query(salvage, ADD_ROW);
	enum raw_state state = source->state;

	source->last = sqlite3_column_int64(row, 0);
	sqlite3_bind_int64(value, 1, source->last);
	(void)page_lens_worst(salvage->lens);
	bool is_read = sqlite3_step(value) == SQLITE_ROW && str_is_set(bytes_of(value, 0));
	enum raw_state worst = page_lens_worst(salvage->lens);
	state = !is_read ? RAW_DAMAGED : worst > state ? worst : state;
	sqlite3_bind_int(add, 1, source->tree);
	sqlite3_bind_int64(add, 2, sqlite3_column_int64(row, 1));
	sqlite3_bind_int64(add, 3, source->last);
	bind(add, 4, bytes_of(row, 2));
	if (is_read)
		bind(add, 5, bytes_of(value, 0));
	sqlite3_bind_int(add, 6, (int)state);
	sqlite3_bind_int64(add, 7, source->page);
	keep(salvage, add);
	sqlite3_reset(value);
}

/* The rows under the lens, from both ends where one cannot be reached from the other. False then.
 */
static bool add_rows(struct file_salvage *salvage, struct source *source)
{
	sqlite3_stmt *row = query(salvage, of_kind(ROWS_UP, source->is_shared));
	int result;

	source->last = INT64_MIN;
	while ((result = sqlite3_step(row)) == SQLITE_ROW)
		add_row(salvage, source, row);
	sqlite3_reset(row);
	if (result == SQLITE_DONE)
		return true;
	row = query(salvage, of_kind(ROWS_DOWN, source->is_shared));
	sqlite3_bind_int64(row, 1, source->last);
	while (sqlite3_step(row) == SQLITE_ROW)
		add_row(salvage, source, row);
	sqlite3_reset(row);
	return false;
}

static struct str add_entry(struct file_salvage *salvage, int tree, sqlite3_stmt *row)
{
	sqlite3_stmt *add = query(salvage, ADD_ENTRY);
	struct str key = bytes_of(row, 2);

	sqlite3_bind_int(add, 1, tree);
	sqlite3_bind_int64(add, 2, sqlite3_column_int64(row, 1));
	sqlite3_bind_int64(add, 3, sqlite3_column_int64(row, 0));
	bind(add, 4, key);
	keep(salvage, add);
	return key;
}

/* What the index of a torn tree says; also from both ends. */
static void add_entries(struct file_salvage *salvage, int tree)
{
	bool is_shared = salvage->trees[tree].is_shared;
	sqlite3_stmt *row = query(salvage, of_kind(KEYS_UP, is_shared)),
		     *down = query(salvage, of_kind(KEYS_DOWN, is_shared));
	int result;

	while ((result = sqlite3_step(row)) == SQLITE_ROW) {
		sqlite3_bind_int64(down, 1, sqlite3_column_int64(row, 1));
		struct str key = add_entry(salvage, tree, row);
		sqlite3_bind_blob64(down, 2, key.p, key.n, SQLITE_TRANSIENT);
	}
	sqlite3_reset(row);
	while (result != SQLITE_DONE && sqlite3_step(down) == SQLITE_ROW)
		add_entry(salvage, tree, down);
	sqlite3_reset(down);
}

static void read_tree(struct file_salvage *salvage, int at)
{
	struct tree *tree = &salvage->trees[at];
	struct source source = {.tree = at, .is_shared = tree->is_shared};

	if (tree->is_keys)
		return;
	page_lens_put(salvage->lens, tree->is_shared ? LENS_SHARED : LENS_OWN, LENS_SOUND,
		      tree->root, at);
	tree->is_torn = !add_rows(salvage, &source);
	if (!tree->is_torn)
		return;
	page_lens_put(salvage->lens, tree->is_shared ? LENS_SHARED_KEY : LENS_OWN_KEY, LENS_SOUND,
		      tree->index_root, at);
	add_entries(salvage, at);
}

static bool claim(struct file_salvage *salvage, uint32_t page)
{
	if (page_lens_is_known(salvage->lens, page))
		return false;
	page_lens_know(salvage->lens, page);
	return true;
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
		for (uint64_t i = 0; i < n && 8 + i * 4 < STORE_PAGE; i++)
			seen += claim(salvage, (uint32_t)str_be((const char *)page + 8 + i * 4, 4));
		seen++;
		next = (uint32_t)str_be((const char *)page, 4);
	}
	salvage->is_free_list_whole = salvage->is_free_list_whole && seen == count;
}

/* The rows of leaves that no root led to, each by itself. A refused leaf is of the tree that led to
 * it. */
static void read_leaves(struct file_salvage *salvage)
{
	unsigned char page[STORE_PAGE];

	for (uint32_t number = 1; number <= salvage->file->page_count; number++) {
		if (page_lens_is_known(salvage->lens, number))
			continue;
		struct source source = {.page = number,
					.tree = page_lens_tree(salvage->lens, number),
					.state = raw_file_read(salvage->file, number, page)};
		const struct tree *tree = tree_at(salvage, source.tree);

		for (int kind = 0; page[0] == TABLE_LEAF && kind < 2; kind++) {
			source.is_shared = kind;
			page_lens_put(salvage->lens, kind ? LENS_SHARED : LENS_OWN, LENS_LEAF,
				      number, NO_TREE);
			if (!tree || tree->is_shared == source.is_shared)
				(void)add_rows(salvage, &source);
		}
	}
}

static void adopt(struct file_salvage *salvage, int64_t page, int tree)
{
	sqlite3_stmt *adopt = query(salvage, ADOPT);

	sqlite3_bind_int(adopt, 1, tree);
	sqlite3_bind_int(adopt, 2, salvage->is_free_list_whole ? RAW_SOUND : STATE_STRAY);
	sqlite3_bind_int64(adopt, 3, page);
	keep(salvage, adopt);
}

/*
 * Two trees may have rows in common: a leaf is of the one whose index has most of its rows. Pages
 * that were freed keep old rows, so that is certain only while the whole list of free pages can be
 * read.
 */
static void assign_leaves(struct file_salvage *salvage)
{
	struct {
		int64_t page, most;
		int tree;
	} best = {0, 0, NO_TREE};
	sqlite3_stmt *row = query(salvage, MATCHES);

	while (sqlite3_step(row) == SQLITE_ROW) { /* the most matches of each page come first */
		int64_t page = sqlite3_column_int64(row, 0), count = sqlite3_column_int64(row, 2);

		if (page == best.page && count == best.most)
			best.tree = NO_TREE;
		if (page == best.page)
			continue;
		if (best.tree != NO_TREE)
			adopt(salvage, best.page, best.tree);
		best.page = page;
		best.most = count;
		best.tree = sqlite3_column_int(row, 1);
	}
	if (best.tree != NO_TREE)
		adopt(salvage, best.page, best.tree);
	sqlite3_reset(row);
}

static int order_of_parts(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

static struct share *part_numbered(const struct tree *tree, uint64_t number)
{
	const struct share wanted = {.number = number};

	return tree->part_count ? bsearch(&wanted, tree->parts, tree->part_count,
					  sizeof(*tree->parts), order_of_parts)
				: NULL;
}

static struct share *add_part(struct file_salvage *salvage, struct tree *tree, uint64_t number)
{
	tree->parts =
		arena_room(salvage->arena, tree->parts, tree->part_count, sizeof(*tree->parts));
	tree->parts[tree->part_count] = (struct share){.number = number};
	return &tree->parts[tree->part_count++];
}

/* What a row says of SQL tables that are not those of their names: the first time of those without
 * a keyspace, then of the others. */
static void take_place(struct file_salvage *salvage, struct str key, struct str value,
		       bool is_second)
{
	struct keyspace keyspace;
	struct place place = {.number = 0};
	bool is_unused = place_read_unused(key, &place),
	     is_place = place_read_key(key, &keyspace) && place_read_value(value, &place);

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

/* Rows of damaged pages are taken too, as those of the schema are. */
static void read_places(struct file_salvage *salvage)
{
	const struct tree *places = tree_named(salvage, place_of_name(PLACE_KEYSPACE).name);
	struct tree *shared = tree_named(salvage, PLACE_SHARED);
	sqlite3_stmt *row = query(salvage, ROWS_OF);

	for (int turn = 0; places && turn < 2; turn++) {
		sqlite3_bind_int(row, 1, (int)(places - salvage->trees));
		while (sqlite3_step(row) == SQLITE_ROW) {
			struct str key = bytes_of(row, 2), value = bytes_of(row, 3);

			if (str_is_set(key) && str_is_set(value))
				take_place(salvage, key, value, turn > 0);
		}
		sqlite3_reset(row);
	}
	if (shared && shared->part_count)
		qsort(shared->parts, shared->part_count, sizeof(*shared->parts), order_of_parts);
	salvage->keyspaces = ARENA_ARRAY(salvage->arena, struct keyspace,
					 salvage->tree_count + (shared ? shared->part_count : 0));
	for (size_t i = 0; i < salvage->tree_count; i++) {
		if (salvage->trees[i].has_keyspace)
			salvage->keyspaces[salvage->keyspace_count++] = salvage->trees[i].keyspace;
	}
	for (size_t i = 0; shared && i < shared->part_count; i++) {
		if (shared->parts[i].is_known)
			salvage->keyspaces[salvage->keyspace_count++] = shared->parts[i].keyspace;
	}
}

/* Where the rows of a tree belong. `part` is NULL for a tree that is not shared, and where the row
 * that says whose it is was lost. */
struct owner {
	const struct tree *tree;
	const struct share *part;
};

static struct owner owner_of(struct file_salvage *salvage, int at, uint64_t number)
{
	const struct tree *tree = tree_at(salvage, at);

	return (struct owner){tree, tree && tree->is_shared ? part_numbered(tree, number) : NULL};
}

static bool has_keyspace(const struct owner *owner)
{
	return owner->part ? owner->part->is_known : owner->tree && owner->tree->has_keyspace;
}

static bool is_unused(const struct owner *owner)
{
	bool is_place =
		owner->tree && strcmp(owner->tree->name, place_of_name(PLACE_KEYSPACE).name) == 0;

	return owner->part ? owner->part->is_dropped
			   : is_place || (owner->tree && owner->tree->is_unused);
}

static void visit_row(struct file_salvage *salvage, sqlite3_stmt *found, salvage_visit *visit,
		      void *context, bool is_of_strays)
{
	static const enum salvage_state states[] = {SALVAGE_SOUND, SALVAGE_MENDED, SALVAGE_DAMAGED,
						    SALVAGE_DAMAGED};
	static const char *const reasons[] = {NULL, SALVAGE_PAGE_MENDED, SALVAGE_PAGE_DAMAGED,
					      SALVAGE_PAGE_STRAY};
	const struct owner owner = owner_of(salvage, sqlite3_column_int(found, 0),
					    (uint64_t)sqlite3_column_int64(found, 1));
	int state = sqlite3_column_int(found, 4);
	struct salvage_row row = {.state = states[state],
				  .reason = reasons[state],
				  .key = bytes_of(found, 2),
				  .value = bytes_of(found, 3)};

	row.is_stray = !has_keyspace(&owner);
	if (is_unused(&owner) || (is_of_strays && !row.is_stray))
		return;
	if (!row.is_stray)
		row.keyspace = owner.part ? owner.part->keyspace : owner.tree->keyspace;
	if (!str_is_set(row.key) && row.state != SALVAGE_DAMAGED) {
		row.state = SALVAGE_DAMAGED;
		row.reason = SALVAGE_ROW_MALFORMED;
	}
	visit(context, &row);
}

static void visit_rows(struct file_salvage *salvage, enum query which, const struct tree *tree,
		       const struct share *part, salvage_visit *visit, void *context)
{
	sqlite3_stmt *row = query(salvage, which);
	int result;

	if (tree)
		sqlite3_bind_int(row, 1, (int)(tree - salvage->trees));
	if (part)
		sqlite3_bind_int64(row, 2, (sqlite3_int64)part->number);
	while ((result = sqlite3_step(row)) == SQLITE_ROW)
		visit_row(salvage, row, visit, context, which == ALL_ROWS);
	if (result != SQLITE_DONE)
		visit(context, &(struct salvage_row){.is_stray = true,
						     .state = SALVAGE_DAMAGED,
						     .key = STR_ABSENT,
						     .value = STR_ABSENT,
						     .reason = sqlite3_errmsg(salvage->found)});
	sqlite3_reset(row);
}

static void file_rows(struct salvage *base, struct keyspace keyspace, salvage_visit *on_row,
		      void *context)
{
	struct file_salvage *salvage = (struct file_salvage *)base;

	for (size_t i = 0; i < salvage->tree_count; i++) {
		const struct tree *tree = &salvage->trees[i];
		const struct share *part = NULL;

		for (size_t k = 0; k < tree->part_count && !part; k++) {
			if (tree->parts[k].is_known &&
			    keyspace_is_same(tree->parts[k].keyspace, keyspace))
				part = &tree->parts[k];
		}
		if (!part && !(tree->has_keyspace && keyspace_is_same(tree->keyspace, keyspace)))
			continue;
		visit_rows(salvage, ROWS_OF, tree, part, on_row, context);
		visit_rows(salvage, LOST_OF, tree, part, on_row, context);
	}
}

static void file_strays(struct salvage *base, salvage_visit *on_row, void *context)
{
	visit_rows((struct file_salvage *)base, ALL_ROWS, NULL, NULL, on_row, context);
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

	for (int i = 0; i < QUERY_COUNT; i++)
		sqlite3_finalize(salvage->statements[i]);
	sqlite3_close(salvage->found);
	page_lens_close(salvage->lens);
	arena_free(salvage->arena);
}

static const struct salvage_ops file_ops = {file_close, file_keyspaces, file_rows, file_strays};

/* The connections and their statements. */
static bool prepare(struct file_salvage *salvage)
{
	bool is_ready = sqlite3_open("", &salvage->found) == SQLITE_OK &&
			sqlite3_exec(salvage->found, make_sql, NULL, NULL, NULL) == SQLITE_OK &&
			sqlite3_exec(salvage->found, index_sql, NULL, NULL, NULL) == SQLITE_OK;

	for (int i = 0; i < QUERY_COUNT && is_ready; i++) {
		sqlite3 *db = i < QUERIES_OF_FILE ? page_lens_db(salvage->lens) : salvage->found;

		is_ready = sqlite3_prepare_v3(db, queries[i], -1, SQLITE_PREPARE_PERSISTENT,
					      &salvage->statements[i], NULL) == SQLITE_OK;
	}
	return is_ready;
}

static void read_file(struct file_salvage *salvage)
{
	bool is_torn = false;

	read_schema(salvage);
	for (size_t i = 0; i < salvage->tree_count; i++) {
		read_tree(salvage, (int)i);
		is_torn = is_torn || salvage->trees[i].is_torn;
	}
	read_free_list(salvage);
	if (is_torn) {
		read_leaves(salvage);
		assign_leaves(salvage);
	}
	read_places(salvage);
}

static enum code open_salvage(struct file_salvage *salvage, struct err *err)
{
	enum code code = page_lens_open(salvage->file, salvage->arena, &salvage->lens, err);

	if (code != OK)
		return code;
	salvage->is_broken = !prepare(salvage);
	if (!salvage->is_broken)
		read_file(salvage);
	if (salvage->is_broken)
		return err_set(err, MSG_STORE_FAILED, sqlite3_errmsg(salvage->found));
	return salvage->tree_count == 0 ? err_set(err, MSG_STORE_NO_SCHEMA, salvage->file->path)
					: OK;
}

enum code file_salvage_open(const struct raw_file *file, struct salvage **out, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct file_salvage *salvage = ARENA_NEW(arena, struct file_salvage);

	*salvage = (struct file_salvage){.base.ops = &file_ops, .file = file, .arena = arena};
	enum code code = open_salvage(salvage, err);
	if (code != OK)
		file_close(&salvage->base);
	else
		*out = &salvage->base;
	return code;
}
