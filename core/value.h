/*
 * value - a DynamoDB attribute value, immutable once built.
 *
 * A value lives in an arena or points into an item image; copying the struct
 * copies a view, not the bytes. An item is a value of type TYPE_M.
 *
 * Canonical form, kept by every function here and required of whoever builds
 * one by hand: the members of a map are in byte order of their names with no
 * name twice; the elements of a set are in byte order of their bytes (for NS:
 * of their encodings, which is numeric order) with no element twice. So equal
 * values have equal images.
 */
#ifndef DYNALITH_CORE_VALUE_H
#define DYNALITH_CORE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

/* Also the type bytes of item images: never renumber. */
enum type {
	TYPE_NONE = 0, /* no value: an absent attribute */
	TYPE_S = 1,
	TYPE_N = 2,    /* bytes of core/number's encoding */
	TYPE_B = 3,
	TYPE_SS = 4,
	TYPE_NS = 5,
	TYPE_BS = 6,
	TYPE_M = 7,
	TYPE_L = 8,
	TYPE_NULL = 9,
	TYPE_BOOL = 10,
	TYPE_COUNT
};

#define VALUE_DEPTH_MAX                                                                            \
	32 /* levels of nesting, the item's own map being one. AWS: Quotas, "Nested attribute      \
	      depth" */
#define ATTRIBUTE_NAME_SIZE_MAX 65535 /* bytes. AWS: Quotas, "Attribute names" */
#define ITEM_SIZE_MAX (400 * 1024) /* bytes. AWS: Quotas, "Item size" */

struct member;

struct value {
	uint8_t type;   /* enum type */
	bool boolean;   /* TYPE_BOOL */
	uint32_t n;     /* S, N, B: bytes; sets, L: elements; M: members */
	union {
		const char *bytes;            /* S, N, B */
		const struct value *elements; /* SS, NS, BS, L */
		const struct member *members; /* M */
	};
};

struct member {
	struct str name;
	struct value value;
};

#define VALUE_NONE ((struct value){.type = TYPE_NONE})

static inline bool value_is_set(const struct value *value)
{
	return value->type != TYPE_NONE;
}

static inline bool type_is_scalar_key(enum type type)
{
	return type == TYPE_S || type == TYPE_N || type == TYPE_B;
}

static inline bool type_is_set(enum type type)
{
	return type == TYPE_SS || type == TYPE_NS || type == TYPE_BS;
}

/* The element type of a set type; TYPE_NONE for others. */
enum type type_element(enum type set);

/* "S", "NS", "BOOL": the wire name. "NONE" for TYPE_NONE. */
const char *type_name(enum type type);

/* "STRING_SET": how the messages about ADD, DELETE and AttributeUpdates name it. */
const char *type_long_name(enum type type);

/* The type of a wire name; TYPE_NONE when there is none. */
enum type type_of_name(struct str name);

/* The bytes of an S, N or B. */
static inline struct str value_str(const struct value *value)
{
	return (struct str){value->bytes, value->n};
}

struct value value_of_str(enum type type, struct str bytes);

/* Where a map's member of that name stands, or would. */
uint32_t value_place(const struct value *map, struct str name, bool *is_there);

/* The value of a map's member, or NULL. */
const struct value *value_member(const struct value *map, struct str name);

/*
 * Sorts members into canonical order in place; those of one name stay in their order. Returns false
 * and sets *duplicate (if not NULL) when a name stands twice. value_sort_set does the same for the
 * elements of a set.
 */
bool value_sort_members(struct member *members, size_t n, struct str *duplicate);
bool value_sort_set(struct value *elements, size_t n, const struct value **duplicate);

/* Sorts members; of those of one name only the last stays. Returns how many are left. */
size_t value_sort_last(struct member *members, size_t n);

/* Equality as DynamoDB's `=`: same type, same content; sets regardless of order. */
bool value_equal(const struct value *a, const struct value *b);

/* Order of two values of the same type S, N or B, as by memcmp: negative, 0, positive. */
int value_compare(const struct value *a, const struct value *b);

/* Whether a set holds the element. */
bool value_set_has(const struct value *set, const struct value *element);

/*
 * Sizes by DynamoDB's billing rules, in bytes. AWS: Developer Guide, "DynamoDB item sizes and
 * formats": an attribute is its UTF-8 name plus its value; S and B their bytes; N about one byte
 * per two significant digits plus one; NULL and BOOL 1; L and M 3 plus 1 per element or member plus
 * their contents.
 */
size_t value_size(const struct value *value);
size_t item_size(const struct value *item);

/* Levels of nesting: 0 for what is empty or holds no values, 1 + the deepest content for M and L.
 * An attribute has less than VALUE_DEPTH_MAX. */
unsigned value_depth(const struct value *value);

/* size() of DynamoDB's expressions: UTF-16 code units for S, bytes for B, elements for sets, L, M;
 * -1 otherwise. */
long value_size_function(const struct value *value);

#endif
