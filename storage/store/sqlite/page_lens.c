#include "storage/store/sqlite/page_lens.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/be.h"
#include "storage/store/sqlite/guard.h"
#include "storage/store/sqlite/new_file.h"
#include "storage/store/store_messages.h"

#define NAME "dynalith-lens"
#define TABLE_LEAF 13 /* the first byte of such a page; of one where a value goes on it is 0 */
#define HEAD 100              /* of the first page; the bytes at these places of it: */
#define RESERVED_AT 20
#define CHANGES_AT 24
#define PAGES_AT 28
#define VALID_FOR_AT 92
#define CELLS_AT 3            /* in a page: their number */
#define CELL_PLACES_AT 8      /* of a leaf; 4 bytes later in others */

struct page_lens {
	sqlite3_vfs vfs, *under;
	sqlite3 *db;
	const struct raw_file *file;
	unsigned char first[STORE_PAGE]; /* the first page of what the connection sees */
	uint32_t pages[LENS_COUNT];
	uint32_t changes;
	enum lens_mode mode;
	bool is_damaged;                 /* the page under the lens, in LENS_LEAF */
	int tree;
	enum raw_state worst;
	unsigned char *is_known;         /* by page number */
	int *trees;
};

/* Behind what the file system beneath has of an open file. */
struct lens_file {
	sqlite3_io_methods methods; /* those of the file system beneath, but for two */
	struct page_lens *lens;
};

static struct page_lens *lens_of(sqlite3_file *file)
{
	return ((const struct lens_file *)file->pMethods)->lens;
}

/* The first page as any other: its head is gone, and what lies behind it moved up. The cells
 * themselves stay where they are. */
static void move_up(unsigned char *page)
{
	const unsigned char *head = page + HEAD;
	size_t n = CELL_PLACES_AT + (head[0] == TABLE_LEAF ? 0u : 4u) +
		   2 * (size_t)be16(head + CELLS_AT);

	memmove(page, head, n < STORE_PAGE - HEAD ? n : STORE_PAGE - HEAD);
}

static bool is_served(struct page_lens *lens, uint32_t number, enum raw_state state,
		      const unsigned char *page, bool is_under)
{
	bool is_leaf = page[0] == TABLE_LEAF;

	if (lens->mode == LENS_LEAF)
		return is_under || (!lens->is_damaged && state != RAW_DAMAGED);
	if (is_leaf && state != RAW_SOUND && lens->mode != LENS_ALL) {
		lens->trees[number] = lens->tree;
		return false;
	}
	if (!is_leaf && state == RAW_DAMAGED)
		return false;
	lens->is_known[number] = true;
	return true;
}

static int lens_page(struct page_lens *lens, uint32_t number, unsigned char *page)
{
	uint32_t count = lens->file->page_count;
	bool is_under = number > count;

	if (number == 1) {
		memcpy(page, lens->first, STORE_PAGE);
		return SQLITE_OK;
	}
	if (is_under)
		number = number - count <= LENS_COUNT ? lens->pages[number - count - 1] : 0;
	if (number == 0 || number > count)
		return SQLITE_IOERR_READ;
	enum raw_state state = raw_file_read(lens->file, number, page);
	if (is_under && number == 1)
		move_up(page);
	if (is_under)
		lens->is_damaged = state == RAW_DAMAGED;
	if (!is_served(lens, number, state, page, is_under))
		return SQLITE_IOERR_DATA;
	if (!is_under && page[0] == 0 && state > lens->worst)
		lens->worst = state;
	return SQLITE_OK;
}

static int lens_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
	unsigned char page[STORE_PAGE];
	size_t start = (size_t)(at % STORE_PAGE);
	int result = lens_page(lens_of(file), (uint32_t)(at / STORE_PAGE + 1), page);

	if (result == SQLITE_OK && start + (size_t)n > STORE_PAGE)
		return SQLITE_IOERR_READ;
	if (result == SQLITE_OK)
		memcpy(out, page + start, (size_t)n);
	return result;
}

static int lens_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = ((sqlite3_int64)lens_of(file)->file->page_count + LENS_COUNT) * STORE_PAGE;
	return SQLITE_OK;
}

