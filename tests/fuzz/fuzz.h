/*
 * fuzz - what the fuzz targets share: the entry that libFuzzer and replay.c call, an arena that is
 * empty for each input, bytes taken from the input's front, and a small item that expressions and
 * statements are run against.
 */
#ifndef DYNALITH_FUZZ_H
#define DYNALITH_FUZZ_H

#include <stdint.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise that no input may break. */
#define MUST(condition)                                                                          \
	do {                                                                                     \
		if (!(condition)) {                                                              \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);  \
			abort();                                                                 \
		}                                                                                \
	} while (0)

static inline struct arena *fuzz_arena(void)
{
	static struct arena *arena;

	if (!arena)
		arena = arena_new(1 << 20);
	arena_reset(arena);
	return arena;
}

static inline int fuzz_sign(int x)
{
	return (x > 0) - (x < 0);
}

/* The next byte of the input; 0 at its end. */
static inline unsigned fuzz_byte(struct str *input)
{
	if (input->n == 0)
		return 0;
	input->n--;
	return (unsigned char)*input->p++;
}

/* The next `n` bytes, or what there is. */
static inline struct str fuzz_bytes(struct str *input, size_t n)
{
	struct str bytes = {input->p, n < input->n ? n : input->n};

	input->p += bytes.n;
	input->n -= bytes.n;
	return bytes;
}

/* All up to the next `separator`, which is taken too. */
static inline struct str fuzz_until(struct str *input, char separator)
{
	const char *end = input->n ? memchr(input->p, separator, input->n) : NULL;
	struct str part = fuzz_bytes(input, end ? (size_t)(end - input->p) : input->n);

	(void)fuzz_byte(input);
	return part;
}

/* A: {"a": "hello", "l": ["hello", "hello"]}; the parameters of expressions and statements are its
 * two values. */
struct fuzz_item {
	struct value elements[2], parameters[2], item;
	struct member members[2];
};

static inline void fuzz_item_init(struct fuzz_item *it)
{
	struct value text = value_of_str(TYPE_S, STR("hello"));

	it->elements[0] = it->elements[1] = it->parameters[0] = text;
	it->parameters[1] = (struct value){.type = TYPE_L, .n = 2, .elements = it->elements};
	it->members[0] = (struct member){STR("a"), text};
	it->members[1] = (struct member){STR("l"), it->parameters[1]};
	it->item = (struct value){.type = TYPE_M, .n = 2, .members = it->members};
}

/* Does to the item what an update says, where it can. */
static inline void fuzz_update(struct arena *arena, struct update *update, const struct value *item)
{
	struct err err = err_in(arena);
	struct value out;

	if (expr_update(update, arena, item, &out, &err) == OK)
		(void)expr_updated(update, arena, &out);
}

#endif
