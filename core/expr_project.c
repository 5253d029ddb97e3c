#include <stdlib.h>

#include "core/expr.h"
#include "core/image.h"

/* Ordered paths that go the same way up to `level`; one that ends there is the first. */
struct group {
	const struct path *const *paths;
	size_t n;
	size_t level;
};

static int step_order(const struct path_step *a, const struct path_step *b)
{
	if (str_is_set(a->name) != str_is_set(b->name))
		return str_is_set(a->name) ? -1 : 1;
	return str_is_set(a->name) ? str_cmp(a->name, b->name)
				   : (a->index > b->index) - (a->index < b->index);
}

static int by_steps(const void *a, const void *b)
{
	const struct path *x = *(const struct path *const *)a, *y = *(const struct path *const *)b;

	for (size_t i = 0; i < x->n && i < y->n; i++) {
		int order = step_order(&x->steps[i], &y->steps[i]);

		if (order)
			return order;
	}
	return (x->n > y->n) - (x->n < y->n);
}

void projection_order(struct arena *arena, struct projection *projection)
{
	projection->ordered = ARENA_ARRAY(arena, const struct path *, projection->n);
	memcpy(projection->ordered, projection->paths,
	       projection->n * sizeof(*projection->ordered));
	qsort(projection->ordered, projection->n, sizeof(*projection->ordered), by_steps);
}

/* Takes the paths that share the first one's step out of the group. */
static struct group take_step(struct group *group)
{
	struct group same = {group->paths, 1, group->level + 1};

	while (same.n < group->n && step_order(&group->paths[0]->steps[group->level],
					       &group->paths[same.n]->steps[group->level]) == 0)
		same.n++;
	group->paths += same.n;
	group->n -= same.n;
	return same;
}

static bool project_value(struct arena *arena, const struct group *group, const struct value *value,
			  struct value *out);

/* The parts of a map that the paths name; names are in order already. */
static struct value project_members(struct arena *arena, struct group group,
				    const struct value *map)
{
	struct member *members =
		ARENA_ARRAY(arena, struct member, group.n < map->n ? group.n : map->n);
	uint32_t n = 0;

	while (group.n > 0 && n < map->n && str_is_set(group.paths[0]->steps[group.level].name)) {
		struct str name = group.paths[0]->steps[group.level].name;
		struct group same = take_step(&group);
		const struct value *content = value_member(map, name);

		if (content && project_value(arena, &same, content, &members[n].value))
			members[n++].name = name;
	}
	return (struct value){.type = TYPE_M, .n = n, .members = members};
}

/* The same of a list: its selected elements, in their order. */
static struct value project_elements(struct arena *arena, struct group group,
				     const struct value *list)
{
	struct value *elements =
		ARENA_ARRAY(arena, struct value, group.n < list->n ? group.n : list->n);
	uint32_t n = 0;

	while (group.n > 0) {
		const struct path_step *step = &group.paths[0]->steps[group.level];
		struct group same = take_step(&group);

		if (!str_is_set(step->name) && step->index < list->n &&
		    project_value(arena, &same, &list->elements[step->index], &elements[n]))
			n++;
	}
	return (struct value){.type = TYPE_L, .n = n, .elements = elements};
}

/* False where nothing of the value is named. As deep as the longest path, VALUE_DEPTH_MAX. */
static bool project_value(struct arena *arena, const struct group *group, const struct value *value,
			  struct value *out)
{
	if (group->paths[0]->n == group->level) {
		*out = *value;
		return true;
	}
	if (value->type != TYPE_M && value->type != TYPE_L)
		return false;
	*out = value->type == TYPE_M ? project_members(arena, *group, value)
				     : project_elements(arena, *group, value);
	return out->n > 0;
}

/* Moves over the paths whose first name comes before `name`; whether the next one's is it. */
static bool find_name(struct group *group, struct str name)
{
	size_t low = 0, high = group->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_cmp(group->paths[middle]->steps[0].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	group->paths += low;
	group->n -= low;
	return group->n > 0 && str_eq(group->paths[0]->steps[0].name, name);
}

/* Of a stored item only the attributes that are named are decoded. */
static struct value project_image(struct arena *arena, struct group group, struct str image)
{
	struct image_cursor cursor;
	struct image_value encoded;
	struct member *members;
	struct value value;
	uint32_t n = 0;
	struct str name;

	if (!image_open(image, &cursor))
		return (struct value){.type = TYPE_M};
	members = ARENA_ARRAY(arena, struct member, group.n < cursor.left ? group.n : cursor.left);
	while (group.n > 0 && image_next_member(&cursor, &name, &encoded)) {
		if (!find_name(&group, name))
			continue;
		struct group same = take_step(&group);
		if (image_value_decode(arena, &encoded, &value) &&
		    project_value(arena, &same, &value, &members[n].value))
			members[n++].name = name;
	}
	return (struct value){.type = TYPE_M, .n = n, .members = members};
}

struct value expr_project(const struct projection *projection, const struct subject *subject)
{
	struct group all = {projection->ordered, projection->n, 0};

	if (subject->item)
		return project_members(subject->arena, all, subject->item);
	return project_image(subject->arena, all, subject->image);
}

struct value expr_updated(const struct update *update, struct arena *arena,
			  const struct value *item)
{
	struct projection projection = {
		.n = update->n, .paths = ARENA_ARRAY(arena, const struct path *, update->n)};
	struct subject subject = {arena, item, STR_ABSENT};

	for (size_t i = 0; i < update->n; i++)
		projection.paths[i] = update->actions[i].path;
	projection_order(arena, &projection);
	return expr_project(&projection, &subject);
}

bool projection_has(const struct projection *projection, struct str attribute)
{
	for (size_t i = 0; i < projection->n; i++) {
		if (str_eq(projection->paths[i]->steps[0].name, attribute))
			return true;
	}
	return false;
}
