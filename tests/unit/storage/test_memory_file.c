/*
 * The file system in memory, by SQLite's calls: random writers and readers against copies of whole
 * files, what is freed and when, and memory that runs out.
 *
 * The linker turns malloc, calloc and free of our own objects into those of this file.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "storage/store/sqlite/memory_file.h"
#include "storage/store/sqlite/page_file.h"
#include "tests/unit/test.h"

static unsigned fail_in; /* allocations; 0: none fails */
static _Atomic int64_t live; /* of those that are not freed */

static bool is_exhausted(void)
{
	return fail_in > 0 && --fail_in == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);

void *__wrap_malloc(size_t size)
{
	live++;
	return is_exhausted() ? NULL : __real_malloc(size);
}

void __wrap_free(void *block)
{
	live -= block != NULL;
	__real_free(block);
}

void *__wrap_calloc(size_t n, size_t size)
{
	live++;
	return is_exhausted() ? NULL : __real_calloc(n, size);
}

/* The database as a connection has it open. */
struct handle {
	sqlite3_file *file;
};

static struct memory_files *files_new(void)
{
	static struct quota none;

	return memory_file_install(&none);
}

static struct handle handle_open(const struct memory_files *files)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(memory_file_system(files));
	struct handle handle = {calloc(1, (size_t)vfs->szOsFile)};

	CHECK_INT(vfs->xOpen(vfs, "/memory", handle.file,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, NULL),
		  SQLITE_OK);
	handle.file->pMethods->xUnlock(handle.file, SQLITE_LOCK_NONE);
	return handle;
}

static void handle_close(struct handle handle)
{
	handle.file->pMethods->xClose(handle.file);
	free(handle.file);
}

static void pin(struct handle handle)
{
	CHECK_INT(handle.file->pMethods->xLock(handle.file, SQLITE_LOCK_SHARED), SQLITE_OK);
}

static void unlock(struct handle handle)
{
	CHECK_INT(handle.file->pMethods->xUnlock(handle.file, SQLITE_LOCK_NONE), SQLITE_OK);
}

static struct handle begin(struct handle writer)
{
	pin(writer);
	CHECK_INT(writer.file->pMethods->xLock(writer.file, SQLITE_LOCK_RESERVED), SQLITE_OK);
	CHECK_INT(writer.file->pMethods->xLock(writer.file, SQLITE_LOCK_EXCLUSIVE), SQLITE_OK);
	return writer;
}

static struct handle writer_open(const struct memory_files *files)
{
	return begin(handle_open(files));
}

/* Ends the writer's transaction and begins the next. */
static void commit(struct handle writer)
{
	writer.file->pMethods->xFileControl(writer.file, SQLITE_FCNTL_COMMIT_PHASETWO, NULL);
	unlock(writer);
	begin(writer);
}

static void roll_back(struct handle writer)
{
	unlock(writer);
	begin(writer);
}

static int try_write(struct handle writer, uint64_t number, const void *bytes)
{
	return writer.file->pMethods->xWrite(writer.file, bytes, STORE_PAGE,
					     (sqlite3_int64)(number * STORE_PAGE));
}

static uint64_t size_of(struct handle handle)
{
	sqlite3_int64 size = -1;

	CHECK_INT(handle.file->pMethods->xFileSize(handle.file, &size), SQLITE_OK);
	return (uint64_t)size;
}

/* NULL: there is none, or all is zeros. */
static const unsigned char *page_at(struct handle handle, uint64_t number)
{
	void *page = NULL;

	CHECK_INT(handle.file->pMethods->xFetch(handle.file, (sqlite3_int64)(number * STORE_PAGE),
						STORE_PAGE, &page),
		  SQLITE_OK);
	return page;
}

/* A page whose bytes all follow from the number. */
static void write_page(struct handle writer, uint64_t number, unsigned content)
{
	uint32_t words[STORE_PAGE / 4];

	for (size_t i = 0; i < STORE_PAGE / 4; i++)
		words[i] = content;
	CHECK_INT(try_write(writer, number, words), SQLITE_OK);
}

