#include "storage/store/sqlite/memory_pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/poison.h"
#include "storage/store/sqlite/page_file.h"

#define LEAF_PAGES 65536
#define LEAVES 65536                    /* of 256 MB: more than a file of SQLite's can have */
#define SLAB_PAGES 126                  /* half a megabyte with their heads */
#define SPARE_PAGES (2 * SLAB_PAGES)    /* free ones that are kept */

/* A page in one version. The head lies beside the bytes, so that it costs a reader no further line of memory. */
struct page {
	uint64_t version;
	struct page *older;    /* what readers of earlier versions see; NULL: zeros */
	struct page *next;     /* in the list that has it: of the transaction, of `waiting`, or of its slab's free ones */
	uint32_t number;
	uint16_t place;        /* in its slab */
	bool is_dropped;
	_Alignas(8) unsigned char bytes[STORE_PAGE];
};

/* Pages that were allocated together. */
struct slab {
	struct slab *next, *previous; /* a ring, those with room first */
	struct page *free;
	unsigned used, fresh;         /* the pages from `fresh` were never used */
	struct page pages[SLAB_PAGES];
};

struct leaf {
	_Atomic(struct page *) pages[LEAF_PAGES]; /* the newest version of each, also of the transaction under way */
};

struct list {
	struct page *first, **end;
};

struct memory_pages {
	_Atomic uint64_t published;     /* the newest version; the transaction under way makes the one after it */
	_Atomic uint64_t sizes[2];      /* of the file in the last two versions, by version % 2 */
	_Atomic(struct leaf *) *leaves; /* LEAVES */
	uint64_t size;                  /* with what the transaction under way wrote */
	struct list written;            /* by it: versions of pages */
	size_t replaced;                /* of them have an older one */
	/*
	 * In the order in which they came: published pages whose older version waits for its readers, and dropped ones that wait themselves.
	 */
	struct list waiting;
	size_t waiting_count, free_at;  /* the readers are looked at when so many wait */
	struct slab *slabs;
	size_t used, spare;             /* pages */
	pthread_mutex_t mutex;          /* of the list of readers */
	struct memory_reader *readers;
};

