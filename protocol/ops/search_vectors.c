/* SearchVectors. AWS: API Reference, SearchVectors; messages and their order as recorded. */
#include <stdlib.h>
#include <string.h>

#include "core/image.h"
#include "core/number.h"
#include "core/seen.h"
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/vector_messages.h"
#include "protocol/work/work.h"
#include "storage/messages.h"
#include "storage/vector/vector.h"

#define NAME_MIN 3
#define NAME_MAX_LENGTH 255
#define REQUEST_BYTES_MIN 1024 /* a search is billed. Source: recorded answers of AWS */

/* The broken constraints of the members, listed without the values. */
struct members {
	struct buf list;
	unsigned count;
};

static void check_search_member(struct members *members, const char *name, const char *what,
				size_t value, size_t min, size_t max)
{
	bool is_less = value < min;

	if (!is_less && value <= max)
		return;
	buf_printf(&members->list, "%s" SEARCH_MEMBER, members->count++ ? "; " : "", name, what,
		   is_less ? "greater" : "less", (int)(is_less ? min : max));
}

static enum code refuse_members(const struct members *members, struct err *err)
{
	return err_set(err, MSG_SEARCH_MEMBERS, members->count, members->count > 1 ? "s" : "",
		       STR_ARG(buf_str(&members->list)));
}

/* Bare, the first that is broken. */
static enum code check_table_name(struct str name, struct err *err)
{
	if (str_starts_with(name, STR("arn:")) || call_is_name(name))
		return OK;
	if (name.n < NAME_MIN)
		return err_set(err, MSG_SEARCH_NAME_SHORT, STR_ARG(name), "tableName");
	if (name.n > NAME_MAX_LENGTH)
		return err_set(err, MSG_SEARCH_NAME_LONG, STR_ARG(name), "tableName");
	return err_set(err, MSG_SEARCH_NAME, STR_ARG(name), "tableName");
}

static enum code check_capacity(struct str wanted, struct err *err)
{
	if (!str_is_set(wanted) || str_eq(wanted, STR("INDEXES")) || str_eq(wanted, STR("TOTAL")) ||
	    str_eq(wanted, STR("NONE")))
		return OK;
	return err_set(err, MSG_SEARCH_CAPACITY, STR_ARG(wanted), "returnConsumedCapacity");
}

/* Checks the members alone, in AWS's order. serde.h has checked their types, and that the required
 * ones are there. */
static enum code check_search_members(const struct search_vectors_input *input, struct err *err)
{
	struct members members = {.list = buf_in(err->arena)};

	check_search_member(&members, "TableName", "length", input->table_name.n, 1, SIZE_MAX);
	if (members.count)
		return refuse_members(&members, err);
	check_search_member(&members, "IndexName", "length", input->index_name.n, NAME_MIN,
			    NAME_MAX_LENGTH);
	check_search_member(&members, "SearchVector", "length", input->search_vector.n, 1,
			    VECTOR_DIMENSIONS_MAX);
	check_search_member(&members, "TopK", "value",
			    input->top_k.value < 1 ? 0 : (size_t)input->top_k.value, 1, SIZE_MAX);
	if (members.count)
		return refuse_members(&members, err);
	enum code code = check_table_name(input->table_name, err);
	if (code != OK)
		return code;
	code = check_capacity(input->return_consumed_capacity, err);
	if (code != OK)
		return code;
	if (input->top_k.value > VECTOR_TOP_MAX)
		return err_set(err, MSG_SEARCH_TOP, (long long)input->top_k.value, VECTOR_TOP_MAX);
	return OK;
}

/* Whether the condition is equalities of a path and a value, joined by AND, and nothing else. */
static bool is_equalities(const struct node *node, unsigned depth)
{
	if (depth > EXPR_DEPTH_MAX)
		return false;
	if (node->kind == NODE_AND)
		return is_equalities(node->args[0], depth + 1) &&
		       is_equalities(node->args[1], depth + 1);
	return node->kind == NODE_EQ &&
	       ((node->args[0]->kind == NODE_PATH && node->args[1]->kind == NODE_VALUE) ||
		(node->args[0]->kind == NODE_VALUE && node->args[1]->kind == NODE_PATH));
}

