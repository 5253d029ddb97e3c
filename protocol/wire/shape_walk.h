/*
 * shape_walk - what the parts of the walker share; not for others.
 *
 *   shape_bind.c         structures, lists, maps and scalars
 *   shape_values.c       attribute values: maps, lists, whole items
 *   shape_scalars.c      texts, numbers, bytes, booleans, and sets of them
 *   shape_constraints.c  constraints: the words of each, and which of them count
 *
 * One walk finds three kinds of errors. A type error ends it. Broken constraints are collected. The
 * first error inside an attribute value is kept for the operation, which reports it after its own
 * rules.
 */
#ifndef DYNALITH_PROTOCOL_SHAPE_WALK_H
#define DYNALITH_PROTOCOL_SHAPE_WALK_H

#include "core/buf.h"
#include "protocol/wire/shape_pattern.h"
#include "protocol/wire/shape_tables.h"

struct action_err;

/* Where in the request the walker is; written out only for messages. */
struct place {
	const struct place *parent;
	struct str name;      /* a member or map key; absent for a list element */
	size_t element;       /* from 1 */
	bool is_member; /* "tableName"; a map key and a list element are followed by ".member" */
};

/* The broken constraints that the answer lists. */
struct constraints {
	struct str text;
	unsigned count;
	unsigned stage; /* the lowest stage that has a broken constraint; later stages are not
			   listed */
	bool is_bare;   /* without the envelope */
};

struct walk {
	struct arena *arena;
	struct err *err;
	const struct shape *input;
	struct constraints constraints;
	struct err *value_err;
	bool is_reading;      /* a start key reports value_err without its prefix */
	bool is_earlier;      /* value_err comes from an earlier item */
	bool is_weak;         /* the error of a value nested too deep replaces value_err */
	bool is_deep;         /* value_err is one of struct action_err's */
	struct action_err *actions; /* of a transaction */
	struct str attribute; /* the top-level one that value_err is in */
	bool is_older;        /* the older layer checks the request: surface.h */
	bool is_untaken; /* an enumeration has a constant that its member does not take: SUBSET in
			    shapes.def */
	bool is_unread;       /* the newer layer cannot read the request */
	unsigned depth_max;   /* of the values that are read now */
};

/* The error of a scalar of `type` ("String", "Integer", ...) that is something else. */
enum code shape_scalar_error(struct walk *walk, const struct json *json,
			     const char *type) WARN_UNUSED;

/* A boolean; with `takes_text` also the words that AWS takes. */
enum code shape_read_boolean(struct walk *walk, const struct json *json, bool takes_text,
			     struct opt_bool *out) WARN_UNUSED;

/* Keeps the first error inside an attribute value. A reading error has the same words in a start
 * key as elsewhere. */
#define shape_value_error_of(walk, reads, ...) \
	do { \
		if ((walk)->value_err->code == OK) { \
			(walk)->is_reading = (reads); \
			(walk)->is_weak = (walk)->is_deep = false; \
			(void)(err_set((walk)->value_err, __VA_ARGS__) == OK); \
		} \
	} while (0)
#define shape_value_error(walk, ...) shape_value_error_of(walk, false, __VA_ARGS__)
#define shape_reading_error(walk, ...) shape_value_error_of(walk, true, __VA_ARGS__)

/* The content of {"S": ...}, {"N": ...} or {"B": ...}; that of a set. */
enum code shape_read_scalar(struct walk *walk, const struct json *json, enum type type,
			    struct value *out) WARN_UNUSED;
enum code shape_read_set(struct walk *walk, const struct json *json, enum type type,
			 struct value *out) WARN_UNUSED;

/* Room for the elements of a set or list, which must be an array. */
enum code shape_make_elements(struct walk *walk, const struct json *json,
			      struct value **elements) WARN_UNUSED;

enum code shape_read_attribute(struct walk *walk, const struct json *json,
			       struct value *out) WARN_UNUSED;
enum code shape_read_parameter(struct walk *walk, const struct json *json,
			       struct parameter *out) WARN_UNUSED;
enum code shape_read_item(struct walk *walk, const struct shape *shape, const struct json *json,
			  const struct value **out) WARN_UNUSED;

/* Notes "Value 'x' at 'path' failed to satisfy constraint: ..."; an absent value is "Value null".
 */
void shape_breach(struct walk *walk, const struct place *place, struct str value,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A string's, list's or map's length. */
void shape_check_length(struct walk *walk, const struct shape *shape, const struct place *place,
			struct str shown, size_t length);
/* Whether a map's key, the name or ARN of a table, is one. */
bool shape_is_key(const struct shape *shape, struct str key);
/* Whether a key, or a value that is a list, breaks its constraint. AWS reports each once for the
 * whole map. */
struct broken {
	bool key, value;
};
void shape_check_map(struct walk *walk, const struct shape *shape, const struct place *place,
		     const struct json *json, struct broken broken);
/* A string's pattern and length, or that it may be an ARN. */
void shape_check_text(struct walk *walk, const struct shape *shape, const struct place *place,
		      struct str text);
void shape_check_integer(struct walk *walk, const struct shape *shape, const struct place *place,
			 int64_t value);
/* The text is none of the enumeration's. */
void shape_check_enum(struct walk *walk, const struct shape *shape, const struct place *place,
		      struct str text);
/* Checks constraints among members. The listed constraints go to *err, or to *late_err where the
 * operation reports them after its own rules. */
enum code shape_check_all(struct walk *walk, struct err *late_err) WARN_UNUSED;

#endif
