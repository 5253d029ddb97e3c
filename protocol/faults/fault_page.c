#include "protocol/faults/fault_page.h"

#include "core/number.h"
#include "storage/item_key.h"

#define SORT_TRIES 40
#define HASH_TRIES                                                                                 \
	65536 /* of two rows next to each other one finds a key between them by as many tries as   \
		 there are rows, on average */
#define LARGEST_CHARACTER "\xF4\x8F\xBF\xBF"

/* The search for a key between where the page begins and its first row. */
struct search {
	struct arena *arena;  /* of what is tried and given up */
	const struct read_page *page;
	struct value start;   /* the key behind which the page begins; TYPE_NONE: none */
	struct value first;   /* the key of the first row */
	struct str row_key;   /* of it */
};

static struct value number_value_of(struct arena *arena, struct str text)
{
	char *bytes = arena_bytes(arena, NUMBER_MAX);
	struct err err = err_in(arena);
	size_t n = 0;

	(void)(number_parse(text, bytes, &n, &err) == OK);
	return value_of_str(TYPE_N, (struct str){bytes, n});
}

/* As near to the first row's number as 10^-i. */
static struct value number_near(struct arena *arena, const struct value *first, bool is_reverse,
				unsigned i)
{
	struct value step = number_value_of(arena, str_printf(arena, "1e-%u", i));
	char *bytes = arena_bytes(arena, NUMBER_MAX);
	struct err err = err_in(arena);
	size_t n = 0;
	enum code code =
		is_reverse ? number_add(value_str(first), value_str(&step), bytes, &n, &err)
			   : number_subtract(value_str(first), value_str(&step), bytes, &n, &err);

	return code == OK ? value_of_str(TYPE_N, (struct str){bytes, n}) : *first;
}

/* The next text behind this one. */
static struct value text_behind(struct arena *arena, const struct value *value)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, value_str(value));
	buf_add_byte(&buf, 0);
	return value_of_str((enum type)value->type, buf_str(&buf));
}

/* The least and the greatest of its type. */
static struct value end_of(struct arena *arena, enum type type, bool is_greatest)
{
	struct buf buf = buf_in(arena);

	if (type == TYPE_N)
		return number_value_of(
			arena, is_greatest ? STR("9.9999999999999999999999999999999999999e125")
					   : STR("-9.9999999999999999999999999999999999999e125"));
	for (size_t n = 0; is_greatest && n < SORT_KEY_SIZE_MAX; n = buf_str(&buf).n) {
		if (type == TYPE_S)
			buf_add_lit(&buf, LARGEST_CHARACTER);
		else
			buf_add_byte(&buf, 0xFF);
	}
	if (!is_greatest)
		buf_add_byte(&buf, 0);
	return value_of_str(type, buf_str(&buf));
}

/* The i-th value to try for a sort key: near the first row, near the start, far away. */
static struct value sort_candidate(const struct search *search, struct arena *arena,
				   const struct key_attribute *attribute, unsigned i)
{
	const struct value *first = value_member(&search->first, attribute->name), *start = first;
	bool is_reverse = search->page->is_reverse;

	if (i == 0)
		return end_of(arena, attribute->type, is_reverse);
	if (attribute->type == TYPE_N)
		return number_near(arena, first, is_reverse, i - 1);
	if (!is_reverse && value_is_set(&search->start))
		start = value_member(&search->start, attribute->name);
	return text_behind(arena, start);
}

/* The i-th value to try for what is hashed: any. */
static struct value hash_candidate(const struct search *search, struct arena *arena,
				   const struct key_attribute *attribute, unsigned i)
{
	struct str text = str_printf(arena, "%u", i);

	(void)search;
	return attribute->type == TYPE_N ? number_value_of(arena, text)
					 : value_of_str(attribute->type, text);
}

/* The first row's key with another value of the attribute. */
static struct value with(const struct search *search, struct arena *arena,
			 const struct key_attribute *attribute, struct value value)
{
	struct member *members = ARENA_ARRAY(arena, struct member, search->first.n);

	for (uint32_t i = 0; i < search->first.n; i++) {
		members[i] = search->first.members[i];
		if (str_eq(members[i].name, attribute->name))
			members[i].value = value;
	}
	return (struct value){.type = TYPE_M, .n = search->first.n, .members = members};
}

/* Whether it is behind the start and before the first row, and a start key that the page's next one
 * may have. */
static bool is_before_first_row(const struct search *search, const struct value *key)
{
	const struct read_page *page = search->page;
	struct err err = err_in(search->arena);
	struct str row_key = item_key_of_row(search->arena, page->table, page->index, key), start;
	int to_first = str_cmp(row_key, search->row_key),
	    to_start = str_is_set(page->start_after) ? str_cmp(page->start_after, row_key) : -1;

	if (page->is_reverse) {
		to_first = -to_first;
		to_start = str_is_set(page->start_after) ? -to_start : -1;
	}
	return to_first < 0 && to_start < 0 &&
	       read_start_key(search->arena, page, key, &start, &err) == OK;
}

typedef struct value make_candidate(const struct search *search, struct arena *arena,
				    const struct key_attribute *attribute, unsigned i);

/* The key found lies in `arena`. */
static bool try_attribute(const struct search *search, struct arena *arena,
			  const struct key_attribute *attribute, make_candidate *make,
			  unsigned tries, struct value *out)
{
	for (unsigned i = 0; i < tries; i++) {
		struct value key = with(search, search->arena, attribute,
					make(search, search->arena, attribute, i));

		if (is_before_first_row(search, &key)) {
			*out = with(search, arena, attribute, make(search, arena, attribute, i));
			return true;
		}
		arena_reset(search->arena);
	}
	return false;
}

/* By the sort key where there is one, else by what rows are hashed by: the table's partition key,
 * in an index of the table's as well. */
static bool find_between(const struct search *search, struct arena *arena, struct value *out)
{
	const struct read_page *page = search->page;
	const struct key_schema *keys = page->index ? &page->index->keys : &page->table->keys;

	for (unsigned i = 0; i < keys->range_count; i++) {
		if (try_attribute(search, arena, &keys->attributes[keys->hash_count + i],
				  sort_candidate, SORT_TRIES, out))
			return true;
	}
	return (page->index || !page->keys) &&
	       try_attribute(search, arena, &page->table->keys.attributes[0], hash_candidate,
			     HASH_TRIES, out);
}

enum code fault_page_empty(struct call *call, struct read_page *page, bool *is_empty,
			   struct err *err)
{
	struct read_page peek = *page;
	struct value between;

	*is_empty = false;
	peek.limit = 1;
	peek.filter = NULL;
	peek.projection = NULL;
	peek.select = READ_COUNT;
	enum code code = read_page(call->service->catalog, call->arena, &peek, err);
	if (code != OK || !value_is_set(&peek.found.last_key) || read_is_single(page))
		return code;
	const struct search search = {
		.arena = arena_new(0),
		.page = page,
		.first = peek.found.last_key,
		.start = str_is_set(page->start_after)
				 ? item_key_attributes_of_row(call->arena, page->table, page->index,
							      page->start_after)
				 : VALUE_NONE,
		.row_key = item_key_of_row(call->arena, page->table, page->index,
					   &peek.found.last_key),
	};
	*is_empty = find_between(&search, call->arena, &between);
	arena_free(search.arena);
	if (*is_empty)
		page->found = (struct read_found){.last_key = between, .cost = peek.found.cost};
	return OK;
}
