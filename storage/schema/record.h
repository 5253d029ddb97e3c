/*
 * record - structs that a table of their fields describes: copied, written to the store and read
 * from it by one description.
 *
 * A struct is written as a map of named members, so that later versions can add some: a field that
 * a map lacks stays zero. A struct may have members that no field describes: a copy has their
 * bytes, the store has nothing of them. Pointers need a field. Structs inside lists nest as deep as
 * their descriptions, which are constants.
 */
#ifndef DYNALITH_STORAGE_RECORD_H
#define DYNALITH_STORAGE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"
#include "core/value.h"

enum field_kind {
	FIELD_STR,  /* struct str; not written where it is absent */
	FIELD_INT,  /* an integer of `size` bytes */
	FIELD_ENUM, /* an enumeration from 0 to `last`, of `size` bytes */
	FIELD_BOOL,
	FIELD_TYPE,    /* enum type, written as "S", "N", ...: in an element of FIELD_FLAT only */
	FIELD_STRINGS, /* an array of struct str */
	FIELD_LIST,    /* an array of structs, each written as a map */
	FIELD_FLAT, /* an array of structs of strings and types, written as one list of strings */
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset, size;
	size_t count_offset;          /* of an array: where its length is, a size_t */
	const struct record *element; /* of FIELD_LIST and FIELD_FLAT */
	int64_t last;                 /* of FIELD_ENUM: a value beyond it is malformed */
};

struct record {
	size_t size; /* of the struct */
	size_t n;
	const struct field *fields;
};

/* Rows of a table of fields: `type` is the struct's name, `member` may be one of a struct inside.
 */
#define RECORD_FIELD(type, member, name, kind)                                                     \
	{                                                                                          \
		name, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member), 0,  \
			NULL, 0                                                                    \
	}
#define RECORD_ENUM(type, member, name, last)                                                      \
	{                                                                                          \
		name, FIELD_ENUM, offsetof(struct type, member),                                   \
			sizeof(((struct type *)0)->member), 0, NULL, last                          \
	}
#define RECORD_ARRAY(type, member, count, name, kind, element)                                     \
	{                                                                                          \
		name, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member),     \
			offsetof(struct type, count), element, 0                                   \
	}
#define RECORD(type, rows) {sizeof(struct type), sizeof(rows) / sizeof((rows)[0]), rows}

/* Makes *object, whose bytes are those of another one, a copy whose pointers are its own. */
void record_copy(struct arena *arena, const struct record *record, void *object);
/* A new copy of `n` structs. */
void *record_copies(struct arena *arena, const struct record *record, const void *objects,
		    size_t n);

/* A map that is being made; `capacity` members at most. */
struct record_map {
	struct arena *arena;
	struct member *members;
	uint32_t n;
};

struct record_map record_map_new(struct arena *arena, size_t capacity);
void record_map_add(struct record_map *map, const char *name, struct value value);
/* As many members as the record has fields, at most. */
void record_map_write(struct record_map *map, const struct record *record, const void *object);
struct value record_map_end(struct record_map *map);

struct value record_int(struct arena *arena, int64_t value);
struct value record_strings(struct arena *arena, const struct str *strings, size_t n);
struct value record_list(struct value *elements, size_t n);

/* Reads the fields that the map has into *object. False for a member of the wrong kind. */
bool record_read(struct arena *arena, const struct record *record, const struct value *map,
		 void *object) WARN_UNUSED;

/* Single members; *ok becomes false where one is missing or of the wrong kind. */
int64_t record_read_int(const struct value *map, const char *name, bool *ok);
const struct value *record_read_list(const struct value *map, const char *name, bool *ok);
struct str *record_read_strings(struct arena *arena, const struct value *map, const char *name,
				size_t *n, bool *ok);

#endif
