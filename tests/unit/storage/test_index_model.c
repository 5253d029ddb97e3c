/*
 * Random index schemas against a naive model: tables with local and global indexes of up to 4 + 4
 * key attributes of random types and projections, random writes, indexes added and dropped on the
 * way. What each index answers - which items, in which order, with which attributes, page by page,
 * forward and backward, under random sort key conditions - must be what comparing the values
 * themselves says.
 */
#include "storage/catalog/catalog_size.h"
#include "storage/upkeep/backfill.h"
#include "tests/unit/storage/data_fixture.h"

#define ATTRIBUTES 8 /* a0 .. a7 */
#define VALUES 5     /* each type has as many, in ascending order */
#define WRONG VALUES /* a value that is no key */
#define PARTITIONS 20
#define SORTS 30
#define ITEMS (PARTITIONS * SORTS)
#define TABLES 12
#define ROUNDS 4
#define OPERATIONS 400

struct model_item {
	bool exists;
	int values[ATTRIBUTES]; /* -1: absent */
};

struct world {
	struct data d;
	enum type types[ATTRIBUTES];
	struct model_item items[ITEMS];
	uint32_t ties[ITEMS]; /* what orders items that are equal in the keys of a global index */
	unsigned added; /* indexes that were added, for names */
};

static unsigned long long seed;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static const char *const texts[VALUES] = {"a", "a!", "ab", "b", "\xC3\xA9"};
static const char *const numbers[VALUES] = {"-100", "-0.5", "0", "2", "10"};
static const struct str blobs[VALUES] = {
	{"\0", 1}, {"\0\0", 2}, {"\0\1", 2}, {"\1", 1}, {"\xFF", 1}};

static struct value model_value(struct world *w, unsigned attribute, int value)
{
	bool is_number = w->types[attribute] == TYPE_N;

	if (value == WRONG)
		return (struct value){.type = TYPE_BOOL, .boolean = true};
	if (w->types[attribute] == TYPE_B)
		return value_of_str(TYPE_B, blobs[value]);
	return data_value(&w->d, str_printf(w->d.arena, "%c%s", is_number ? 'N' : 'S',
					    is_number ? numbers[value] : texts[value])
					 .p);
}

static struct str attribute_name(struct world *w, unsigned i)
{
	return str_printf(w->d.arena, "a%u", i);
}

/* a0 .. a7, pk, sk: in byte order. `index` NULL: the whole item, else what it projects. */
static struct value model_image(struct world *w, unsigned at, const struct index *index)
{
	struct member *members = ARENA_ARRAY(w->d.arena, struct member, ATTRIBUTES + 2);
	struct value item = {.type = TYPE_M, .members = members};

	for (unsigned i = 0; i < ATTRIBUTES; i++) {
		bool is_projected = !index || index->projection == PROJECT_ALL;

		for (unsigned k = 0; index && k < key_schema_count(&index->keys); k++)
			is_projected = is_projected ||
				       str_eq(index->keys.attributes[k].name, attribute_name(w, i));
		for (size_t k = 0; index && k < index->included_count; k++)
			is_projected =
				is_projected || str_eq(index->included[k], attribute_name(w, i));
		if (is_projected && w->items[at].values[i] >= 0)
			members[item.n++] = (struct member){
				attribute_name(w, i), model_value(w, i, w->items[at].values[i])};
	}
	members[item.n++] = (struct member){
		STR("pk"), data_value(&w->d, str_printf(w->d.arena, "Sp%02u", at / SORTS).p)};
	members[item.n++] = (struct member){
		STR("sk"), data_value(&w->d, str_printf(w->d.arena, "N%u", at % SORTS).p)};
	return item;
}

static unsigned attribute_number(struct str name)
{
	return (unsigned)(name.p[1] - '0');
}

/* The value's place in the order of its type: of an index's key attribute, pk and sk included. */
static int key_value(struct world *w, unsigned at, struct str name)
{
	if (str_eq(name, STR("pk")))
		return (int)(at / SORTS);
	if (str_eq(name, STR("sk")))
		return (int)(at % SORTS);
	return w->items[at].values[attribute_number(name)];
}

