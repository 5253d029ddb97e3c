#include "storage/catalog/catalog_size.h"
#include "storage/vector/vector.h"

#include <pthread.h>
#include <stdatomic.h>

#include "storage/upkeep/backfill.h"
#include "storage/vector/vector_cache.h"
#include "storage/vector/vector_row.h"
#include "tests/unit/storage/data_fixture.h"
#include "tests/unit/storage/store_fixture.h"

#define DIMENSIONS 3
enum { PLAIN, PARTED }; /* the table's vector indexes */

/* pk S; "plain" (v, all attributes, dot product); "parted" (v, keys only, euclidean) by t S,
 * filtered by f N. */
static struct table *vector_table(uint32_t dimensions)
{
	struct table *table = table_new(NULL);
	struct key_attribute pk = {STR("pk"), TYPE_S}, t = {STR("t"), TYPE_S},
			     f = {STR("f"), TYPE_N};
	struct vector_spec *plain = ARENA_NEW(table->arena, struct vector_spec),
			   *parted = ARENA_NEW(table->arena, struct vector_spec);

	table->identity.name = STR("vectors");
	table->keys = (struct key_schema){1, 0, {pk}};
	table->indexes.vector_n = 2;
	table->indexes.vectors = ARENA_ARRAY(table->arena, struct index, 2);
	*plain = (struct vector_spec){STR("v"), dimensions, DISTANCE_DOT_PRODUCT, 0, NULL};
	*parted = (struct vector_spec){STR("v"), dimensions, DISTANCE_EUCLIDEAN, 2,
				       ARENA_ARRAY(table->arena, struct search_element, 2)};
	parted->schema[0] = (struct search_element){t, true};
	parted->schema[1] = (struct search_element){f, false};
	table->indexes.vectors[PLAIN] =
		(struct index){.name = STR("plain"), .projection = PROJECT_ALL, .vector = plain};
	table->indexes.vectors[PARTED] = (struct index){
		.name = STR("parted"), .projection = PROJECT_KEYS_ONLY, .vector = parted};
	return table;
}

static struct data vector_data(size_t memory, unsigned threads, uint32_t dimensions)
{
	struct catalog_options options = {.vector_memory_bytes = memory, .search_threads = threads};
	struct data d = data_open(&options);

	CHECK(catalog_create(d.catalog, DATA_NS, vector_table(dimensions), 1000, &d.table,
			     &d.err) == OK);
	return d;
}

static struct value vector_of(struct data *d, const char *const *texts, uint32_t n)
{
	struct value *elements = ARENA_ARRAY(d->arena, struct value, n);

	for (uint32_t i = 0; i < n; i++)
		elements[i] = data_value(d, texts[i]);
	return (struct value){.type = TYPE_L, .n = n, .elements = elements};
}

/* The item with one attribute more. */
static const struct value *with(struct data *d, const struct value *item, const char *name,
				struct value value)
{
	struct value *result = ARENA_NEW(d->arena, struct value);
	struct member *members = ARENA_ARRAY(d->arena, struct member, item->n + 1);

	memcpy(members, item->members, item->n * sizeof(*members));
	members[item->n] = (struct member){str_of(name), value};
	value_sort_members(members, item->n + 1, NULL);
	*result = (struct value){.type = TYPE_M, .n = item->n + 1, .members = members};
	return result;
}

