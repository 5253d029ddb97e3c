/* BatchGetItem. AWS: API Reference, BatchGetItem. */
#include "core/image.h"
#include "core/seen.h"
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/table_gates.h"
#include "protocol/work/work.h"
#include "storage/read.h"

#define KEYS_MAX 100
#define RESPONSE_SIZE_MAX (16u * 1024 * 1024) /* bytes of items by DynamoDB's rules */

/* One table's share of the request; its items are reads[first .. first + keys.n). */
struct share {
	struct str name; /* as given */
	const struct keys_and_attributes *wanted;
	struct expressions expressions;
	size_t first;
	size_t done; /* items that fit into the response, and among them */
	size_t left_out; /* those that are not in it */
};

static enum code check_duplicates(struct call *call, const struct key_list *keys, struct err *err)
{
	struct seen seen = seen_new(call->arena, keys->n);

	/* Images, because equal values have equal ones; the table is not known yet. */
	for (size_t i = 0; i < keys->n; i++) {
		struct buf image = buf_in(call->arena);

		image_encode(keys->v[i], &image);
		if (!seen_add(&seen, buf_str(&image)))
			return err_set(err, MSG_BATCH_DUPLICATES);
	}
	return OK;
}

static enum code parse_share(struct call *call, struct share *share, struct err *err)
{
	struct expression_request request = {
		.projection = share->wanted->projection_expression,
		.names = &share->wanted->expression_attribute_names,
		.legacy = {{"AttributesToGet", share->wanted->attributes_to_get.v != NULL}},
	};
	struct projection *attributes = NULL;
	enum code code = expressions_check(call, &request, err);

	if (code != OK)
		return code;
	code = legacy_projection(call->arena, &share->wanted->attributes_to_get, &attributes, err);
	if (code != OK)
		return code;
	code = expressions_parse(call, &request, &share->expressions, err);
	if (code != OK)
		return code;
	if (attributes)
		share->expressions.projection = attributes;
	return check_duplicates(call, &share->wanted->keys, err);
}

/* The rules of the request alone: fills shares, sets *total to the number of keys. */
static enum code parse_shares(struct call *call, const struct batch_get_request_map *items,
			      struct share *shares, size_t *total, struct err *err)
{
	bool has_projection = false, has_attributes = false;
	size_t n = 0;

	for (size_t i = 0; i < items->n; i++) {
		shares[i] = (struct share){
			.name = items->v[i].key, .wanted = &items->v[i].value, .first = n};
		if (shares[i].wanted->keys.n > KEYS_MAX)
			return err_set(err, MSG_BATCH_KEYS_MANY, STR_ARG(shares[i].name));
		n += shares[i].wanted->keys.n;
		has_projection =
			has_projection || str_is_set(shares[i].wanted->projection_expression);
		has_attributes = has_attributes || shares[i].wanted->attributes_to_get.v;
	}
	if (n > KEYS_MAX)
		return err_set(err, MSG_BATCH_MANY, "BatchGetItem");
	if (has_projection && has_attributes) /* AWS: also where each table has one of the two */
		return err_set(err, MSG_EXPRESSIONS_MIXED, STR_ARG(STR("AttributesToGet")),
			       STR_ARG(STR("ProjectionExpression")));
	for (size_t i = 0; i < items->n; i++) {
		enum code code = parse_share(call, &shares[i], err);

		if (code != OK)
			return code;
	}
	*total = n;
	return OK;
}

/* Whether one of the first n reads is of the same item: those of a table that the request names
 * twice, by its name and its ARN. */
static bool is_repeated(const struct read_item *reads, size_t n, const struct read_item *read)
{
	for (size_t i = 0; i < n; i++) {
		if (reads[i].table == read->table && str_eq(reads[i].row_key, read->row_key))
			return true;
	}
	return false;
}

static enum code prepare_share(struct call *call, const struct share *share,
			       struct read_item *reads, struct err *err)
{
	struct table_passage passage = {
		.call = call, .name = share->name, .expressions = &share->expressions};
	enum code code = table_gates_pass(ORDER_NAMED, &passage, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < share->wanted->keys.n; i++) {
		struct read_item *read = &reads[share->first + i];

		read->table = passage.table;
		read->key = share->wanted->keys.v[i];
		read->mode = opt_is_true(share->wanted->consistent_read) ? READ_CONSISTENT
									 : READ_EVENTUAL;
		code = read_prepare(call->arena, read, err);
		if (code != OK)
			return code;
		if (is_repeated(reads, share->first, read))
			return err_set(err, MSG_BATCH_DUPLICATES);
	}
	return OK;
}

/* What the response has, and what it leaves out. */
struct progress {
	size_t size;      /* bytes of items */
	size_t processed;
	bool *left_out;   /* of all reads */
	struct err first; /* why the throughput refused one */
};

/* Whether a fault or the throughput leaves the item out. */
static bool leaves_out(struct call *call, const struct read_item *reads, size_t i,
		       struct progress *progress)
{
	struct err own = err_in(call->arena);

	progress->left_out[i] = work_leaves_out(call, i);
	if (!progress->left_out[i] && work_admit_read(call, &reads[i], &own) != OK) {
		progress->left_out[i] = true;
		if (progress->first.code == OK)
			progress->first = own;
	}
	return progress->left_out[i];
}