static void list_clear(struct list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

static void list_add(struct list *list, struct page *page)
{
	page->next = NULL;
	*list->end = page;
	list->end = &page->next;
}

static struct page *list_take(struct list *list)
{
	struct page *page = list->first;

	list->first = page->next;
	if (!list->first)
		list->end = &list->first;
	return page;
}

struct memory_pages *memory_pages_new(void)
{
	struct memory_pages *pages = calloc(1, sizeof(*pages));

	if (!pages)
		return NULL;
	pages->leaves = calloc(LEAVES, sizeof(*pages->leaves));
	if (!pages->leaves) {
		free(pages);
		return NULL;
	}
	atomic_init(&pages->published, 1);
	list_clear(&pages->written);
	list_clear(&pages->waiting);
	pages->free_at = MEMORY_PAGES_LATE;
	pthread_mutex_init(&pages->mutex, NULL);
	return pages;
}

void memory_pages_free(struct memory_pages *pages)
{
	if (pages->slabs)
		pages->slabs->previous->next = NULL;
	for (struct slab *slab = pages->slabs, *next; slab; slab = next) {
		next = slab->next;
		UNPOISON(slab, sizeof(*slab));
		free(slab);
	}
	for (size_t i = 0; i < LEAVES && atomic_load(&pages->leaves[i]); i++)
		free(atomic_load(&pages->leaves[i]));
	free(pages->leaves);
	pthread_mutex_destroy(&pages->mutex);
	free(pages);
}

static void ring_remove(struct memory_pages *pages, struct slab *slab)
{
	slab->previous->next = slab->next;
	slab->next->previous = slab->previous;
	if (pages->slabs == slab)
		pages->slabs = slab->next == slab ? NULL : slab->next;
}

/* Between the last one and the first. */
static void ring_add(struct memory_pages *pages, struct slab *slab, bool is_first)
{
	struct slab *first = pages->slabs ? pages->slabs : slab;

	slab->next = first;
	slab->previous = first == slab ? slab : first->previous;
	slab->previous->next = slab;
	slab->next->previous = slab;
	if (is_first || !pages->slabs)
		pages->slabs = slab;
}

static struct slab *slab_new(struct memory_pages *pages)
{
	struct slab *slab = malloc(sizeof(*slab));

	if (!slab)
		return NULL;
	slab->free = NULL;
	slab->used = slab->fresh = 0;
	ring_add(pages, slab, true);
	pages->spare += SLAB_PAGES;
	return slab;
}

static struct slab *slab_of(struct page *page)
{
	return (struct slab *)((char *)(page - page->place) - offsetof(struct slab, pages));
}

/* NULL without memory. */
static struct page *page_take(struct memory_pages *pages)
{
	struct slab *slab = pages->slabs;

	if (!slab || slab->used == SLAB_PAGES)
		slab = slab_new(pages);
	if (!slab)
		return NULL;
	struct page *page = slab->free;
	if (page) {
		UNPOISON(page, sizeof(*page));
		slab->free = page->next;
	} else {
		page = &slab->pages[slab->fresh];
		page->place = (uint16_t)slab->fresh++;
	}
	page->is_dropped = false;
	pages->used++;
	pages->spare--;
	if (++slab->used == SLAB_PAGES) {
		ring_remove(pages, slab);
		ring_add(pages, slab, false);
	}
	return page;
}

/* Nobody can reach the page any more. */
static void page_give(struct memory_pages *pages, struct page *page)
{
	struct slab *slab = slab_of(page);

	page->next = slab->free;
	slab->free = page;
	POISON(page, sizeof(*page));
	pages->used--;
	pages->spare++;
	if (slab->used-- == SLAB_PAGES) {
		ring_remove(pages, slab);
		ring_add(pages, slab, true);
	}
	if (slab->used == 0 && pages->spare >= SPARE_PAGES + SLAB_PAGES) {
		ring_remove(pages, slab);
		pages->spare -= SLAB_PAGES;
		UNPOISON(slab, sizeof(*slab));
		free(slab);
	}
}

void memory_pages_join(struct memory_pages *pages, struct memory_reader *reader)
{
	atomic_init(&reader->pin, 0);
	reader->version = UINT64_MAX;
	pthread_mutex_lock(&pages->mutex);
	reader->next = pages->readers;
	pages->readers = reader;
	pthread_mutex_unlock(&pages->mutex);
}

void memory_pages_leave(struct memory_pages *pages, struct memory_reader *reader)
{
	struct memory_reader **link = &pages->readers;

	pthread_mutex_lock(&pages->mutex);
	while (*link && *link != reader)
		link = &(*link)->next;
	if (*link)
		*link = reader->next;
	pthread_mutex_unlock(&pages->mutex);
}

/*
 * The writer publishes before it looks at the pins. So it saw this one, or this thread sees that there is a newer version and takes that. The size of a version
 * is written over only after the next one was published.
 */
void memory_pages_pin(struct memory_pages *pages, struct memory_reader *reader)
{
	uint64_t now = atomic_load_explicit(&pages->published, memory_order_acquire);

	do {
		reader->version = now;
		atomic_store(&reader->pin, now);
		reader->size = atomic_load_explicit(&pages->sizes[now % 2], memory_order_acquire);
		now = atomic_load(&pages->published);
	} while (now != reader->version);
}

void memory_pages_unpin(struct memory_reader *reader)
{
	reader->version = UINT64_MAX;
	atomic_store_explicit(&reader->pin, 0, memory_order_release);
}

uint64_t memory_pages_size(const struct memory_pages *pages, const struct memory_reader *reader)
{
	return reader->version == UINT64_MAX ? pages->size : reader->size;
}

static struct page *newest(const struct memory_pages *pages, uint64_t number)
{
	if (number >= (uint64_t)LEAVES * LEAF_PAGES)
		return NULL;
	struct leaf *leaf = atomic_load_explicit(&pages->leaves[number / LEAF_PAGES], memory_order_acquire);
	return leaf ? atomic_load_explicit(&leaf->pages[number % LEAF_PAGES], memory_order_acquire) : NULL;
}

const unsigned char *memory_pages_find(const struct memory_pages *pages, const struct memory_reader *reader, uint64_t number)
{
	const struct page *page = newest(pages, number);

	while (page && page->version > reader->version)
		page = page->older;
	return page ? page->bytes : NULL;
}

void memory_pages_prefetch(const struct memory_pages *pages, uint64_t number)
{
	const struct page *page = newest(pages, number);

	if (page)
		__builtin_prefetch(page);
}

/* Leaves are made one after the other. */
static struct leaf *leaf_for(struct memory_pages *pages, uint64_t number)
{
	if (number >= (uint64_t)LEAVES * LEAF_PAGES)
		return NULL;
	for (size_t i = 0; i <= number / LEAF_PAGES; i++) {
		if (atomic_load_explicit(&pages->leaves[i], memory_order_relaxed))
			continue;
		struct leaf *leaf = calloc(1, sizeof(*leaf));

		if (!leaf)
			return NULL;
		atomic_store_explicit(&pages->leaves[i], leaf, memory_order_release);
	}
	return atomic_load_explicit(&pages->leaves[number / LEAF_PAGES], memory_order_relaxed);
}

/* The version of the page that the transaction under way makes; NULL without memory. *is_new: its bytes are anything. */
static struct page *page_to_write(struct memory_pages *pages, uint64_t number, bool *is_new)
{
	uint64_t version = atomic_load_explicit(&pages->published, memory_order_relaxed) + 1;
	struct page *older = newest(pages, number);

	*is_new = !older || older->version != version;
	if (!*is_new)
		return older;
	struct leaf *leaf = leaf_for(pages, number);
	struct page *page = leaf ? page_take(pages) : NULL;
	if (!page)
		return NULL;
	page->version = version;
	page->older = older;
	page->number = (uint32_t)number;
	list_add(&pages->written, page);
	pages->replaced += older != NULL;
	return page;
}

/* From now on the writer finds it. Readers do too, and go on to the older one. */
static void put(struct memory_pages *pages, struct page *page)
{
	struct leaf *leaf = atomic_load_explicit(&pages->leaves[page->number / LEAF_PAGES], memory_order_relaxed);

	atomic_store_explicit(&leaf->pages[page->number % LEAF_PAGES], page, memory_order_release);
}

bool memory_pages_write(struct memory_pages *pages, uint64_t number, const void *bytes)
{
	bool is_new;
	struct page *page = page_to_write(pages, number, &is_new);

	if (!page)
		return false;
	memmove(page->bytes, bytes, STORE_PAGE); /* GCC makes memcpy() of a known length one instruction, which takes twice as long as a call */
	if (is_new)
		put(pages, page);
	if (pages->size < (number + 1) * STORE_PAGE)
		pages->size = (number + 1) * STORE_PAGE;
	return true;
}

/* SQLite cuts a file when it undoes growth, and when it has moved pages, which no store asks for. */
bool memory_pages_cut(struct memory_pages *pages, uint64_t size)
{
	static const unsigned char zeros[STORE_PAGE];
	uint64_t before = pages->size;

	for (uint64_t number = (size + STORE_PAGE - 1) / STORE_PAGE; number * STORE_PAGE < before; number++) {
		if (newest(pages, number) && !memory_pages_write(pages, number, zeros))
			return false;
	}
	if (size < before)
		pages->size = size;
	return true;
}

/* Readers that pin from now on see `version`; those that wait are freed as far as no reader needs them. */
static void advance(struct memory_pages *pages, uint64_t version)
{
	atomic_store_explicit(&pages->sizes[version % 2], pages->size, memory_order_release);
	atomic_store(&pages->published, version);
	if (pages->waiting_count < pages->free_at)
		return;
	uint64_t oldest = version;
	pthread_mutex_lock(&pages->mutex);
	for (const struct memory_reader *reader = pages->readers; reader; reader = reader->next) {
		uint64_t pin = atomic_load(&reader->pin);

		if (pin && pin < oldest)
			oldest = pin;
	}
	pthread_mutex_unlock(&pages->mutex);
	while (pages->waiting.first && pages->waiting.first->version <= oldest) {
		struct page *page = list_take(&pages->waiting), *unseen = page->is_dropped ? page : page->older;

		if (!page->is_dropped)
			page->older = NULL;
		page_give(pages, unseen);
		pages->waiting_count--;
	}
	pages->free_at = pages->waiting_count + MEMORY_PAGES_LATE;
}

void memory_pages_publish(struct memory_pages *pages)
{
	uint64_t version = atomic_load_explicit(&pages->published, memory_order_relaxed);

	if (!pages->written.first && pages->size == atomic_load_explicit(&pages->sizes[version % 2], memory_order_relaxed))
		return;
	while (pages->written.first) {
		struct page *page = list_take(&pages->written);

		if (!page->older)
			continue;
		list_add(&pages->waiting, page);
		pages->waiting_count++;
	}
	pages->replaced = 0;
	advance(pages, version + 1);
}

/* A reader may be passing a dropped page on its way to the older one. So the drop is a version too, and the page waits for who pinned an earlier one. */
void memory_pages_drop(struct memory_pages *pages)
{
	uint64_t version = atomic_load_explicit(&pages->published, memory_order_relaxed);

	pages->size = atomic_load_explicit(&pages->sizes[version % 2], memory_order_relaxed);
	if (!pages->written.first)
		return;
	while (pages->written.first) {
		struct page *page = list_take(&pages->written);
		struct leaf *leaf = atomic_load_explicit(&pages->leaves[page->number / LEAF_PAGES], memory_order_relaxed);

		atomic_store_explicit(&leaf->pages[page->number % LEAF_PAGES], page->older, memory_order_release);
		page->is_dropped = true;
		list_add(&pages->waiting, page);
		pages->waiting_count++;
	}
	pages->replaced = 0;
	advance(pages, version + 1);
}

uint64_t memory_pages_replaced(const struct memory_pages *pages)
{
	return pages->replaced;
}

uint64_t memory_pages_kept(const struct memory_pages *pages)
{
	return pages->used;
}
