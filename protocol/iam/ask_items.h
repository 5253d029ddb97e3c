/*
 * ask_items - what the operations on items ask for. ops.def names the function of each operation.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ASK_ITEMS_H
#define DYNALITH_PROTOCOL_IAM_ASK_ITEMS_H

#include "protocol/iam/asking.h"

void iam_ask_get_item(struct iam_asking *asking);
void iam_ask_put_item(struct iam_asking *asking);
void iam_ask_update_item(struct iam_asking *asking);
void iam_ask_delete_item(struct iam_asking *asking);
void iam_ask_query(struct iam_asking *asking);
void iam_ask_scan(struct iam_asking *asking);
void iam_ask_search_vectors(struct iam_asking *asking);
void iam_ask_batch_get_item(struct iam_asking *asking);
void iam_ask_batch_write_item(struct iam_asking *asking);
void iam_ask_transact_get_items(struct iam_asking *asking);
void iam_ask_transact_write_items(struct iam_asking *asking);

#endif