/* AWS accepts a number below DynamoDB's range here, and reads it as the float 0. */
static bool is_tiny(const struct call *call, size_t place)
{
	const struct json *element = json_first(json_member(call->request.json, "SearchVector"));

	for (; place > 0; place--)
		element = json_next(element);
	const struct json *number = json_member(element, "N");
	struct str text = number && json_type(number) == JSON_STRING
				  ? str_copy(call->arena, json_string(call->arena, number))
				  : STR("x");
	char *end;
	return strspn(text.p, "0123456789+-.eE") == text.n && strtod(text.p, &end) == 0 &&
	       end > text.p && !*end;
}

/* AWS: the same words for any wrong element, also "NaN". */
static enum code read_search_vector(const struct call *call, const struct search_vector_list *list,
				    float *out, struct err *err)
{
	struct value *elements = ARENA_ARRAY(call->arena, struct value, list->n);
	struct value vector = {.type = TYPE_L, .n = (uint32_t)list->n, .elements = elements};
	const struct value zero = value_of_str(TYPE_N, STR("\x02")); /* core/number.h */

	for (size_t i = 0; i < list->n; i++) {
		bool is_zero = list->v[i].code != OK && is_tiny(call, i);

		if (list->v[i].code != OK && !is_zero)
			return err_set(err, MSG_SEARCH_VECTOR);
		elements[i] = is_zero ? zero : list->v[i].value;
	}
	return vector_of_list(&vector, out) ? OK : err_set(err, MSG_SEARCH_VECTOR);
}

/* The paths of a condition that is equalities. */
struct conditions {
	struct seen seen;
	bool is_nested, is_twice;
};

static bool count_path(void *context, const struct path *path)
{
	(void)path;
	++*(size_t *)context;
	return true;
}

static bool note_path(void *context, const struct path *path)
{
	struct conditions *conditions = context;

	conditions->is_nested = conditions->is_nested || path->n > 1;
	if (!seen_add(&conditions->seen, path->steps[0].name))
		conditions->is_twice = true;
	return true;
}

static enum code judge_search_condition(struct arena *arena, const struct node *condition,
					struct err *err)
{
	struct conditions conditions = {.seen = {0}};
	size_t count = 0;

	if (!is_equalities(condition, 0))
		return err_set(err, MSG_SEARCH_COMPARATOR);
	node_walk_paths(condition, count_path, &count);
	conditions.seen = seen_new(arena, count);
	node_walk_paths(condition, note_path, &conditions);
	if (conditions.is_nested)
		return err_set(err, MSG_SEARCH_NESTED);
	return conditions.is_twice ? err_set(err, MSG_SEARCH_TWICE) : OK;
}

/* Checks and parses the request alone. */
static enum code parse_search_vectors(struct call *call, const struct search_vectors_input *input,
				      float *query, struct expressions *out, struct err *err)
{
	struct expression_request request = {
		.projection = input->projection_expression,
		.search = input->search_condition_expression,
		.names = &input->expression_attribute_names,
		.values = input->expression_attribute_values,
		.judge = judge_search_condition,
	};
	enum code code = read_search_vector(call, &input->search_vector, query, err);

	if (code != OK)
		return code;
	/* AWS: this comes before the check that an expression uses them */
	code = call_check_values(call, err);
	if (code != OK)
		return code;
	code = expressions_check(call, &request, err);
	if (code != OK)
		return code;
	return expressions_parse(call, &request, out, err);
}

static const struct search_element *element_of(const struct vector_spec *spec, struct str name)
{
	for (size_t i = 0; i < spec->schema_count; i++) {
		if (str_eq(spec->schema[i].attribute.name, name))
			return &spec->schema[i];
	}
	return NULL;
}

static enum code check_equality(const struct vector_spec *spec, const struct node *node,
				const struct value **hash, struct err *err)
{
	bool is_path_first = node->args[0]->kind == NODE_PATH;
	const struct path *path = node->args[is_path_first ? 0 : 1]->path;
	const struct value *value = &node->args[is_path_first ? 1 : 0]->value;
	struct str name = path->steps[0].name;
	const struct search_element *element = element_of(spec, name);

	if (!element)
		return err_set(err, MSG_SEARCH_ATTRIBUTE, STR_ARG(name));
	if (value->type != element->attribute.type)
		return err_set(err, MSG_SEARCH_TYPE, STR_ARG(name),
			       type_name((enum type)value->type),
			       type_name(element->attribute.type));
	if (element->is_hash && value->n == 0)
		return err_set(err, MSG_KEY_EMPTY, value->type == TYPE_S ? "string" : "binary",
			       STR_ARG(name));
	if (element->is_hash)
		*hash = value;
	return OK;
}

