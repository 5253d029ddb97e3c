#include "storage/store/sqlite/memory_file.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "storage/store/sqlite/memory_pages.h"
#include "storage/store/sqlite/page_file.h"

#define BLOCK_SIZE (256 << 10) /* bytes */

/* A database, which connections share by its name. */
struct database {
	struct database *next;
	char *name;
	unsigned users;
	struct memory_pages *pages;
	struct quota *quota; /* or NULL */
};

/* What is in a file of one connection alone. */
struct content {
	sqlite3_int64 size;
	unsigned char **blocks;
	size_t block_count, block_room;
};

struct memory_file {
	sqlite3_file base;
	struct database *database;   /* or NULL: */
	struct memory_reader reader;
	bool is_writing;             /* its transaction may have written */
	struct content content;
};

static struct memory_system {
	pthread_once_t once;
	pthread_mutex_t mutex; /* of the list and of the users */
	struct database *databases;
	sqlite3_vfs vfs;
	bool is_installed;
} memory_system = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER};

static struct content *content_of(sqlite3_file *file)
{
	return &((struct memory_file *)file)->content;
}

/* The bytes at an offset, within a block that is there. */
static unsigned char *bytes_at(const struct content *content, sqlite3_int64 at)
{
	return content->blocks[at / BLOCK_SIZE] + at % BLOCK_SIZE;
}

static size_t blocks_for(sqlite3_int64 size)
{
	return (size_t)((size + BLOCK_SIZE - 1) / BLOCK_SIZE);
}

/* How many of the bytes from `at` to `end` lie in the block of the first. */
static size_t step_within(sqlite3_int64 at, sqlite3_int64 end)
{
	sqlite3_int64 left = BLOCK_SIZE - at % BLOCK_SIZE;

	return (size_t)(left < end - at ? left : end - at);
}

static bool make_room(struct content *content, sqlite3_int64 size)
{
	size_t wanted = blocks_for(size);

	if (wanted > content->block_room) {
		size_t room = content->block_room * 2 > wanted ? content->block_room * 2 : wanted;
		unsigned char **blocks = realloc(content->blocks, room * sizeof(*blocks));

		if (!blocks)
			return false;
		content->blocks = blocks;
		content->block_room = room;
	}
	while (content->block_count < wanted) {
		unsigned char *block = calloc(1, BLOCK_SIZE);

		if (!block)
			return false;
		content->blocks[content->block_count++] = block;
	}
	return true;
}

/* Blocks beyond the size are let go; what stays of the last one is 0 again. */
static void cut(struct content *content, sqlite3_int64 size)
{
	size_t wanted = blocks_for(size);

	while (content->block_count > wanted)
		free(content->blocks[--content->block_count]);
	if (size % BLOCK_SIZE)
		memset(bytes_at(content, size), 0, (size_t)(BLOCK_SIZE - size % BLOCK_SIZE));
	content->size = size;
}

static void database_free(struct database *database)
{
	if (!database)
		return;
	if (database->pages)
		memory_pages_free(database->pages);
	free(database->name);
	free(database);
}

/* NULL without memory. */
static struct database *database_new(const char *name)
{
	struct database *database = calloc(1, sizeof(*database));

	if (!database)
		return NULL;
	database->name = strdup(name);
	database->pages = memory_pages_new();
	if (database->name && database->pages)
		return database;
	database_free(database);
	return NULL;
}

/* The database of that name, or a new one; NULL without memory. */
static struct database *database_enter(const char *name)
{
	struct database *database;

	pthread_mutex_lock(&memory_system.mutex);
	for (database = memory_system.databases; database && strcmp(database->name, name) != 0;)
		database = database->next;
	if (!database) {
		database = database_new(name);
		if (database) {
			database->next = memory_system.databases;
			memory_system.databases = database;
		}
	}
	if (database)
		database->users++;
	pthread_mutex_unlock(&memory_system.mutex);
	return database;
}

static void database_leave(struct database *database)
{
	struct database **link = &memory_system.databases;

	pthread_mutex_lock(&memory_system.mutex);
	bool is_last = --database->users == 0;
	while (is_last && *link && *link != database)
		link = &(*link)->next;
	if (is_last && *link)
		*link = database->next;
	pthread_mutex_unlock(&memory_system.mutex);
	if (is_last)
		database_free(database);
}

struct memory_file *memory_file_of(sqlite3 *db)
{
	return (struct memory_file *)page_file_of(db, SQLITE_FCNTL_FILE_POINTER);
}

void memory_file_pin(struct memory_file *file)
{
	memory_pages_pin(file->database->pages, &file->reader);
}

void memory_file_unpin(struct memory_file *file)
{
	memory_pages_unpin(&file->reader);
}

