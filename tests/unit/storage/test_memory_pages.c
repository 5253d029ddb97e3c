/*
 * Versions of the pages of a file in memory: random writers and readers against copies of whole files, what is freed and when, and memory that
 * runs out.
 *
 * The linker turns malloc and calloc of our own objects into those of this file.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "storage/store/sqlite/memory_pages.h"
#include "storage/store/sqlite/page_file.h"
#include "tests/unit/test.h"

static unsigned fail_in; /* allocations; 0: none fails */

static bool is_exhausted(void)
{
	return fail_in > 0 && --fail_in == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
	return is_exhausted() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_exhausted() ? NULL : __real_calloc(n, size);
}

/* A page whose bytes all follow from the number. */
static void write_page(struct memory_pages *pages, uint64_t number, unsigned content)
{
	uint32_t words[STORE_PAGE / 4];

	for (size_t i = 0; i < STORE_PAGE / 4; i++)
		words[i] = content;
	CHECK(memory_pages_write(pages, number, words));
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

static unsigned find(const struct memory_pages *pages, const struct memory_reader *reader, uint64_t number)
{
	return content_of(memory_pages_find(pages, reader, number));
}

TEST(a_reader_sees_what_was_published_when_it_began)
{
	struct memory_pages *pages = memory_pages_new();
	struct memory_reader writer, before, after;

	memory_pages_join(pages, &writer);
	memory_pages_join(pages, &before);
	memory_pages_join(pages, &after);
	write_page(pages, 0, 1);
	memory_pages_publish(pages);
	memory_pages_pin(pages, &before);
	const unsigned char *page = memory_pages_find(pages, &before, 0);

	write_page(pages, 0, 2);
	write_page(pages, 1, 3);
	CHECK_INT(find(pages, &writer, 0), 2);
	CHECK_INT(memory_pages_size(pages, &writer), 2 * STORE_PAGE);
	CHECK_INT(find(pages, &before, 0), 1);
	memory_pages_pin(pages, &after);
	CHECK_INT(find(pages, &after, 0), 1);
	memory_pages_publish(pages);
	CHECK_INT(find(pages, &after, 0), 1);
	memory_pages_unpin(&after);
	memory_pages_pin(pages, &after);
	CHECK_INT(find(pages, &after, 0), 2);
	CHECK_INT(memory_pages_size(pages, &after), 2 * STORE_PAGE);

	CHECK_INT(find(pages, &before, 0), 1);
	CHECK(memory_pages_find(pages, &before, 0) == page);
	CHECK_INT(memory_pages_size(pages, &before), STORE_PAGE);
	memory_pages_leave(pages, &before);
	memory_pages_leave(pages, &after);
	memory_pages_leave(pages, &writer);
	memory_pages_free(pages);
}

TEST(what_is_dropped_was_never_there)
{
	struct memory_pages *pages = memory_pages_new();
	struct memory_reader writer;

	memory_pages_join(pages, &writer);
	write_page(pages, 0, 1);
	memory_pages_publish(pages);
	write_page(pages, 0, 2);
	write_page(pages, 0, 3);
	write_page(pages, 5, 4);
	CHECK_INT(memory_pages_replaced(pages), 1);
	memory_pages_drop(pages);
	CHECK_INT(memory_pages_replaced(pages), 0);
	CHECK_INT(find(pages, &writer, 0), 1);
	CHECK_INT(memory_pages_size(pages, &writer), STORE_PAGE);
	CHECK(memory_pages_find(pages, &writer, 5) == NULL);
	memory_pages_leave(pages, &writer);
	memory_pages_free(pages);
}

TEST(a_long_reader_keeps_one_version_of_a_page_per_transaction_and_nothing_after_it)
{
	enum { TRANSACTIONS = 5000 };
	struct memory_pages *pages = memory_pages_new();
	struct memory_reader reader;

	memory_pages_join(pages, &reader);
	write_page(pages, 0, 7);
	memory_pages_publish(pages);
	memory_pages_pin(pages, &reader);
	for (unsigned i = 0; i < TRANSACTIONS; i++) {
		write_page(pages, 0, 100 + i);
		write_page(pages, 0, 200 + i);
		memory_pages_publish(pages);
	}
	CHECK_INT(find(pages, &reader, 0), 7);
	CHECK_INT(memory_pages_kept(pages), TRANSACTIONS + 1);
	memory_pages_unpin(&reader);
	for (unsigned i = 0; i < MEMORY_PAGES_LATE; i++) {
		write_page(pages, 0, i);
		memory_pages_publish(pages);
	}
	CHECK(memory_pages_kept(pages) <= 1 + MEMORY_PAGES_LATE);
	memory_pages_leave(pages, &reader);
	memory_pages_free(pages);
}

TEST(without_memory_nothing_changes)
{
	struct memory_pages *pages;
	struct memory_reader writer;
	unsigned char bytes[STORE_PAGE] = {1};
	uint64_t number = 0;
	unsigned tries = 1;

	for (fail_in = tries; !(pages = memory_pages_new()); fail_in = ++tries)
		;
	fail_in = 0;
	CHECK_INT(tries, 3);
	memory_pages_join(pages, &writer);
	fail_in = 1; /* a piece of the table */
	CHECK(!memory_pages_write(pages, 0, bytes));
	fail_in = 2; /* room for pages */
	CHECK(!memory_pages_write(pages, 0, bytes));
	CHECK_INT(memory_pages_size(pages, &writer), 0);
	fail_in = 0;
	for (number = 0; fail_in == 0; number++) {
		write_page(pages, number, 1);
		fail_in = memory_pages_kept(pages) == 126; /* those of the first piece are all taken */
	}
	CHECK(!memory_pages_write(pages, number, bytes));
	CHECK_INT(memory_pages_size(pages, &writer), number * STORE_PAGE);
	memory_pages_publish(pages);
	fail_in = 1;
	CHECK(!memory_pages_cut(pages, 0));
	CHECK_INT(memory_pages_size(pages, &writer), number * STORE_PAGE);
	memory_pages_drop(pages);
	CHECK_INT(find(pages, &writer, number - 1), 1);
	fail_in = 0;
	CHECK(!memory_pages_write(pages, UINT64_C(1) << 32, bytes)); /* SQLite has no such page */
	memory_pages_leave(pages, &writer);
	memory_pages_free(pages);
}

#define FILE_PAGES 40
#define READERS 5

struct file {
	uint64_t size;
	unsigned content[FILE_PAGES];
};

/* A reader, the file as it has to see it, and pages that it found. */
struct model_reader {
	struct memory_reader reader;
	bool is_pinned;
	struct file file;
	const unsigned char *found[FILE_PAGES];
};

struct model {
	struct memory_pages *pages;
	struct memory_reader writer;
	struct file published, written;
	struct model_reader readers[READERS];
	unsigned content;
};

static void model_cut(struct model *model, uint64_t size)
{
	struct file *file = &model->written;

	CHECK(memory_pages_cut(model->pages, size));
	for (uint64_t number = size / STORE_PAGE; number < FILE_PAGES; number++)
		file->content[number] = 0;
	file->size = size < file->size ? size : file->size;
}

static void model_write(struct model *model)
{
	uint64_t number = (uint64_t)rand() % FILE_PAGES;

	write_page(model->pages, number, ++model->content);
	model->written.content[number] = model->content;
	if (model->written.size < (number + 1) * STORE_PAGE)
		model->written.size = (number + 1) * STORE_PAGE;
}

static void model_turn(struct model *model, struct model_reader *reader)
{
	reader->is_pinned = !reader->is_pinned;
	if (!reader->is_pinned) {
		memory_pages_unpin(&reader->reader);
		return;
	}
	memory_pages_pin(model->pages, &reader->reader);
	reader->file = model->published;
	for (uint64_t i = 0; i < FILE_PAGES; i++)
		reader->found[i] = memory_pages_find(model->pages, &reader->reader, i);
}

static void check_file(const struct model *model, const struct memory_reader *reader, const struct file *file)
{
	CHECK_INT(memory_pages_size(model->pages, reader), file->size);
	for (uint64_t i = 0; i < FILE_PAGES && i * STORE_PAGE < file->size; i++)
		CHECK_INT(find(model->pages, reader, i), file->content[i]);
}

static void model_check(const struct model *model)
{
	check_file(model, &model->writer, &model->written);
	for (size_t i = 0; i < READERS; i++) {
		const struct model_reader *reader = &model->readers[i];

		if (!reader->is_pinned)
			continue;
		check_file(model, &reader->reader, &reader->file);
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
		memory_pages_publish(model->pages);
		model->published = model->written;
	} else if (kind < 96) {
		memory_pages_drop(model->pages);
		model->written = model->published;
	} else {
		model_cut(model, (uint64_t)rand() % (FILE_PAGES + 1) * STORE_PAGE);
	}
}

TEST(readers_and_the_writer_each_see_a_whole_file)
{
	struct model model = {.pages = memory_pages_new()};

	srand(1);
	memory_pages_join(model.pages, &model.writer);
	for (size_t i = 0; i < READERS; i++)
		memory_pages_join(model.pages, &model.readers[i].reader);
	for (int i = 0; i < 20000 / TEST_SLOWNESS && test_failures == 0; i++) {
		model_step(&model);
		if (i % 4 == 0)
			model_check(&model);
	}
	for (size_t i = 0; i < READERS; i++)
		memory_pages_leave(model.pages, &model.readers[i].reader);
	memory_pages_leave(model.pages, &model.writer);
	memory_pages_free(model.pages);
}

#define THREADS 3
#define SHARED_PAGES 200

struct reading {
	struct memory_pages *pages;
	atomic_bool *is_over;
	int wrong, snapshots;
};

/* In every version all pages have the same content, which says how many there are. */
static void *read_versions(void *context)
{
	struct reading *reading = context;
	struct memory_reader reader;

	memory_pages_join(reading->pages, &reader);
	do {
		memory_pages_pin(reading->pages, &reader);
		uint64_t size = memory_pages_size(reading->pages, &reader), content = 0;

		for (uint64_t i = 0; i * STORE_PAGE < size; i++) {
			const unsigned char *page = memory_pages_find(reading->pages, &reader, i);
			uint32_t words[2] = {0, 0};

			if (page) {
				memcpy(&words[0], page, 4);
				memcpy(&words[1], page + STORE_PAGE - 4, 4);
			}
			content = i == 0 ? words[0] : content;
			reading->wrong += words[0] != content || words[1] != content;
		}
		reading->wrong += size != (1 + content % SHARED_PAGES) * STORE_PAGE;
		memory_pages_unpin(&reader);
		reading->snapshots++;
	} while (!atomic_load(reading->is_over));
	memory_pages_leave(reading->pages, &reader);
	return NULL;
}

static void write_version(struct memory_pages *pages, unsigned content, unsigned n)
{
	for (uint64_t i = 0; i < n; i++)
		write_page(pages, i, content);
	CHECK(memory_pages_cut(pages, (uint64_t)n * STORE_PAGE));
}

TEST(threads_read_whole_versions_while_one_writes)
{
	struct memory_pages *pages = memory_pages_new();
	struct memory_reader writer;
	atomic_bool is_over = false;
	pthread_t threads[THREADS];
	struct reading readings[THREADS];

	memory_pages_join(pages, &writer);
	write_version(pages, 0, 1);
	memory_pages_publish(pages);
	for (size_t i = 0; i < THREADS; i++) {
		readings[i] = (struct reading){.pages = pages, .is_over = &is_over};
		CHECK_INT(pthread_create(&threads[i], NULL, read_versions, &readings[i]), 0);
	}
	for (unsigned content = 1; content < 2000 / TEST_SLOWNESS; content++) {
		if (content % 3 == 0) {
			write_version(pages, content + 1, content % SHARED_PAGES);
			memory_pages_drop(pages);
		}
		write_version(pages, content, 1 + content % SHARED_PAGES);
		memory_pages_publish(pages);
	}
	atomic_store(&is_over, true);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_INT(readings[i].wrong, 0);
		CHECK(readings[i].snapshots > 0);
	}
	memory_pages_leave(pages, &writer);
	memory_pages_free(pages);
}

TEST_MAIN(TEST_CASE(a_reader_sees_what_was_published_when_it_began), TEST_CASE(what_is_dropped_was_never_there),
	  TEST_CASE(a_long_reader_keeps_one_version_of_a_page_per_transaction_and_nothing_after_it), TEST_CASE(without_memory_nothing_changes),
	  TEST_CASE(readers_and_the_writer_each_see_a_whole_file), TEST_CASE(threads_read_whole_versions_while_one_writes))
