/* BatchWriteItem. AWS: API Reference, BatchWriteItem. */
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/work/work.h"
#include "storage/write/write.h"

#define REQUESTS_MAX 25

/* The rules of the request alone; sets *total to the number of writes. */
static enum code check_batch_write(const struct batch_write_item_request_map *items, size_t *total,
				   struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < items->n; i++) {
		const struct write_requests *requests = &items->v[i].value;

		for (size_t j = 0; j < requests->n; j++) {
			const struct write_request *request = &requests->v[j];
			enum code code = OK;

			if (!request->put_request == !request->delete_request)
				return err_set(err, MSG_BATCH_ONE_OF);
			if (request->put_request)
				code = rules_item_size(request->put_request->item, err);
			if (code != OK)
				return code;
			if (++n > REQUESTS_MAX)
				return err_set(err, MSG_BATCH_MANY, "BatchWriteItem");
		}
	}
	*total = n;
	return OK;
}

/* Whether an earlier write is of the same item; a request can name a table twice, by its name and
 * its ARN. */
static bool is_repeated(const struct write *first, const struct write *write)
{
	for (; first < write; first++) {
		if (first->table == write->table && str_eq(first->row_key, write->row_key))
			return true;
	}
	return false;
}

/* The requests of one table, into writes[from ..]. */
static enum code prepare_table_writes(struct call *call, struct str table_name,
				      const struct write_requests *requests, struct write *all,
				      size_t from, struct err *err)
{
	struct write *writes = all + from;
	struct table *table;
	enum code code = call_table(call, table_name, ABSENT_RESOURCE, &table, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < requests->n; i++) {
		const struct write_request *request = &requests->v[i];

		writes[i].table = table;
		writes[i].is_batch = writes[i].is_global_first = true;
		writes[i].kind = request->put_request ? WRITE_PUT : WRITE_DELETE;
		if (request->put_request)
			writes[i].item = request->put_request->item;
		else
			writes[i].key = request->delete_request->key;
		code = write_prepare(call->arena, &writes[i], err);
		if (code != OK)
			return code;
		if (is_repeated(all, &writes[i]))
			return err_set(err, MSG_BATCH_DUPLICATES);
	}
	return OK;
}

/* Those that are left out, table by table. */
static void write_unprocessed_items(struct call *call,
				    const struct batch_write_item_request_map *items,
				    const bool *left_out)
{
	struct json_out *out = &call->out;
	size_t first = 0;

	for (size_t i = 0; i < items->n; first += items->v[i++].value.n) {
		const struct write_requests *requests = &items->v[i].value;
		bool is_open = false;

		for (size_t j = 0; j < requests->n; j++) {
			const struct write_request *request = &requests->v[j];

			if (!left_out[first + j])
				continue;
			if (!is_open) {
				json_out_name(out, items->v[i].key);
				json_out_open(out, '[');
				is_open = true;
			}
			json_out_open(out, '{');
			json_out_name(out, request->put_request ? STR("PutRequest")
								: STR("DeleteRequest"));
			json_out_open(out, '{');
			json_out_name(out, request->put_request ? STR("Item") : STR("Key"));
			json_out_item(out, request->put_request ? request->put_request->item
								: request->delete_request->key);
			json_out_close(out, '}');
			json_out_close(out, '}');
		}
		if (is_open)
			json_out_close(out, ']');
	}
}

static void respond_batch_write(struct call *call, const struct batch_write_item_input *input,
				const struct write *writes, size_t n, const bool *left_out)
{
	for (size_t i = 0; i < n; i++)
		call_charge(call, &writes[i].cost);
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("UnprocessedItems"));
	json_out_open(&call->out, '{');
	if (left_out)
		write_unprocessed_items(call, &input->request_items, left_out);
	json_out_close(&call->out, '}');
	respond_metrics_by_table(call, input->return_item_collection_metrics, writes, n);
	respond_capacities(call, input->return_consumed_capacity, CAPACITY_WRITE);
	json_out_close(&call->out, '}');
}

enum code op_batch_write_item(struct call *call, const struct batch_write_item_input *input,
			      struct err *err)
{
	const struct batch_write_item_request_map *items = &input->request_items;
	size_t total = 0, done = 0;
	enum code code = call_check_late(call, err); /* malformed names of tables */

	if (code != OK)
		return code;
	code = check_batch_write(items, &total, err);
	if (code != OK)
		return code;
	struct write *writes = ARENA_ARRAY(call->arena, struct write, total);
	struct table *table;

	for (size_t i = 0; code == OK && i < items->n; i++) /* every table comes before any key */
		code = call_table(call, items->v[i].key, ABSENT_RESOURCE, &table, err);
	for (size_t i = 0; code == OK && i < items->n; done += items->v[i++].value.n)
		code = prepare_table_writes(call, items->v[i].key, &items->v[i].value, writes, done,
					    err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < total; i++)
		writes[i].wants_collection_size =
			respond_wants_metrics(input->return_item_collection_metrics);
	struct work work = {.call = call, .writes = writes, .n = total, .mode = WRITE_BATCH};
	code = work_meet(&work, err);
	if (code != OK)
		return code;
	bool *left_out = work_may_leave_out(call) ? ARENA_ARRAY(call->arena, bool, total) : NULL;
	code = left_out ? work_run_batch(&work, left_out, err) : work_run(&work, err);
	if (code != OK)
		return code;
	respond_batch_write(call, input, writes, work.n, left_out);
	return OK;
}