/* What write_page() was given; 0 where there is no page. */
static unsigned content_of(const unsigned char *page)
{
	uint32_t first = 0, last = 0;

	if (page) {
		memcpy(&first, page, 4);
		memcpy(&last, page + STORE_PAGE - 4, 4);
	}
	CHECK_INT(last, first);
	return first;
}

static unsigned find(struct handle handle, uint64_t number)
{
	return content_of(page_at(handle, number));
}

TEST(a_reader_sees_what_was_committed_when_it_began)
{
	struct memory_files *files = files_new();
	struct handle writer = writer_open(files), before = handle_open(files),
		      after = handle_open(files);

	write_page(writer, 0, 1);
	commit(writer);
	pin(before);
	const unsigned char *page = page_at(before, 0);

	write_page(writer, 0, 2);
	write_page(writer, 1, 3);
	CHECK_INT(find(writer, 0), 2);
	CHECK_INT(size_of(writer), 2 * STORE_PAGE);
	CHECK_INT(find(before, 0), 1);
	pin(after);
	CHECK_INT(find(after, 0), 1);
	commit(writer);
	CHECK_INT(find(after, 0), 1);
	unlock(after);
	pin(after);
	CHECK_INT(find(after, 0), 2);
	CHECK_INT(size_of(after), 2 * STORE_PAGE);

	CHECK_INT(find(before, 0), 1);
	CHECK(page_at(before, 0) == page);
	CHECK_INT(size_of(before), STORE_PAGE);
	handle_close(before);
	handle_close(after);
	handle_close(writer);
	memory_file_remove(files);
}

TEST(one_connection_writes_and_none_on_an_old_snapshot)
{
	struct memory_files *files = files_new();
	struct handle writer = writer_open(files), other = handle_open(files);

	pin(other);
	CHECK_INT(other.file->pMethods->xLock(other.file, SQLITE_LOCK_RESERVED), SQLITE_BUSY);
	write_page(writer, 0, 1);
	writer.file->pMethods->xFileControl(writer.file, SQLITE_FCNTL_COMMIT_PHASETWO, NULL);
	unlock(writer);
	CHECK_INT(other.file->pMethods->xLock(other.file, SQLITE_LOCK_RESERVED), SQLITE_BUSY);
	unlock(other);
	begin(other);
	CHECK_INT(find(other, 0), 1);
	unlock(other);
	handle_close(other);
	handle_close(writer);
	memory_file_remove(files);
}

TEST(what_is_rolled_back_was_never_there)
{
	struct memory_files *files = files_new();
	struct handle writer = writer_open(files);

	write_page(writer, 0, 1);
	commit(writer);
	write_page(writer, 0, 2);
	write_page(writer, 0, 3);
	write_page(writer, 5, 4);
	roll_back(writer);
	CHECK_INT(find(writer, 0), 1);
	CHECK_INT(size_of(writer), STORE_PAGE);
	CHECK(page_at(writer, 5) == NULL);
	handle_close(writer);
	memory_file_remove(files);
}

TEST(a_long_reader_keeps_one_version_of_a_page_per_transaction_and_nothing_after_it)
{
	enum { TRANSACTIONS = 5000 };
	struct memory_files *files = files_new();
	struct handle writer = writer_open(files), reader = handle_open(files);

	write_page(writer, 0, 7);
	commit(writer);
	pin(reader);
	int64_t before = live;
	for (unsigned i = 0; i < TRANSACTIONS; i++) {
		write_page(writer, 0, 100 + i);
		write_page(writer, 0, 200 + i);
		commit(writer);
	}
	CHECK_INT(find(reader, 0), 7);
	CHECK_INT(live - before, TRANSACTIONS);
	unlock(reader);
	write_page(writer, 0, 1);
	commit(writer);
	CHECK_INT(live, before);
	handle_close(reader);
	handle_close(writer);
	memory_file_remove(files);
}

