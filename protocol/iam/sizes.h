/*
 * sizes - refuses items above 400 KB before IAM asks policies about their names and values.
 *
 * Policies cost CPU for each name and value. The operations check sizes again, in their own order.
 * Both checks read the request alone, so a refusal says nothing about a table.
 */
#ifndef DYNALITH_PROTOCOL_IAM_SIZES_H
#define DYNALITH_PROTOCOL_IAM_SIZES_H

#include "core/err.h"
#include "protocol/ops.h"

/* `input` is the operation's, as shape_bind made it. ERR_VALIDATION. */
enum code iam_sizes_check(enum op_id operation, const void *input, struct err *err) WARN_UNUSED;

#endif