#define VECTOR(d, ...)                                                                             \
	vector_of(d, (const char *const[]){__VA_ARGS__},                                           \
		  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define ITEM(d, vector, ...) with(d, data_item(d, __VA_ARGS__, NULL), "v", vector)

/* Rows of an index but the version. */
static size_t row_count(struct data *d, int index)
{
	struct data_rows rows = data_rows(d, &d->table->indexes.vectors[index]);

	return rows.n > 0 && rows.keys[0].n == 1 ? rows.n - 1 : rows.n;
}

static uint64_t calls(struct data *d, enum trace_call call, int index)
{
	return trace_store_count_in(d->store, call,
				    index_keyspace(d->table, &d->table->indexes.vectors[index]));
}

static enum code update(struct data *d, const char *pk, const struct update *change)
{
	struct write write = {
		.kind = WRITE_UPDATE, .key = data_item(d, "pk", pk, NULL), .update = change};

	return data_write(d, &write);
}

static enum code find(struct data *d, int index, const float *query, unsigned top,
		      const char *condition, const char *t, const char *f,
		      struct vector_search *search)
{
	static struct value hash;

	*search = (struct vector_search){
		.store = catalog_store(d->catalog),
		.memory = catalog_vector_memory(d->catalog),
		.table = d->table,
		.index = &d->table->indexes.vectors[index],
		.query = query,
		.top = top,
	};
	if (t) {
		hash = data_value(d, t);
		search->hash = &hash;
		search->condition = data_condition(d, EXPR_SEARCH, condition, ":t", t,
						   f ? ":f" : NULL, f, NULL);
	}
	return vector_search(d->arena, search, &d->err);
}

static struct str pk_of(struct data *d, const struct vector_hit *hit)
{
	struct value pk;

	CHECK(image_get(d->arena, hit->image, STR("pk"), &pk));
	return value_str(&pk);
}

TEST(rows_follow_their_items)
{
	struct data d = vector_data(0, 1, DIMENSIONS);
	const struct value *item =
		ITEM(&d, VECTOR(&d, "N1", "N0.5", "N-2"), "pk", "Sa", "t", "Sx", "w", "Swide");
	float floats[DIMENSIONS];

	CHECK_INT(data_put(&d, item), OK);
	struct data_rows rows = data_rows(&d, &d.table->indexes.vectors[PLAIN]);
	CHECK_INT(rows.n, 2);
	CHECK(data_is(&d, vector_row_image(&d.table->indexes.vectors[PLAIN], rows.images[1]),
		      data_item(&d, "pk", "Sa", "t", "Sx", "w", "Swide", NULL)));
	vector_row_floats(&d.table->indexes.vectors[PLAIN], rows.images[1], floats);
	CHECK(floats[0] == 1 && floats[1] == 0.5f && floats[2] == -2);
	rows = data_rows(&d, &d.table->indexes.vectors[PARTED]);
	CHECK_INT(rows.n, 2);
	CHECK(data_is(&d, vector_row_image(&d.table->indexes.vectors[PARTED], rows.images[1]),
		      data_item(&d, "pk", "Sa", "t", "Sx", NULL)));
	CHECK_INT(update(&d, "Sa", data_update(&d, "REMOVE t", NULL)),
		  OK); /* the HASH is gone: out of the one, still in the other */
	CHECK_INT(row_count(&d, PLAIN), 1);
	CHECK_INT(row_count(&d, PARTED), 0);
	CHECK_INT(update(&d, "Sa", data_update(&d, "REMOVE v SET t = :t", ":t", "Sy", NULL)), OK);
	CHECK_INT(row_count(&d, PLAIN), 0);
	CHECK_INT(row_count(&d, PARTED), 0);
	CHECK_INT(data_put(&d, item), OK);
	struct write write = {.kind = WRITE_DELETE, .key = data_item(&d, "pk", "Sa", NULL)};
	CHECK_INT(data_write(&d, &write), OK);
	CHECK_INT(row_count(&d, PLAIN) + row_count(&d, PARTED), 0);
	data_free(&d);
}

TEST(an_index_is_written_only_where_its_row_changes)
{
	struct data d = vector_data(0, 1, DIMENSIONS);
	const struct value *item = ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk", "Sa", "t", "Sx");

	CHECK_INT(data_put(&d, item), OK);
	trace_store_reset(d.store);
	CHECK_INT(data_put(&d, item), OK); /* the same again */
	CHECK_INT(data_put(&d,
			   ITEM(&d, VECTOR(&d, "N1", "N2", "N3.00000001"), "pk", "Sa", "t", "Sx")),
		  OK); /* the same in 32 bits */
	for (int i = PLAIN; i <= PARTED; i++)
		CHECK_INT(calls(&d, TRACE_PUT, i) + calls(&d, TRACE_DEL, i) +
				  calls(&d, TRACE_GET, i),
			  0);
	CHECK_INT(update(&d, "Sa", data_update(&d, "SET w = :w", ":w", "Swide", NULL)),
		  OK);                             /* projected by the one alone */
	CHECK_INT(calls(&d, TRACE_PUT, PLAIN), 2); /* the row, and the version */
	CHECK_INT(calls(&d, TRACE_PUT, PARTED) + calls(&d, TRACE_DEL, PARTED) +
			  calls(&d, TRACE_GET, PARTED),
		  0);
	trace_store_reset(d.store);
	CHECK_INT(update(&d, "Sa", data_update(&d, "SET t = :t", ":t", "Sy", NULL)),
		  OK); /* a key change: one deleted, one put, a version each */
	CHECK_INT(calls(&d, TRACE_DEL, PARTED), 1);
	CHECK_INT(calls(&d, TRACE_PUT, PARTED), 3);
	CHECK_INT(calls(&d, TRACE_DEL, PLAIN), 0);
	CHECK_INT(calls(&d, TRACE_GET, PARTED),
		  2); /* the version, twice; the row is known to be there */
	data_free(&d);
}

/* Counts of the table, of its other indexes and of the vector indexes are kept apart. */
TEST(counts_stand_beside_those_of_other_indexes)
{
	struct data d = data_open(NULL);
	struct table *table = vector_table(DIMENSIONS);
	uint64_t items[4], bytes[4];
	static const uint64_t rows[4] = {2, 1, 2, 1}; /* the table; by t; plain; parted */

	table->indexes.n = 1;
	table->indexes.v = ARENA_ARRAY(table->arena, struct index, 1);
	table->indexes.v[0] = (struct index){.name = STR("by t"),
					     .keys = {1, 0, {{STR("t"), TYPE_S}}},
					     .projection = PROJECT_KEYS_ONLY};
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1000, &d.table, &d.err), OK);
	for (size_t i = 0; i < 4; i++) /* counted once, kept from then on */
		CHECK_INT(catalog_size(d.catalog, d.table,
				       i ? table_index_at(d.table, i - 1) : NULL, &items[i],
				       &bytes[i], &d.err),
			  OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk", "Sa", "t", "Sx")), OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk", "Sb")), OK);
	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(catalog_size(d.catalog, d.table,
				       i ? table_index_at(d.table, i - 1) : NULL, &items[i],
				       &bytes[i], &d.err),
			  OK);
		CHECK_INT(items[i], rows[i]);
	}
	CHECK_INT(bytes[1], 3 + 2);
	data_free(&d);
}

