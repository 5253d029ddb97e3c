#include "storage/schema/record.h"

#include <string.h>

#include "core/number.h"

static size_t count_of(const struct field *field, const void *object)
{
	size_t n;

	memcpy(&n, (const char *)object + field->count_offset, sizeof(n));
	return n;
}

static void *pointer_of(const struct field *field, const void *object)
{
	void *pointer;

	memcpy(&pointer, (const char *)object + field->offset, sizeof(pointer));
	return pointer;
}

static void set_array(const struct field *field, void *object, void *array, size_t n)
{
	memcpy((char *)object + field->offset, &array, sizeof(array));
	memcpy((char *)object + field->count_offset, &n, sizeof(n));
}

static struct str *copy_strings(struct arena *arena, const struct str *strings, size_t n)
{
	struct str *copy = ARENA_ARRAY(arena, struct str, n);

	for (size_t i = 0; i < n; i++)
		copy[i] = str_copy(arena, strings[i]);
	return copy;
}

void record_copy(struct arena *arena, const struct record *record, void *object)
{
	for (size_t i = 0; i < record->n; i++) {
		const struct field *field = &record->fields[i];
		char *at = (char *)object + field->offset;
		size_t n = field->kind < FIELD_STRINGS ? 0 : count_of(field, object);

		if (field->kind == FIELD_STR) {
			struct str s;

			memcpy(&s, at, sizeof(s));
			s = str_copy(arena, s);
			memcpy(at, &s, sizeof(s));
		} else if (field->kind == FIELD_STRINGS) {
			set_array(field, object, copy_strings(arena, pointer_of(field, object), n),
				  n);
		} else if (field->kind == FIELD_LIST || field->kind == FIELD_FLAT) {
			set_array(
				field, object,
				record_copies(arena, field->element, pointer_of(field, object), n),
				n);
		}
	}
}

void *record_copies(struct arena *arena, const struct record *record, const void *objects, size_t n)
{
	char *copies = arena_calloc(arena, n, record->size);

	if (n > 0)
		memcpy(copies, objects, n * record->size);
	for (size_t i = 0; i < n; i++)
		record_copy(arena, record, copies + i * record->size);
	return copies;
}

struct record_map record_map_new(struct arena *arena, size_t capacity)
{
	return (struct record_map){arena, ARENA_ARRAY(arena, struct member, capacity), 0};
}

void record_map_add(struct record_map *map, const char *name, struct value value)
{
	map->members[map->n++] = (struct member){str_of(name), value};
}

struct value record_map_end(struct record_map *map)
{
	value_sort_members(map->members, map->n, NULL);
	return (struct value){.type = TYPE_M, .n = map->n, .members = map->members};
}

struct value record_int(struct arena *arena, int64_t value)
{
	char *bytes = arena_bytes(arena, NUMBER_MAX);

	return value_of_str(TYPE_N, (struct str){bytes, number_from_int(value, bytes)});
}

struct value record_list(struct value *elements, size_t n)
{
	return (struct value){.type = TYPE_L, .n = (uint32_t)n, .elements = elements};
}

struct value record_strings(struct arena *arena, const struct str *strings, size_t n)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, n);

	for (size_t i = 0; i < n; i++)
		elements[i] = value_of_str(TYPE_S, strings[i]);
	return record_list(elements, n);
}

/* Of a field whose value is a string. */
static struct str text_of_field(const struct field *field, const void *object)
{
	const char *at = (const char *)object + field->offset;
	struct str s;

	if (field->kind == FIELD_TYPE) {
		enum type type;

		memcpy(&type, at, sizeof(type));
		return str_of(type_name(type));
	}
	memcpy(&s, at, sizeof(s));
	return s;
}

static struct value write_flat(struct arena *arena, const struct record *record,
			       const char *objects, size_t n)
{
	struct str *strings = ARENA_ARRAY(arena, struct str, n * record->n);

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < record->n; k++)
			strings[i * record->n + k] =
				text_of_field(&record->fields[k], objects + i * record->size);
	}
	return record_strings(arena, strings, n * record->n);
}

static struct value write_object_list(struct arena *arena, const struct record *record,
				      const char *objects, size_t n)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, n);

	for (size_t i = 0; i < n; i++) {
		struct record_map map = record_map_new(arena, record->n);

		record_map_write(&map, record, objects + i * record->size);
		elements[i] = record_map_end(&map);
	}
	return record_list(elements, n);
}

static struct value write_field(struct arena *arena, const struct field *field, const void *object)
{
	const char *at = (const char *)object + field->offset;
	int64_t number = 0;