static struct key_attribute draw_attribute(struct world *w, struct key_schema *keys)
{
	while (true) {
		unsigned i = draw(ATTRIBUTES + 1);
		struct key_attribute attribute =
			i == ATTRIBUTES ? (struct key_attribute){STR("sk"), TYPE_N}
					: (struct key_attribute){attribute_name(w, i), w->types[i]};
		bool is_new = true;

		for (unsigned k = 0; k < key_schema_count(keys); k++)
			is_new = is_new && !str_eq(keys->attributes[k].name, attribute.name);
		if (is_new)
			return attribute;
	}
}

static struct index draw_index(struct world *w, struct table *table, bool is_local)
{
	struct index index = {.is_local = is_local, .projection = (enum projection_type)draw(3)};
	unsigned hashes = is_local ? 1 : 1 + draw(4), ranges = is_local ? 1 : draw(5);

	index.name = str_printf(table->arena, "index-%u", w->added++);
	for (unsigned i = 0; i < hashes; i++) {
		index.keys.attributes[i] =
			is_local ? table->keys.attributes[0] : draw_attribute(w, &index.keys);
		index.keys.hash_count++;
	}
	for (unsigned i = hashes; i < hashes + ranges; i++) {
		index.keys.attributes[i] = draw_attribute(w, &index.keys);
		index.keys.range_count++;
	}
	for (unsigned i = 0; i < key_schema_count(&index.keys); i++)
		index.keys.attributes[i].name =
			str_copy(table->arena, index.keys.attributes[i].name);
	if (index.projection == PROJECT_INCLUDE) {
		index.included_count = 1 + draw(3);
		index.included = ARENA_ARRAY(table->arena, struct str, index.included_count);
		for (size_t i = 0; i < index.included_count; i++)
			index.included[i] =
				str_printf(table->arena, "a%zu", (draw(3) + 3 * i) % ATTRIBUTES);
	}
	return index;
}

static struct table *draw_table(struct world *w)
{
	struct table *table = table_new(NULL);
	unsigned locals = draw(3), globals = draw(4);

	table->identity.name = STR("data");
	table->keys = (struct key_schema){1, 1, {{STR("pk"), TYPE_S}, {STR("sk"), TYPE_N}}};
	table->indexes.v = ARENA_ARRAY(table->arena, struct index, locals + globals);
	for (unsigned i = 0; i < locals + globals; i++)
		table->indexes.v[i] = draw_index(w, table, i < locals);
	table->indexes.n = locals + globals;
	return table;
}

/* Whether the table refuses WRONG as a value of the attribute. */
static bool is_key_somewhere(const struct table *table, struct str name)
{
	for (size_t i = 0; i < table->indexes.n; i++) {
		for (unsigned k = 0; k < key_schema_count(&table->indexes.v[i].keys) &&
				     index_is_kept(&table->indexes.v[i]);
		     k++) {
			if (str_eq(table->indexes.v[i].keys.attributes[k].name, name))
				return true;
		}
	}
	return false;
}

static void write_once(struct world *w)
{
	unsigned at = draw(ITEMS);
	struct model_item before = w->items[at], *slot = &w->items[at];
	struct write write = {.kind = WRITE_PUT};
	struct value item;
	bool is_refused = false;

	if (draw(5) == 0) {
		slot->exists = false;
		memset(slot->values, -1, sizeof(slot->values));
		item = model_image(w, at, NULL);
		write.kind = WRITE_DELETE;
		write.key = &item;
		CHECK_INT(data_write(&w->d, &write), OK);
		return;
	}
	for (unsigned i = 0; i < ATTRIBUTES; i++) {
		/* a change of a few, or of all */
		if (before.exists && draw(3))
			continue;
		slot->values[i] = draw(8) == 0 ? -1 : draw(200) == 0 ? WRONG : (int)draw(VALUES);
	}
	for (unsigned i = 0; i < ATTRIBUTES; i++)
		is_refused = is_refused || (slot->values[i] == WRONG &&
					    is_key_somewhere(w->d.table, attribute_name(w, i)));
	slot->exists = true;
	item = model_image(w, at, NULL);
	write.item = &item;
	CHECK_INT(data_write(&w->d, &write), is_refused ? ERR_VALIDATION : OK);
	if (is_refused)
		*slot = before;
}