/* All rows but the version's; each is taken from the counts. */
TEST(a_large_index_is_emptied_piece_by_piece)
{
	enum { ROWS = BACKFILL_STEP_ROWS + 20 };
	struct data d = data_open(&(struct catalog_options){.drop_max = 1});
	uint64_t items, bytes, items_left, bytes_left;
	int64_t wait_ms;

	CHECK_INT(catalog_create(d.catalog, DATA_NS, vector_table(DIMENSIONS), 1000, &d.table,
				 &d.err),
		  OK);
	for (int i = 100; i < 100 + ROWS; i++)
		CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk",
					    str_printf(d.arena, "S%d", i).p)),
			  OK);
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.vectors[PLAIN], &items, &bytes,
			       &d.err),
		  OK);
	CHECK_INT(items, ROWS);
	struct table *next = table_clone(d.table);
	next->indexes.vectors[PLAIN].status = STATUS_DELETING;
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("vectors"), 1, &d.table, &d.err), OK);
	trace_store_reset(d.store);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
	CHECK_INT(calls(&d, TRACE_DEL, PLAIN), BACKFILL_STEP_ROWS);
	CHECK_INT(row_count(&d, PLAIN), 20);
	CHECK_INT(data_rows(&d, &d.table->indexes.vectors[PLAIN]).n, 21);
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.vectors[PLAIN], &items_left,
			       &bytes_left, &d.err),
		  OK);
	CHECK_INT(items_left, 20);
	CHECK_INT(bytes_left * ROWS, bytes * 20);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("vectors"), 1, &d.table, &d.err), OK);
	CHECK_INT(d.table->indexes.vector_n, 1);
	CHECK_STR(d.table->indexes.vectors[0].name, "parted");
	data_free(&d);
}

TEST(writes_are_billed_in_bytes)
{
	struct data d = vector_data(0, 1, DIMENSIONS);
	struct write write = {.kind = WRITE_PUT};
	struct cost sum;

	write.item = ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk", "Sa", "t", "Sx", "blob",
			  data_long(&d, 'S', 1500));
	CHECK_INT(data_write(&d, &write), OK);
	sum = write.cost;
	CHECK(write.cost.vector_bytes[PLAIN] ==
	      12 + 1 + 3 + 2 + 4 + 1500); /* floats, "v", pk, t, blob */
	CHECK(write.cost.vector_bytes[PARTED] == 1024);
	CHECK(write.cost.base.write == 2); /* 3 + 2 + 1504 + (1 + 12) */
	write = (struct write){
		.kind = WRITE_PUT,
		.item = ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk", "Sa", "t", "Sz")};
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(write.cost.vector_bytes[PLAIN] == 1522); /* the larger of the two sizes */
	CHECK(write.cost.vector_bytes[PARTED] == 2048); /* moved: deleted and put */
	cost_add(&sum, &write.cost);
	CHECK(sum.vector_bytes[PARTED] == 3072);
	data_free(&d);
}

static const char *refusal(struct data *d, const struct value *item)
{
	struct write write = {.kind = WRITE_PUT, .item = item};

	return data_write(d, &write) == OK ? "" : d->err.message.p;
}

