/*
 * sizes - items that validation refuses for their size. They are refused before policies are asked, so that nobody pays for policies over names and values that
 * no table takes. The operations check them again, in their own order; both read the request alone, so a refusal here says nothing about a table.
 */
#ifndef DYNALITH_PROTOCOL_IAM_SIZES_H
#define DYNALITH_PROTOCOL_IAM_SIZES_H

#include "core/err.h"
#include "core/str.h"

/* `input` is the operation's, as shape_bind made it. ERR_VALIDATION. */
enum code iam_sizes_check(struct str operation, const void *input, struct err *err) WARN_UNUSED;

#endif
