#include "server/mask/proof.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/arena.h"
#include "core/buf.h"
#include "server/mask/hashes.h"
#include "server/mask/messages.h"
#include "server/seed/document.h"

#define FILTER_BITS 24

struct original {
	struct str text;
	bool is_found, is_fake; /* stands in the bytes; stands in a fake */
};

struct proof {
	struct arena *arena;
	struct hashes befores, afters;
	struct buf fakes; /* texts of `afters`, with a zero behind each */
	struct original *originals;
	size_t n, beyond;
	unsigned char *filter; /* of the first PROOF_BYTES bytes of the originals */
	bool is_sorted;        /* the originals, and the filter has them */
};

struct proof *proof_new(void)
{
	struct proof *proof = arena_checked(calloc(1, sizeof(*proof)));

	proof->arena = arena_new(0);
	proof->fakes = buf_in(proof->arena);
	proof->filter = arena_checked(calloc((size_t)1 << (FILTER_BITS - 3), 1));
	return proof;
}

void proof_free(struct proof *proof)
{
	if (!proof)
		return;
	arena_free(proof->arena);
	hashes_free(&proof->befores);
	hashes_free(&proof->afters);
	free(proof->filter);
	free(proof);
}

static size_t filter_bit(const char *bytes)
{
	return (size_t)((str_be(bytes, PROOF_BYTES) * 0x9E3779B97F4A7C15ull) >> (64 - FILTER_BITS));
}

void proof_saw(void *context, struct str before, struct str after)
{
	struct proof *proof = context;

	if (after.n >= PROOF_BYTES && proof->afters.n < PROOF_MOST &&
	    hashes_add(&proof->afters, after)) {
		buf_add_str(&proof->fakes, after);
		buf_add_byte(&proof->fakes, 0);
	}
	if (before.n < PROOF_BYTES || hashes_have(&proof->befores, before))
		return;
	if (proof->n == PROOF_MOST) {
		proof->beyond++;
		return;
	}
	hashes_add(&proof->befores, before);
	proof->originals =
		arena_room(proof->arena, proof->originals, proof->n, sizeof(*proof->originals));
	proof->originals[proof->n++] =
		(struct original){str_copy(proof->arena, before), false, false};
	proof->is_sorted = false;
}

static int order_originals(const void *a, const void *b)
{
	return str_cmp(((const struct original *)a)->text, ((const struct original *)b)->text);
}

static void sort_originals(struct proof *proof)
{
	if (proof->is_sorted)
		return;
	if (proof->n > 0)
		qsort(proof->originals, proof->n, sizeof(*proof->originals), order_originals);
	for (size_t i = 0; i < proof->n; i++) {
		size_t bit = filter_bit(proof->originals[i].text.p);

		proof->filter[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
	proof->is_sorted = true;
}

/* The next original from `at` on that these bytes begin with, in the ordered ones; or NULL. */
static struct original *proof_next(struct proof *proof, size_t at, struct str bytes)
{
	for (; at < proof->n && memcmp(proof->originals[at].text.p, bytes.p, PROOF_BYTES) == 0;
	     at++) {
		if (str_starts_with(bytes, proof->originals[at].text))
			return &proof->originals[at];
	}
	return NULL;
}

/* The same from the first one on. */
static struct original *proof_first(struct proof *proof, struct str bytes)
{
	size_t low = 0, high = proof->n, bit = filter_bit(bytes.p);

	if (!(proof->filter[bit / 8] >> bit % 8 & 1))
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(proof->originals[middle].text.p, bytes.p, PROOF_BYTES) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return proof_next(proof, low, bytes);
}

static void proof_look_in(struct proof *proof, struct str bytes, bool is_of_fakes)
{
	for (size_t i = 0; i + PROOF_BYTES <= bytes.n; i++) {
		struct str at = {bytes.p + i, bytes.n - i};

		for (struct original *found = proof_first(proof, at); found;
		     found = proof_next(proof, (size_t)(found - proof->originals) + 1, at)) {
			if (is_of_fakes)
				found->is_fake = true;
			else
				found->is_found = true;
		}
	}
}

bool proof_is_in(struct proof *proof, struct str bytes)
{
	sort_originals(proof);
	for (size_t i = 0; i + PROOF_BYTES <= bytes.n; i++) {
		if (proof_first(proof, (struct str){bytes.p + i, bytes.n - i}))
			return true;
	}
	return false;
}

struct proof_result proof_search(struct proof *proof, struct str bytes)
{
	struct proof_result result = {.passed_over = proof->beyond};

	sort_originals(proof);
	proof_look_in(proof, bytes, false);
	proof_look_in(proof, buf_str(&proof->fakes), true);
	for (size_t i = 0; i < proof->n; i++) {
		bool is_fake = proof->originals[i].is_fake;

		result.passed_over += is_fake;
		result.looked_for += !is_fake;
		result.found += !is_fake && proof->originals[i].is_found;
	}
	return result;
}

enum code proof_file(struct proof *proof, const char *path, struct err *err)
{
	void *bytes;
	size_t size;
	enum code code = document_map(path, &bytes, &size, err);

	if (code != OK)
		return code;
	struct proof_result result = proof_search(proof, (struct str){bytes, size});
	if (size > 0)
		munmap(bytes, size);
	if (result.found > 0)
		return err_set(err, MSG_MASK_FOUND, result.found);
	printf("looked for %zu originals of masked values in %zu bytes: none is there (%zu passed "
	       "over)\n",
	       result.looked_for, size, result.passed_over);
	return OK;
}