TEST(items_that_do_not_fit_are_refused)
{
	struct data d = vector_data(0, 1, DIMENSIONS);

#define REFUSED(item, words) CHECK(strstr(refusal(&d, item), words) != NULL)
	REFUSED(ITEM(&d, VECTOR(&d, "N1", "N2"), "pk", "Sa"),
		"Invalid size for parameter v, Expected: 3, Actual: 2 IndexName: plain");
	REFUSED(ITEM(&d, VECTOR(&d, "N1", "N2", "Sx"), "pk", "Sa"),
		"Invalid type for parameter v[2], Expected: 32-bit floating point number, Actual: "
		"S. ");
	REFUSED(data_item(&d, "pk", "Sa", "v", "N1", NULL),
		"Invalid type for parameter v, Expected: 32-bit floating point number list "
		"IndexName: plain");
	REFUSED(ITEM(&d, VECTOR(&d, "N1", "N-1.25E40", "N0"), "pk", "Sa"),
		"parameter v[1], Value: -1.25E+40 is outside valid range");
	REFUSED(data_item(&d, "pk", "Sa", "t", "N1", NULL),
		"Attribute 't' type mismatch. Expected: S, Actual: N. IndexName: parted");
	REFUSED(data_item(&d, "pk", "Sa", "f", "Sx", NULL),
		"Attribute 'f' type mismatch. Expected: N, Actual: S. IndexName: parted");
	REFUSED(data_item(&d, "pk", "Sa", "t", "S", NULL),
		"cannot contain an empty string value. IndexName: parted, IndexKey: t");
	REFUSED(data_item(&d, "pk", "Sa", "t", data_long(&d, 'S', 2049), NULL),
		"Size of hashkey has exceeded the maximum size limit");
	CHECK_INT(row_count(&d, PLAIN), 0);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk", "Sa")), OK);
	CHECK_INT(update(&d, "Sa", data_update(&d, "REMOVE v[0]", NULL)), ERR_VALIDATION);
	CHECK_INT(row_count(&d, PLAIN), 1);
	data_free(&d);
}

/* A model of an index: what a search must find is computed from the items, one by one. */
#define ITEMS 60
#define TENANTS 3

struct model {
	bool is_there[ITEMS];
	int tenant[ITEMS], filter[ITEMS]; /* -1: none */
	float floats[ITEMS][DIMENSIONS];  /* [0] NAN: no vector */
};

static uint64_t seed;

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* The prefix and the number, of two digits at least. */
static const char *text(struct data *d, const char *prefix, int number)
{
	return str_printf(d->arena, "%s%02d", prefix, number).p;
}

static void change_at_random(struct data *d, struct model *model)
{
	int i = (int)dice(ITEMS);
	const struct value *item = data_item(d, "pk", text(d, "Sitem-", i), NULL);

	if (dice(4) == 0) {
		struct write write = {.kind = WRITE_DELETE, .key = item};

		if (data_write(d, &write) == OK)
			model->is_there[i] = false;
		return;
	}
	int tenant = (int)dice(TENANTS + 1) - 1, filter = (int)dice(3) - 1, numbers[DIMENSIONS];
	bool has_vector = dice(6) > 0;
	struct value elements[DIMENSIONS],
		list = {.type = TYPE_L, .n = DIMENSIONS, .elements = elements};
	for (int k = 0; k < DIMENSIONS; k++) {
		numbers[k] = (int)dice(9) - 4; /* few, so that scores are often equal */
		elements[k] = data_value(d, text(d, "N", numbers[k]));
	}
	if (tenant >= 0)
		item = with(d, item, "t", data_value(d, text(d, "Stenant-", tenant)));
	if (filter >= 0)
		item = with(d, item, "f", data_value(d, text(d, "N", filter)));
	if (has_vector)
		item = with(d, item, "v", list);
	if (data_put(d, item) != OK)
		return;
	model->is_there[i] = true;
	model->tenant[i] = tenant;
	model->filter[i] = filter;
	for (int k = 0; k < DIMENSIONS; k++)
		model->floats[i][k] = (float)numbers[k];
	if (!has_vector)
		model->floats[i][0] = __builtin_nanf("");
}

static float score_of(const float *a, const float *query, int index)
{
	double sum = 0;

	for (int k = 0; k < DIMENSIONS; k++)
		sum += index == PLAIN ? (double)a[k] * query[k]
				      : ((double)a[k] - query[k]) * ((double)a[k] - query[k]);
	return index == PLAIN ? (float)-sum : (float)__builtin_sqrt(sum); /* lower is better */
}

/* Compares one random search with the model. */
static void search_at_random(struct data *d, const struct model *model)
{
	int index = dice(2) ? PLAIN : PARTED, tenant = (int)dice(TENANTS),
	    filter = (int)dice(3) - 1;
	float query[DIMENSIONS], scores[ITEMS];
	unsigned top = 1 + dice(12), n = 0;
	int order[ITEMS];
	struct vector_search search;

	for (int k = 0; k < DIMENSIONS; k++)
		query[k] = (float)((int)dice(9) - 4);
	for (int i = 0; i < ITEMS;
	     i++) { /* in the order of keys: the sort below keeps it among equals */
		if (!model->is_there[i] || model->floats[i][0] != model->floats[i][0])
			continue;
		if (index == PARTED &&
		    (model->tenant[i] != tenant || (filter >= 0 && model->filter[i] != filter)))
			continue;
		unsigned at = n++;
		float score = score_of(model->floats[i], query, index);
		for (; at > 0 && scores[at - 1] > score; at--) {
			scores[at] = scores[at - 1];
			order[at] = order[at - 1];
		}
		scores[at] = score;
		order[at] = i;
	}
	n = n < top ? n : top;
	CHECK_INT(find(d, index, query, top, filter >= 0 ? "t = :t AND f = :f" : "t = :t",
		       index == PARTED ? text(d, "Stenant-", tenant) : NULL,
		       filter >= 0 ? text(d, "N", filter) : NULL, &search),
		  OK);
	CHECK_INT(search.n, n);
	for (unsigned i = 0; i < n && i < search.n; i++) {
		CHECK_STR(pk_of(d, &search.hits[i]), text(d, "item-", order[i]));
		CHECK(search.hits[i].score == (index == PLAIN ? -scores[i] : scores[i]));
	}
}

