#include "storage/store/sqlite/memory_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/store/sqlite/page_file.h"

#define LEAF_PAGES 65536
#define LEAVES 65536      /* of 256 MB: more than a file of SQLite's can have */
#define NEWEST UINT64_MAX /* the version that the writer sees */

/* A page in one version. */
struct page {
	uint64_t version;
	struct page *older; /* what readers of earlier versions see; NULL: zeros */
	struct page *next;  /* in the queue */
	_Alignas(8) unsigned char bytes[STORE_PAGE];
};

/* The newest version of each page, also of the transaction under way. */
struct leaf {
	_Atomic(struct page *) pages[LEAF_PAGES];
};

/* The database as a connection has it open. */
struct memory_file {
	sqlite3_file base;
	struct memory_files *files;
	struct memory_file *next;
	uint64_t version; /* that it reads; 0: none. Written under the mutex, by its own thread */
	uint64_t size;    /* of the database in that version, in bytes */
};

struct memory_files {
	sqlite3_vfs vfs;
	char name[40];
	struct quota *quota;
	pthread_mutex_t mutex; /* of the next four */
	struct memory_file *open;
	struct memory_file *writer;
	uint64_t published;        /* the newest version; the writer makes the one after it */
	uint64_t published_size;   /* of the database in that version */
	uint64_t size;             /* with what the writer wrote */
	struct page *first, **end; /* the queue: pages whose older version is to be freed */
	struct page **begun;       /* where those of the transaction under way begin */
	size_t replaced;           /* of these have an older version */
	_Atomic(struct leaf *) leaves[LEAVES];
};

/* Where the newest version of a page is kept; NULL: it never was. `is_made`: makes the place, or
 * NULL without memory. */
static _Atomic(struct page *) *place_of(struct memory_files *files, uint64_t number, bool is_made)
{
	if (number >= (uint64_t)LEAVES * LEAF_PAGES)
		return NULL;
	struct leaf *leaf =
		atomic_load_explicit(&files->leaves[number / LEAF_PAGES], memory_order_acquire);
	if (!leaf && is_made && (leaf = calloc(1, sizeof(*leaf))))
		atomic_store_explicit(&files->leaves[number / LEAF_PAGES], leaf,
				      memory_order_release);
	return leaf ? &leaf->pages[number % LEAF_PAGES] : NULL;
}

/* The page as the connection sees it; NULL: all zeros. */
static const unsigned char *page_seen(const struct memory_file *file, uint64_t number)
{
	_Atomic(struct page *) *place = place_of(file->files, number, false);
	const struct page *page = place ? atomic_load_explicit(place, memory_order_acquire) : NULL;

	while (page && page->version > file->version)
		page = page->older;
	return page ? page->bytes : NULL;
}

static uint64_t size_seen(const struct memory_file *file)
{
	return file->version == NEWEST ? file->files->size : file->size;
}

/* A page of the transaction under way; NULL without memory. */
static struct page *add_page(struct memory_files *files, struct page *older, uint64_t version)
{
	struct page *page = malloc(sizeof(*page));

	if (!page)
		return NULL;
	page->version = version;
	page->older = older;
	page->next = NULL;
	*files->end = page;
	files->end = &page->next;
	files->replaced += older != NULL;
	return page;
}

/* False without memory; the page is then as it was. */
static bool write_page(struct memory_files *files, uint64_t number, const void *bytes)
{
	uint64_t version = files->published + 1;
	_Atomic(struct page *) *place = place_of(files, number, true);

	if (!place)
		return false;
	struct page *page = atomic_load_explicit(place, memory_order_relaxed);
	if (!page || page->version != version)
		page = add_page(files, page, version);
	if (!page)
		return false;
	memcpy(page->bytes, bytes, STORE_PAGE);
	if (files->size < (number + 1) * STORE_PAGE)
		files->size = (number + 1) * STORE_PAGE;
	atomic_store_explicit(place, page,
			      memory_order_release); /* readers go on to the older one */
	return true;
}

