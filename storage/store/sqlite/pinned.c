#include "storage/store/sqlite/pinned.h"

#include <stdlib.h>

void pinned_init(struct pinned *pinned)
{
	*pinned = (struct pinned){.n = 0};
	pthread_rwlock_init(&pinned->lock, NULL);
}

static void free_str(struct str s)
{
	free((void *)(uintptr_t)s.p);
}

static void free_rows(struct pinned_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free_str(rows[i].key);
		free_str(rows[i].value);
	}
}

void pinned_destroy(struct pinned *pinned)
{
	free_rows(pinned->rows, pinned->n);
	free_rows(pinned->changes, pinned->change_count);
	free(pinned->rows);
	free(pinned->changes);
	pthread_rwlock_destroy(&pinned->lock);
}

static size_t position(const struct pinned *pinned, struct str key, bool *is_found)
{
	return str_search(pinned->rows, pinned->n, sizeof(*pinned->rows), key, is_found);
}

static struct pinned_row *grown(struct pinned_row *rows, size_t n, size_t *capacity)
{
	if (n < *capacity)
		return rows;
	*capacity = *capacity ? *capacity * 2 : 16;
	return arena_checked(realloc(rows, *capacity * sizeof(*rows)));
}

/* The row of the key, made where there is none. */
static struct pinned_row *place(struct pinned *pinned, struct str key)
{
	bool is_found;
	size_t at = position(pinned, key, &is_found);

	if (is_found)
		return &pinned->rows[at];
	pinned->rows = grown(pinned->rows, pinned->n, &pinned->capacity);
	memmove(&pinned->rows[at + 1], &pinned->rows[at], (pinned->n - at) * sizeof(*pinned->rows));
	pinned->rows[at] = (struct pinned_row){str_duplicate(key), STR_ABSENT, false};
	pinned->n++;
	return &pinned->rows[at];
}

static void remove_row(struct pinned *pinned, struct str key)
{
	bool is_found;
	size_t at = position(pinned, key, &is_found);

	if (!is_found)
		return;
	free_rows(&pinned->rows[at], 1);
	pinned->n--;
	memmove(&pinned->rows[at], &pinned->rows[at + 1], (pinned->n - at) * sizeof(*pinned->rows));
}

void pinned_load(struct pinned *pinned, struct str key, struct str value)
{
	place(pinned, key)->value = str_duplicate(value);
}

bool pinned_get(struct pinned *pinned, bool is_writer, struct str key, struct arena *arena, struct str *value)
{
	bool is_found, is_certain;

	if (is_writer && pinned->change_count > 0)
		return false;
	pthread_rwlock_rdlock(&pinned->lock);
	size_t at = position(pinned, key, &is_found);
	is_certain = !is_found || !pinned->rows[at].is_uncertain;
	*value = STR_ABSENT;
	if (is_found && is_certain && str_is_set(pinned->rows[at].value))
		*value = str_copy(arena, pinned->rows[at].value);
	pthread_rwlock_unlock(&pinned->lock);
	return is_certain;
}

void pinned_change(struct pinned *pinned, struct str key, struct str value)
{
	pinned->changes = grown(pinned->changes, pinned->change_count, &pinned->change_capacity);
	pinned->changes[pinned->change_count++] = (struct pinned_row){str_duplicate(key), str_duplicate(value), false};
}

void pinned_begin_commit(struct pinned *pinned)
{
	pthread_rwlock_wrlock(&pinned->lock);
	for (size_t i = 0; i < pinned->change_count; i++)
		place(pinned, pinned->changes[i].key)->is_uncertain = true;
	pthread_rwlock_unlock(&pinned->lock);
}

/* What is no row after it is none here: a key whose row was made and taken back, too. */
static void end_row(struct pinned *pinned, const struct pinned_row *change, bool is_committed)
{
	struct pinned_row *row = place(pinned, change->key);

	row->is_uncertain = false;
	if (is_committed) {
		free_str(row->value);
		row->value = str_duplicate(change->value);
	}
	if (!str_is_set(row->value))
		remove_row(pinned, change->key);
}

void pinned_end(struct pinned *pinned, bool is_committed)
{
	pthread_rwlock_wrlock(&pinned->lock);
	for (size_t i = 0; i < pinned->change_count; i++)
		end_row(pinned, &pinned->changes[i], is_committed);
	pthread_rwlock_unlock(&pinned->lock);
	free_rows(pinned->changes, pinned->change_count);
	pinned->change_count = 0;
}