const unsigned char *memory_file_page(const struct memory_file *file, uint32_t number)
{
	uint64_t end = (uint64_t)number * STORE_PAGE;

	if (number == 0 || end > memory_pages_size(file->database->pages, &file->reader))
		return NULL;
	return memory_pages_find(file->database->pages, &file->reader, number - 1);
}

void memory_file_prefetch(const struct memory_file *file, uint32_t number)
{
	memory_pages_prefetch(file->database->pages, (uint64_t)number - 1);
}

void memory_file_limit(struct memory_file *file, struct quota *quota)
{
	file->database->quota = quota;
}

static int shared_close(sqlite3_file *base)
{
	struct memory_file *file = (struct memory_file *)base;

	memory_pages_leave(file->database->pages, &file->reader);
	database_leave(file->database);
	return SQLITE_OK;
}

static int shared_size(sqlite3_file *base, sqlite3_int64 *size)
{
	const struct memory_file *file = (struct memory_file *)base;

	*size = (sqlite3_int64)memory_pages_size(file->database->pages, &file->reader);
	return SQLITE_OK;
}

/* SQLite reads within a page. */
static int shared_read(sqlite3_file *base, void *out, int n, sqlite3_int64 at)
{
	const struct memory_file *file = (struct memory_file *)base;
	uint64_t from = (uint64_t)at, size = memory_pages_size(file->database->pages, &file->reader);

	if (from % STORE_PAGE + (unsigned)n > STORE_PAGE)
		return SQLITE_IOERR_READ;
	if (from + (unsigned)n > size) {
		memset(out, 0, (size_t)n);
		return SQLITE_IOERR_SHORT_READ;
	}
	const unsigned char *page = memory_pages_find(file->database->pages, &file->reader, from / STORE_PAGE);
	if (page)
		memmove(out, page + from % STORE_PAGE, (size_t)n); /* not memcpy(): see memory_pages_write() */
	else
		memset(out, 0, (size_t)n);
	return SQLITE_OK;
}

static bool is_admitted(const struct database *database, uint64_t end)
{
	return quota_admits_log(database->quota, (memory_pages_replaced(database->pages) + 1) * STORE_PAGE) &&
	       quota_admits_data(database->quota, end);
}

/* SQLite writes whole pages. */
static int shared_write(sqlite3_file *base, const void *bytes, int n, sqlite3_int64 at)
{
	const struct memory_file *file = (struct memory_file *)base;
	const struct database *database = file->database;
	uint64_t size = memory_pages_size(database->pages, &file->reader), end = (uint64_t)at + STORE_PAGE;

	if (n != STORE_PAGE || at % STORE_PAGE != 0)
		return SQLITE_IOERR_WRITE;
	if (database->quota && !is_admitted(database, end > size ? end : size))
		return SQLITE_FULL;
	return memory_pages_write(database->pages, (uint64_t)at / STORE_PAGE, bytes) ? SQLITE_OK : SQLITE_FULL;
}

static int shared_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	return memory_pages_cut(((struct memory_file *)base)->database->pages, (uint64_t)size) ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int shared_lock(sqlite3_file *base, int kind)
{
	if (kind >= SQLITE_LOCK_RESERVED)
		((struct memory_file *)base)->is_writing = true;
	return SQLITE_OK;
}

/* What is written and not published now was not committed. */
static int shared_unlock(sqlite3_file *base, int kind)
{
	struct memory_file *file = (struct memory_file *)base;

	(void)kind;
	if (file->is_writing)
		memory_pages_drop(file->database->pages);
	file->is_writing = false;
	return SQLITE_OK;
}

static int shared_control(sqlite3_file *base, int op, void *argument)
{
	(void)argument;
	if (op == SQLITE_FCNTL_COMMIT_PHASETWO)
		memory_pages_publish(((struct memory_file *)base)->database->pages);
	return SQLITE_NOTFOUND;
}

/* A page that was never written is read instead. */
static int shared_fetch(sqlite3_file *base, sqlite3_int64 at, int n, void **out)
{
	const struct memory_file *file = (struct memory_file *)base;
	bool is_there = (uint64_t)at + (unsigned)n <= memory_pages_size(file->database->pages, &file->reader);
	const unsigned char *page = is_there && n == STORE_PAGE ? memory_pages_find(file->database->pages, &file->reader, (uint64_t)at / STORE_PAGE) : NULL;

	if (page)
		page_prefetch(page);
	*out = (void *)(uintptr_t)page;
	return SQLITE_OK;
}

static int shared_unfetch(sqlite3_file *file, sqlite3_int64 at, void *bytes)
{
	(void)file, (void)at, (void)bytes;
	return SQLITE_OK;
}

static int alone_close(sqlite3_file *file)
{
	cut(content_of(file), 0);
	free(content_of(file)->blocks);
	return SQLITE_OK;
}

