/*
 * proof - looks for the originals of masked values in the bytes of a file.
 *
 * It looks for values of at least PROOF_BYTES bytes, PROOF_MOST of them at most. A value that also
 * stands in the fake of another one tells nothing, and is passed over.
 */
#ifndef DYNALITH_SERVER_MASK_PROOF_H
#define DYNALITH_SERVER_MASK_PROOF_H

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/str.h"

#define PROOF_BYTES 6
#define PROOF_MOST ((size_t)1000000)

struct proof;

struct proof *proof_new(void);
void proof_free(struct proof *proof);

/* A value, and what it became: `seen` of mask.h, with the proof as its context. */
void proof_saw(void *proof, struct str before, struct str after);

/* Whether one of the values stands in the bytes, fakes or not. As often as one likes; a value that
 * is seen in between sorts all of them again. */
bool proof_is_in(struct proof *proof, struct str bytes);

struct proof_result {
	size_t looked_for, passed_over,
		found; /* values; passed_over: fakes, or beyond PROOF_MOST */
};

/* Once, when all was seen. */
struct proof_result proof_search(struct proof *proof, struct str bytes);

/* The same in a file, which it says in a line on standard output. ERR_VALIDATION: originals stand
 * in it, or it cannot be read. */
enum code proof_file(struct proof *proof, const char *path, struct err *err) WARN_UNUSED;

#endif