/* Checks the condition against the SearchSchema; sets *hash to the value for its HASH element. */
static enum code check_search_condition(const struct vector_spec *spec, const struct node *node,
					const struct value **hash, struct err *err)
{
	if (node->kind != NODE_AND)
		return check_equality(spec, node, hash, err);
	enum code code = check_search_condition(spec, node->args[0], hash,
						err); /* is_equalities() saw how deep it is */
	if (code != OK)
		return code;
	return check_search_condition(spec, node->args[1], hash, err);
}

/* Checks the request against the table. */
static enum code resolve_search(struct call *call, const struct search_vectors_input *input,
				const struct expressions *expressions, struct vector_search *search,
				struct err *err)
{
	enum code code = call_table(call, input->table_name, ABSENT_RESOURCE, &search->table, err);

	if (code != OK)
		return code;
	search->index = table_vector(search->table, input->index_name);
	if (!search->index || !index_is_kept(search->index))
		return err_set(err, MSG_INDEX_UNKNOWN, STR_ARG(input->index_name));
	if (search->index->status == STATUS_CREATING || search->index->is_backfilling)
		return err_set(err, MSG_SEARCH_BACKFILLING, STR_ARG(search->index->name));
	const struct vector_spec *spec = search->index->vector;
	if (input->search_vector.n != spec->dimensions)
		return err_set(err, MSG_SEARCH_DIMENSIONS, input->search_vector.n,
			       spec->dimensions);
	search->condition = expressions->search;
	if (search->condition)
		code = check_search_condition(spec, search->condition, &search->hash, err);
	if (code != OK)
		return code;
	if (search->index->keys.hash_count > 0 && !search->hash)
		return err_set(err, MSG_SEARCH_HASH);
	return rules_key_paths(search->table, expressions, err);
}

/* Whether the index gives the vector back: it projects it, which KEYS_ONLY does not. */
static bool has_vector(const struct index *index)
{
	bool found = index->projection == PROJECT_ALL;

	for (size_t i = 0; i < index->included_count && !found; i++)
		found = str_eq(index->included[i], index->vector->attribute);
	return found;
}

/* The hit's item with the vector among its attributes. */
static enum code item_with_vector(struct call *call, const struct index *index,
				  const struct vector_hit *hit, struct value *item, struct err *err)
{
	uint32_t n = index->vector->dimensions;
	struct value *elements = ARENA_ARRAY(call->arena, struct value, n);

	if (!image_decode(call->arena, hit->image, item))
		return err_set(err, MSG_IMAGE_MALFORMED);
	for (uint32_t i = 0; i < n; i++) {
		struct buf text = buf_in(call->arena);
		char *bytes = arena_bytes(call->arena, NUMBER_MAX);
		size_t length;

		vector_format(hit->floats[i], &text);
		enum code code = number_parse(buf_str(&text), bytes, &length, err);
		if (code != OK)
			return code;
		elements[i] = value_of_str(TYPE_N, (struct str){bytes, length});
	}
	struct member *members = ARENA_ARRAY(call->arena, struct member, item->n + 1);
	if (item->n)
		memcpy(members, item->members, item->n * sizeof(*members));
	members[item->n] = (struct member){index->vector->attribute,
					   {.type = TYPE_L, .n = n, .elements = elements}};
	value_sort_members(members, item->n + 1, NULL);
	*item = (struct value){.type = TYPE_M, .n = item->n + 1, .members = members};
	return OK;
}

