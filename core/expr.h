/*
 * expr - DynamoDB's expression language: one grammar, one AST.
 *
 * Conditions, filters and key conditions are trees of struct node; updates and
 * projections are lists over the same nodes and paths. The legacy parameters
 * (Expected, KeyConditions, AttributeUpdates, ...) and PartiQL are lowered to the
 * same structures by the builders at the end, so there is one evaluator.
 *
 * An expression is parsed once; names and values are resolved while parsing, so
 * nothing later refers to the request. All results live in the environment's arena.
 *
 * AWS: Developer Guide, "Expressions in DynamoDB" and its pages; messages as AWS gives
 * them, pinned in tests/golden.
 */
#ifndef DYNALITH_CORE_EXPR_H
#define DYNALITH_CORE_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/path.h"
#include "core/str.h"
#include "core/value.h"

#define EXPR_SIZE_MAX 4096     /* bytes of an expression. AWS: Quotas, "Expression parameters" */
#define EXPR_OPERATORS_MAX 300 /* operators in one expression. Same source */
#define EXPR_IN_MAX 100        /* operands of IN. Same source */
#define EXPR_DEPTH_MAX                                                                             \
	700 /* our bound on recursion: 300 operators, each in parentheses, need 601 */
#define EXPR_INDEX_MAX 2147483647L /* largest list index in a path */

enum expr_kind { /* which parameter the text came from; names it in messages ("Invalid
		    FilterExpression: ...") */
		 EXPR_CONDITION,
		 EXPR_FILTER,
		 EXPR_KEY_CONDITION,
		 EXPR_UPDATE,
		 EXPR_PROJECTION,
		 EXPR_SEARCH,
};

/* NODE_EQ, NODE_BEGINS_WITH ...: a row each. A value and a path have no operands. */
enum node_kind {
#define NODE(kind, ...) NODE_##kind,
#include "core/nodes.def"
	NODE_KINDS
};

struct node {
	enum node_kind kind;
	unsigned arg_count;
	const struct node **args;
	const struct path *path;    /* NODE_PATH */
	struct value value;         /* NODE_VALUE */
	const struct value **ordered; /* NODE_IN: its operands for a binary search; NULL: they are
					 few, or no strings, numbers and bytes */
};

enum update_verb { UPDATE_SET, UPDATE_REMOVE, UPDATE_ADD, UPDATE_DELETE };

enum node_class { NODE_CLASS_LEAF, NODE_CLASS_OPERATOR, NODE_CLASS_LOGIC, NODE_CLASS_FUNCTION };

enum node_use { /* where an operator or a function may stand */
	USE_CONDITION = 1, /* is a condition by itself */
	USE_OPERAND = 2,   /* is an operand of a comparison or function in a condition */
	USE_SET = 4,       /* is a value of SET */
	USE_ARGUMENT = 8,  /* is an operand of + or -, or of a function, in an update */
};

enum node_rule {
	NEEDS_PATH = 1, /* the first operand is a path */
	DISTINCT = 2,   /* no other operand is the first one's path */
};

enum node_keys { /* the range of sort keys that a condition leaves */
	KEYS_FROM = 1,  /* the value's place and above */
	KEYS_ABOVE = 2, /* above all that begins with it */
	KEYS_BELOW = 4, /* below the value's place */
	KEYS_TO = 8,    /* up to all that begins with it: with the last value */
};

/* A row of nodes.def, explained there. */
struct node_info {
	struct str name, shown;
	enum node_class class;
	unsigned use;      /* of enum node_use */
	unsigned arity;
	unsigned types[2]; /* bits 1 << enum type: of the first operand, of the others */
	unsigned rules;    /* of enum node_rule */
	unsigned keys;     /* of enum node_keys */
	enum type type;
};

const struct node_info *node_info(enum node_kind kind);

struct update_action {
	enum update_verb verb;
	const struct path *path;
	const struct node *operand; /* NULL for REMOVE; a NODE_VALUE for ADD and DELETE */
};

struct update {
	size_t n;
	struct update_action *actions; /* in the order of the text, clause by clause */
};

struct projection {
	size_t n;
	const struct path **paths;
	const struct path **ordered; /* the same, by their steps: how items are projected. Set by
					projection_order() */
};

/* The names and values that come with a request's expressions; one per request (or per transaction
 * action). */
struct expr_name {
	struct str placeholder; /* "#n" */
	struct str name;
	bool is_used;
};

struct expr_value {
	struct str placeholder; /* ":v" */
	struct value value;
	bool is_used;
};

struct expr_env {
	struct arena *arena;
	size_t name_count;
	struct expr_name *names;
	size_t value_count;
	struct expr_value *values;
	/*
	 * AWS's older layer reads the expressions: it reports the size of a condition or filter
	 * that is too long, and has its own names for DELETE's operands.
	 */
	bool is_older;
};

