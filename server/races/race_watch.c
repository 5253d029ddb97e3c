#include "server/races/race_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/number.h"
#include "protocol/ops.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

#define KEYS_MAX 2
#define HELD_NS 1000000

/* Texts of JSON, as the server gave them: equal items have equal texts. */
struct seen_item {
	struct str key, item, version; /* version absent: it has none */
};

/* All items of a table at one time. */
struct seen {
	struct arena *arena; /* NULL: never looked */
	struct seen_item *v;
	size_t n;
};

struct watched {
	struct str table, attribute;
	struct seen seen;
	bool has_fallen;
	size_t number;       /* of the request */
	struct arena *arena; /* of `how` */
	struct str how;
};

struct race_watch {
	struct race_watch_server server;
	pthread_mutex_t mutex;
	struct watched *v;
	size_t n;
};

struct race_watch *race_watch_new(const struct race_watch_server *server)
{
	struct race_watch *watch = arena_checked(calloc(1, sizeof(*watch)));

	watch->server = *server;
	pthread_mutex_init(&watch->mutex, NULL);
	return watch;
}

void race_watch_free(struct race_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->n; i++) {
		arena_free(watch->v[i].seen.arena);
		arena_free(watch->v[i].arena);
	}
	pthread_mutex_destroy(&watch->mutex);
	free(watch->v);
	free(watch);
}

void race_watch_add(struct race_watch *watch, struct str table, struct str attribute)
{
	watch->v = arena_checked(realloc(watch->v, (watch->n + 1) * sizeof(*watch->v)));
	watch->v[watch->n++] =
		(struct watched){.table = table, .attribute = attribute, .arena = arena_new(0)};
}

/* The request's own headers, for another operation. */
static struct headers headers_for(struct arena *arena, const struct headers *own,
				  const char *operation)
{
	struct headers headers = {0};

	headers_add(&headers, arena, STR("X-Amz-Target"), ops_target(arena, str_of(operation)));
	for (size_t i = 0; i < own->n; i++) {
		if (!str_eq_nocase(own->v[i].name, STR("X-Amz-Target")))
			headers_add(&headers, arena, own->v[i].name, own->v[i].value);
	}
	return headers;
}

/* The answer's body, in the arena; absent: it is an error. */
static struct str ask_operation(const struct race_watch_server *server,
				const struct http_request *like, struct arena *arena,
				const char *operation, struct str body)
{
	const struct timespec look = {0, HELD_NS};
	struct headers headers = headers_for(arena, like->headers, operation);
	struct http_request request = {
		.haste = HTTP_LONG,
		.arena = arena,
		.method = STR("POST"),
		.path = STR("/"),
		.query = STR(""),
		.body = body,
		.wire_body = body,
		.id = like->id,
		.headers = &headers,
	};
	struct http_response response = {0};

	while (!server->handler(server->context, &request, &response)) {
		if (!response.hold)
			return STR_ABSENT;
		request.hold = response.hold; /* by a rule of the program that delays it */
		while (server->is_held(request.hold))
			nanosleep(&look, NULL);
		response = (struct http_response){0};
	}
	return response.status == 200 ? response.body : STR_ABSENT;
}

/* The names of the key's attributes. 0: there is no such table now. */
static size_t read_keys(const struct race_watch_server *server, const struct http_request *like,
			struct arena *arena, struct str table, struct str keys[KEYS_MAX])
{
	struct str body =
		ask_operation(server, like, arena, "DescribeTable",
			      str_printf(arena, "{\"TableName\":\"" STR_FMT "\"}", STR_ARG(table)));
	struct err err = err_in(arena);
	const struct json *root, *schema;
	size_t n = 0;

	if (!str_is_set(body) || json_parse(arena, body, &root, &err) != OK)
		return 0;
	schema = json_text_get(json_text_get(root, "Table", JSON_OBJECT), "KeySchema", JSON_ARRAY);
	for (const struct json *key = schema ? json_first(schema) : NULL; key && n < KEYS_MAX;
	     key = json_next(key))
		keys[n++] = json_text_string(arena, key, "AttributeName");
	return n;
}

static struct str scan_body(struct arena *arena, struct str table, struct str last)
{
	bool goes_on = str_is_set(last);

	return str_printf(arena,
			  "{\"TableName\":\"" STR_FMT "\",\"ConsistentRead\":true%s" STR_FMT "}",
			  STR_ARG(table), goes_on ? ",\"ExclusiveStartKey\":" : "",
			  STR_ARG(goes_on ? last : STR("")));
}

static void add_seen(struct seen *seen, struct str items, const struct str *keys, size_t keys_n,
		     struct str attribute)
{
	struct str rest = json_text_inside(items), item;

	while (json_text_element(&rest, &item)) {
		struct buf key = buf_in(seen->arena);

		for (size_t i = 0; i < keys_n; i++)
			buf_printf(&key, "%s" STR_FMT "=" STR_FMT, i > 0 ? " " : "",
				   STR_ARG(keys[i]), STR_ARG(json_text_find(item, keys[i])));
		seen->v = arena_room(seen->arena, seen->v, seen->n, sizeof(*seen->v));
		seen->v[seen->n++] =
			(struct seen_item){buf_str(&key), item, json_text_find(item, attribute)};
	}
}