static void pin(struct memory_file *file)
{
	struct memory_files *files = file->files;

	pthread_mutex_lock(&files->mutex);
	file->version = files->published;
	file->size = files->published_size;
	pthread_mutex_unlock(&files->mutex);
}

/* Publishes what was written, and frees versions that no connection can read any more. */
static void end_version(struct memory_files *files)
{
	pthread_mutex_lock(&files->mutex);
	uint64_t oldest = ++files->published;
	files->published_size = files->size;
	for (const struct memory_file *file = files->open; file; file = file->next)
		oldest = file->version && file->version < oldest ? file->version : oldest;
	pthread_mutex_unlock(&files->mutex);
	for (struct page *page; (page = files->first) && page->version <= oldest;) {
		files->first = page->next;
		free(page->older);
		page->older = NULL;
	}
	if (!files->first)
		files->end = &files->first;
	files->begun = files->end;
	files->replaced = 0;
}

/* A reader may be passing the pages on its way to older ones: so they stay, as a version that is
 * like the one before. */
static void drop(struct memory_files *files)
{
	files->size = files->published_size;
	for (struct page *page = *files->begun; page; page = page->next) {
		if (page->older)
			memcpy(page->bytes, page->older->bytes, STORE_PAGE);
		else
			memset(page->bytes, 0, STORE_PAGE);
	}
	if (*files->begun)
		end_version(files);
}

static int file_close(sqlite3_file *base)
{
	struct memory_file *file = (struct memory_file *)base, **link = &file->files->open;

	pthread_mutex_lock(&file->files->mutex);
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	pthread_mutex_unlock(&file->files->mutex);
	return SQLITE_OK;
}

/* SQLite reads within a page. */
static int file_read(sqlite3_file *base, void *out, int n, sqlite3_int64 at)
{
	const struct memory_file *file = (struct memory_file *)base;
	uint64_t from = (uint64_t)at, size = size_seen(file);

	if (from % STORE_PAGE + (unsigned)n > STORE_PAGE)
		return SQLITE_IOERR_READ;
	const unsigned char *page =
		from + (unsigned)n > size ? NULL : page_seen(file, from / STORE_PAGE);
	if (page)
		memcpy(out, page + from % STORE_PAGE, (size_t)n);
	else
		memset(out, 0, (size_t)n);
	return from + (unsigned)n > size ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *base, const void *bytes, int n, sqlite3_int64 at)
{
	struct memory_files *files = ((struct memory_file *)base)->files;
	/* with STORE_ERASES a delete replaces each page that it frees, and must go on */
	uint64_t log = files->quota->is_growing ? (files->replaced + 1) * STORE_PAGE : 0,
		 end = (uint64_t)at + STORE_PAGE;

	if (n != STORE_PAGE || at % STORE_PAGE != 0)
		return SQLITE_IOERR_WRITE;
	if (!quota_admits(files->quota, log, end > files->size ? end : files->size, false))
		return SQLITE_FULL;
	return write_page(files, (uint64_t)at / STORE_PAGE, bytes) ? SQLITE_OK : SQLITE_FULL;
}

/* The pages keep their memory. SQLite writes pages before it reads them again. */
static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct memory_files *files = ((struct memory_file *)base)->files;

	if ((uint64_t)size < files->size)
		files->size = (uint64_t)size;
	return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags)
{
	(void)base, (void)flags;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)size_seen((struct memory_file *)base);
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int kind)
{
	struct memory_file *file = (struct memory_file *)base;
	struct memory_files *files = file->files;

	if (kind == SQLITE_LOCK_SHARED) {
		pin(file);
		return SQLITE_OK;
	}
	pthread_mutex_lock(&files->mutex);
	if (!files->writer && file->version == files->published) {
		files->writer = file;
		file->version = NEWEST;
	}
	pthread_mutex_unlock(&files->mutex);
	return file->version == NEWEST ? SQLITE_OK : SQLITE_BUSY;
}

