#include "protocol/iam/uses.h"

#include <pthread.h>
#include <stdlib.h>

#define KEEP (64 * 1024)
#define PLACES 4096 /* a power of two, above IAM_USES_MAX */

struct iam_uses {
	pthread_mutex_t lock;
	struct arena *arena;
	size_t n;
	uint64_t left_out;
	struct iam_use *places[PLACES];
};

struct iam_uses *iam_uses_new(void)
{
	struct iam_uses *uses = arena_checked(calloc(1, sizeof(*uses)));

	pthread_mutex_init(&uses->lock, NULL);
	uses->arena = arena_new(KEEP);
	return uses;
}

void iam_uses_free(struct iam_uses *uses)
{
	if (!uses)
		return;
	arena_free(uses->arena);
	pthread_mutex_destroy(&uses->lock);
	free(uses);
}

static bool is_it(const struct iam_use *use, const struct iam_who *who,
		  const struct iam_question *question)
{
	return str_eq(use->arn, who->arn) && str_eq(use->action, question->action) &&
	       str_eq(use->resource, question->resource);
}

/* NULL: there are as many as are kept. */
static struct iam_use *find(struct iam_uses *uses, const struct iam_who *who,
			    const struct iam_question *question)
{
	uint64_t hash =
		str_hash(who->arn, str_hash(question->action, str_hash(question->resource, 1)));
	size_t at = hash % PLACES;

	for (; uses->places[at]; at = (at + 1) % PLACES) {
		if (is_it(uses->places[at], who, question))
			return uses->places[at];
	}
	if (uses->n == IAM_USES_MAX)
		return NULL;
	struct iam_use *use = ARENA_NEW(uses->arena, struct iam_use);
	*use = (struct iam_use){
		.arn = str_copy(uses->arena, who->arn),
		.action = str_copy(uses->arena, question->action),
		.resource = str_copy(uses->arena, question->resource),
		.has_keys = true,
		.why = STR_ABSENT,
	};
	uses->n++;
	uses->places[at] = use;
	return use;
}

static void note_beginning(struct iam_use *use, struct str key)
{
	size_t n = 0;

	if (use->key_count == 0)
		use->shared = key.n;
	while (use->key_count > 0 && n < use->shared && n < key.n && use->keys[0].p[n] == key.p[n])
		n++;
	use->shared = use->key_count > 0 ? n : use->shared;
}

static void note_keys(struct iam_uses *uses, struct iam_use *use,
		      const struct iam_question *question)
{
	const struct iam_key *keys =
		iam_context_find(&question->context, STR("dynamodb:LeadingKeys"));

	use->has_keys = use->has_keys && keys && keys->n > 0;
	for (size_t i = 0; use->has_keys && i < keys->n; i++) {
		size_t k = 0;

		note_beginning(use, keys->values[i]);
		if (use->has_more)
			continue;
		while (k < use->key_count && !str_eq(use->keys[k], keys->values[i]))
			k++;
		if (k < use->key_count)
			continue;
		use->has_more = use->key_count == IAM_USE_KEYS;
		if (!use->has_more)
			use->keys[use->key_count++] = str_copy(uses->arena, keys->values[i]);
	}
}

void iam_uses_note(struct iam_uses *uses, const struct iam_who *who,
		   const struct iam_question *question, bool is_allowed, bool is_done,
		   struct str why)
{
	pthread_mutex_lock(&uses->lock);
	struct iam_use *use = find(uses, who, question);
	uses->left_out += use == NULL;
	if (use) {
		use->allowed += is_allowed;
		use->denied += !is_allowed;
		if (is_done)
			note_keys(uses, use, question);
		if (!is_allowed && !str_is_set(use->why)) /* the first, so that memory is bounded */
			use->why = str_copy(uses->arena, why);
	}
	pthread_mutex_unlock(&uses->lock);
}

static int order(const void *a, const void *b)
{
	const struct iam_use *left = a, *right = b;
	int by = str_cmp(left->arn, right->arn);

	if (by == 0)
		by = str_cmp(left->resource, right->resource);
	return by ? by : str_cmp(left->action, right->action);
}

/* What is copied points to texts that are never changed while the uses live. */
size_t iam_uses_list(struct iam_uses *uses, struct arena *arena, struct iam_use **out,
		     uint64_t *left_out)
{
	size_t n = 0;

	*out = ARENA_ARRAY(arena, struct iam_use, IAM_USES_MAX);
	pthread_mutex_lock(&uses->lock);
	for (size_t i = 0; i < PLACES; i++) {
		if (uses->places[i])
			(*out)[n++] = *uses->places[i];
	}
	*left_out = uses->left_out;
	pthread_mutex_unlock(&uses->lock);
	qsort(*out, n, sizeof(**out), order);
	return n;
}
