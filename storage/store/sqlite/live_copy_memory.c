/*
 * live_copy.h for dynalith.wasm, which has no files of its own: the copy is in memory. Nothing else
 * runs meanwhile, so one step makes all of it. The pages come from the file in memory itself: what
 * sqlite3_serialize() cannot load for lack of memory it makes zeros, and says nothing.
 */
#include "storage/store/sqlite/live_copy.h"

#include <stdlib.h>
#include <string.h>

#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

struct live_copy {
	unsigned char *bytes;
	sqlite3_int64 size;
};

/* Under the lock of a reader. SQLite's result. */
static int copy_file(sqlite3_file *file, struct live_copy *copy)
{
	int result = file->pMethods->xFileSize(file, &copy->size);

	if (result != SQLITE_OK)
		return result;
	copy->bytes = malloc((size_t)copy->size);
	if (!copy->bytes)
		return SQLITE_NOMEM;
	for (sqlite3_int64 at = 0; at < copy->size && result == SQLITE_OK; at += STORE_PAGE)
		result = file->pMethods->xRead(file, copy->bytes + at, STORE_PAGE, at);
	return result;
}

enum code live_copy_begin(const struct live_source *source, struct live_copy **out, struct err *err)
{
	sqlite3_file *file = page_file_of(source->db, SQLITE_FCNTL_FILE_POINTER);
	struct live_copy *copy = calloc(1, sizeof(*copy));
	int result = file && copy ? file->pMethods->xLock(file, SQLITE_LOCK_SHARED) : SQLITE_NOMEM;

	if (result == SQLITE_OK) {
		result = copy_file(file, copy);
		file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
	}
	if (result == SQLITE_OK) {
		*out = copy;
		return OK;
	}
	if (copy)
		live_copy_end(copy);
	return result == SQLITE_NOMEM ? err_set(err, MSG_STORE_COPY_ROOM)
				      : err_set(err, MSG_STORE_FAILED, sqlite3_errstr(result));
}

void live_copy_end(struct live_copy *copy)
{
	free(copy->bytes);
	free(copy);
}

enum code live_copy_step(struct live_copy *copy, struct live_copy_progress *progress,
			 struct err *err)
{
	uint64_t pages = (uint64_t)copy->size / STORE_PAGE;

	(void)err;
	*progress = (struct live_copy_progress){
		.pages = pages, .total = pages, .is_whole = true, .bytes = (uint64_t)copy->size};
	return OK;
}

enum code live_copy_read(struct live_copy *copy, uint64_t at, void *out, size_t *n, struct err *err)
{
	unsigned char *pages = out;

	if (at % STORE_PAGE != 0 || at > (uint64_t)copy->size)
		return err_set(err, MSG_STORE_FAILED, "the copy cannot be read");
	if (*n > (uint64_t)copy->size - at)
		*n = (size_t)((uint64_t)copy->size - at);
	*n -= *n % STORE_PAGE;
	memcpy(pages, copy->bytes + at, *n);
	for (size_t i = 0; i < *n && page_file_has_checksums(copy->bytes); i += STORE_PAGE)
		page_file_seal(pages + i, (uint32_t)((at + i) / STORE_PAGE + 1));
	return OK;
}
