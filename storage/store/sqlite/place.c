#include "storage/store/sqlite/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_BYTES 13 /* of a keyspace: the kind, its table, its part */

/* `name` has room for KEYSPACE_NAME_MAX. */
static void keyspace_name(struct keyspace keyspace, char *name)
{
	static const char *const parts[PART_INDEX] = {
		[PART_ITEMS] = "items", [PART_STREAM] = "stream", [PART_EXPIRY] = "expiry"};
	static const char *const systems[SYSTEM_PART_COUNT] = {
		[SYSTEM_TABLES] = "tables",     [SYSTEM_COUNTERS] = "counters",
		[SYSTEM_TOKENS] = "tokens",     [SYSTEM_TOKEN_EXPIRY] = "token_expiry",
		[SYSTEM_VERSIONS] = "versions",
	};

	if (keyspace.table == 0 && keyspace.part == PLACE_SYSTEM_PART)
		snprintf(name, KEYSPACE_NAME_MAX, "system_places");
	else if (keyspace.table == 0 && keyspace.part < SYSTEM_PART_COUNT)
		snprintf(name, KEYSPACE_NAME_MAX, "system_%s", systems[keyspace.part]);
	else if (keyspace.part >= PART_INDEX)
		snprintf(name, KEYSPACE_NAME_MAX, "index_%" PRIu64 "_%" PRIu32, keyspace.table,
			 keyspace.part - PART_INDEX);
	else if (parts[keyspace.part])
		snprintf(name, KEYSPACE_NAME_MAX, "%s_%" PRIu64, parts[keyspace.part],
			 keyspace.table);
	else
		snprintf(name, KEYSPACE_NAME_MAX, "part_%" PRIu64 "_%" PRIu32, keyspace.table,
			 keyspace.part);
}

static bool is_named(struct keyspace keyspace, const char *name)
{
	char own[KEYSPACE_NAME_MAX];

	keyspace_name(keyspace, own);
	return strcmp(own, name) == 0;
}

bool keyspace_name_read(const char *name, struct keyspace *keyspace)
{
	char *end;
	uint64_t table = strtoull(name + strcspn(name, "0123456789"), &end, 10);
	uint32_t part = *end == '_' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
	const uint32_t parts[] = {PART_ITEMS, PART_STREAM, PART_EXPIRY, PART_INDEX + part, part};

	for (*keyspace = (struct keyspace){0, 0}; keyspace->part < SYSTEM_PART_COUNT;
	     keyspace->part++) {
		if (is_named(*keyspace, name))
			return true;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		*keyspace = (struct keyspace){table, parts[i]};
		if (is_named(*keyspace, name))
			return true;
	}
	return false;
}

struct place place_of_name(struct keyspace keyspace)
{
	struct place place = {.number = 0};

	keyspace_name(keyspace, place.name);
	return place;
}

struct place place_of_keys(struct keyspace keyspace)
{
	struct place place = {.number = 0};
	char name[KEYSPACE_NAME_MAX];

	keyspace_name(keyspace, name); /* of 40 bytes at most */
	snprintf(place.name, sizeof(place.name), PLACE_KEYS "%.*s",
		 (int)(sizeof(place.name) - sizeof(PLACE_KEYS)), name);
	return place;
}

bool place_is_keys(const char *name)
{
	return strncmp(name, PLACE_KEYS, strlen(PLACE_KEYS)) == 0;
}

enum place_table place_table(const struct place *place)
{
	if (place->number != 0)
		return PLACE_TABLE_SHARED;
	return place_is_keys(place->name) ? PLACE_TABLE_KEYS : PLACE_TABLE_OWN;
}

static void add_be(char *bytes, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(value >> 8 * (n - 1 - i));
}

static size_t add_name(char *bytes, const char *name)
{
	size_t n = strnlen(name, KEYSPACE_NAME_MAX - 1);

	memcpy(bytes, name, n);
	return n;
}

struct str place_key(struct keyspace keyspace, char *bytes)
{
	bytes[0] = PLACE_OF_KEYSPACE;
	add_be(bytes + 1, keyspace.table, 8);
	add_be(bytes + 9, keyspace.part, 4);
	return (struct str){bytes, KEY_BYTES};
}

struct str place_value(const struct place *place, char *bytes)
{
	if (!place->name[0])
		return (struct str){bytes, 0};
	add_be(bytes, place->number, 8);
	return (struct str){bytes, 8 + add_name(bytes + 8, place->name)};
}

struct str place_key_free(const char *name, char *bytes)
{
	bytes[0] = PLACE_FREE;
	return (struct str){bytes, 1 + add_name(bytes + 1, name)};
}

struct str place_key_dropped(const struct place *place, char *bytes)
{
	bytes[0] = PLACE_DROPPED;
	return (struct str){bytes, 1 + place_value(place, bytes + 1).n};
}

bool place_read_key(struct str key, struct keyspace *keyspace)
{
	if (key.n != KEY_BYTES || key.p[0] != PLACE_OF_KEYSPACE)
		return false;
	*keyspace = (struct keyspace){str_be(key.p + 1, 8), (uint32_t)str_be(key.p + 9, 4)};
	return true;
}

/* The name becomes part of a SQL statement: a file that others changed must not have a way to give
 * another meaning to that. */
static bool read_name(const char *bytes, size_t n, struct place *place)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	if (n == 0 || n >= KEYSPACE_NAME_MAX)
		return false;
	memcpy(place->name, bytes, n);
	return strspn(place->name, letters) == n;
}

bool place_read_value(struct str value, struct place *place)
{
	*place = (struct place){.number = 0};
	if (value.n == 0)
		return true;
	if (value.n < 8)
		return false;
	place->number = str_be(value.p, 8);
	return read_name(value.p + 8, value.n - 8, place);
}

bool place_read_unused(struct str key, struct place *place)
{
	*place = (struct place){.number = 0};
	if (key.n > 0 && key.p[0] == PLACE_FREE)
		return read_name(key.p + 1, key.n - 1, place);
	return key.n > 1 && key.p[0] == PLACE_DROPPED &&
	       place_read_value((struct str){key.p + 1, key.n - 1}, place);
}

bool place_is_same(const struct place *a, const struct place *b)
{
	return a->number == b->number && strcmp(a->name, b->name) == 0;
}