static void expect_items(struct json_out *out, const struct read_item *reads, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n && bytes <= RESPONSE_SIZE_MAX; i++)
		bytes += reads[i].image.n;
	json_out_expect(out, n, bytes);
}

static void write_items(struct call *call, struct share *share, const struct read_item *reads,
			struct progress *progress)
{
	if (!share->expressions.projection)
		expect_items(&call->out, reads + share->first, share->wanted->keys.n);
	json_out_name(&call->out, share->name);
	json_out_open(&call->out, '[');
	for (; share->done < share->wanted->keys.n; share->done++) {
		struct str image = reads[share->first + share->done].image;

		if (progress->size + image_item_size(image) > RESPONSE_SIZE_MAX &&
		    !work_leaves_out(call, share->first + share->done)) {
			progress->size = RESPONSE_SIZE_MAX + 1; /* the next tables have none */
			break;
		}
		if (leaves_out(call, reads, share->first + share->done, progress)) {
			share->left_out++;
			continue;
		}
		progress->size += image_item_size(image);
		progress->processed++;
		if (str_is_set(image))
			respond_item(call, image, share->expressions.projection);
	}
	json_out_close(&call->out, ']');
}

/* The table's part of the request, with the keys that are left. */
static void write_unprocessed_keys(struct call *call, const struct share *share,
				   const bool *left_out)
{
	const struct keys_and_attributes *wanted = share->wanted;
	struct json_out *out = &call->out;

	json_out_name(out, share->name);
	json_out_open(out, '{');
	json_out_name(out, STR("Keys"));
	json_out_open(out, '[');
	for (size_t i = 0; i < wanted->keys.n; i++)
		if (i >= share->done || left_out[share->first + i])
			json_out_item(out, wanted->keys.v[i]);
	json_out_close(out, ']');
	if (wanted->attributes_to_get.v) {
		json_out_name(out, STR("AttributesToGet"));
		json_out_open(out, '[');
		for (size_t i = 0; i < wanted->attributes_to_get.n; i++)
			json_out_string(out, wanted->attributes_to_get.v[i]);
		json_out_close(out, ']');
	}
	if (wanted->consistent_read.is_set)
		json_out_field_boolean(out, "ConsistentRead", wanted->consistent_read.value);
	if (str_is_set(wanted->projection_expression))
		json_out_field_string(out, "ProjectionExpression", wanted->projection_expression);
	if (wanted->expression_attribute_names.v) {
		json_out_name(out, STR("ExpressionAttributeNames"));
		json_out_open(out, '{');
		for (size_t i = 0; i < wanted->expression_attribute_names.n; i++) {
			json_out_name(out, wanted->expression_attribute_names.v[i].key);
			json_out_string(out, wanted->expression_attribute_names.v[i].value);
		}
		json_out_close(out, '}');
	}
	json_out_close(out, '}');
}

/* An error of throttling where it is the reason that the response has nothing. AWS: API Reference,
 * BatchGetItem. */
static enum code respond_shares(struct call *call, int wanted_capacity, struct share *shares,
				size_t n, const struct read_item *reads, struct progress *progress,
				struct err *err)
{
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("Responses"));
	json_out_open(&call->out, '{');
	for (size_t i = 0; i < n; i++) {
		write_items(call, &shares[i], reads, progress);
		for (size_t j = 0; j < shares[i].done; j++)
			if (!progress->left_out[shares[i].first + j])
				call_charge(call, &reads[shares[i].first + j].cost);
	}
	json_out_close(&call->out, '}');
	if (progress->processed == 0 && progress->first.code != OK) {
		*err = progress->first;
		return err->code;
	}
	json_out_name(&call->out, STR("UnprocessedKeys"));
	json_out_open(&call->out, '{');
	for (size_t i = 0; i < n; i++)
		if (shares[i].done - shares[i].left_out < shares[i].wanted->keys.n)
			write_unprocessed_keys(call, &shares[i], progress->left_out);
	json_out_close(&call->out, '}');
	respond_capacities(call, wanted_capacity, CAPACITY_READ);
	json_out_close(&call->out, '}');
	return OK;
}

enum code op_batch_get_item(struct call *call, const struct batch_get_item_input *input,
			    struct err *err)
{
	size_t n = input->request_items.n, total = 0;
	struct share *shares = ARENA_ARRAY(call->arena, struct share, n);
	enum code code = parse_shares(call, &input->request_items, shares, &total, err);

	if (code != OK)
		return code;
	struct read_item *reads = ARENA_ARRAY(call->arena, struct read_item, total);
	struct table *table;

	for (size_t i = 0; code == OK && i < n; i++) /* every table comes before any key */
		code = call_table(call, shares[i].name, ABSENT_RESOURCE, &table, err);
	for (size_t i = 0; code == OK && i < n; i++)
		code = prepare_share(call, &shares[i], reads, err);
	struct work work = {.call = call, .kind = WORK_OF_BATCH, .reads = reads, .n = total};
	if (code != OK)
		return code;
	code = work_do(&work, err);
	if (code != OK)
		return code;
	struct progress progress = {.left_out = ARENA_ARRAY(call->arena, bool, total)};
	return respond_shares(call, input->return_consumed_capacity, shares, n, reads, &progress,
			      err);
}