static void compare_with_model(size_t memory, bool with_failures)
{
	struct data d = vector_data(memory, 1, DIMENSIONS);
	struct model model = {0};

	for (int round = 0; round < 1500; round++) {
		if (with_failures && dice(3) == 0)
			trace_store_fail(d.store, 1 + dice(12), ERR_INTERNAL);
		change_at_random(&d, &model);
		trace_store_fail(d.store, 0, OK);
		if (dice(3) == 0)
			search_at_random(&d, &model);
	}
	CHECK(vector_cache_memory_used(catalog_vector_memory(d.catalog)) <= memory);
	CHECK((vector_cache_memory_used(catalog_vector_memory(d.catalog)) > 0) == (memory > 0));
	data_free(&d);
}

TEST(searches_of_the_store_agree_with_a_model)
{
	compare_with_model(0, false);
}

TEST(searches_in_memory_agree_with_a_model)
{
	compare_with_model(1 << 20, false);
}

TEST(memory_for_one_of_two_indexes_is_enough)
{
	compare_with_model(11000, false);
}

TEST(failed_writes_leave_nothing_behind)
{
	compare_with_model(1 << 20, true);
}

TEST(ties_are_in_the_order_of_keys)
{
	struct data d = vector_data(1 << 20, 1, DIMENSIONS);
	const float query[] = {1, 0, 0};
	struct vector_search search;

	for (const char *const *pk = (const char *const[]){"Sc", "Sb", "Sd", "Sa", NULL}; *pk;
	     pk++) {
		CHECK_INT(
			data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N0", "N0"), "pk", *pk, "t", "Sx")),
			OK);
		trace_store_reset(d.store);
		CHECK_INT(find(&d, PLAIN, query, 10, NULL, NULL, NULL, &search),
			  OK); /* the matrix grows row by row */
		CHECK_INT(trace_store_count(d.store, TRACE_ROW),
			  strcmp(*pk, "Sc") == 0 /* the first fills it */);
	}
	CHECK_INT(search.n, 4);
	/* without a HASH in the index, rows are in the order of the table's keys */
	CHECK_STR(pk_of(&d, &search.hits[0]), "a");
	CHECK_STR(pk_of(&d, &search.hits[3]), "d");
	CHECK_INT(find(&d, PLAIN, query, 2, NULL, NULL, NULL, &search), OK);
	CHECK_STR(pk_of(&d, &search.hits[1]), "b");
	data_free(&d);
}

TEST(a_matrix_far_behind_is_filled_anew)
{
	struct data d = vector_data(1 << 22, 1, DIMENSIONS);
	const float query[] = {1, 0, 0};
	struct vector_search search;

	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N0", "N0"), "pk", "Sfirst")), OK);
	CHECK_INT(find(&d, PLAIN, query, 1, NULL, NULL, NULL, &search), OK);
	for (int i = 0; i < 5000; i++) {
		struct value v = VECTOR(&d, text(&d, "N", i), "N0", "N0");

		CHECK_INT(data_put(&d, ITEM(&d, v, "pk", text(&d, "Sitem-", i % 900))), OK);
	}
	CHECK_INT(find(&d, PLAIN, query, 3, NULL, NULL, NULL, &search), OK);
	CHECK(search.n == 3 && search.hits[0].score == 4999 && search.hits[2].score == 4997);
	trace_store_reset(d.store);
	CHECK_INT(find(&d, PLAIN, query, 3, NULL, NULL, NULL, &search), OK);
	CHECK_INT(trace_store_count(d.store, TRACE_ROW), 0); /* from memory now */
	data_free(&d);
}

