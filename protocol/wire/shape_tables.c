#include "protocol/wire/shape_tables.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REQUIRED true
#define OPTIONAL false

static const struct shape shape_attribute_value = {.kind = SHAPE_VALUE, .name = "AttributeValue"};
static const struct shape shape_parameter = {.kind = SHAPE_PARAMETER, .name = "AttributeValue"};

#define STRING(id, model, low, high, regex)                                                        \
	static const struct shape shape_##id = {                                                   \
		.kind = SHAPE_STRING, .name = model, .min = low, .max = high, .pattern = regex};
#define NAME(id, model, low, high, regex)                                                          \
	static const struct shape shape_##id = {.kind = SHAPE_STRING,                              \
						.name = model,                                     \
						.min = low,                                        \
						.max = high,                                       \
						.pattern = regex,                                  \
						.traits = LENGTH_FIRST};
#define INTEGER(id, model, low, high)                                                              \
	static const struct shape shape_##id = {                                                   \
		.kind = SHAPE_INTEGER, .name = model, .min = low, .max = high};
#define LONG(id, model, low, high)                                                                 \
	static const struct shape shape_##id = {                                                   \
		.kind = SHAPE_LONG, .name = model, .min = low, .max = high};
#define BOOLEAN(id, model)                                                                         \
	static const struct shape shape_##id = {.kind = SHAPE_BOOLEAN, .name = model};
#define WORDED_BOOLEAN(id, model)                                                                  \
	static const struct shape shape_##id = {                                                   \
		.kind = SHAPE_BOOLEAN, .name = model, .traits = TAKES_WORDS};
#define TIMESTAMP(id, model)                                                                       \
	static const struct shape shape_##id = {.kind = SHAPE_TIMESTAMP, .name = model};
#define DOUBLE(id, model)                                                                          \
	static const struct shape shape_##id = {.kind = SHAPE_DOUBLE, .name = model};
#define ITEM_MAP(id, model)                                                                        \
	static const struct shape shape_##id = {.kind = SHAPE_ITEM, .name = model};
#define EXPRESSION_VALUES(id, model)                                                               \
	static const struct shape shape_##id = {                                                   \
		.kind = SHAPE_ITEM, .name = model, .traits = EXPRESSION};
#define START_KEY(id, model)                                                                       \
	static const struct shape shape_##id = {                                                   \
		.kind = SHAPE_ITEM, .name = model, .traits = IS_START_KEY};
#define ENUMERATOR(id, constant, text) text,
#define ENUMERATION_WITH(id, model, its_traits, ...)                                               \
	static const char *const texts_##id[] = {__VA_ARGS__};                                     \
	static const struct shape shape_##id = {.kind = SHAPE_ENUM,                                \
						.name = model,                                     \
						.texts = texts_##id,                               \
						.count = COUNT(texts_##id),                        \
						.traits = its_traits};
#define ENUMERATION(id, model, ...) ENUMERATION_WITH(id, model, 0, __VA_ARGS__)
#define LATE_ENUMERATION(id, model, ...) ENUMERATION_WITH(id, model, CHECKED_LATER, __VA_ARGS__)
#define SUBSET(id, of, model, bits)                                                                \
	static const struct shape shape_##id = {.kind = SHAPE_ENUM,                                \
						.name = model,                                     \
						.texts = texts_##of,                               \
						.count = COUNT(texts_##of),                        \
						.taken = bits};
#define LIST(id, model, type, element_shape, low, high)                                            \
	static const struct shape shape_##id = {.kind = SHAPE_LIST,                                \
						.name = model,                                     \
						.min = low,                                        \
						.max = high,                                       \
						.element = &shape_##element_shape,                 \
						.size = sizeof(type)};
#define MAP(id, model, type, key_shape, value_shape, low, high)                                    \
	static const struct shape shape_##id = {.kind = SHAPE_MAP,                                 \
						.name = model,                                     \
						.min = low,                                        \
						.max = high,                                       \
						.element = &shape_##value_shape,                   \
						.key = &shape_##key_shape,                         \
						.size = sizeof(struct id##_entry),                 \
						.value_offset =                                    \
							offsetof(struct id##_entry, value)};
#define MEMBER(id, wire, field, type, shape, need)                                                 \
	{wire, &shape_##shape, offsetof(struct id, field), sizeof(wire) - 1, need},
#define INPUT(id, model, its_traits, ...)                                                          \
	static const struct shape_member members_##id[] = {__VA_ARGS__};                           \
	const struct shape shape_##id = {.kind = SHAPE_STRUCTURE,                                  \
					 .name = model,                                            \
					 .members = members_##id,                                  \
					 .count = COUNT(members_##id),                             \
					 .size = sizeof(struct id),                                \
					 .traits = its_traits};
#define STRUCTURE(id, model, ...) INPUT(id, model, 0, __VA_ARGS__)
#include "protocol/wire/shapes.def"