static int file_unlock(sqlite3_file *base, int kind)
{
	struct memory_file *file = (struct memory_file *)base;
	struct memory_files *files = file->files;
	bool is_writer = file->version == NEWEST;

	if (is_writer) {
		drop(files);
		pin(file); /* before another one writes: SQLite goes on with its cache */
	}
	pthread_mutex_lock(&files->mutex);
	if (is_writer)
		files->writer = NULL;
	if (kind == SQLITE_LOCK_NONE)
		file->version = file->size = 0;
	pthread_mutex_unlock(&files->mutex);
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *argument)
{
	struct memory_files *files = ((struct memory_file *)base)->files;

	(void)argument;
	if (op == SQLITE_FCNTL_COMMIT_PHASETWO)
		end_version(files);
	return SQLITE_NOTFOUND;
}

static int file_characteristics(sqlite3_file *base)
{
	(void)base;
	return 0;
}

/* NULL: SQLite reads instead, as a page that was never written. */
static int file_fetch(sqlite3_file *base, sqlite3_int64 at, int n, void **out)
{
	const struct memory_file *file = (struct memory_file *)base;
	bool is_page = n == STORE_PAGE && (uint64_t)at + STORE_PAGE <= size_seen(file);

	*out = is_page ? (void *)(uintptr_t)page_seen(file, (uint64_t)at / STORE_PAGE) : NULL;
	return SQLITE_OK;
}

static int file_unfetch(sqlite3_file *base, sqlite3_int64 at, void *bytes)
{
	(void)base, (void)at, (void)bytes;
	return SQLITE_OK;
}

/* Without xCheckReservedLock, which is for hot journals: none is ever there. */
static const sqlite3_io_methods methods = {
	.iVersion = 3,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xFileControl = file_control,
	.xDeviceCharacteristics = file_characteristics,
	.xFetch = file_fetch,
	.xUnfetch = file_unfetch,
};

/* Pins a version at once: SQLite reads the head of the database before it locks. */
static int system_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
		       int *flags_out)
{
	struct memory_file *file = (struct memory_file *)base;
	struct memory_files *files = vfs->pAppData;

	(void)name;
	*file = (struct memory_file){.files = files};
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	file->base.pMethods = &methods;
	pthread_mutex_lock(&files->mutex);
	file->next = files->open;
	files->open = file;
	pthread_mutex_unlock(&files->mutex);
	pin(file);
	if (flags_out)
		*flags_out = flags;
	return SQLITE_OK;
}

static int system_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
	(void)vfs, (void)name, (void)flags;
	*answer = 0;
	return SQLITE_OK;
}

struct memory_files *memory_file_install(struct quota *quota)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	struct memory_files *files = usual ? calloc(1, sizeof(*files)) : NULL;

	if (!files)
		return NULL;
	snprintf(files->name, sizeof(files->name), "memory-%p", (void *)files);
	files->quota = quota;
	files->published = 1;
	files->begun = files->end = &files->first;
	pthread_mutex_init(&files->mutex, NULL);
	files->vfs = *usual; /* its clock, its randomness, its paths */
	files->vfs.pNext = NULL;
	files->vfs.zName = files->name;
	files->vfs.pAppData = files;
	files->vfs.szOsFile = (int)sizeof(struct memory_file);
	files->vfs.xOpen = system_open;
	files->vfs.xAccess = system_access;
	if (sqlite3_vfs_register(&files->vfs, 0) == SQLITE_OK)
		return files;
	free(files);
	return NULL;
}

/* Frees the page in all its versions. */
static void free_page(struct page *page)
{
	for (struct page *older; page; page = older) {
		older = page->older;
		free(page);
	}
}

void memory_file_remove(struct memory_files *files)
{
	if (!files)
		return;
	sqlite3_vfs_unregister(&files->vfs);
	for (size_t i = 0; i < LEAVES; i++) {
		struct leaf *leaf = atomic_load(&files->leaves[i]);

		for (size_t k = 0; leaf && k < LEAF_PAGES; k++)
			free_page(atomic_load(&leaf->pages[k]));
		free(leaf);
	}
	pthread_mutex_destroy(&files->mutex);
	free(files);
}

const char *memory_file_system(const struct memory_files *files)
{
	return files->name;
}