TEST(large_searches_are_shared_among_threads)
{
	enum { WIDE = 4096, ROWS = 1100 };
	struct data d = vector_data(64 << 20, 3, WIDE);
	struct data plain = vector_data(0, 1, WIDE);
	struct value numbers[16], *elements = ARENA_ARRAY(d.arena, struct value, WIDE);
	float *query = ARENA_ARRAY(d.arena, float, WIDE);
	struct vector_search search, same;

	for (int i = 0; i < 16; i++)
		numbers[i] = data_value(&d, text(&d, "N", i - 8));
	for (int i = 0; i < WIDE; i++)
		query[i] = (float)dice(100) / 7;
	for (int row = 0; row < ROWS; row++) {
		for (int i = 0; i < WIDE; i++)
			elements[i] = numbers[dice(16)];
		struct value list = {.type = TYPE_L, .n = WIDE, .elements = elements};
		const struct value *item = ITEM(&d, list, "pk", text(&d, "Sitem-", row));
		CHECK_INT(data_put(&d, item), OK);
		CHECK_INT(data_put(&plain, item), OK);
	}
	CHECK_INT(find(&d, PLAIN, query, 100, NULL, NULL, NULL, &search), OK);
	CHECK_INT(find(&plain, PLAIN, query, 100, NULL, NULL, NULL, &same), OK);
	CHECK(vector_cache_memory_used(catalog_vector_memory(d.catalog)) >
	      ROWS * WIDE * sizeof(float));
	CHECK_INT(search.n, 100);
	CHECK_INT(search.bytes, same.bytes);
	for (size_t i = 0; i < 100; i++)
		CHECK(str_eq(search.hits[i].image, same.hits[i].image) &&
		      search.hits[i].score == same.hits[i].score);
	data_free(&d);
	data_free(&plain);
}

static uint64_t tick(void)
{
	static atomic_uint_least64_t now;

	return atomic_fetch_add(&now, 1) + 1;
}

/* By matrices on one and three threads, and by rows from the store; with a condition that takes
 * time and without one. */
TEST(a_search_ends_where_its_time_does)
{
	enum { WIDE = 4096, ROWS = 1100 };
	static const struct {
		size_t memory;
		unsigned threads;
	} ways[] = {{64 << 20, 3}, {64 << 20, 1}, {0, 1}};
	float *query;

	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct data d = vector_data(ways[w].memory, ways[w].threads, WIDE);
		struct value *elements = ARENA_ARRAY(d.arena, struct value, WIDE);
		struct value one = data_value(&d, "N1"),
			     list = {.type = TYPE_L, .n = WIDE, .elements = elements};
		struct vector_search search;
		int refused = 0;

		query = ARENA_ARRAY(d.arena, float, WIDE);
		for (int i = 0; i < WIDE; i++)
			elements[i] = one;
		for (int row = 0; row < ROWS; row++)
			CHECK_INT(data_put(&d, ITEM(&d, list, "pk", text(&d, "Sitem-", row), "t",
						    "Sx")),
				  OK);
		for (uint64_t limit = 0; limit < 1000; limit += 1 + limit / 4) {
			arena_limit_time(d.arena, tick, limit);
			enum code code = find(&d, refused % 2 ? PARTED : PLAIN, query, 1, "t = :t",
					      refused % 2 ? "Sx" : NULL, NULL, &search);
			arena_limit_time(d.arena, NULL, 0);
			CHECK(code == OK || code == ERR_SERVICE_UNAVAILABLE);
			if (code == OK)
				break;
			refused++;
		}
		CHECK(refused > 5);
		CHECK_INT(find(&d, PLAIN, query, 1, NULL, NULL, NULL, &search), OK);
		CHECK_INT(search.n, 1);
		data_free(&d);
	}
}

/* The table's current snapshot in place of the one at hand. */
static void reload(struct data *d)
{
	table_unref(d->table);
	CHECK_INT(catalog_get(d->catalog, DATA_NS, STR("vectors"), 3000, &d->table, &d->err), OK);
}

