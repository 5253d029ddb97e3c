#include "core/expr.h"

/* Sets of types, by the names that nodes.def gives them. */
#define TYPE_BIT(type) (1u << TYPE_##type)
#define SET_ANY (~0u)
#define SET_S TYPE_BIT(S)
#define SET_N TYPE_BIT(N)
#define SET_L TYPE_BIT(L)
#define SET_S_B (TYPE_BIT(S) | TYPE_BIT(B))
#define SET_ORDERED (TYPE_BIT(S) | TYPE_BIT(N) | TYPE_BIT(B))
#define SET_SIZED (SET_ANY & ~(TYPE_BIT(N) | TYPE_BIT(BOOL) | TYPE_BIT(NULL)))

static const struct node_info infos[NODE_KINDS] = {
#define NODE(kind, class, use, form, name, shown, arity, first, others, rules, keys, type) \
	[NODE_##kind] = {STR_INIT(name), STR_INIT(shown), NODE_CLASS_##class, use, arity, \
			 {first, others}, rules, keys, TYPE_##type},
#include "core/nodes.def"
};

const struct node_info *node_info(enum node_kind kind)
{
	return &infos[kind];
}

bool expr_function(struct str name, enum node_kind *kind)
{
	for (size_t i = 0; i < NODE_KINDS; i++) {
		if (infos[i].class == NODE_CLASS_FUNCTION && str_eq(name, infos[i].name)) {
			*kind = (enum node_kind)i;
			return true;
		}
	}
	return false;
}

enum node_kind expr_comparison(struct str text)
{
	size_t i = NODE_EQ;

	while (!str_eq(text, infos[i].name))
		i++;
	return (enum node_kind)i;
}

const struct node *node_new(struct arena *arena, enum node_kind kind, unsigned arg_count,
			    const struct node *const *args)
{
	struct node *node = ARENA_NEW(arena, struct node);

	node->kind = kind;
	node->arg_count = arg_count;
	node->args = ARENA_ARRAY(arena, const struct node *, arg_count);
	memcpy(node->args, args, arg_count * sizeof(*args));
	return node;
}

const struct node *node_value(struct arena *arena, struct value value)
{
	struct node *node = ARENA_NEW(arena, struct node);

	node->kind = NODE_VALUE;
	node->value = value;
	return node;
}

const struct node *node_path(struct arena *arena, const struct path *path)
{
	struct node *node = ARENA_NEW(arena, struct node);

	node->kind = NODE_PATH;
	node->path = path;
	return node;
}