static void change_indexes(struct world *w)
{
	struct table *next = table_clone(w->d.table);
	struct index *indexes = ARENA_ARRAY(next->arena, struct index, next->indexes.n + 1);
	struct index *last = next->indexes.n ? &next->indexes.v[next->indexes.n - 1] : NULL;
	bool is_at_work = false;

	for (size_t i = 0; i < next->indexes.n; i++)
		is_at_work = is_at_work || next->indexes.v[i].is_backfilling ||
			     next->indexes.v[i].status == STATUS_DELETING;
	if (last && !last->is_local && (draw(3) == 0 || next->indexes.n > 5) &&
	    last->status != STATUS_DELETING) {
		last->status = STATUS_DELETING;
		last->is_backfilling = false;
	} else if (!is_at_work) {
		memcpy(indexes, next->indexes.v, next->indexes.n * sizeof(*indexes));
		indexes[next->indexes.n] = draw_index(w, next, false);
		indexes[next->indexes.n].number = next->indexes.next++;
		table_index_derive(next, &indexes[next->indexes.n]);
		next->indexes.v = indexes;
		next->indexes.n++;
	}
	CHECK_INT(catalog_replace(w->d.catalog, w->d.table, next, &w->d.err), OK);
	data_take_current(&w->d);
}

static void step(struct world *w)
{
	int64_t wait_ms;

	CHECK_INT(backfill_step(w->d.catalog, TIMES_AT(5), &wait_ms, &w->d.err), OK);
	data_take_current(&w->d);
}

/* ---- what an index must answer ---- */

struct query {
	struct world *w;
	const struct index *index;
	unsigned like; /* the item whose partition, and leading sort key values, are asked for */
	unsigned equals;      /* how many sort key attributes equal the like item's */
	int operator;         /* on the next one: 0 none, 1 <, 2 <=, 3 >, 4 >=, 5 BETWEEN */
	int low, high;        /* its values */
};

static bool is_in(struct world *w, const struct index *index, unsigned at)
{
	if (!w->items[at].exists)
		return false;
	for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
		int value = key_value(w, at, index->keys.attributes[i].name);

		if (value < 0 || (value == WRONG && index->keys.attributes[i].name.p[0] == 'a'))
			return false;
	}
	return true;
}

static bool is_asked_for(const struct query *query, unsigned at)
{
	const struct key_schema *keys = &query->index->keys;
	unsigned equals = keys->hash_count + query->equals;

	if (!is_in(query->w, query->index, at))
		return false;
	for (unsigned i = 0; i < equals; i++) {
		if (key_value(query->w, at, keys->attributes[i].name) !=
		    key_value(query->w, query->like, keys->attributes[i].name))
			return false;
	}
	if (query->operator == 0)
		return true;
	int value = key_value(query->w, at, keys->attributes[equals].name);
	switch (query->operator) {
	case 1:
		return value < query->low;
	case 2:
		return value <= query->low;
	case 3:
		return value > query->low;
	case 4:
		return value >= query->low;
	default:
		return value >= query->low && value <= query->high;
	}
}

/* By the sort key attributes, then by the hash of the table's key where the index is a global one,
 * then by the table's key. */
static bool is_before(const struct query *query, unsigned a, unsigned b)
{
	const struct key_schema *keys = &query->index->keys;

	for (unsigned i = keys->hash_count; i < key_schema_count(keys); i++) {
		int x = key_value(query->w, a, keys->attributes[i].name),
		    y = key_value(query->w, b, keys->attributes[i].name);

		if (x != y)
			return x < y;
	}
	if (!query->index->is_local && query->w->ties[a] != query->w->ties[b])
		return query->w->ties[a] < query->w->ties[b];
	return a < b;
}

