/*
 * ask_statements - what PartiQL statements ask for. ops.def names the function of each operation.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ASK_STATEMENTS_H
#define DYNALITH_PROTOCOL_IAM_ASK_STATEMENTS_H

#include "protocol/iam/asking.h"

void iam_ask_execute_statement(struct iam_asking *asking);
void iam_ask_batch_execute_statement(struct iam_asking *asking);
void iam_ask_execute_transaction(struct iam_asking *asking);

#endif
