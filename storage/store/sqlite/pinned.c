#include "storage/store/sqlite/pinned.h"

#include <stdlib.h>

void pinned_init(struct pinned *pinned)
{
	*pinned = (struct pinned){.rows = arena_checked(calloc((size_t)PINNED_SETS * PINNED_PER_SET, sizeof(struct pinned_row)))};
	pinned->hands = arena_checked(calloc(PINNED_SETS, 1));
	pthread_rwlock_init(&pinned->lock, NULL);
}

static void free_rows(struct pinned_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)rows[i].key.p);
}

/* Skips sets that never had a row, so that the system need not provide their pages. */
void pinned_destroy(struct pinned *pinned)
{
	for (size_t set = 0; set < PINNED_SETS; set++) {
		if (pinned->hands[set])
			free_rows(&pinned->rows[set * PINNED_PER_SET], PINNED_PER_SET);
	}
	free_rows(pinned->changes, pinned->change_count);
	free(pinned->rows);
	free(pinned->hands);
	free(pinned->changes);
	pthread_rwlock_destroy(&pinned->lock);
}

/* Key and value in one piece of memory. */
static struct pinned_row row_of(struct str key, struct str value)
{
	char *bytes = arena_checked(malloc(key.n + value.n + 1));

	memcpy(bytes, key.p, key.n);
	if (value.n)
		memcpy(bytes + key.n, value.p, value.n);
	return (struct pinned_row){{bytes, key.n}, str_is_set(value) ? (struct str){bytes + key.n, value.n} : STR_ABSENT, false};
}

/* FNV-1a. */
static size_t set_of(struct str key)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < key.n; i++)
		hash = (hash ^ (unsigned char)key.p[i]) * 16777619u;
	return (hash ^ hash >> 16) % PINNED_SETS;
}

static struct pinned_row *find(const struct pinned *pinned, size_t set, struct str key)
{
	struct pinned_row *rows = &pinned->rows[set * PINNED_PER_SET];

	for (size_t i = 0; i < PINNED_PER_SET; i++) {
		if (rows[i].key.n == key.n && str_is_set(rows[i].key) && memcmp(rows[i].key.p, key.p, key.n) == 0)
			return &rows[i];
	}
	return NULL;
}

/* Puts the row in the place of the one that has its key, or else of any of its set: what is not there is read from the file. */
static void put(struct pinned *pinned, struct str key, struct str value)
{
	size_t set = set_of(key);
	struct pinned_row *row = find(pinned, set, key);

	if (!row && key.n + value.n > PINNED_ROW_MAX)
		return;
	if (!row) {
		row = &pinned->rows[set * PINNED_PER_SET + pinned->hands[set] % PINNED_PER_SET];
		pinned->hands[set] = (unsigned char)((pinned->hands[set] + 1) % PINNED_PER_SET + PINNED_PER_SET);
	}
	free_rows(row, 1);
	*row = key.n + value.n > PINNED_ROW_MAX ? (struct pinned_row){.key = STR_ABSENT} : row_of(key, value);
}

bool pinned_get(struct pinned *pinned, bool is_writer, struct str key, struct arena *arena, struct str *value)
{
	if (is_writer && pinned->change_count > 0)
		return false;
	pthread_rwlock_rdlock(&pinned->lock);
	const struct pinned_row *row = find(pinned, set_of(key), key);
	bool is_certain = row && !row->is_uncertain;
	*value = STR_ABSENT;
	if (is_certain && str_is_set(row->value))
		*value = str_copy(arena, row->value);
	pthread_rwlock_unlock(&pinned->lock);
	return is_certain;
}

void pinned_keep(struct pinned *pinned, bool is_writer, uint64_t moment, struct str key, struct str value)
{
	if (is_writer && pinned->change_count > 0)
		return;
	pthread_rwlock_wrlock(&pinned->lock);
	if (moment % 2 == 0 && pinned_moment(pinned) == moment)
		put(pinned, key, value);
	pthread_rwlock_unlock(&pinned->lock);
}

void pinned_change(struct pinned *pinned, struct str key, struct str value)
{
	if (pinned->change_count == pinned->change_capacity) {
		pinned->change_capacity = pinned->change_capacity ? pinned->change_capacity * 2 : 16;
		pinned->changes = arena_checked(realloc(pinned->changes, pinned->change_capacity * sizeof(*pinned->changes)));
	}
	pinned->changes[pinned->change_count++] = row_of(key, value);
}

void pinned_begin_commit(struct pinned *pinned)
{
	pthread_rwlock_wrlock(&pinned->lock);
	atomic_fetch_add(&pinned->commits, 1);
	for (size_t i = 0; i < pinned->change_count; i++) {
		struct pinned_row *row = find(pinned, set_of(pinned->changes[i].key), pinned->changes[i].key);

		if (row)
			row->is_uncertain = true;
	}
	pthread_rwlock_unlock(&pinned->lock);
}

void pinned_end(struct pinned *pinned, bool is_committed)
{
	pthread_rwlock_wrlock(&pinned->lock);
	for (size_t i = 0; i < pinned->change_count; i++) {
		const struct pinned_row *change = &pinned->changes[i];
		struct pinned_row *row = find(pinned, set_of(change->key), change->key);

		if (is_committed)
			put(pinned, change->key, change->value);
		else if (row)
			row->is_uncertain = false;
	}
	if (pinned_moment(pinned) % 2) /* it came to a commit */
		atomic_fetch_add(&pinned->commits, 1);
	pthread_rwlock_unlock(&pinned->lock);
	free_rows(pinned->changes, pinned->change_count);
	pinned->change_count = 0;
}
