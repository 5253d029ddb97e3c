#include <stdlib.h>

#include "core/expr.h"

#define PATHS_FEW 64 /* up to so many are looked for one by one */

/* The paths that go the same way up to `level`. */
struct group {
	const struct path **paths;
	size_t n;
	size_t level;
};

static bool project_value(struct arena *arena, const struct group *group, const struct value *value, struct value *out);

static bool is_same_step(const struct path_step *a, const struct path_step *b)
{
	if (str_is_set(a->name) != str_is_set(b->name))
		return false;
	return str_is_set(a->name) ? str_eq(a->name, b->name) : a->index == b->index;
}

/* Moves the paths that share the first one's step to the front; returns how many. The others keep their order. */
static size_t split_group(struct arena *arena, const struct group *group, const struct path **rest, size_t *rest_count)
{
	const struct path_step *step = &group->paths[0]->steps[group->level];
	const struct path **same = ARENA_ARRAY(arena, const struct path *, group->n);
	size_t n = 0;

	*rest_count = 0;
	for (size_t i = 0; i < group->n; i++) {
		if (is_same_step(step, &group->paths[i]->steps[group->level]))
			same[n++] = group->paths[i];
		else
			rest[(*rest_count)++] = group->paths[i];
	}
	memcpy(group->paths, same, n * sizeof(*same));
	return n;
}

static int by_index(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

/* Projects the content of a map or list: each step once, in the order of the container. */
static bool project_content(struct arena *arena, const struct group *group, const struct value *value, struct value *out)
{
	struct member *found = ARENA_ARRAY(arena, struct member, group->n);
	const struct path **rest = ARENA_ARRAY(arena, const struct path *, group->n);
	struct group left = *group;
	size_t count = 0, rest_count;

	while (left.n > 0) {
		const struct path_step *step = &left.paths[0]->steps[left.level];
		struct group same = {left.paths, split_group(arena, &left, rest, &rest_count), left.level + 1};
		struct path one = {1, step};
		const struct value *content = path_get(&one, 0, value);

		if (content && project_value(arena, &same, content, &found[count].value)) {
			/* a list's elements are ordered by index, kept in the length of an absent name */
			found[count].name = str_is_set(step->name) ? step->name : (struct str){NULL, step->index};
			count++;
		}
		memcpy(left.paths + same.n, rest, rest_count * sizeof(*rest));
		left.paths += same.n;
		left.n = rest_count;
	}
	if (count == 0 && group->level > 0)
		return false;
	if (value->type == TYPE_M) {
		value_sort_members(found, count, NULL);
		*out = (struct value){.type = TYPE_M, .n = (uint32_t)count, .members = found};
		return true;
	}
	struct value *elements = ARENA_ARRAY(arena, struct value, count);
	qsort(found, count, sizeof(*found), by_index);
	for (size_t i = 0; i < count; i++)
		elements[i] = found[i].value;
	*out = (struct value){.type = TYPE_L, .n = (uint32_t)count, .elements = elements};
	return true;
}

/* As deep as the longest path, VALUE_DEPTH_MAX. */
static bool project_value(struct arena *arena, const struct group *group, const struct value *value, struct value *out)
{
	for (size_t i = 0; i < group->n; i++) {
		if (group->paths[i]->n == group->level) {
			*out = *value;
			return true;
		}
	}
	return (value->type == TYPE_M || value->type == TYPE_L) && project_content(arena, group, value, out);
}

/* The same where there are many: each name is looked for once, in an item that is decoded once. */
static struct value many_attributes(const struct path **paths, size_t n, const struct subject *subject)
{
	struct member *members = ARENA_ARRAY(subject->arena, struct member, n);
	struct subject whole = subject_whole(subject);
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		members[i].name = paths[i]->steps[0].name;
	n = value_sort_last(members, n);
	for (size_t i = 0; i < n; i++) {
		const struct value *value = subject_attribute(&whole, members[i].name);

		if (value)
			members[count++] = (struct member){members[i].name, *value};
	}
	return (struct value){.type = TYPE_M, .n = (uint32_t)count, .members = members};
}

/* The top-level attributes that the paths name, as a map: only these are decoded. */
static struct value named_attributes(const struct path **paths, size_t n, const struct subject *subject)
{
	struct member *members = ARENA_ARRAY(subject->arena, struct member, n);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		struct str name = paths[i]->steps[0].name;
		bool is_known = false;

		for (size_t k = 0; k < count && !is_known; k++)
			is_known = str_eq(members[k].name, name);
		const struct value *value = is_known ? NULL : subject_attribute(subject, name);
		if (value)
			members[count++] = (struct member){name, *value};
	}
	value_sort_members(members, count, NULL);
	return (struct value){.type = TYPE_M, .n = (uint32_t)count, .members = members};
}

static struct value project_paths(const struct path *const *paths, size_t n, const struct subject *subject)
{
	const struct path **copy = ARENA_ARRAY(subject->arena, const struct path *, n);
	bool is_flat = true;
	struct value out;

	memcpy(copy, paths, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		is_flat = is_flat && copy[i]->n == 1;
	struct value item = n > PATHS_FEW ? many_attributes(copy, n, subject) : named_attributes(copy, n, subject);
	if (is_flat)
		return item;
	struct group all = {copy, n, 0};
	project_content(subject->arena, &all, &item, &out);
	return out;
}

struct value expr_project(const struct projection *projection, const struct subject *subject)
{
	return project_paths(projection->paths, projection->n, subject);
}

struct value expr_updated(const struct update *update, struct arena *arena, const struct value *item)
{
	const struct path **paths = ARENA_ARRAY(arena, const struct path *, update->n);
	struct subject subject = {arena, item, STR_ABSENT};

	for (size_t i = 0; i < update->n; i++)
		paths[i] = update->actions[i].path;
	return project_paths(paths, update->n, &subject);
}

bool projection_has(const struct projection *projection, struct str attribute)
{
	for (size_t i = 0; i < projection->n; i++) {
		if (str_eq(projection->paths[i]->steps[0].name, attribute))
			return true;
	}
	return false;
}
