#include "storage/vector/vector.h"

#include <pthread.h>

#include "core/image.h"
#include "storage/schema/currency.h"
#include "storage/store/row.h"
#include "storage/store/walk.h"
#include "storage/vector/vector_cache.h"
#include "storage/vector/vector_row.h"

#define SNAPSHOTS_MAX                                                                              \
	3 /* read transactions begun before a search does without the matrix in memory */
#define FLOATS_PER_THREAD (1u << 21) /* less work than this is not worth a thread of its own */
#define THREADS_MAX 16
#define FLOATS_PER_STEP 32           /* of some 10 ns */
#define ROWS_PER_LOOK 64             /* where no condition takes time */

/* A row that may be among the best: `rank` is lower for better ones; equal ranks are in the order
 * of keys. */
struct candidate {
	float rank;
	size_t position;
	struct str key;
};

/* One thread's share of a search. */
struct share {
	const struct vector_search *search;
	const double *query;
	double query_square;
	const struct vector_view *view;
	size_t from, to;         /* positions */
	size_t steps;            /* of work that a row takes, as arena_works counts them */
	struct arena *scratch; /* for the condition; has this share's part of the request's time */
	size_t rows, bytes;      /* examined */
	size_t n;
	struct candidate best[VECTOR_TOP_MAX]; /* sorted */
};

static bool is_before(const struct candidate *a, const struct candidate *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->position < b->position;
}

static float rank_of(const struct share *share, const float *floats, double square)
{
	const struct vector_spec *spec = share->search->index->vector;
	float score = vector_score(spec->distance, floats, square, share->query,
				   share->query_square, spec->dimensions);

	return vector_higher_is_better(spec->distance) ? -score : score;
}

/* Keeps the candidate if it is among the best so far; false where it is not. */
static bool keep_candidate(struct share *share, const struct candidate *candidate)
{
	size_t at = share->n;

	if (share->n == share->search->top) {
		if (!is_before(candidate, &share->best[share->n - 1]))
			return false;
		at--;
	} else {
		share->n++;
	}
	for (; at > 0 && is_before(candidate, &share->best[at - 1]); at--)
		share->best[at] = share->best[at - 1];
	share->best[at] = *candidate;
	return true;
}

static bool is_wanted(struct share *share, struct str filter)
{
	struct subject subject = {share->scratch, NULL, filter};

	if (!share->search->condition)
		return true;
	bool wanted = expr_eval(share->search->condition, &subject);
	arena_rewind(share->scratch);
	return wanted;
}

static void score_rows(struct share *share, size_t from, size_t to)
{
	const struct vector_view *view = share->view;

	for (size_t i = from; i < to; i++) {
		const struct vector_slot *slot = &view->slots[view->order[i]];

		share->rows++;
		share->bytes += slot->size;
		if (!is_wanted(share, slot->filter))
			continue;
		struct candidate candidate = {
			rank_of(share, view->matrix + view->order[i] * view->dimensions,
				slot->square),
			i, slot->key};
		keep_candidate(share, &candidate);
	}
}

static void *run_share(void *context)
{
	struct share *share = context;
	size_t stride = share->search->condition ? 1 : ROWS_PER_LOOK, next;

	for (size_t i = share->from; i < share->to; i = next) {
		next = share->to - i > stride ? i + stride : share->to;
		if (!arena_works(share->scratch, (next - i) * share->steps))
			break;
		score_rows(share, i, next);
	}
	return NULL;
}

static unsigned thread_count(const struct vector_search *search, const struct vector_view *view,
			     size_t rows)
{
	size_t wanted = rows * view->dimensions / FLOATS_PER_THREAD,
	       limit = vector_cache_threads(search->memory);

	limit = limit > THREADS_MAX ? THREADS_MAX : limit;
	return wanted < 2 || limit < 2 ? 1 : (unsigned)(wanted < limit ? wanted : limit);
}