struct answer {
	struct world *w;
	size_t n;
	struct str images[ITEMS];
};

static void add_answer(struct answer *answer, struct str image)
{
	CHECK(answer->n < ITEMS);
	answer->images[answer->n++] = str_copy(answer->w->d.arena, image);
}

static const char *add_condition(struct query *query, struct expr_value *values, size_t *n,
				 unsigned i, const char *operator, int value)
{
	struct world *w = query->w;
	struct str name = query->index->keys.attributes[i].name;
	struct str placeholder = str_printf(w->d.arena, ":v%zu", *n);

	struct value given = str_eq(name, STR("pk"))
				     ? data_value(&w->d, str_printf(w->d.arena, "Sp%02d", value).p)
			     : str_eq(name, STR("sk"))
				     ? data_value(&w->d, str_printf(w->d.arena, "N%d", value).p)
				     : model_value(w, attribute_number(name), value);
	values[(*n)++] = (struct expr_value){placeholder, given, false};
	return str_printf(w->d.arena, STR_FMT " %s " STR_FMT, STR_ARG(name), operator,
			  STR_ARG(placeholder))
		.p;
}

static const struct node *condition_of(struct query *query)
{
	static const char *const operators[] = {"", "<", "<=", ">", ">=", "BETWEEN"};
	const struct key_schema *keys = &query->index->keys;
	struct data *d = &query->w->d;
	struct expr_value *values =
		ARENA_ARRAY(d->arena, struct expr_value, KEY_ATTRIBUTES_MAX + 2);
	struct buf text = buf_in(d->arena);
	const struct node *node = NULL;
	size_t n = 0;
	unsigned i;

	for (i = 0; i < keys->hash_count + query->equals; i++)
		buf_printf(
			&text, "%s%s", i ? " AND " : "",
			add_condition(query, values, &n, i, "=",
				      key_value(query->w, query->like, keys->attributes[i].name)));
	if (query->operator) {
		buf_printf(&text, " AND %s",
			   add_condition(query, values, &n, i, operators[query->operator],
					 query->low));
		if (query->operator == 5) {
			add_condition(query, values, &n, i, "=", query->high);
			buf_printf(&text, " AND :v%zu", n - 1);
		}
	}
	struct expr_env env = {.arena = d->arena,
			       .name_count = 0,
			       .names = NULL,
			       .value_count = n,
			       .values = values};
	CHECK(expr_parse_condition(&env, EXPR_KEY_CONDITION,
				   str_printf(d->arena, STR_FMT, STR_ARG(buf_str(&text))), &node,
				   &d->err) == OK);
	return node;
}

static void check_query(struct query *query, bool is_reverse)
{
	struct world *w = query->w;
	struct answer *answer = ARENA_NEW(w->d.arena, struct answer);
	unsigned *expected = ARENA_ARRAY(w->d.arena, unsigned, ITEMS);
	struct key_condition keys;
	size_t n = 0;

	for (unsigned at = 0; at < ITEMS; at++) {
		size_t k = n;

		if (!is_asked_for(query, at))
			continue;
		for (; k > 0 && is_before(query, at, expected[k - 1]); k--)
			expected[k] = expected[k - 1];
		expected[k] = at;
		n++;
	}
	CHECK_INT(key_condition_resolve(w->d.arena, w->d.table, query->index, condition_of(query),
					&keys, &w->d.err),
		  OK);
	*answer = (struct answer){.w = w};
	struct read_page page = {.table = w->d.table,
				 .index = query->index,
				 .keys = &keys,
				 .limit = 1 + draw(60),
				 .is_reverse = is_reverse,
				 .select = READ_PROJECTED_ATTRIBUTES};
	do {
		CHECK_INT(read_page(w->d.catalog, w->d.arena, &page, &w->d.err), OK);
		for (size_t i = 0; i < page.found.count; i++)
			add_answer(answer, page.found.rows[i].image);
		if (value_is_set(&page.found.last_key))
			CHECK_INT(read_start_key(w->d.arena, &page, &page.found.last_key,
						 &page.start_after, &w->d.err),
				  OK);
	} while (value_is_set(&page.found.last_key));
	CHECK_INT(answer->n, n);
	for (size_t i = 0; i < n && i < answer->n; i++) {
		struct value item =
			model_image(w, expected[is_reverse ? n - 1 - i : i], query->index);

		CHECK(data_is(&w->d, answer->images[i], &item));
	}
}

