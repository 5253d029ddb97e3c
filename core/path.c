#include "core/path.h"

struct path *path_of_name(struct arena *arena, struct str name)
{
	struct path_step *step = ARENA_NEW(arena, struct path_step);
	struct path *path = ARENA_NEW(arena, struct path);

	step->name = name;
	*path = (struct path){1, step};
	return path;
}

const struct value *path_get(const struct path *path, size_t from, const struct value *value)
{
	for (size_t i = from; i < path->n && value; i++) {
		const struct path_step *step = &path->steps[i];

		if (str_is_set(step->name))
			value = value->type == TYPE_M ? value_member(value, step->name) : NULL;
		else
			value = value->type == TYPE_L && step->index < value->n
					? &value->elements[step->index]
					: NULL;
	}
	return value;
}

enum path_relation path_relate(const struct path *a, const struct path *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		const struct path_step *x = &a->steps[i], *y = &b->steps[i];

		if (str_is_set(x->name) != str_is_set(y->name))
			return PATH_CONFLICT;
		if (str_is_set(x->name) ? !str_eq(x->name, y->name) : x->index != y->index)
			return PATH_DISTINCT;
	}
	return PATH_OVERLAP;
}

void path_describe(const struct path *path, struct buf *out)
{
	buf_add_byte(out, '[');
	for (size_t i = 0; i < path->n; i++) {
		if (i > 0)
			buf_add_lit(out, ", ");
		if (str_is_set(path->steps[i].name))
			buf_add_str(out, path->steps[i].name);
		else
			buf_printf(out, "[%u]", path->steps[i].index);
	}
	buf_add_byte(out, ']');
}