/* The vector as AWS writes its copy: "1.0" where the item has "1". */
static void write_hit_vector(struct json_out *out, const struct value *list)
{
	json_out_open(out, '{');
	json_out_name(out, STR("L"));
	json_out_open(out, '[');
	for (uint32_t i = 0; i < list->n; i++) {
		struct buf text = buf_in(out->buf.arena);

		vector_format(number_to_float(value_str(&list->elements[i])), &text);
		json_out_open(out, '{');
		json_out_field_string(out, "N", buf_str(&text));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static enum code write_hit_item(struct call *call, const struct index *index,
				const struct projection *projection, const struct vector_hit *hit,
				struct err *err)
{
	struct json_out *out = &call->out;
	struct subject subject = {call->arena, NULL, hit->image};
	struct value item;

	if (!projection || !has_vector(index) ||
	    !projection_has(projection, index->vector->attribute)) {
		respond_item(call, hit->image, projection);
		return OK;
	}
	enum code code = item_with_vector(call, index, hit, &item, err);
	if (code != OK)
		return code;
	subject.item = &item;
	struct value projected = expr_project(projection, &subject);
	json_out_open(out, '{');
	for (uint32_t i = 0; i < projected.n; i++) {
		json_out_name(out, projected.members[i].name);
		if (str_eq(projected.members[i].name, index->vector->attribute))
			write_hit_vector(out, &projected.members[i].value);
		else
			json_out_value(out, &projected.members[i].value);
	}
	json_out_close(out, '}');
	return OK;
}

/* The equality that names the partition, its path first; NULL where the whole index is searched. */
static const struct node *search_partition_of(const struct call *call,
					      const struct vector_spec *spec,
					      const struct node *node)
{
	if (!node || !work_is_noted(call))
		return NULL;
	if (node->kind == NODE_AND) {
		const struct node *left = search_partition_of(call, spec, node->args[0]);

		return left ? left : search_partition_of(call, spec, node->args[1]);
	}
	bool is_path_first = node->args[0]->kind == NODE_PATH;
	const struct search_element *element =
		element_of(spec, node->args[is_path_first ? 0 : 1]->path->steps[0].name);
	if (!element || !element->is_hash || is_path_first)
		return element && element->is_hash ? node : NULL;
	struct node *turned = ARENA_NEW(call->arena, struct node);
	const struct node **args = ARENA_ARRAY(call->arena, const struct node *, 2);
	*turned = *node;
	args[0] = node->args[1];
	args[1] = node->args[0];
	turned->args = args;
	return turned;
}

static enum code respond_search(struct call *call, const struct vector_search *search,
				const struct projection *projection, struct str wanted,
				struct err *err)
{
	struct json_out *out = &call->out;
	enum code code = OK;

	json_out_open(out, '{');
	json_out_name(out, STR("SearchResults"));
	json_out_open(out, '[');
	for (size_t i = 0; i < search->n && code == OK; i++) {
		json_out_open(out, '{');
		json_out_name(out, STR("Item"));
		code = write_hit_item(call, search->index, projection, &search->hits[i], err);
		json_out_name(out, STR("Score"));
		json_out_double(out, (double)search->hits[i].score);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	if (str_eq(wanted, STR("TOTAL")) || str_eq(wanted, STR("INDEXES"))) {
		double bytes = search->bytes < REQUEST_BYTES_MIN ? REQUEST_BYTES_MIN
								 : (double)search->bytes;

		json_out_name(out, STR("ConsumedCapacity"));
		json_out_open(out, '{');
		json_out_name(out, STR("VectorSearchRequestBytes"));
		json_out_units(out, bytes);
		json_out_name(out, STR("VectorSearchUnits")); /* AWS: always the same number; no
								 model names it */
		json_out_units(out, bytes);
		json_out_close(out, '}');
	}
	json_out_close(out, '}');
	return code;
}

enum code op_search_vectors(struct call *call, const struct search_vectors_input *input,
			    struct err *err)
{
	float *query = ARENA_ARRAY(call->arena, float, input->search_vector.n);
	struct catalog *catalog = call->service->catalog;
	struct vector_search search = {
		.store = catalog_store(catalog),
		.memory = catalog_vector_memory(catalog),
		.query = query,
		.top = (unsigned)input->top_k.value,
	};
	struct expressions expressions = {0};
	enum code code = check_search_members(input, err);

	if (code != OK)
		return code;
	code = parse_search_vectors(call, input, query, &expressions, err);
	if (code != OK)
		return code;
	code = resolve_search(call, input, &expressions, &search, err);
	if (code != OK)
		return code;
	struct work work = {
		.call = call,
		.kind = WORK_OF_SEARCH,
		.search = &search,
		.partition = search_partition_of(call, search.index->vector, search.condition),
		.projections = (const struct projection *const[]){expressions.projection},
	};
	code = work_do(&work, err);
	if (code != OK)
		return code;
	return respond_search(call, &search, expressions.projection,
			      input->return_consumed_capacity, err);
}
