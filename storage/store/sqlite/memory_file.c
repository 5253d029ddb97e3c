#include "storage/store/sqlite/memory_file.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (256 << 10) /* bytes; a multiple of every page size, so no page lies in two */

/* What is in a file. */
struct content {
	struct content *next;
	char *name;            /* NULL: of one connection alone */
	unsigned users;
	sqlite3_int64 size;
	unsigned char **blocks;
	size_t block_count, block_room;
	struct quota *quota;   /* or NULL */
	bool is_journal;
};

struct memory_file {
	sqlite3_file base;
	struct content *content;
};

static struct memory_system {
	pthread_once_t once;
	pthread_mutex_t mutex; /* of the list and of the users */
	struct content *contents;
	sqlite3_vfs vfs;
	bool is_installed;
} memory_system = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER};

static struct content *content_of(sqlite3_file *file)
{
	return ((struct memory_file *)file)->content;
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

static void content_free(struct content *content)
{
	cut(content, 0);
	free(content->blocks);
	free(content->name);
	free(content);
}

/* The content of that name, or a new one; NULL without memory. */
static struct content *content_enter(const char *name)
{
	struct content *content;

	pthread_mutex_lock(&memory_system.mutex);
	for (content = memory_system.contents; content && (!name || strcmp(content->name, name) != 0);)
		content = content->next;
	if (!content) {
		content = calloc(1, sizeof(*content));
		if (content && name) {
			content->name = strdup(name);
			content->next = memory_system.contents;
			memory_system.contents = content;
		}
	}
	if (content)
		content->users++;
	pthread_mutex_unlock(&memory_system.mutex);
	return content;
}

static void content_leave(struct content *content)
{
	struct content **link = &memory_system.contents;

	pthread_mutex_lock(&memory_system.mutex);
	bool is_last = --content->users == 0;
	while (is_last && *link && *link != content)
		link = &(*link)->next;
	if (is_last && *link)
		*link = content->next;
	pthread_mutex_unlock(&memory_system.mutex);
	if (is_last)
		content_free(content);
}

static int memory_close(sqlite3_file *file)
{
	content_leave(content_of(file));
	return SQLITE_OK;
}

static int memory_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
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

void memory_file_limit(sqlite3 *db, struct quota *quota)
{
	sqlite3_file *file = NULL, *journal = NULL;

	if (sqlite3_file_control(db, NULL, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file && file->pMethods)
		content_of(file)->quota = quota;
	if (sqlite3_file_control(db, NULL, SQLITE_FCNTL_JOURNAL_POINTER, &journal) == SQLITE_OK && journal && journal->pMethods) {
		content_of(journal)->quota = quota;
		content_of(journal)->is_journal = true;
	}
}

static bool is_admitted(const struct content *content, sqlite3_int64 end)
{
	if (content->is_journal)
		return quota_admits_log(content->quota, (uint64_t)end);
	return end <= content->size || quota_admits_data(content->quota, (uint64_t)end);
}

static int memory_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct content *content = content_of(file);
	const unsigned char *from = bytes;
	sqlite3_int64 end = at + n;

	if (content->quota && !is_admitted(content, end))
		return SQLITE_FULL;
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

static int memory_truncate(sqlite3_file *file, sqlite3_int64 size)
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

static int memory_size(sqlite3_file *file, sqlite3_int64 *size)
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

/* So a journal stays open from one transaction to the next. */
static int memory_characteristics(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL;
}

static int memory_fetch(sqlite3_file *file, sqlite3_int64 at, int n, void **out)
{
	const struct content *content = content_of(file);

	*out = at + n <= content->size && at % BLOCK_SIZE + n <= BLOCK_SIZE ? bytes_at(content, at) : NULL;
	return SQLITE_OK;
}

static int memory_unfetch(sqlite3_file *file, sqlite3_int64 at, void *bytes)
{
	(void)file, (void)at, (void)bytes;
	return SQLITE_OK;
}

static const sqlite3_io_methods memory_methods = {
	.iVersion = 3, .xClose = memory_close, .xRead = memory_read, .xWrite = memory_write, .xTruncate = memory_truncate, .xSync = memory_sync,
	.xFileSize = memory_size, .xLock = memory_lock, .xUnlock = memory_lock, .xCheckReservedLock = memory_check_lock,
	.xFileControl = memory_control, .xSectorSize = memory_sector_size, .xDeviceCharacteristics = memory_characteristics,
	.xFetch = memory_fetch, .xUnfetch = memory_unfetch,
};

static int system_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
	struct memory_file *memory = (struct memory_file *)file;

	(void)vfs;
	memory->content = content_enter(name);
	memory->base.pMethods = memory->content ? &memory_methods : NULL;
	if (flags_out)
		*flags_out = flags;
	return memory->content ? SQLITE_OK : SQLITE_NOMEM;
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
