#include "protocol/iam/sizes.h"

#include "protocol/rules.h"
#include "protocol/wire/shapes.h"

static enum code check_batch(const struct batch_write_item_input *input, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < input->request_items.n; i++) {
		const struct write_requests *writes = &input->request_items.v[i].value;

		for (size_t k = 0; k < writes->n && code == OK; k++) {
			if (writes->v[k].put_request)
				code = rules_item_size(writes->v[k].put_request->item, err);
		}
	}
	return code;
}

static enum code check_transaction(const struct transact_write_items_input *input, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < input->transact_items.n && code == OK; i++) {
		if (input->transact_items.v[i].put)
			code = rules_item_size(input->transact_items.v[i].put->item, err);
	}
	return code;
}

enum code iam_sizes_check(enum op_id operation, const void *input, struct err *err)
{
	if (operation == OP_PutItem)
		return rules_item_size(((const struct put_item_input *)input)->item, err);
	if (operation == OP_BatchWriteItem)
		return check_batch(input, err);
	return operation == OP_TransactWriteItems ? check_transaction(input, err) : OK;
}