/* Nothing where there is no such table. False: it cannot be read, by a rule of the program. */
static bool see_table(const struct race_watch_server *server, const struct http_request *like,
		      const struct watched *watched, struct seen *seen)
{
	struct str keys[KEYS_MAX], last = STR_ABSENT;
	size_t keys_n;

	*seen = (struct seen){.arena = arena_new(0)};
	keys_n = read_keys(server, like, seen->arena, watched->table, keys);
	if (keys_n == 0)
		return true; /* one that is made later begins anew */
	do {
		struct str page = ask_operation(server, like, seen->arena, "Scan",
						scan_body(seen->arena, watched->table, last));

		if (!str_is_set(page))
			return false;
		add_seen(seen, json_text_find(page, STR("Items")), keys, keys_n,
			 watched->attribute);
		last = json_text_find(page, STR("LastEvaluatedKey"));
	} while (str_is_set(last));
	return true;
}

/* What is between the quotes of {"N": "5"}; absent: it is of another type. */
static struct str version_in(struct str version, const char *type)
{
	struct str text = json_text_find(version, str_of(type));

	return str_is_set(text) && text.n >= 2 ? (struct str){text.p + 1, text.n - 2} : STR_ABSENT;
}

/* Of two numbers, or two texts. */
static bool is_greater(struct arena *arena, struct str version, struct str than)
{
	struct str a = version_in(version, "N"), b = version_in(than, "N");
	char a_bytes[NUMBER_MAX], b_bytes[NUMBER_MAX];
	struct err err = err_in(arena);
	size_t a_n, b_n;

	if (str_is_set(a) && str_is_set(b))
		return number_parse(a, a_bytes, &a_n, &err) == OK &&
		       number_parse(b, b_bytes, &b_n, &err) == OK &&
		       str_cmp((struct str){a_bytes, a_n}, (struct str){b_bytes, b_n}) > 0;
	a = version_in(version, "S");
	b = version_in(than, "S");
	return str_is_set(a) && str_is_set(b) && str_cmp(a, b) > 0;
}

/* Pages come in one order, so the same item is near. */
static const struct seen_item *find_seen(const struct seen *seen, struct str key, size_t *near)
{
	for (size_t i = 0; i < seen->n; i++) {
		size_t at = (*near + i) % seen->n;

		if (!str_eq(seen->v[at].key, key))
			continue;
		*near = at + 1;
		return &seen->v[at];
	}
	return NULL;
}

static void compare_seen(struct watched *watched, const struct seen *now, size_t number)
{
	size_t near = 0;

	for (size_t i = 0; i < now->n && !watched->has_fallen; i++) {
		const struct seen_item *item = &now->v[i];
		const struct seen_item *before = find_seen(&watched->seen, item->key, &near);

		if (!before || !str_is_set(before->version) || str_eq(before->item, item->item))
			continue;
		if (str_is_set(item->version) &&
		    is_greater(now->arena, item->version, before->version))
			continue;
		watched->has_fallen = true;
		watched->number = number;
		watched->how = str_printf(
			watched->arena, STR_FMT " of " STR_FMT " was " STR_FMT ", and is " STR_FMT,
			STR_ARG(watched->attribute), STR_ARG(item->key), STR_ARG(before->version),
			STR_ARG(str_is_set(item->version) ? item->version : STR("gone")));
	}
}

static void look_at(const struct race_watch_server *server, struct watched *watched,
		    const struct http_request *request, size_t number)
{
	struct seen now;

	if (!see_table(server, request, watched, &now)) {
		arena_free(now.arena);
		return;
	}
	compare_seen(watched, &now, number);
	arena_free(watched->seen.arena);
	watched->seen = now;
}

void race_watch_look(struct race_watch *watch, const struct http_request *request,
		     const struct race_request *about, size_t number)
{
	pthread_mutex_lock(&watch->mutex);
	for (size_t i = 0; i < watch->n; i++) {
		struct watched *watched = &watch->v[i];

		if (!watched->has_fallen && str_contains(about->body, watched->table))
			look_at(&watch->server, watched, request, number);
	}
	pthread_mutex_unlock(&watch->mutex);
}

bool race_watch_has_fallen(struct race_watch *watch, struct str table, struct str attribute,
			   struct arena *arena, size_t *number, struct str *how)
{
	bool has_fallen = false;

	pthread_mutex_lock(&watch->mutex);
	for (size_t i = 0; i < watch->n && !has_fallen; i++) {
		const struct watched *watched = &watch->v[i];

		if (!watched->has_fallen || !str_eq(watched->table, table) ||
		    !str_eq(watched->attribute, attribute))
			continue;
		has_fallen = true;
		*number = watched->number;
		*how = str_copy(arena, watched->how);
	}
	pthread_mutex_unlock(&watch->mutex);
	return has_fallen;
}