/* The damaged file, with other pages. */
static int lens_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *flags_out)
{
	struct page_lens *lens = vfs->pAppData;
	struct lens_file *own = (struct lens_file *)((char *)file + page_file_behind(lens->under));
	int result = lens->under->xOpen(lens->under, name, file, flags, flags_out);

	if (result != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
		return result;
	*own = (struct lens_file){*file->pMethods, lens};
	own->methods.iVersion = 1; /* SQLite reads each page by xRead */
	own->methods.xRead = lens_read;
	own->methods.xFileSize = lens_size;
	file->pMethods = &own->methods;
	return SQLITE_OK;
}

/* There is no journal and no log. */
static int lens_access(sqlite3_vfs *vfs, const char *name, int flags, int *is_there)
{
	(void)vfs, (void)name, (void)flags;
	*is_there = 0;
	return SQLITE_OK;
}

/* SQLite makes the tables, in memory; their pages get numbers behind those of the file. */
static bool make_first(struct page_lens *lens)
{
	static const char sql[] =
		"PRAGMA page_size = 4096; CREATE TABLE own (k, v); CREATE UNIQUE INDEX own_key ON "
		"own (k);"
		"CREATE TABLE shared (n, k, v); CREATE UNIQUE INDEX shared_key ON shared (n, k); "
		"CREATE TABLE entries (type, name, tbl_name, rootpage, sql);"
		"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = rootpage - 2 + "
		"%u";
	uint32_t count = lens->file->page_count;
	int reserved = lens->file->has_checksums ? PAGE_CHECK_BYTES : 0;
	char text[sizeof(sql) + 16];
	size_t size;

	sqlite3_snprintf(sizeof(text), text, sql, (unsigned)count + 1);
	unsigned char *bytes = new_file_made_by(text, reserved, &size);
	bool is_made = bytes && size >= STORE_PAGE && bytes[RESERVED_AT] == reserved;
	if (is_made) {
		memcpy(lens->first, bytes, STORE_PAGE);
		put_be32(lens->first + PAGES_AT, count + LENS_COUNT);
	}
	sqlite3_free(bytes);
	return is_made;
}

enum code page_lens_open(const struct raw_file *file, struct arena *arena, struct page_lens **out,
			 struct err *err)
{
	struct page_lens *lens = ARENA_NEW(arena, struct page_lens);
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	*lens = (struct page_lens){.vfs = *usual, .under = usual, .file = file};
	lens->is_known = arena_calloc(arena, (size_t)file->page_count + 1, 1);
	lens->trees = arena_calloc(arena, (size_t)file->page_count + 1, sizeof(*lens->trees));
	memset(lens->trees, 0xFF, ((size_t)file->page_count + 1) * sizeof(*lens->trees));
	lens->vfs.pNext = NULL;
	lens->vfs.zName = NAME;
	lens->vfs.pAppData = lens;
	lens->vfs.szOsFile = (int)(page_file_behind(usual) + sizeof(struct lens_file));
	lens->vfs.xOpen = lens_open;
	lens->vfs.xAccess = lens_access;
	*out = lens;
	if (!make_first(lens) || sqlite3_vfs_register(&lens->vfs, 0) != SQLITE_OK ||
	    sqlite3_open_v2(file->path, &lens->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
			    NAME) != SQLITE_OK)
		return err_set(err, MSG_STORE_FAILED,
			       lens->db ? sqlite3_errmsg(lens->db) : "out of memory");
	guard_connection(lens->db);
	page_lens_put(lens, LENS_OWN, LENS_SOUND, 0, -1);
	return OK;
}

void page_lens_close(struct page_lens *lens)
{
	sqlite3_close(lens->db);
	if (lens->vfs.zName)
		sqlite3_vfs_unregister(&lens->vfs);
}

sqlite3 *page_lens_db(struct page_lens *lens)
{
	return lens->db;
}

void page_lens_put(struct page_lens *lens, enum lens_over over, enum lens_mode mode, uint32_t page,
		   int tree)
{
	lens->pages[over] = page;
	lens->mode = mode;
	lens->tree = tree;
	lens->changes++; /* SQLite forgets what it has of the file */
	put_be32(lens->first + CHANGES_AT, lens->changes);
	put_be32(lens->first + VALID_FOR_AT, lens->changes);
}

enum raw_state page_lens_worst(struct page_lens *lens)
{
	enum raw_state worst = lens->worst;

	lens->worst = RAW_SOUND;
	return worst;
}

bool page_lens_is_known(const struct page_lens *lens, uint32_t page)
{
	return page == 0 || page > lens->file->page_count || lens->is_known[page];
}

void page_lens_know(struct page_lens *lens, uint32_t page)
{
	lens->is_known[page] = true;
}

int page_lens_tree(const struct page_lens *lens, uint32_t page)
{
	return lens->trees[page];
}