TEST(without_memory_nothing_changes)
{
	struct memory_files *files;
	unsigned char bytes[STORE_PAGE] = {1};

	fail_in = 1;
	CHECK(files_new() == NULL);
	fail_in = 0;
	files = files_new();
	struct handle writer = writer_open(files);
	fail_in = 1; /* a piece of the table */
	CHECK_INT(try_write(writer, 0, bytes), SQLITE_FULL);
	fail_in = 2; /* a page */
	CHECK_INT(try_write(writer, 0, bytes), SQLITE_FULL);
	CHECK_INT(size_of(writer), 0);
	fail_in = 0;
	write_page(writer, 0, 1);
	commit(writer);
	fail_in = 1;
	CHECK_INT(try_write(writer, 0, bytes), SQLITE_FULL);
	CHECK_INT(find(writer, 0), 1);
	write_page(writer, 0, 2);
	fail_in = 1; /* a page that the transaction has written needs no more */
	write_page(writer, 0, 3);
	roll_back(writer);
	fail_in = 0;
	CHECK_INT(find(writer, 0), 1);
	CHECK_INT(try_write(writer, UINT64_C(1) << 32, bytes),
		  SQLITE_FULL); /* SQLite has no such page */
	handle_close(writer);
	memory_file_remove(files);
}

#define FILE_PAGES 40
#define READERS 5

struct file {
	uint64_t size;
	unsigned content[FILE_PAGES];
};

/* A reader, the file as it has to see it, and pages that it found. */
struct model_reader {
	struct handle reader;
	bool is_pinned;
	struct file file;
	const unsigned char *found[FILE_PAGES];
};

struct model {
	struct memory_files *files;
	struct handle writer;
	struct file published, written;
	struct model_reader readers[READERS];
	unsigned content;
};

static void model_cut(struct model *model, uint64_t size)
{
	struct file *file = &model->written;

	CHECK_INT(model->writer.file->pMethods->xTruncate(model->writer.file, (sqlite3_int64)size),
		  SQLITE_OK);
	file->size = size < file->size ? size : file->size;
}

static void model_write(struct model *model)
{
	uint64_t number = (uint64_t)rand() % FILE_PAGES;

	write_page(model->writer, number, ++model->content);
	model->written.content[number] = model->content;
	if (model->written.size < (number + 1) * STORE_PAGE)
		model->written.size = (number + 1) * STORE_PAGE;
}

static void model_turn(struct model *model, struct model_reader *reader)
{
	reader->is_pinned = !reader->is_pinned;
	if (!reader->is_pinned) {
		unlock(reader->reader);
		return;
	}
	pin(reader->reader);
	reader->file = model->published;
	for (uint64_t i = 0; i < FILE_PAGES; i++)
		reader->found[i] = page_at(reader->reader, i);
}

static void check_file(struct handle reader, const struct file *file)
{
	CHECK_INT(size_of(reader), file->size);
	for (uint64_t i = 0; i < FILE_PAGES && i * STORE_PAGE < file->size; i++)
		CHECK_INT(find(reader, i), file->content[i]);
}

static void model_check(const struct model *model)
{
	check_file(model->writer, &model->written);
	for (size_t i = 0; i < READERS; i++) {
		const struct model_reader *reader = &model->readers[i];

		if (!reader->is_pinned)
			continue;
		check_file(reader->reader, &reader->file);
		for (uint64_t n = 0; n < FILE_PAGES && n * STORE_PAGE < reader->file.size; n++)
			CHECK_INT(content_of(reader->found[n]), reader->file.content[n]);
	}
}

static void model_step(struct model *model)
{
	int kind = rand() % 100;

	if (kind < 50) {
		model_write(model);
	} else if (kind < 75) {
		model_turn(model, &model->readers[rand() % READERS]);
	} else if (kind < 87) {
		commit(model->writer);
		model->published = model->written;
	} else if (kind < 96) {
		roll_back(model->writer);
		model->written = model->published;
	} else {
		model_cut(model, (uint64_t)rand() % (FILE_PAGES + 1) * STORE_PAGE);
	}
}

