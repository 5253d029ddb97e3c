#include "protocol/iam/asking.h"

#include <time.h>

#include "core/base64.h"
#include "core/number.h"
#include "protocol/tables/arn.h"
#include "protocol/tables/settings.h"
#include "protocol/wire/shape_bind.h"

#define KEYS_MAX 16 /* of a question, beside those of principals and tags */

void iam_words_add(struct arena *arena, struct iam_words *words, struct str word)
{
	words->v = arena_room(arena, words->v, words->n, sizeof(*words->v));
	words->v[words->n++] = word;
}

void iam_words_of_item(struct arena *arena, struct iam_words *words, const struct value *item)
{
	for (uint32_t i = 0; item && item->type == TYPE_M && i < item->n; i++)
		iam_words_add(arena, words, item->members[i].name);
}

struct walk {
	struct arena *arena;
	struct iam_words *words;
};

static bool add_path(void *context, const struct path *path)
{
	const struct walk *walk = context;

	iam_words_add(walk->arena, walk->words, path->steps[0].name);
	return true;
}

void iam_words_of_node(struct arena *arena, struct iam_words *words, const struct node *node)
{
	struct walk walk = {arena, words};

	if (node)
		node_walk_paths(node, add_path, &walk);
}

void iam_words_of_update(struct arena *arena, struct iam_words *words, const struct update *update)
{
	for (size_t i = 0; update && i < update->n; i++) {
		iam_words_add(arena, words, update->actions[i].path->steps[0].name);
		iam_words_of_node(arena, words, update->actions[i].operand);
	}
}

void iam_words_of_projection(struct arena *arena, struct iam_words *words,
			     const struct projection *projection)
{
	for (size_t i = 0; projection && i < projection->n; i++)
		iam_words_add(arena, words, projection->paths[i]->steps[0].name);
}

const struct json *iam_asking_member(const struct iam_asking *asking, const char *name)
{
	return shape_has(asking->request->shape, str_of(name)) ?
		json_member(asking->request->call->request.json, name) : NULL;
}

/* What was put on another server counts: nobody looks at the policy in a transaction later. */
static struct table *table_in(struct iam_asking *asking, struct str region, struct str name)
{
	const struct call *call = asking->request->call;
	struct ns ns = {call->ns.account, region};
	struct table *table;
	struct err err = err_in(asking->arena);

	for (size_t i = 0; i < asking->asked.held_count; i++) {
		const struct table_identity *known = &asking->asked.held[i]->identity;

		if (str_eq(known->name, name) && str_eq(known->region, region))
			return asking->asked.held[i];
	}
	if (catalog_get_current(call->service->catalog, ns, name, call->now_ms, &table, &err) != OK)
		return NULL;
	asking->asked.held =
		arena_room(asking->arena, asking->asked.held, asking->asked.held_count,
			   sizeof(struct table *));
	asking->asked.held[asking->asked.held_count++] = table;
	return table;
}

struct table *iam_asking_table(struct iam_asking *asking, struct str name_or_arn)
{
	struct call *call = asking->request->call;
	struct str name;
	struct err err = err_in(asking->arena);

	return call_table_name(call, name_or_arn, &name, &err) == OK ?
		table_in(asking, call->ns.region, name) : NULL;
}

const struct key_schema *iam_asking_keys(const struct table *table, struct str index)
{
	if (!table || !str_is_set(index))
		return table ? &table->keys : NULL;
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (str_eq(table->indexes.v[i].name, index))
			return &table->indexes.v[i].keys;
	}
	for (size_t i = 0; i < table->indexes.vector_n; i++) {
		if (str_eq(table->indexes.vectors[i].name, index))
			return &table->indexes.vectors[i].keys;
	}
	return NULL;
}

/* A key's value as conditions compare it: numbers in their canonical form, bytes in base64. */
static void add_value(struct arena *arena, struct iam_words *words, const struct value *value)
{
	struct buf buf = buf_in(arena);

	if (value->type == TYPE_N)
		number_format(value_str(value), &buf);
	else if (value->type == TYPE_B)
		base64_encode(value_str(value), &buf);
	else if (value->type == TYPE_S)
		buf_add_str(&buf, value_str(value));
	else
		return;
	iam_words_add(arena, words, buf_str(&buf));
}

