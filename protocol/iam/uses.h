/*
 * uses - what principals have asked for: by principal, action and resource, how often, and by which
 * leading keys. Bounded; thread-safe.
 */
#ifndef DYNALITH_PROTOCOL_IAM_USES_H
#define DYNALITH_PROTOCOL_IAM_USES_H

#include <stdint.h>

#include "protocol/iam/decide.h"

#define IAM_USES_MAX 2000 /* further ones are counted only */
#define IAM_USE_KEYS 32   /* distinct leading keys of one use */

struct iam_use {
	struct str arn, action, resource;
	uint64_t allowed, denied;
	bool has_keys;         /* each time it had leading keys */
	bool has_more;         /* keys than are kept */
	size_t key_count;
	struct str keys[IAM_USE_KEYS];
	size_t shared; /* how much of keys[0] all keys begin with, those that are not kept too */
	struct str why;        /* of the last denial: the end of AWS's message; absent: none */
};

struct iam_uses;

struct iam_uses *iam_uses_new(void);
void iam_uses_free(struct iam_uses *uses);

/* is_done: the request goes on, allowed or not; its leading keys are noted. */
void iam_uses_note(struct iam_uses *uses, const struct iam_who *who,
		   const struct iam_question *question, bool is_allowed, bool is_done,
		   struct str why);

/* A copy of all in the arena, in the order of principal, resource, action; their number.
 * `left_out`: decisions that are only counted. */
size_t iam_uses_list(struct iam_uses *uses, struct arena *arena, struct iam_use **out,
		     uint64_t *left_out);

#endif
