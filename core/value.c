#include "core/value.h"

#include <stdlib.h>

#include "core/number.h"
#include "core/utf8.h"

#define FEW_MEMBERS 24 /* up to so many are sorted without qsort and its allocation */

static const struct {
	const char *name, *long_name;
	enum type element;
} types[TYPE_COUNT] = {
	[TYPE_NONE] = {"NONE", "NONE", TYPE_NONE},    [TYPE_S] = {"S", "STRING", TYPE_NONE},
	[TYPE_N] = {"N", "NUMBER", TYPE_NONE},        [TYPE_B] = {"B", "BINARY", TYPE_NONE},
	[TYPE_SS] = {"SS", "STRING_SET", TYPE_S},     [TYPE_NS] = {"NS", "NUMBER_SET", TYPE_N},
	[TYPE_BS] = {"BS", "BINARY_SET", TYPE_B},     [TYPE_M] = {"M", "MAP", TYPE_NONE},
	[TYPE_L] = {"L", "LIST", TYPE_NONE},          [TYPE_NULL] = {"NULL", "NULL", TYPE_NONE},
	[TYPE_BOOL] = {"BOOL", "BOOLEAN", TYPE_NONE},
};

enum type type_element(enum type set)
{
	return types[set].element;
}

const char *type_name(enum type type)
{
	return types[type].name;
}

const char *type_long_name(enum type type)
{
	return types[type].long_name;
}

enum type type_of_name(struct str name)
{
	for (enum type type = TYPE_S; type < TYPE_COUNT; type++) {
		if (str_eq(name, str_of(types[type].name)))
			return type;
	}
	return TYPE_NONE;
}

struct value value_of_str(enum type type, struct str bytes)
{
	return (struct value){
		.type = (uint8_t)type, .n = (uint32_t)bytes.n, .bytes = bytes.p ? bytes.p : ""};
}

uint32_t value_place(const struct value *map, struct str name, bool *is_there)
{
	return (uint32_t)str_search(map->members, map->n, sizeof(*map->members), name, is_there);
}

const struct value *value_member(const struct value *map, struct str name)
{
	bool is_there;
	uint32_t at = value_place(map, name, &is_there);

	return is_there ? &map->members[at].value : NULL;
}

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

/* Few members, mostly in order already, as clients send them: by insertion. */
static void sort_few(struct member *members, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct member member = members[i];
		size_t at = i;

		for (; at > 0 && by_name(&members[at - 1], &member) > 0; at--)
			members[at] = members[at - 1];
		if (at != i)
			members[at] = member;
	}
}

/* By merging, since qsort may change the order of equal names. `room` holds n members; depth is the
 * logarithm of n. */
static void sort_many(struct member *members, size_t n, struct member *room)
{
	size_t half = n / 2, left = 0, right = half;

	if (n <= FEW_MEMBERS) {
		sort_few(members, n);
		return;
	}
	sort_many(members, half, room);
	sort_many(members + half, n - half, room);
	if (by_name(&members[half - 1], &members[half]) <= 0)
		return;
	memcpy(room, members, n * sizeof(*members));
	for (size_t i = 0; i < n; i++) {
		bool takes_left =
			left < half && (right == n || by_name(&room[left], &room[right]) <= 0);

		members[i] = room[takes_left ? left++ : right++];
	}
}

bool value_sort_members(struct member *members, size_t n, struct str *duplicate)
{
	struct member *room = n > FEW_MEMBERS ? arena_checked(malloc(n * sizeof(*members))) : NULL;

	sort_many(members, n, room);
	free(room);
	for (size_t i = 1; i < n; i++) {
		if (by_name(&members[i - 1], &members[i]) == 0) {
			if (duplicate)
				*duplicate = members[i].name;
			return false;
		}
	}
	return true;
}

size_t value_sort_last(struct member *members, size_t n)
{
	size_t kept = 0;

	if (value_sort_members(members, n, NULL))
		return n;
	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n || !str_eq(members[i].name, members[i + 1].name))
			members[kept++] = members[i];
	}
	return kept;
}

