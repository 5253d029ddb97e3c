#include "tests/scale/rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

static struct row *new_row(int64_t ks, struct str key, unsigned levels)
{
	struct row *row =
		arena_checked(calloc(1, sizeof(*row) + levels * sizeof(struct row *) + key.n + 1));
	char *bytes = (char *)&row->next[levels];

	if (key.n > 0)
		memcpy(bytes, key.p, key.n);
	row->ks = ks;
	row->key = (struct str){bytes, key.n};
	row->levels = levels;
	return row;
}

void rows_init(struct rows *rows)
{
	*rows = (struct rows){.head = new_row(INT64_MIN, STR(""), ROWS_LEVELS), .draws = 1};
}

static bool is_before(const struct row *row, int64_t ks, struct str key)
{
	return row->ks != ks ? row->ks < ks : str_cmp(row->key, key) < 0;
}

/* The last row before the key on each level. */
static void walk(const struct rows *rows, int64_t ks, struct str key, struct row *last[ROWS_LEVELS])
{
	struct row *row = rows->head;

	for (unsigned level = ROWS_LEVELS; level-- > 0;) {
		while (row->next[level] && is_before(row->next[level], ks, key))
			row = row->next[level];
		last[level] = row;
	}
}

struct row *rows_from(const struct rows *rows, int64_t ks, struct str key)
{
	struct row *last[ROWS_LEVELS];

	walk(rows, ks, key, last);
	return last[0]->next[0];
}

struct row *rows_find(const struct rows *rows, int64_t ks, struct str key)
{
	struct row *row = rows_from(rows, ks, key);

	return row && row->ks == ks && str_eq(row->key, key) ? row : NULL;
}

struct row *rows_place(struct rows *rows, int64_t ks, struct str key)
{
	struct row *last[ROWS_LEVELS], *row;
	unsigned levels = 1;

	walk(rows, ks, key, last);
	row = last[0]->next[0];
	if (row && row->ks == ks && str_eq(row->key, key))
		return row;
	rows->draws = rows->draws * 6364136223846793005u + 1442695040888963407u;
	for (uint64_t bits = rows->draws >> 32; levels < ROWS_LEVELS && (bits & 3) == 0; bits >>= 2)
		levels++;
	row = new_row(ks, key, levels);
	for (unsigned level = 0; level < levels; level++) {
		row->next[level] = last[level]->next[level];
		last[level]->next[level] = row;
	}
	row->before = last[0];
	if (row->next[0])
		row->next[0]->before = row;
	rows->n++;
	return row;
}

static const struct version *there(const struct version *version)
{
	return version && version->is_there ? version : NULL;
}

const struct version *row_version_at(const struct row *row, uint64_t snapshot)
{
	const struct version *version = row->newest;

	while (version && version->number > snapshot)
		version = version->older;
	return there(version);
}

const struct version *row_now(const struct row *row, const struct session *session)
{
	return there(row->pending && row->owner == session ? row->pending : row->newest);
}

void row_forget(struct row *row)
{
	free(row->pending);
	row->pending = NULL;
}

void row_change(struct row *row, bool is_there, struct str value)
{
	struct version *version = arena_checked(malloc(sizeof(*version) + value.n + 1));
	char *bytes = (char *)(version + 1);

	if (value.n > 0)
		memcpy(bytes, value.p, value.n);
	*version = (struct version){.is_there = is_there, .value = {bytes, value.n}};
	row_forget(row);
	row->pending = version;
}

void row_commit(struct row *row, uint64_t number, uint64_t oldest)
{
	struct version *version = row->pending;

	version->number = number;
	version->older = row->newest;
	row->newest = version;
	row->pending = NULL;
	while (version->number > oldest && version->older)
		version = version->older;
	for (struct version *older = version->older, *next; older; older = next) {
		next = older->older;
		free(older);
	}
	version->older = NULL;
}