void iam_asking_lead(struct iam_asking *asking, struct iam_words *words,
		     const struct key_schema *keys, const struct value *item)
{
	for (unsigned i = 0; keys && item && item->type == TYPE_M && i < keys->hash_count; i++) {
		const struct value *value = value_member(item, keys->attributes[i].name);

		if (value)
			add_value(asking->arena, words, value);
	}
}

void iam_asking_lead_by(struct iam_asking *asking, struct iam_words *words,
			const struct key_schema *keys, const struct node *condition)
{
	if (!condition || !keys)
		return;
	if (condition->kind == NODE_AND || condition->kind == NODE_OR) {
		for (unsigned i = 0; i < condition->arg_count; i++)
			iam_asking_lead_by(asking, words, keys, condition->args[i]);
		return;
	}
	if (condition->kind != NODE_EQ)
		return;
	for (unsigned side = 0; side < 2; side++) {
		const struct node *path = condition->args[side], *value = condition->args[1 - side];

		for (unsigned i = 0; i < keys->hash_count; i++) {
			if (path->kind == NODE_PATH && value->kind == NODE_VALUE &&
			    path->path->n == 1 &&
			    str_eq(path->path->steps[0].name, keys->attributes[i].name))
				add_value(asking->arena, words, &value->value);
		}
	}
}

struct keys {
	size_t n;
	struct iam_key *v;
};

static void put_many(struct keys *keys, const char *name, const struct iam_words *words)
{
	keys->v[keys->n++] = (struct iam_key){str_of(name), words->n, words->v, true};
}

static void put(struct arena *arena, struct keys *keys, struct str name, struct str text)
{
	struct str *value = ARENA_NEW(arena, struct str);

	if (!str_is_set(text))
		return;
	*value = text;
	keys->v[keys->n++] = (struct iam_key){name, 1, value, false};
}

/* AWS: IAM User Guide, "AWS global condition context keys", keys of the request. */
static void put_request(struct arena *arena, struct keys *keys, struct ns ns, int64_t now_ms)
{
	time_t seconds = (time_t)(now_ms / 1000);
	struct tm parts;
	char text[32] = "";

	if (gmtime_r(&seconds, &parts))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	put(arena, keys, STR("aws:CurrentTime"), str_copy(arena, str_of(text)));
	put(arena, keys, STR("aws:EpochTime"), str_printf(arena, "%lld", (long long)seconds));
	put(arena, keys, STR("aws:RequestedRegion"), ns.region);
	put(arena, keys, STR("aws:ResourceAccount"), ns.account);
}

struct iam_context iam_asking_context(struct arena *arena, const struct iam_principal *principal,
				      struct ns ns, int64_t now_ms)
{
	struct keys keys = {0, ARENA_ARRAY(arena, struct iam_key, KEYS_MAX + principal->context.n)};

	for (size_t i = 0; i < principal->context.n; i++)
		keys.v[keys.n++] = principal->context.keys[i];
	put_request(arena, &keys, ns, now_ms);
	return (struct iam_context){keys.n, keys.v};
}

static struct iam_context context_of(struct iam_asking *asking, const struct iam_matter *matter,
				     const struct tag_set *tags)
{
	const struct iam_context *own = &asking->request->principal->context;
	struct keys keys =
		{0,
		 ARENA_ARRAY(asking->arena, struct iam_key,
			     KEYS_MAX + own->n + matter->tags.n + (tags ? tags->n : 0))};

	if (matter->is_of_data) {
		put_many(&keys, "dynamodb:LeadingKeys", &matter->leading);
		put_many(&keys, "dynamodb:Attributes", &matter->attributes);
	}
	put(asking->arena, &keys, STR("dynamodb:Select"), matter->select);
	put(asking->arena, &keys, STR("dynamodb:ReturnValues"), matter->return_values);
	put(asking->arena, &keys, STR("dynamodb:ReturnConsumedCapacity"), matter->capacity);
	put(asking->arena, &keys, STR("dynamodb:EnclosingOperation"), matter->enclosing);
	put(asking->arena, &keys, STR("dynamodb:FullTableScan"), matter->full_scan);
	if (matter->tag_keys.n > 0)
		put_many(&keys, "aws:TagKeys", &matter->tag_keys);
	for (size_t i = 0; i < matter->tags.n; i++)
		keys.v[keys.n++] = matter->tags.keys[i];
	for (size_t i = 0; tags && i < tags->n; i++)
		put(asking->arena, &keys,
		    str_printf(asking->arena, "aws:ResourceTag/" STR_FMT, STR_ARG(tags->v[i].key)),
			    tags->v[i].value);
	for (size_t i = 0; i < own->n; i++)
		keys.v[keys.n++] = own->keys[i];
	put_request(asking->arena, &keys, asking->request->call->ns, asking->request->call->now_ms);
	return (struct iam_context){keys.n, keys.v};
}