TEST(indexes_come_and_go_on_a_table_with_items)
{
	struct data d = vector_data(1 << 20, 1, DIMENSIONS);
	const float query[] = {1, 0, 0};
	struct vector_search search;
	struct table *next = table_clone(d.table);
	uint64_t items, bytes;
	int64_t wait_ms = 0;

	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N0", "N0"), "pk", "Sa")), OK);
	CHECK_INT(find(&d, PLAIN, query, 1, NULL, NULL, NULL, &search), OK);
	CHECK(vector_cache_memory_used(catalog_vector_memory(d.catalog)) > 0);
	next->indexes.vector_n = 0;
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	CHECK_INT(vector_cache_memory_used(catalog_vector_memory(d.catalog)), 0);
	reload(&d);
	/* no index, no rules: the second of these will not be in it */
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N5", "N0", "N0"), "pk", "Sb", "t", "Sx")), OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N5", "N0"), "pk", "Sc", "t", "Sx")), OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N5", "N0", "N0"), "pk", "Sd", "t", "N1")), OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N7", "N0", "N0"), "pk", "Sgone", "t", "Sx")),
		  OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N6", "N0", "N0"), "pk", "Smoved", "t", "Sx")),
		  OK);
	struct table *described = vector_table(DIMENSIONS);
	next = table_clone(d.table);
	next->indexes.vectors = ARENA_ARRAY(next->arena, struct index, 2);
	for (uint32_t i = 0; i < 2; i++) {
		next->indexes.vectors[i] = described->indexes.vectors[i];
		next->indexes.vectors[i].number = next->indexes.next++;
		next->indexes.vector_n++;
		table_index_derive(next, &next->indexes.vectors[i]);
	}
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	reload(&d);
	CHECK(d.table->indexes.vectors[PLAIN].is_backfilling);
	/* before the filling comes to them: one taken out, one moved, one new */
	struct write write = {.kind = WRITE_DELETE, .key = data_item(&d, "pk", "Sgone", NULL)};
	CHECK_INT(data_write(&d, &write), OK);
	CHECK_INT(update(&d, "Smoved", data_update(&d, "SET t = :t", ":t", "Sy", NULL)), OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N9", "N0", "N0"), "pk", "Snew")), OK);
	for (int i = 0; i < 4; i++) {
		CHECK_INT(backfill_step(d.catalog, TIMES_AT(3000), &wait_ms, &d.err), OK);
		reload(&d);
	}
	CHECK(wait_ms == INT64_MAX && d.table->indexes.vectors[PLAIN].status == STATUS_ACTIVE &&
	      d.table->indexes.vectors[PARTED].status == STATUS_ACTIVE);
	CHECK_INT(row_count(&d, PLAIN), 5);
	CHECK_INT(row_count(&d, PARTED), 2);
	CHECK_INT(find(&d, PLAIN, query, 9, NULL, NULL, NULL, &search), OK);
	CHECK(search.n == 5 && search.hits[0].score == 9);
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.vectors[PARTED], &items,
			       &bytes, &d.err),
		  OK);
	CHECK_INT(items, 2);
	CHECK_INT(bytes, 18 + 22); /* 12 of floats, "v", pk, t */
	CHECK_INT(update(&d, "Sc", data_update(&d, "SET w = :w", ":w", "Sx", NULL)),
		  OK); /* what it leaves as it is, is not judged */
	CHECK_INT(row_count(&d, PLAIN), 5);
	/* a deleted one is not kept any more, and goes with the next step */
	next = table_clone(d.table);
	next->indexes.vectors[PLAIN].status = STATUS_DELETING;
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	reload(&d);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N9", "N0", "N0"), "pk", "Snewer")), OK);
	CHECK_INT(row_count(&d, PLAIN), 5);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(3000), &wait_ms, &d.err), OK);
	reload(&d);
	CHECK(d.table->indexes.vector_n == 1 && table_vector(d.table, STR("parted")) != NULL);
	CHECK_INT(vector_cache_memory_used(catalog_vector_memory(d.catalog)), 0);
	table_unref(described);
	data_free(&d);
}

TEST(tables_are_read_back_with_their_vector_indexes)
{
	struct data d = vector_data(0, 1, DIMENSIONS);
	struct catalog_options options = {0};
	uint64_t items, bytes, items_before, bytes_before;

	for (int i = 0; i < 20; i++)
		CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N2", "N3"), "pk",
					    text(&d, "Sitem-", i), "t", "Sx", "w", "Syz")),
			  OK);
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.vectors[PLAIN], &items_before,
			       &bytes_before, &d.err),
		  OK);
	table_unref(d.table);
	catalog_close(d.catalog);
	CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("vectors"), 2000, &d.table, &d.err), OK);
	CHECK_INT(d.table->indexes.vector_n, 2);
	const struct index *parted = table_vector(d.table, STR("parted"));
	CHECK(parted && parted->vector->dimensions == DIMENSIONS &&
	      parted->vector->distance == DISTANCE_EUCLIDEAN);
	CHECK(parted->vector->schema_count == 2 && parted->vector->schema[0].is_hash &&
	      !parted->vector->schema[1].is_hash);
	CHECK_STR(parted->vector->attribute, "v");
	CHECK_STR(parted->keys.attributes[0].name, "t");
	CHECK(!table_index(d.table, STR("parted")));
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.vectors[PLAIN], &items, &bytes,
			       &d.err),
		  OK);
	CHECK_INT(items, items_before);
	CHECK_INT(bytes, bytes_before);
	CHECK_INT(
		data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N2", "N4"), "pk", "Sone-more", "t", "Sx")),
		OK);
	CHECK_INT(row_count(&d, PARTED), 21);
	data_free(&d);
}

/* On disk, where a search keeps no writer out. */
static struct data disk_data(struct fixture *fixture)
{
	struct catalog_options options = {.vector_memory_bytes = 1 << 20};
	struct data d = {.arena = arena_new(1 << 20)};

	*fixture = fixture_new(false);
	d.err = err_in(d.arena);
	d.store = trace_store_new(fixture_open(fixture));
	CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
	CHECK_INT(catalog_create(d.catalog, DATA_NS, vector_table(DIMENSIONS), 1000, &d.table,
				 &d.err),
		  OK);
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N1", "N0", "N0"), "pk", "Sa")), OK);
	return d;
}

