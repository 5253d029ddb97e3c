#include "storage/store/sqlite/snapshot.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/be.h"
#include "storage/store/sqlite/data_map.h"
#include "storage/store/sqlite/log_file.h"
#include "storage/store/sqlite/memory_file.h"
#include "storage/store/sqlite/page_file.h"

/* Of the index: its head, twice, then what checkpoints did, then locks. */
#define INDEX_HEAD 136
#define INDEX_BACKFILLED 96 /* how many pages of the log are in the data file */
#define INDEX_TABLE 16384   /* of each region: where its hash table begins */
#define INDEX_PLACES 8192   /* of a hash table */
#define INDEX_FIRST 4062    /* pages of the log in the first region */
#define INDEX_OTHERS 4096   /* and in each of the others */
#define INDEX_HASH 383

/* Of the first page. SQLite: Database File Format, 1.3 */
#define FILE_RESERVED 20  /* bytes at the end of each page that SQLite does not use */
#define FILE_SCHEMA 40    /* the number of the schema, of four bytes */

#define LOG_MAPPED ((size_t)512 << 20) /* bytes of address space; a log has up to 64 MB, and 256 while reads need it */

/* The head of the index in the machine's own order of bytes. */
struct index_head {
	uint32_t version, unused, changes;
	uint8_t is_there, has_big_sums;
	uint16_t page_size;
	uint32_t pages, file_pages, sums[2], salts[2], own_sums[2];
};

_Static_assert(sizeof(struct index_head) == 48, "WAL-mode File Format, 2.1");

void snapshot_map_log(struct snapshot_log *mapping, const char *data_path)
{
	char path[PATH_MAX];

	*mapping = (struct snapshot_log){.bytes = NULL};
	if (snprintf(path, sizeof(path), "%s-wal", data_path) >= (int)sizeof(path))
		return;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	size_t n = data_map_room(LOG_MAPPED);
	void *bytes = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (bytes != MAP_FAILED)
		*mapping = (struct snapshot_log){bytes, n};
}

void snapshot_unmap_log(struct snapshot_log *mapping)
{
	if (mapping->bytes)
		munmap((void *)(uintptr_t)mapping->bytes, mapping->n);
	mapping->bytes = NULL;
}

/* SQLite writes the second copy of the head first. Whether this one is whole, snapshot_begin() finds by SQLite, which compares the two. */
static struct index_head read_head(const volatile unsigned char *index)
{
	struct index_head head;

	atomic_thread_fence(memory_order_acquire);
	memcpy(&head, (const unsigned char *)(uintptr_t)index, sizeof(head));
	atomic_thread_fence(memory_order_acquire);
	return head;
}

static uint32_t load(const volatile unsigned char *place)
{
	return atomic_load_explicit((const volatile _Atomic uint32_t *)place, memory_order_acquire);
}

int snapshot_begin(struct snapshot *snapshot, sqlite3 *db, sqlite3_stmt *statement)
{
	struct index_head before = {0};

	if (!snapshot->data)
		snapshot->data = page_file_of(db, SQLITE_FCNTL_FILE_POINTER);
	const volatile unsigned char *index = snapshot->data ? page_file_log_index(snapshot->data, 0) : NULL;
	if (index)
		before = read_head(index);
	int result = sqlite3_step(statement);
	snapshot->is_usable = false;
	if (result != SQLITE_ROW || !index || !snapshot->log->bytes)
		return result;
	int mark = page_file_read_mark(snapshot->data);
	/*
	 * Read before the head is compared. A checkpoint that knows of later commits does not write the pages that these changed: the data file then has neither
	 * their state in this snapshot nor the later one.
	 */
	snapshot->from = load(index + INDEX_BACKFILLED) + 1;
	struct index_head after = read_head(index);
	/* the head counts changes, so that it never has the same bytes again; a log without pages does not say how large they are */
	bool is_readable = after.is_there && (after.page_size == STORE_PAGE || after.pages == 0);
	snapshot->is_usable = mark >= 0 && is_readable && memcmp(&before, &after, sizeof(after)) == 0;
	snapshot->schema = (uint32_t)sqlite3_column_int64(statement, 0);
	/* who holds the first mark reads the data file only: the log may start over meanwhile */
	snapshot->last = mark > 0 ? after.pages : 0;
	return result;
}