	switch (field->kind) {
	case FIELD_STR:
	case FIELD_TYPE:
		return value_of_str(TYPE_S, text_of_field(field, object));
	case FIELD_BOOL:
		return (struct value){.type = TYPE_BOOL, .boolean = *(const bool *)at};
	case FIELD_STRINGS:
		return record_strings(arena, pointer_of(field, object), count_of(field, object));
	case FIELD_LIST:
		return write_object_list(arena, field->element, pointer_of(field, object),
					 count_of(field, object));
	case FIELD_FLAT:
		return write_flat(arena, field->element, pointer_of(field, object),
				  count_of(field, object));
	case FIELD_INT:
	case FIELD_ENUM:
		break;
	}
	memcpy(&number, at, field->size); /* little-endian hosts: enough for those we build for */
	return record_int(arena, number);
}

void record_map_write(struct record_map *map, const struct record *record, const void *object)
{
	for (size_t i = 0; i < record->n; i++) {
		const struct field *field = &record->fields[i];

		if (field->kind != FIELD_STR || str_is_set(text_of_field(field, object)))
			record_map_add(map, field->name, write_field(map->arena, field, object));
	}
}

int64_t record_read_int(const struct value *map, const char *name, bool *ok)
{
	const struct value *value = value_member(map, str_of(name));
	int64_t number = 0;

	if (!value || value->type != TYPE_N || !number_to_int(value_str(value), &number))
		*ok = false;
	return number;
}

const struct value *record_read_list(const struct value *map, const char *name, bool *ok)
{
	static const struct value empty = {.type = TYPE_L};
	const struct value *list = value_member(map, str_of(name));

	if (list && list->type == TYPE_L)
		return list;
	*ok = false;
	return &empty;
}

struct str *record_read_strings(struct arena *arena, const struct value *map, const char *name,
				size_t *n, bool *ok)
{
	const struct value *list = record_read_list(map, name, ok);
	struct str *strings = ARENA_ARRAY(arena, struct str, list->n);

	for (uint32_t i = 0; i < list->n; i++) {
		*ok = *ok && list->elements[i].type == TYPE_S;
		strings[i] = *ok ? str_copy(arena, value_str(&list->elements[i])) : STR_ABSENT;
	}
	*n = *ok ? list->n : 0;
	return strings;
}

static void *read_flat(struct arena *arena, const struct record *record, const struct str *strings,
		       size_t n)
{
	char *objects = arena_calloc(arena, n, record->size);

	for (size_t i = 0; i < n * record->n; i++) {
		const struct field *field = &record->fields[i % record->n];
		char *at = objects + i / record->n * record->size + field->offset;
		enum type type = field->kind == FIELD_TYPE ? type_of_name(strings[i]) : TYPE_NONE;

		memcpy(at,
		       field->kind == FIELD_TYPE ? (const void *)&type : (const void *)&strings[i],
		       field->size);
	}
	return objects;
}

static bool read_array(struct arena *arena, const struct field *field, const struct value *map,
		       void *object)
{
	bool ok = true;

	if (field->kind == FIELD_LIST) {
		const struct value *list = record_read_list(map, field->name, &ok);
		char *objects = arena_calloc(arena, list->n, field->element->size);

		for (uint32_t i = 0; i < list->n && ok; i++) {
			ok = list->elements[i].type == TYPE_M &&
			     record_read(arena, field->element, &list->elements[i],
					 objects + i * field->element->size);
		}
		set_array(field, object, objects, ok ? list->n : 0);
		return ok;
	}
	size_t n;
	struct str *strings = record_read_strings(arena, map, field->name, &n, &ok);
	if (field->kind == FIELD_STRINGS)
		set_array(field, object, strings, n);
	else
		set_array(field, object,
			  read_flat(arena, field->element, strings, n / field->element->n),
			  n / field->element->n);
	return ok;
}

bool record_read(struct arena *arena, const struct record *record, const struct value *map,
		 void *object)
{
	bool ok = true;

	for (size_t i = 0; i < record->n && ok; i++) {
		const struct field *field = &record->fields[i];
		const struct value *value = value_member(map, str_of(field->name));
		char *at = (char *)object + field->offset;

		if (!value)
			continue;
		if (field->kind >= FIELD_STRINGS) {
			ok = read_array(arena, field, map, object);
		} else if (field->kind == FIELD_STR) {
			struct str s = value->type == TYPE_S ? str_copy(arena, value_str(value))
							     : STR_ABSENT;

			ok = str_is_set(s);
			memcpy(at, &s, sizeof(s));
		} else if (field->kind == FIELD_BOOL) {
			ok = value->type == TYPE_BOOL;
			*(bool *)at = ok && value->boolean;
		} else {
			int64_t number = record_read_int(map, field->name, &ok);

			if (field->size < sizeof(number) &&
			    (number < 0 || number >> (8 * field->size)))
				ok = false;
			if (field->kind == FIELD_ENUM && (number < 0 || number > field->last))
				ok = false;
			memcpy(at, &number, field->size);
		}
	}
	return ok;
}