/*
 * Parsers. Errors: ERR_VALIDATION, "Invalid ConditionExpression: ..." with AWS's text for: empty,
 * too long, syntax (token and near), reserved words, undefined names and values, operand types
 * known at parse time, function arity and unknown functions, redundant parentheses, too many
 * operators, IN operands, overlapping or conflicting paths, update sections given twice, nesting of
 * paths and operators. Used names and values are marked in env.
 */
enum code expr_parse_condition(struct expr_env *env, enum expr_kind kind, struct str text,
			       const struct node **out, struct err *err) WARN_UNUSED;
enum code expr_parse_update(struct expr_env *env, struct str text, struct update **out,
			    struct err *err) WARN_UNUSED;
enum code expr_parse_projection(struct expr_env *env, struct str text, struct projection **out,
				struct err *err) WARN_UNUSED;

/* After all expressions of the request were parsed: names or values given but not used are
 * ERR_VALIDATION. */
enum code expr_check_unused(const struct expr_env *env, struct err *err) WARN_UNUSED;

/*
 * What an expression is evaluated against: an item as a value, or as an image of which only the
 * attributes the expression names are decoded (into arena). Both absent: there is no item.
 */
struct subject {
	struct arena *arena;
	const struct value *item; /* preferred where not NULL */
	struct str image;
};

/*
 * The same subject with its image decoded, for more attributes than SUBJECT_PATHS_FEW: each look-up
 * in an image starts at its begin and decodes the attribute again.
 */
#define SUBJECT_PATHS_FEW 8
struct subject subject_whole(const struct subject *subject);
const struct value *subject_path(const struct subject *subject, const struct path *path);

/* Whether the condition holds. A missing attribute or types that do not compare make a comparison
 * false, not an error. */
bool expr_eval(const struct node *condition, const struct subject *subject);

/*
 * new = update(old). `old` may be NULL or an item (then an item of the key attributes must have
 * been passed by the caller as `old` for a new item). Every operand sees the old item. Does not
 * change `old`. Errors (ERR_VALIDATION, AWS's texts): missing attribute in an operand, operand
 * types, path not valid for update, number overflow, nesting over VALUE_DEPTH_MAX.
 */
enum code expr_update(const struct update *update, struct arena *arena, const struct value *old,
		      struct value *new_item, struct err *err) WARN_UNUSED;

/*
 * Whether the update only takes away: it has actions, and each is a REMOVE or a DELETE. AWS: such
 * an update does not create the item that is missing, and any path of it is valid there.
 */
bool update_only_takes(const struct update *update);

/* The bytes that UpdateItem's text is charged with against ITEM_SIZE_MAX, whatever the item.
 * Recorded answers of AWS. */
size_t update_charge(const struct update *update);

/* The parts of `item` that the update's paths name: for UPDATED_OLD and UPDATED_NEW. An empty map
 * where there are none. */
struct value expr_updated(const struct update *update, struct arena *arena,
			  const struct value *item);

/* Orders the paths, once for all items that are projected. What makes a projection calls it. */
void projection_order(struct arena *arena, struct projection *projection);

/* The projected item; an empty map where nothing matches. Takes no more time and memory than the
 * item has, whatever the number of paths. */
struct value expr_project(const struct projection *projection, const struct subject *subject);

/* Whether any path of an update / projection / condition starts with the attribute (key checks:
 * "part of the key"). */
bool update_touches(const struct update *update, struct str attribute);
bool projection_has(const struct projection *projection, struct str attribute);
/* Calls `visit` for each path of the tree, in the order of the text, until it returns false;
 * returns whether it never did. */
typedef bool path_visit(void *context, const struct path *path);
bool node_walk_paths(const struct node *node, path_visit *visit, void *context);
/* The first of `names` that the condition refers to, or absent: FilterExpression must not name key
 * attributes. */
struct str node_find_attribute(const struct node *node, const struct str *names, size_t n);

/* Whether the word is reserved, in any case. AWS: Developer Guide, "Reserved words in DynamoDB"
 * (573 words). */
bool reserved_has(struct str word);

/*
 * For PartiQL, which lowers to the same AST: the checks that the parsers give a node, its operands
 * not included - their number, document paths, operand types known now, distinct operands, order of
 * BETWEEN, operands of IN. ERR_VALIDATION; the messages name no parameter.
 */
enum code expr_check_node(struct arena *arena, const struct node *node,
			  struct err *err) WARN_UNUSED;
/* Whether the paths may be changed or projected together: none overlaps or conflicts with another,
 * none is too deep. */
enum code expr_check_paths(struct arena *arena, const struct path *const *paths, size_t n,
			   struct err *err) WARN_UNUSED;
/* The node kind of the function of that name, in lower case; false where there is none. */
bool expr_function(struct str name, enum node_kind *kind);
/* The comparison of that text, which is one of = <> < <= > >=. */
enum node_kind expr_comparison(struct str text);

/* Builders for legacy parameters and PartiQL. */
const struct node *node_value(struct arena *arena, struct value value);
const struct node *node_path(struct arena *arena, const struct path *path);
const struct node *node_new(struct arena *arena, enum node_kind kind, unsigned arg_count,
			    const struct node *const *args);

#endif
