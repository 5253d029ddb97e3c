#include "server/recording/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sha256.h"
#include "server/recording/compare.h"

#define IDENTITY_BYTES 16 /* of a hash that nobody makes the same for two requests */
#define NONE SIZE_MAX

/* A line of the second file. */
struct asked {
	char identity[IDENTITY_BYTES];
	size_t number;
	int64_t offset;
	size_t next;        /* the next line that asks the same; NONE: none */
	size_t left, last;  /* of the first of those: the first that is not taken, and the last */
	bool is_taken;
};

struct index {
	struct asked *v;
	size_t n, cap;
	size_t *slots;      /* the first line of each identity, plus 1, by its hash; 0: free */
	size_t mask, steps;
};

static void identify(struct arena *arena, const struct tape_line *line,
		     char identity[IDENTITY_BYTES])
{
	unsigned char hash[SHA256_SIZE];

	sha256_of(str_printf(arena, STR_FMT " " STR_FMT, STR_ARG(line->operation),
			     STR_ARG(line->request)),
		  hash); /* an operation has no space */
	memcpy(identity, hash, IDENTITY_BYTES);
}

static size_t *slot_of_identity(struct index *index, const char identity[IDENTITY_BYTES])
{
	size_t at = (size_t)str_be(identity, 8) & index->mask;

	for (index->steps++; index->slots[at] && memcmp(index->v[index->slots[at] - 1].identity,
							identity, IDENTITY_BYTES) != 0;
	     index->steps++)
		at = (at + 1) & index->mask;
	return &index->slots[at];
}

static void add(struct index *index, const struct asked *asked)
{
	if (index->n == index->cap) {
		index->cap = index->cap ? 2 * index->cap : 1024;
		index->v = arena_checked(realloc(index->v, index->cap * sizeof(*index->v)));
	}
	index->v[index->n++] = *asked;
}

/* Chains those that ask the same, in their order. */
static void chain(struct index *index)
{
	for (index->mask = 63; index->mask < 2 * index->n; index->mask = 2 * index->mask + 1)
		;
	index->slots = arena_checked(calloc(index->mask + 1, sizeof(*index->slots)));
	for (size_t i = 0; i < index->n; i++) {
		size_t *slot = slot_of_identity(index, index->v[i].identity);

		index->v[i].next = NONE;
		if (*slot) {
			struct asked *first = &index->v[*slot - 1];

			index->v[first->last].next = i;
			first->last = i;
		} else {
			*slot = i + 1;
			index->v[i].left = index->v[i].last = i;
		}
	}
}

static enum code read_tape_index(struct tape *tape, struct arena *arena, struct index *index,
				 struct err *err)
{
	bool is_there = true;
	enum code code = OK;

	while (code == OK && is_there) {
		struct tape_line line;

		arena_reset(arena);
		code = tape_next(tape, arena, &line, &is_there, err);
		if (code != OK || !is_there)
			break;
		struct asked asked = {.number = line.number, .offset = line.offset};
		identify(arena, &line, asked.identity);
		add(index, &asked);
	}
	chain(index);
	return code;
}

/* The first line that asks the same and was not taken before. */
static struct asked *take_same_line(struct index *index, struct arena *arena,
				    const struct tape_line *like)
{
	char identity[IDENTITY_BYTES];

	identify(arena, like, identity);
	size_t slot = *slot_of_identity(index, identity);
	struct asked *first = slot ? &index->v[slot - 1] : NULL;
	if (!first || first->left == NONE)
		return NULL;
	struct asked *taken = &index->v[first->left];
	taken->is_taken = true;
	first->left = taken->next;
	return taken;
}

static enum code read_again(struct tape *tape, struct arena *arena, const struct asked *asked,
			    struct tape_line *line, struct err *err)
{
	bool is_there = false;
	enum code code = tape_go(tape, asked->number, asked->offset, err);

	if (code != OK)
		return code;
	code = tape_next(tape, arena, line, &is_there, err);
	if (code != OK)
		return code;
	return is_there ? OK : err_default(err, ERR_INTERNAL); /* the file has changed */
}

void difference_show(const struct tape_line *line, struct str lines)
{
	printf("%zu " STR_FMT "\n" STR_FMT, line->number, STR_ARG(line->operation), STR_ARG(lines));
}

static enum code compare_line(struct arena *arena, const struct tape_line *line,
			      struct index *index, struct tape *second, bool *is_different,
			      struct err *err)
{
	struct comparison comparison = {
		.arena = arena, .first = "first", .second = "second", .lines = buf_in(arena)};
	struct asked *asked = take_same_line(index, arena, line);
	struct tape_line other;

	if (asked) {
		enum code code = read_again(second, arena, asked, &other, err);
		if (code != OK)
			return code;
		compare_status(&comparison, line->status, other.status);
		compare_bodies(&comparison, line->response, other.response);
	}
	*is_different = !asked || comparison.n > 0;
	if (*is_different)
		difference_show(line,
				asked ? buf_str(&comparison.lines) : STR("  only in the first\n"));
	return OK;
}

static enum code compare_all(struct tape *first, struct tape *second, struct arena *arena,
			     struct index *index, struct difference *out, struct err *err)
{
	struct tape_line line;
	bool is_there = true, is_different = false;
	enum code code = OK;

	while (code == OK && is_there) {
		arena_reset(arena);
		code = tape_next(first, arena, &line, &is_there, err);
		if (code != OK || !is_there)
			break;
		code = compare_line(arena, &line, index, second, &is_different, err);
		out->requests++;
		out->different += is_different;
	}
	for (size_t i = 0; i < index->n && code == OK; i++) {
		if (index->v[i].is_taken)
			continue;
		arena_reset(arena);
		code = read_again(second, arena, &index->v[i], &line, err);
		if (code == OK)
			difference_show(&line, STR("  only in the second\n"));
		out->different++;
	}
	return code;
}

static enum code index_and_compare(struct tape *first, struct tape *second, struct arena *arena,
				   struct index *index, struct difference *out, struct err *err)
{
	enum code code = read_tape_index(second, arena, index, err);

	if (code != OK)
		return code;
	return compare_all(first, second, arena, index, out, err);
}

enum code difference_print(struct tape *first, struct tape *second, struct difference *out,
			   struct err *err)
{
	struct arena *arena = arena_new(1 << 20);
	struct index index = {0};
	struct difference difference = {0};
	enum code code = index_and_compare(first, second, arena, &index, &difference, err);

	difference.steps = index.steps;
	free(index.v);
	free(index.slots);
	arena_free(arena);
	return RESULT(code, out, difference);
}