TEST(readers_and_the_writer_each_see_a_whole_file)
{
	struct model model = {.files = files_new()};

	srand(1);
	model.writer = writer_open(model.files);
	for (size_t i = 0; i < READERS; i++)
		model.readers[i].reader = handle_open(model.files);
	for (int i = 0; i < 20000 / TEST_SLOWNESS && test_failures == 0; i++) {
		model_step(&model);
		if (i % 4 == 0)
			model_check(&model);
	}
	for (size_t i = 0; i < READERS; i++)
		handle_close(model.readers[i].reader);
	handle_close(model.writer);
	memory_file_remove(model.files);
}

#define THREADS 3
#define SHARED_PAGES 200

struct reading {
	struct memory_files *files;
	atomic_bool *is_over;
	int wrong, snapshots;
};

/* In every version all pages have the same content, which says how many there are. */
static void *read_versions(void *context)
{
	struct reading *reading = context;
	struct handle reader = handle_open(reading->files);

	do {
		pin(reader);
		uint64_t size = size_of(reader), content = 0;

		for (uint64_t i = 0; i * STORE_PAGE < size; i++) {
			const unsigned char *page = page_at(reader, i);
			uint32_t words[2] = {0, 0};

			if (page) {
				memcpy(&words[0], page, 4);
				memcpy(&words[1], page + STORE_PAGE - 4, 4);
			}
			content = i == 0 ? words[0] : content;
			reading->wrong += words[0] != content || words[1] != content;
		}
		reading->wrong += size != (1 + content % SHARED_PAGES) * STORE_PAGE;
		unlock(reader);
		reading->snapshots++;
	} while (!atomic_load(reading->is_over));
	handle_close(reader);
	return NULL;
}

static void write_version(struct handle writer, unsigned content, unsigned n)
{
	for (uint64_t i = 0; i < n; i++)
		write_page(writer, i, content);
	CHECK_INT(writer.file->pMethods->xTruncate(writer.file, (sqlite3_int64)n * STORE_PAGE),
		  SQLITE_OK);
}

TEST(threads_read_whole_versions_while_one_writes)
{
	struct memory_files *files = files_new();
	struct handle writer = writer_open(files);
	atomic_bool is_over = false;
	pthread_t threads[THREADS];
	struct reading readings[THREADS];

	write_version(writer, 0, 1);
	commit(writer);
	for (size_t i = 0; i < THREADS; i++) {
		readings[i] = (struct reading){.files = files, .is_over = &is_over};
		CHECK_INT(pthread_create(&threads[i], NULL, read_versions, &readings[i]), 0);
	}
	for (unsigned content = 1; content < 2000 / TEST_SLOWNESS; content++) {
		if (content % 3 == 0) {
			write_version(writer, content + 1, content % SHARED_PAGES);
			roll_back(writer);
		}
		write_version(writer, content, 1 + content % SHARED_PAGES);
		commit(writer);
	}
	atomic_store(&is_over, true);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_INT(readings[i].wrong, 0);
		CHECK(readings[i].snapshots > 0);
	}
	handle_close(writer);
	memory_file_remove(files);
}

TEST_MAIN(TEST_CASE(a_reader_sees_what_was_committed_when_it_began),
	  TEST_CASE(one_connection_writes_and_none_on_an_old_snapshot),
	  TEST_CASE(what_is_rolled_back_was_never_there),
	  TEST_CASE(a_long_reader_keeps_one_version_of_a_page_per_transaction_and_nothing_after_it),
	  TEST_CASE(without_memory_nothing_changes),
	  TEST_CASE(readers_and_the_writer_each_see_a_whole_file),
	  TEST_CASE(threads_read_whole_versions_while_one_writes))