/* Scores the rows from..to of the matrix; `whole` gets the best of them. */
static enum code search_matrix(struct arena *arena, const struct vector_view *view, size_t from,
			       size_t to, struct share *whole, struct err *err)
{
	unsigned n = thread_count(whole->search, view, to - from);
	struct share *shares = ARENA_ARRAY(arena, struct share, n);
	pthread_t threads[THREADS_MAX];
	bool is_running[THREADS_MAX] = {false};
	enum code code = OK;

	for (unsigned i = n; i-- > 0;) {
		shares[i] = (struct share){
			.search = whole->search,
			.query = whole->query,
			.query_square = whole->query_square,
			.view = view,
			.steps = whole->steps,
			.from = from + (to - from) * i / n,
			.to = from + (to - from) * (i + 1) / n,
			.scratch = arena_new(1 << 16),
		};
		arena_share_time(shares[i].scratch, arena, n);
		if (i > 0)
			is_running[i] =
				pthread_create(&threads[i], NULL, run_share, &shares[i]) == 0;
		if (!is_running[i])
			run_share(&shares[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (is_running[i])
			pthread_join(threads[i], NULL);
		whole->rows += shares[i].rows;
		whole->bytes += shares[i].bytes;
		for (size_t k = 0; k < shares[i].n; k++)
			keep_candidate(whole, &shares[i].best[k]);
	}
	for (unsigned i = 0; i < n && code == OK; i++)
		code = err_if_over(shares[i].scratch, err);
	for (unsigned i = 0; i < n; i++)
		arena_free(shares[i].scratch);
	for (size_t i = 0; i < whole->n; i++)
		whole->best[i].key = str_copy(arena, whole->best[i].key);
	return code;
}

/* Scores a row as it lies in the store; `position` is its place among all, from 1. */
static enum code score_stored(struct share *share, struct arena *arena, const struct store_row *row,
			      size_t position, float *floats, struct err *err)
{
	const struct index *index = share->search->index;
	struct str image = vector_row_image(index, row->value);

	if (!str_is_set(image))
		return row_malformed(err, index_keyspace(share->search->table, index), row->key);
	share->rows++;
	share->bytes += vector_row_size(index, image);
	if (!is_wanted(share, image))
		return OK;
	vector_row_floats(index, row->value, floats);
	struct candidate candidate = {
		rank_of(share, floats, vector_square(floats, index->vector->dimensions)), position,
		row->key};
	if (share->n == share->search->top && !is_before(&candidate, &share->best[share->n - 1]))
		return OK;
	candidate.key = str_copy(arena, row->key);
	keep_candidate(share, &candidate);
	return OK;
}

static enum code score_walked(struct share *whole, struct arena *arena, struct walk *walk,
			      float *floats, struct err *err)
{
	struct store_row row;
	size_t position = 0;

	while (arena_works(whole->scratch, whole->steps) && walk_next(walk, &row)) {
		enum code code = score_stored(whole, arena, &row, ++position, floats, err);

		if (code != OK)
			return code;
	}
	return err_if_over(whole->scratch, err);
}

/* A search that reads the rows from the store. */
static enum code search_store(struct store_txn *txn, struct arena *arena,
			      const struct store_range *range, struct share *whole, struct err *err)
{
	const struct vector_search *search = whole->search;
	float *floats = arena_alloc(arena, search->index->vector->dimensions * sizeof(float));
	struct walk walk =
		walk_begin(txn, index_keyspace(search->table, search->index), range, err);

	whole->scratch = arena_new(1 << 16);
	arena_share_time(whole->scratch, arena, 1);
	enum code code = score_walked(whole, arena, &walk, floats, err);
	arena_free(whole->scratch);
	enum code read = walk_end(&walk);
	return code != OK ? code : read;
}

/* The rows of the candidates. */
static enum code fetch_candidates(struct store_txn *txn, struct arena *arena,
				  struct vector_search *search, const struct share *whole,
				  struct err *err)
{
	size_t dimensions = search->index->vector->dimensions;
	struct store_key *keys = ARENA_ARRAY(arena, struct store_key, whole->n);
	struct str *rows = ARENA_ARRAY(arena, struct str, whole->n);

	for (size_t i = 0; i < whole->n; i++)
		keys[i] = (struct store_key){index_keyspace(search->table, search->index),
					     whole->best[i].key};
	enum code code = store_get_many(txn, keys, whole->n, arena, rows, err);
	if (code != OK)
		return code;
	search->hits = ARENA_ARRAY(arena, struct vector_hit, whole->n);
	for (size_t i = 0; i < whole->n; i++) {
		float *floats = arena_alloc(arena, dimensions * sizeof(float)),
		      rank = whole->best[i].rank;
		struct str image =
			str_is_set(rows[i]) ? vector_row_image(search->index, rows[i]) : STR_ABSENT;

		if (!str_is_set(image))
			return row_malformed(err, keys[i].keyspace, keys[i].key);
		vector_row_floats(search->index, rows[i], floats);
		search->hits[search->n++] = (struct vector_hit){
			vector_higher_is_better(search->index->vector->distance) ? 0 - rank : rank,
			image, floats};
	}
	return OK;
}

/* A search in one read transaction. */
struct attempt {
	uint64_t mark;  /* vector_cache_mark(), taken before it began */
	bool is_last;   /* it does not give up when the matrix is ahead of the transaction */
	bool is_done;
};

static enum code run_search(struct store_txn *txn, struct arena *arena, struct share *whole,
			    struct attempt *attempt, struct err *err)
{
	const struct vector_search *search = whole->search;
	struct keyspace keyspace = index_keyspace(search->table, search->index);
	struct store_range range =
		search->hash ? vector_row_partition(arena, search->table, search->hash)
			     : vector_row_range();
	struct vector_view view;
	struct vector_version version;
	enum code code = currency_check(txn, search->table, NULL, err);

	if (code != OK)
		return code;
	code = vector_row_version(txn, arena, keyspace, &version, err);
	if (code != OK)
		return code;
	code = vector_cache_open(search->memory, txn, arena, attempt->mark,
				 &(struct vector_source){search->table, search->index, version},
				 &view, err);
	if (code != OK)
		return code;
	attempt->is_done = view.cache || attempt->is_last || !view.is_ahead;
	if (view.cache) {
		size_t to =
			str_is_set(range.high) ? vector_cache_position(&view, range.high) : view.n;

		code = search_matrix(arena, &view, vector_cache_position(&view, range.low), to,
				     whole, err);
		vector_cache_close(&view);
	} else if (attempt->is_done) {
		code = search_store(txn, arena, &range, whole, err);
	}
	return code;
}

static enum code search_in(struct store_txn *txn, struct arena *arena, struct vector_search *search,
			   struct share *whole, struct attempt *attempt, struct err *err)
{
	enum code code = run_search(txn, arena, whole, attempt, err);

	if (code != OK || !attempt->is_done)
		return code;
	return fetch_candidates(txn, arena, search, whole, err);
}

enum code vector_search(struct arena *arena, struct vector_search *search, struct err *err)
{
	size_t dimensions = search->index->vector->dimensions;
	double *query = ARENA_ARRAY(arena, double, dimensions);
	struct share *whole = ARENA_NEW(arena, struct share);
	struct attempt attempt = {.is_done = false};
	enum code code = OK;

	*whole = (struct share){
		.search = search, .query = query, .steps = 1 + dimensions / FLOATS_PER_STEP};
	whole->query_square = vector_widen(search->query, dimensions, query);
	search->n = 0;
	for (int i = 1; !attempt.is_done && code == OK; i++) {
		struct store_txn *txn;

		attempt.is_last = i == SNAPSHOTS_MAX;
		attempt.mark = vector_cache_mark(search->memory);
		code = store_begin(search->store, STORE_READ, &txn, err);
		if (code != OK)
			return code;
		code = search_in(txn, arena, search, whole, &attempt, err);
		store_abort(txn);
	}
	search->rows = whole->rows;
	search->bytes = whole->bytes;
	return code;
}