static void check_index(struct world *w, const struct index *index)
{
	uint64_t items, bytes;
	size_t n = 0;

	for (unsigned at = 0; at < ITEMS; at++)
		n += is_in(w, index, at);
	CHECK_INT(catalog_size(w->d.catalog, w->d.table, index, &items, &bytes, &w->d.err), OK);
	CHECK_INT(items, n);
	for (int i = 0; i < 12 && n > 0; i++) {
		struct query query = {.w = w, .index = index, .like = draw(ITEMS)};

		while (!is_in(w, index, query.like))
			query.like = (query.like + 1) % ITEMS;
		query.equals = draw(index->keys.range_count + 1);
		if (query.equals < index->keys.range_count) {
			struct str name =
				index->keys.attributes[index->keys.hash_count + query.equals].name;
			unsigned values = name.p[0] == 'a' ? VALUES : SORTS;

			query.operator = (int)draw(6);
			query.low = (int)draw(values);
			query.high = query.low + (int)draw(values - (unsigned)query.low);
		}
		check_query(&query, i % 2);
	}
}

static void check_all(struct world *w)
{
	for (int i = 0; i < 10; i++)
		step(w);
	for (size_t i = 0; i < w->d.table->indexes.n; i++) {
		CHECK_INT(w->d.table->indexes.v[i].status, STATUS_ACTIVE);
		check_index(w, &w->d.table->indexes.v[i]);
	}
}

/* A table of version 0.1.0 has another hash, and none of the table's key. */
static void settle_hash(struct world *w, enum key_hash hash)
{
	struct table *next = table_clone(w->d.table);

	next->hash = hash;
	CHECK_INT(catalog_replace(w->d.catalog, w->d.table, next, &w->d.err), OK);
	data_take_current(&w->d);
	for (unsigned at = 0; at < ITEMS && hash == KEY_HASH_MD5; at++) {
		struct value item = model_image(w, at, NULL);
		const struct value *key[] = {value_member(&item, STR("pk")),
					     value_member(&item, STR("sk"))};
		struct buf tie = buf_in(w->d.arena);

		key_add_tie(&tie, hash, key, 2);
		w->ties[at] = (uint32_t)str_be(tie.p, tie.n);
	}
}

static void run(unsigned long long start, enum key_hash hash)
{
	struct world *w = calloc(1, sizeof(*w));

	seed = start;
	w->d = data_open(NULL);
	for (unsigned i = 0; i < ATTRIBUTES; i++)
		w->types[i] = (enum type[]){TYPE_S, TYPE_N, TYPE_B}[draw(3)];
	for (unsigned i = 0; i < ITEMS; i++)
		memset(w->items[i].values, -1, sizeof(w->items[i].values));
	CHECK_INT(catalog_create(w->d.catalog, DATA_NS, draw_table(w), 1, &w->d.table, &w->d.err),
		  OK);
	settle_hash(w, hash);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < OPERATIONS; i++) {
			unsigned dice = draw(60);

			if (dice == 0)
				change_indexes(w);
			else if (dice < 4)
				step(w);
			write_once(w);
		}
		check_all(w);
		arena_reset(w->d.arena);
		w->d.err = err_in(w->d.arena);
	}
	data_free(&w->d);
	free(w);
}

TEST(every_index_answers_as_the_model_says)
{
	for (unsigned long long table = 1; table <= TABLES; table++)
		run(table * 7919, table % 3 ? KEY_HASH_MD5 : KEY_HASH_FNV);
}

TEST_MAIN(TEST_CASE(every_index_answers_as_the_model_says))