void snapshot_end(struct snapshot *snapshot, sqlite3_stmt *statement)
{
	snapshot->is_usable = false;
	sqlite3_reset(statement);
}

static unsigned region_of(uint32_t frame)
{
	return (frame + INDEX_OTHERS - INDEX_FIRST - 1) / INDEX_OTHERS;
}

/* The last page of the log from `from` to `last` within the region that is this page of the file; 0: none. Others may add pages behind these. */
static uint32_t find_in_region(const struct snapshot *snapshot, const volatile unsigned char *region, unsigned i, uint32_t page)
{
	const volatile _Atomic uint16_t *places = (const volatile _Atomic uint16_t *)(region + INDEX_TABLE);
	const volatile unsigned char *pages = region + (i == 0 ? INDEX_HEAD : 0);
	uint32_t before = i == 0 ? 0 : INDEX_FIRST + (i - 1) * INDEX_OTHERS, found = 0, place = page * INDEX_HASH % INDEX_PLACES;

	for (int steps = 0; steps < INDEX_PLACES; steps++, place = (place + 1) % INDEX_PLACES) {
		uint32_t at = atomic_load_explicit(&places[place], memory_order_acquire), frame = before + at;

		if (at == 0 || at > INDEX_OTHERS)
			break;
		if (frame >= snapshot->from && frame <= snapshot->last && load(pages + 4 * (size_t)(at - 1)) == page)
			found = frame;
	}
	return found;
}

/* False where the index cannot be read. *frame: as above. */
static bool find_in_log(const struct snapshot *snapshot, uint32_t page, uint32_t *frame)
{
	*frame = 0;
	if (snapshot->last < snapshot->from)
		return true;
	unsigned first = region_of(snapshot->from);
	for (unsigned i = region_of(snapshot->last) + 1; i-- > first && *frame == 0;) {
		const volatile unsigned char *region = page_file_log_index(snapshot->data, i);

		if (!region)
			return false;
		*frame = find_in_region(snapshot, region, i, page);
	}
	return true;
}

static const unsigned char *page_on_disk(struct snapshot *snapshot, uint32_t number)
{
	uint32_t frame;

	if (!snapshot->is_usable || number == 0 || !find_in_log(snapshot, number, &frame))
		return NULL;
	if (frame > 0) {
		uint64_t at = log_file_frame_at(frame) + LOG_FILE_FRAME_HEAD;

		return at + STORE_PAGE <= snapshot->log->n ? snapshot->log->bytes + at : NULL;
	}
	return page_file_page(snapshot->data, number);
}

const unsigned char *snapshot_page(struct snapshot *snapshot, uint32_t number)
{
	return snapshot->memory ? memory_file_page(snapshot->memory, number) : page_on_disk(snapshot, number);
}

void snapshot_prefetch(const struct snapshot *snapshot, uint32_t number)
{
	if (snapshot->memory)
		memory_file_prefetch(snapshot->memory, number);
}

uint32_t snapshot_schema(struct snapshot *snapshot)
{
	if (!snapshot->memory)
		return snapshot->is_usable ? snapshot->schema : 0;
	const unsigned char *first = snapshot_page(snapshot, 1);

	return first ? be32(first + FILE_SCHEMA) : 0;
}

uint32_t snapshot_usable(struct snapshot *snapshot)
{
	const unsigned char *first = snapshot_page(snapshot, 1);

	return first ? STORE_PAGE - first[FILE_RESERVED] : 0;
}