/* Operations overlook a partition, a service and slashes at the end: whatever those are, the
 * resource is the same. */
static struct str as_ours(struct arena *arena, struct str arn)
{
	struct arn parts = arn_split(arn);

	while (parts.resource.n > 0 && parts.resource.p[parts.resource.n - 1] == '/')
		parts.resource.n--;
	return str_printf(arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":" STR_FMT,
			  STR_ARG(parts.region), STR_ARG(parts.account), STR_ARG(parts.resource));
}

/* "dynamodb" */
static struct str service_of(const struct iam_asking *asking)
{
	return ops_service_row(ops_service(asking->request->operation))->name;
}

/* The ARN of a table by its name, or as it is given; of an index behind it. */
static struct str arn_of(const struct iam_asking *asking, const struct iam_matter *matter)
{
	const struct call *call = asking->request->call;
	struct str arn = matter->table, index = matter->index;

	if (!str_is_set(arn))
		return str_starts_with(matter->resource, STR("arn:")) &&
				       str_eq(service_of(asking), STR("dynamodb"))
			       ? as_ours(asking->arena, matter->resource)
			       : matter->resource;
	if (str_starts_with(arn, STR("arn:")))
		arn = as_ours(asking->arena, arn);
	else
		arn =
			str_printf(asking->arena,
				   "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT,
					   STR_ARG(call->ns.region), STR_ARG(call->ns.account),
				 STR_ARG(arn));
	return str_is_set(index) ?
		str_printf(asking->arena, STR_FMT "/index/" STR_FMT, STR_ARG(arn), STR_ARG(index))
			: arn;
}

/* The table of that name in another account has no say. */
static bool is_of_call(const struct call *call, struct str account)
{
	return account.n == 0 || str_eq(account, call->ns.account) ||
	       catalog_options(call->service->catalog)->is_shared;
}

void iam_asking_add(struct iam_asking *asking, const struct iam_matter *matter)
{
	const struct iam_request *request = asking->request;
	struct str arn = arn_of(asking, matter), name = STR_ABSENT, part = STR("");
	struct arn parts = arn_split(arn);
	struct table *table = NULL;

	if (str_starts_with(parts.resource, STR("table/"))) {
		part = arn_table_part(parts.resource, &name);
		if (is_of_call(request->call, parts.account))
			table = table_in(
				asking,
				parts.region.n > 0 ? parts.region : request->call->ns.region, name);
	}
	bool is_stream = str_starts_with(part, STR("stream/"));
	struct str text = !table ? STR_ABSENT : is_stream ? table->settings->stream_policy.text
		: table->settings->policy.text;
	struct iam_question question = {
		.action = str_printf(asking->arena, STR_FMT ":" STR_FMT,
				     STR_ARG(service_of(asking)), STR_ARG(matter->action)),
		.resource = arn,
		.account = parts.account.n > 0 ? parts.account : request->call->ns.account,
		.policy = str_is_set(text)
				  ? request->policy_of(request->context, asking->arena, text)
				  : NULL,
		.context = context_of(asking, matter, table ? &table->settings->tags : NULL),
		.statement = asking->statement,
	};
	asking->asked.v =
		arena_room(asking->arena, asking->asked.v, asking->asked.n, sizeof(question));
	asking->asked.v[asking->asked.n++] = question;
}