/* Takes the index, or with is_whole the table, away; on a thread of its own, as while a search has
 * its transaction. */
struct removal {
	struct data *d;
	bool is_whole;
};

static void *take_away(void *context)
{
	const struct removal *removal = context;
	struct table *current = removal->d->table;
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	if (removal->is_whole) {
		CHECK_INT(catalog_delete(removal->d->catalog, current, 3000, &err), OK);
	} else {
		struct table *next = table_clone(current);

		next->indexes.vectors[PLAIN].status = STATUS_DELETING;
		CHECK_INT(catalog_replace(removal->d->catalog, current, next, &err), OK);
	}
	arena_free(arena);
	return NULL;
}

static void take_away_meanwhile(void *context)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, take_away, context) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

static void take_away_after_the_next(void *context)
{
	const struct removal *removal = context;

	trace_store_after(removal->d->store, TRACE_GET, take_away_meanwhile, context);
}

TEST(a_search_that_outlives_its_index_leaves_nothing_in_memory)
{
	const float query[] = {1, 0, 0};

	for (int is_whole = 0; is_whole < 2; is_whole++) {
		struct fixture fixture;
		struct data d = disk_data(&fixture);
		struct removal removal = {&d, is_whole};
		struct vector_search search;

		/* the search's second call, after that for the table's version: what it sees is
		 * fixed, what it keeps in memory is not */
		trace_store_after(d.store, TRACE_GET, take_away_after_the_next, &removal);
		CHECK_INT(find(&d, PLAIN, query, 9, NULL, NULL, NULL, &search), OK);
		CHECK_INT(search.n, 1);
		CHECK_INT(vector_cache_memory_used(catalog_vector_memory(d.catalog)), 0);
		CHECK_INT(find(&d, PLAIN, query, 9, NULL, NULL, NULL, &search), ERR_TABLE_MOVED);
		CHECK_INT(vector_cache_memory_used(catalog_vector_memory(d.catalog)), 0);
		data_free(&d);
		fixture_free(&fixture);
	}
}

/* It has another number, and so nothing of the deleted one. */
TEST(a_table_made_anew_does_not_see_the_rows_of_the_old_one)
{
	struct data d = vector_data(1 << 20, 1, DIMENSIONS);
	const float query[] = {1, 0, 0};
	struct vector_search search;

	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N9", "N0", "N0"), "pk", "Sold")), OK);
	CHECK_INT(find(&d, PLAIN, query, 9, NULL, NULL, NULL, &search), OK);
	CHECK_INT(search.n, 1);
	struct table *old = d.table;
	CHECK_INT(catalog_delete(d.catalog, old, 3000, &d.err), OK);
	CHECK_INT(vector_cache_memory_used(catalog_vector_memory(d.catalog)), 0);
	CHECK_INT(catalog_create(d.catalog, DATA_NS, vector_table(DIMENSIONS), 4000, &d.table,
				 &d.err),
		  OK);
	CHECK_INT(find(&d, PLAIN, query, 9, NULL, NULL, NULL, &search), OK);
	CHECK_INT(search.n, 0);
	/* as many versions as the old one had */
	CHECK_INT(data_put(&d, ITEM(&d, VECTOR(&d, "N7", "N0", "N0"), "pk", "Snew")), OK);
	CHECK_INT(find(&d, PLAIN, query, 9, NULL, NULL, NULL, &search), OK);
	CHECK_INT(search.n, 1);
	CHECK_STR(pk_of(&d, &search.hits[0]), "new");
	table_unref(old);
	data_free(&d);
}

TEST_MAIN(TEST_CASE(rows_follow_their_items),
	  TEST_CASE(an_index_is_written_only_where_its_row_changes),
	  TEST_CASE(writes_are_billed_in_bytes),
	  TEST_CASE(counts_stand_beside_those_of_other_indexes),
	  TEST_CASE(a_large_index_is_emptied_piece_by_piece),
	  TEST_CASE(items_that_do_not_fit_are_refused),
	  TEST_CASE(searches_of_the_store_agree_with_a_model),
	  TEST_CASE(searches_in_memory_agree_with_a_model),
	  TEST_CASE(memory_for_one_of_two_indexes_is_enough),
	  TEST_CASE(failed_writes_leave_nothing_behind), TEST_CASE(ties_are_in_the_order_of_keys),
	  TEST_CASE(a_matrix_far_behind_is_filled_anew),
	  TEST_CASE(large_searches_are_shared_among_threads),
	  TEST_CASE(a_search_ends_where_its_time_does),
	  TEST_CASE(indexes_come_and_go_on_a_table_with_items),
	  TEST_CASE(tables_are_read_back_with_their_vector_indexes),
	  TEST_CASE(a_search_that_outlives_its_index_leaves_nothing_in_memory),
	  TEST_CASE(a_table_made_anew_does_not_see_the_rows_of_the_old_one))
