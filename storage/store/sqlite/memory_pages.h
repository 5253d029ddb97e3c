/*
 * memory_pages - the pages of one file in memory, in versions; internal to storage/store/sqlite.
 *
 * A page that was published never changes. A writing transaction makes new versions of the pages that it changes; readers cannot see them until
 * memory_pages_publish(), which is one atomic store. A reader pins the newest version and from then on finds each page, and the size of the file, as
 * they were in it. Neither waits for the other. The table of pages never moves, so readers go through it without a lock.
 *
 * The writer frees a replaced page once no reader has pinned a version that it belongs to. Until then memory holds it: while a reader stays,
 * that is each page that was changed since, once per transaction, and else at most MEMORY_PAGES_LATE of them.
 *
 * One thread at a time writes and publishes. A reader is used by one thread at a time. Neither is looked after here.
 */
#ifndef DYNALITH_STORAGE_SQLITE_MEMORY_PAGES_H
#define DYNALITH_STORAGE_SQLITE_MEMORY_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_PAGES_LATE 64 /* replaced pages that may be freed but are not yet */

struct memory_pages;

/* Who reads the file. Without a pin it sees what the writer sees, and nothing may be written meanwhile but by itself. */
struct memory_reader {
	_Atomic uint64_t pin;  /* the version, or 0 */
	uint64_t version;      /* the same, or UINT64_MAX */
	uint64_t size;         /* of the file in that version */
	struct memory_reader *next;
};

/* NULL without memory. Freed when nobody reads and writes any more. */
struct memory_pages *memory_pages_new(void);
void memory_pages_free(struct memory_pages *pages);

/* The reader is without a pin. It may come and go at any time; it must go before it is freed. */
void memory_pages_join(struct memory_pages *pages, struct memory_reader *reader);
void memory_pages_leave(struct memory_pages *pages, struct memory_reader *reader);

void memory_pages_pin(struct memory_pages *pages, struct memory_reader *reader);
void memory_pages_unpin(struct memory_reader *reader);

/* Bytes of the file as the reader sees it. */
uint64_t memory_pages_size(const struct memory_pages *pages, const struct memory_reader *reader);

/* The page with that number, from 0, as the reader sees it; NULL: it is all zeros. It stays as it is until the reader lets go of its pin. */
const unsigned char *memory_pages_find(const struct memory_pages *pages, const struct memory_reader *reader, uint64_t number);

/* Prefetches what memory_pages_find() reads of that page first. Has no effect beyond speed. */
void memory_pages_prefetch(const struct memory_pages *pages, uint64_t number);

/* Writes a whole page, which makes the file longer where it lies beyond its end. False without memory; the page is then as it was. */
bool memory_pages_write(struct memory_pages *pages, uint64_t number, const void *bytes);

/* Makes the file shorter. Its pages keep their memory, as zeros. False without memory; the file is then as long as it was. */
bool memory_pages_cut(struct memory_pages *pages, uint64_t size);

/* Everything that was written since the last end is what readers see that pin from now on; or nothing of it is. */
void memory_pages_publish(struct memory_pages *pages);
void memory_pages_drop(struct memory_pages *pages);

/* Of memory: pages that the transaction under way replaces, and all pages, whoever needs them. */
uint64_t memory_pages_replaced(const struct memory_pages *pages);
uint64_t memory_pages_kept(const struct memory_pages *pages);

#endif
