/*
 * ask_control - what the operations on tables, backups, streams and jobs ask for. ops.def names the
 * function of each operation.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ASK_CONTROL_H
#define DYNALITH_PROTOCOL_IAM_ASK_CONTROL_H

#include "protocol/iam/asking.h"

/* Its own action on the resource that the request names. */
void iam_ask_control(struct iam_asking *asking);

/* The same, of a scalable target: application-autoscaling:RegisterScalableTarget. */
void iam_ask_scaling(struct iam_asking *asking);

/* The same, and more on that table or another one. */
void iam_ask_create_table(struct iam_asking *asking);
void iam_ask_update_table(struct iam_asking *asking);
void iam_ask_restore(struct iam_asking *asking);

#endif