static int by_bytes(const void *a, const void *b)
{
	return str_cmp(value_str(a), value_str(b));
}

bool value_sort_set(struct value *elements, size_t n, const struct value **duplicate)
{
	bool is_sorted = true;

	for (size_t i = 1; i < n && is_sorted; i++)
		is_sorted = by_bytes(&elements[i - 1], &elements[i]) < 0;
	if (is_sorted)
		return true;
	qsort(elements, n, sizeof(*elements), by_bytes);
	for (size_t i = 1; i < n; i++) {
		if (by_bytes(&elements[i - 1], &elements[i]) == 0) {
			if (duplicate)
				*duplicate = &elements[i];
			return false;
		}
	}
	return true;
}

/* Depth is bounded by VALUE_DEPTH_MAX: nothing deeper is ever built. */
bool value_equal(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	switch ((enum type)a->type) {
	case TYPE_BOOL:
		return a->boolean == b->boolean;
	case TYPE_NULL:
	case TYPE_NONE:
		return true;
	case TYPE_M:
		for (uint32_t i = 0; i < a->n && a->n == b->n; i++) {
			if (!str_eq(a->members[i].name, b->members[i].name) ||
			    !value_equal(&a->members[i].value, &b->members[i].value))
				return false;
		}
		return a->n == b->n;
	case TYPE_L:
	case TYPE_SS:
	case TYPE_NS:
	case TYPE_BS:
		for (uint32_t i = 0; i < a->n && a->n == b->n; i++) {
			if (!value_equal(&a->elements[i], &b->elements[i]))
				return false;
		}
		return a->n == b->n;
	default:
		return str_eq(value_str(a), value_str(b));
	}
}

int value_compare(const struct value *a, const struct value *b)
{
	return by_bytes(a, b);
}

bool value_set_has(const struct value *set, const struct value *element)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = by_bytes(&set->elements[middle], element);

		if (order == 0)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

size_t value_size(const struct value *value)
{
	size_t size;

	switch ((enum type)value->type) {
	case TYPE_S:
	case TYPE_B:
		return value->n;
	case TYPE_N:
		return number_billed_size(value_str(value));
	case TYPE_NULL:
	case TYPE_BOOL:
		return 1;
	case TYPE_SS:
	case TYPE_NS:
	case TYPE_BS:
		size = 0;
		for (uint32_t i = 0; i < value->n; i++)
			size += value_size(&value->elements[i]);
		return size;
	case TYPE_L:
		size = 3;
		for (uint32_t i = 0; i < value->n; i++)
			size += 1 + value_size(&value->elements[i]);
		return size;
	case TYPE_M:
		size = 3;
		for (uint32_t i = 0; i < value->n; i++)
			size += 1 + value->members[i].name.n + value_size(&value->members[i].value);
		return size;
	default:
		return 0;
	}
}

size_t item_size(const struct value *item)
{
	size_t size = 0;

	for (uint32_t i = 0; i < item->n; i++)
		size += item->members[i].name.n + value_size(&item->members[i].value);
	return size;
}

static unsigned depth_within(const struct value *value, unsigned limit)
{
	unsigned deepest = 0;

	if ((value->type != TYPE_M && value->type != TYPE_L) || limit == 0 || value->n == 0)
		return 0;
	for (uint32_t i = 0; i < value->n; i++) {
		const struct value *content =
			value->type == TYPE_M ? &value->members[i].value : &value->elements[i];
		unsigned depth = depth_within(content, limit - 1);

		if (depth > deepest)
			deepest = depth;
	}
	return 1 + deepest;
}

unsigned value_depth(const struct value *value)
{
	return depth_within(value, 4 * VALUE_DEPTH_MAX);
}

long value_size_function(const struct value *value)
{
	if (value->type == TYPE_S)
		return (long)utf8_utf16_length(value_str(value));
	return value->type == TYPE_N || value->type == TYPE_NULL || value->type == TYPE_BOOL ||
			       value->type == TYPE_NONE
		       ? -1
		       : (long)value->n;
}
