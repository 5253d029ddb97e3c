/* live_copy.h for dynalith.wasm, which has no files of its own: the copy is in memory. Nothing else
 * runs meanwhile, so one step makes all of it. */
#include "storage/store/sqlite/live_copy.h"

#include <stdlib.h>
#include <string.h>

#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

struct live_copy {
	unsigned char *bytes;
	sqlite3_int64 size;
};

enum code live_copy_begin(const struct live_source *source, struct live_copy **out, struct err *err)
{
	struct live_copy *copy = calloc(1, sizeof(*copy));

	if (copy)
		copy->bytes = sqlite3_serialize(source->db, "main", &copy->size, 0);
	if (!copy || !copy->bytes) {
		free(copy);
		return err_set(err, MSG_STORE_COPY_ROOM);
	}
	*out = copy;
	return OK;
}

void live_copy_end(struct live_copy *copy)
{
	sqlite3_free(copy->bytes);
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