static int alone_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
	const struct content *content = content_of(file);
	unsigned char *to = out;
	sqlite3_int64 end = at + n < content->size ? at + n : content->size;

	while (at < end) {
		size_t step = step_within(at, end);

		memcpy(to, bytes_at(content, at), step);
		to += step;
		at += (sqlite3_int64)step;
	}
	int missing = n - (int)(to - (unsigned char *)out);
	memset(to, 0, (size_t)missing);
	return missing ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int alone_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct content *content = content_of(file);
	const unsigned char *from = bytes;
	sqlite3_int64 end = at + n;

	if (!make_room(content, end))
		return SQLITE_FULL;
	if (content->size < end)
		content->size = end;
	while (at < end) {
		size_t step = step_within(at, end);

		memcpy(bytes_at(content, at), from, step);
		from += step;
		at += (sqlite3_int64)step;
	}
	return SQLITE_OK;
}

static int alone_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	if (size < content_of(file)->size)
		cut(content_of(file), size);
	return SQLITE_OK;
}

static int memory_sync(sqlite3_file *file, int flags)
{
	(void)file, (void)flags;
	return SQLITE_OK;
}

static int alone_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = content_of(file)->size;
	return SQLITE_OK;
}

static int memory_lock(sqlite3_file *file, int kind)
{
	(void)file, (void)kind;
	return SQLITE_OK;
}

static int memory_check_lock(sqlite3_file *file, int *is_locked)
{
	(void)file;
	*is_locked = 0;
	return SQLITE_OK;
}

static int memory_control(sqlite3_file *file, int op, void *argument)
{
	(void)file, (void)op, (void)argument;
	return SQLITE_NOTFOUND;
}

static int memory_sector_size(sqlite3_file *file)
{
	(void)file;
	return 512;
}

static int memory_characteristics(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL;
}

static const sqlite3_io_methods shared_methods = {
	.iVersion = 3, .xClose = shared_close, .xRead = shared_read, .xWrite = shared_write, .xTruncate = shared_truncate, .xSync = memory_sync,
	.xFileSize = shared_size, .xLock = shared_lock, .xUnlock = shared_unlock, .xCheckReservedLock = memory_check_lock,
	.xFileControl = shared_control, .xSectorSize = memory_sector_size, .xDeviceCharacteristics = memory_characteristics,
	.xFetch = shared_fetch, .xUnfetch = shared_unfetch,
};

static const sqlite3_io_methods alone_methods = {
	.iVersion = 1, .xClose = alone_close, .xRead = alone_read, .xWrite = alone_write, .xTruncate = alone_truncate, .xSync = memory_sync,
	.xFileSize = alone_size, .xLock = memory_lock, .xUnlock = memory_lock, .xCheckReservedLock = memory_check_lock,
	.xFileControl = memory_control, .xSectorSize = memory_sector_size, .xDeviceCharacteristics = memory_characteristics,
};

static int system_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *flags_out)
{
	struct memory_file *file = (struct memory_file *)base;
	bool is_shared = name && flags & SQLITE_OPEN_MAIN_DB;

	(void)vfs;
	*file = (struct memory_file){.base.pMethods = &alone_methods};
	if (flags_out)
		*flags_out = flags;
	if (!is_shared)
		return SQLITE_OK;
	file->database = database_enter(name);
	file->base.pMethods = file->database ? &shared_methods : NULL;
	if (!file->database)
		return SQLITE_NOMEM;
	memory_pages_join(file->database->pages, &file->reader);
	if (flags & SQLITE_OPEN_READONLY)
		memory_file_pin(file);
	return SQLITE_OK;
}

static int system_delete(sqlite3_vfs *vfs, const char *name, int is_synced)
{
	(void)vfs, (void)name, (void)is_synced;
	return SQLITE_OK;
}

static int system_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
	(void)vfs, (void)name, (void)flags;
	*answer = 0;
	return SQLITE_OK;
}

static int system_full_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	sqlite3_snprintf(n, out, "%s", name);
	return SQLITE_OK;
}

static void install(void)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (!usual)
		return;
	memory_system.vfs = *usual; /* its clock and its randomness */
	memory_system.vfs.pNext = NULL;
	memory_system.vfs.zName = MEMORY_FILE_SYSTEM;
	memory_system.vfs.szOsFile = (int)sizeof(struct memory_file);
	memory_system.vfs.xOpen = system_open;
	memory_system.vfs.xDelete = system_delete;
	memory_system.vfs.xAccess = system_access;
	memory_system.vfs.xFullPathname = system_full_path;
	memory_system.is_installed = sqlite3_vfs_register(&memory_system.vfs, 0) == SQLITE_OK;
}

bool memory_file_install(void)
{
	pthread_once(&memory_system.once, install);
	return memory_system.is_installed;
}
