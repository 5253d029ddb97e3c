/*
 * Two tuples of key elements of one shape: the order of their encodings is the order of their
 * values, element by element; different values have different encodings, none a prefix of the
 * other; the bounds of prefixes and segments hold. Input: a byte for the count, a byte per type,
 * then per element a length byte and its bytes (N: a wire text).
 */
#include "core/key.h"
#include "core/number.h"
#include "tests/fuzz/fuzz.h"

#define ELEMENTS_MAX 4

struct tuple {
	struct value values[ELEMENTS_MAX];
	struct str key;
};

/* Numbers that are none become 0. */
static struct value read_value(struct arena *arena, enum type type, struct str *input)
{
	unsigned length = fuzz_byte(input);
	struct str bytes = fuzz_bytes(input, length);
	struct err err = err_in(arena);
	char *number;
	size_t n;

	if (type != TYPE_N)
		return value_of_str(type, str_copy(arena, bytes));
	number = arena_bytes(arena, NUMBER_MAX);
	if (number_parse(bytes, number, &n, &err) != OK)
		n = number_from_int(0, number);
	return value_of_str(TYPE_N, (struct str){number, n});
}

static struct tuple read_tuple(struct arena *arena, const enum type *types, size_t n,
			       struct str *input)
{
	struct buf key = buf_in(arena);
	struct tuple tuple;

	for (size_t i = 0; i < n; i++) {
		tuple.values[i] = read_value(arena, types[i], input);
		key_add(&key, &tuple.values[i]);
	}
	tuple.key = buf_str(&key);
	return tuple;
}

static int naive_compare(struct str a, struct str b)
{
	for (size_t i = 0; i < a.n && i < b.n; i++) {
		if (a.p[i] != b.p[i])
			return (unsigned char)a.p[i] < (unsigned char)b.p[i] ? -1 : 1;
	}
	return a.n < b.n ? -1 : a.n > b.n;
}

static void check_order(const struct tuple *a, const struct tuple *b, size_t n)
{
	int want = 0;

	for (size_t i = 0; i < n && want == 0; i++) {
		want = naive_compare(
			value_str(&a->values[i]),
			value_str(&b->values[i])); /* fuzz_number proves the order of numbers */
		MUST(fuzz_sign(value_compare(&a->values[i], &b->values[i])) == want);
	}
	MUST(naive_compare(a->key, b->key) == want);
	MUST(fuzz_sign(str_cmp(a->key, b->key)) == want);
	MUST(want == 0 || (!str_starts_with(a->key, b->key) && !str_starts_with(b->key, a->key)));
}

/* begins_with: the keys of what begins with `prefix` are those between it and the bound behind it.
 */
static void check_prefix(struct arena *arena, const struct value *value, const struct value *prefix)
{
	struct buf low = buf_in(arena), key = buf_in(arena);
	bool begins = str_starts_with(value_str(value), value_str(prefix));

	if (value->type == TYPE_N)
		return;
	key_add_prefix(&low, prefix);
	key_add(&key, value);
	struct str high = key_after_prefix(arena, buf_str(&low));
	bool is_between = naive_compare(buf_str(&key), buf_str(&low)) >= 0 &&
			  (!str_is_set(high) || naive_compare(buf_str(&key), high) < 0);
	MUST(is_between == begins);
}

/* A partition lies in one segment of n, and is told by nothing but its elements. */
static void check_segments(struct arena *arena, const struct tuple *tuple, size_t parts,
			   enum key_hash kind, uint32_t n)
{
	const struct value *values[ELEMENTS_MAX];
	struct buf hash = buf_in(arena), again = buf_in(arena);
	unsigned found = 0;

	for (size_t i = 0; i < parts; i++)
		values[i] = &tuple->values[i];
	key_add_partition(&hash, kind, values, (unsigned)parts);
	buf_add_byte(&again, 'x');
	key_add_partition(&again, kind, values, (unsigned)parts);
	MUST(str_eq(buf_str(&hash), (struct str){again.p + 1, again.n - 1}));
	MUST(str_eq((struct str){hash.p + KEY_HASH_SIZE, hash.n - KEY_HASH_SIZE}, tuple->key));
	hash.n = KEY_HASH_SIZE;
	for (uint32_t k = 0; k < n; k++) {
		struct str low, high;

		key_segment(arena, kind, k, n, &low, &high);
		found += (!str_is_set(low) || naive_compare(buf_str(&hash), low) >= 0) &&
			 (!str_is_set(high) || naive_compare(buf_str(&hash), high) < 0);
	}
	MUST(found == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum type scalars[] = {TYPE_S, TYPE_N, TYPE_B};
	struct str input = {(const char *)data, size};
	struct arena *arena = fuzz_arena();
	enum type types[ELEMENTS_MAX];
	unsigned head = fuzz_byte(&input);
	size_t n = 1 + head % ELEMENTS_MAX;

	for (size_t i = 0; i < n; i++)
		types[i] = scalars[fuzz_byte(&input) % 3];
	struct tuple a = read_tuple(arena, types, n, &input),
		     b = read_tuple(arena, types, n, &input);
	check_order(&a, &b, n);
	check_order(&b, &a, n);
	check_order(&a, &a, n);
	for (size_t i = 0; i < n; i++) {
		check_prefix(arena, &a.values[i], &b.values[i]);
		check_prefix(arena, &b.values[i], &a.values[i]);
	}
	for (enum key_hash kind = KEY_HASH_FNV; kind <= KEY_HASH_MD5; kind++)
		check_segments(arena, &a, n, kind, 1 + head / ELEMENTS_MAX);
	return 0;
}
