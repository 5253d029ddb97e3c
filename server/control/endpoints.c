#include "server/control/endpoints.h"

#include "server/messages.h"

#define ROOT "/_dynalith/"

static const struct endpoint endpoints[] = {
#define PAGE(method, path, show, needs, traits, what)                                              \
	{STR_INIT(method), STR_INIT(path), NULL, NEEDS_##needs, traits, what},
#define ENDPOINT(method, path, handle, needs, what)                                                \
	{STR_INIT(method), STR_INIT(path), handle, NEEDS_##needs, PLAIN, what},
#include "server/control/endpoints.def"
};

/* A handler is given a namespace, which a request that needs nothing does not have. */
#define PAGE(method, path, show, needs, traits, what)
#define ENDPOINT(method, path, handle, needs, what) \
	_Static_assert(NEEDS_##needs != NEEDS_NOTHING, method " " path);
#include "server/control/endpoints.def"

#define ENDPOINTS (sizeof(endpoints) / sizeof(endpoints[0]))

const struct endpoint *endpoint_all(size_t *n)
{
	*n = ENDPOINTS;
	return endpoints;
}

/* The path up to its next slash; `rest` is the part behind it, absent at the end. */
static struct str segment(struct str path, struct str *rest)
{
	const char *slash = memchr(path.p, '/', path.n);
	size_t n = slash ? (size_t)(slash - path.p) : path.n;

	*rest = slash ? (struct str){slash + 1, path.n - n - 1} : STR_ABSENT;
	return (struct str){path.p, n};
}

static bool matches(struct str pattern, struct str path, struct str *name)
{
	while (str_is_set(pattern) && str_is_set(path)) {
		struct str wanted = segment(pattern, &pattern), given = segment(path, &path);

		if (str_eq(wanted, STR("NAME")) && given.n > 0)
			*name = given;
		else if (!str_eq(wanted, given))
			return false;
	}
	return !str_is_set(pattern) && !str_is_set(path);
}

static bool is_at(const struct endpoint *endpoint, struct str path, struct str *name)
{
	const size_t root = sizeof(ROOT) - 1;

	*name = STR_ABSENT;
	return str_starts_with(path, STR(ROOT)) &&
	       matches(endpoint->path, (struct str){path.p + root, path.n - root}, name);
}

bool endpoint_is_at(const struct endpoint *endpoint, struct str path)
{
	struct str name;

	return is_at(endpoint, path, &name);
}

const struct endpoint *endpoint_find(struct str method, struct str path, struct str *name)
{
	if (str_eq(method, STR("HEAD")))
		method = STR("GET");
	for (size_t i = 0; i < ENDPOINTS; i++) {
		if (str_eq(endpoints[i].method, method) && is_at(&endpoints[i], path, name))
			return &endpoints[i];
	}
	return NULL;
}

/* What a query below /_dynalith/ may have; with a path, that endpoint alone; with a trait, those
 * that have it. */
static const struct {
	const char *name, *path;
	unsigned trait;
} query_parameters[] = {
	{"account", NULL, PLAIN},    {"region", NULL, PLAIN},   {"access_key", NULL, PLAIN},
	{"all", NULL, ALL},          {"id", "backup", PLAIN},   {"at", "backup", PLAIN},
	{"bodies", "events", PLAIN}, {"past", "events", PLAIN}, {"table", "streams/rotate", PLAIN},
};

enum { QUERY_PARAMETER_COUNT = sizeof(query_parameters) / sizeof(query_parameters[0]) };

static bool has_parameter(const struct endpoint *endpoint, size_t i)
{
	const char *path = query_parameters[i].path;
	unsigned trait = query_parameters[i].trait;

	return (!path || str_eq(endpoint->path, str_of(path))) &&
	       (endpoint->traits & trait) == trait;
}

/* The names of the endpoint's parameters, with commas. */
static struct str query_parameter_names(const struct endpoint *endpoint, struct arena *arena)
{
	struct buf names = buf_in(arena);

	for (size_t i = 0; i < QUERY_PARAMETER_COUNT; i++) {
		if (has_parameter(endpoint, i))
			buf_printf(&names, "%s%s", names.n > 0 ? ", " : "",
				   query_parameters[i].name);
	}
	return buf_str(&names);
}

static enum code check_parameter(const struct endpoint *endpoint, struct arena *arena,
				 struct str pair, struct err *err)
{
	struct str value = pair, name = str_cut(&value, '=');
	size_t i = 0;

	if (name.n == 0 || name.n == pair.n)
		return err_set(err, MSG_QUERY_PAIR, STR_ARG(pair));
	if (str_starts_with(name, STR("X-Amz-")))
		return OK;
	while (i < QUERY_PARAMETER_COUNT &&
	       !(str_eq(name, str_of(query_parameters[i].name)) && has_parameter(endpoint, i)))
		i++;
	if (i == QUERY_PARAMETER_COUNT)
		return err_set(err, MSG_QUERY_PARAMETER, STR_ARG(name),
			       STR_ARG(query_parameter_names(endpoint, arena)));
	if (str_eq(name, STR("all")) && !str_eq(value, STR("true")) && !str_eq(value, STR("false")))
		return err_set(err, MSG_QUERY_ALL);
	return OK;
}

enum code endpoint_check_query(const struct endpoint *endpoint, struct arena *arena,
			       struct str query, struct err *err)
{
	while (query.n > 0 && !(endpoint->traits & VITAL)) {
		struct str pair = str_cut(&query, '&');
		enum code code = pair.n > 0 ? check_parameter(endpoint, arena, pair, err) : OK;

		if (code != OK)
			return code;
	}
	return OK;
}

enum code endpoint_run(const struct endpoint *endpoint, const struct control_call *call,
		       struct str *answer, struct err *err)
{
	enum code code = control_check_namespace(call->ns, err);

	if (code != OK)
		return code;
	if (str_is_set(call->name)) {
		code = control_check_name(call->name, err);
		if (code != OK)
			return code;
	}
	return endpoint->handle(call, answer, err);
}
