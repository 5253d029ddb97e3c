/*
 * literal - whether a text in a policy is a value of the type that an operator compares.
 *
 * The checks of policies that are put. condition.h compares values, and takes a date only in the
 * form that requests have.
 */
#ifndef DYNALITH_PROTOCOL_IAM_LITERAL_H
#define DYNALITH_PROTOCOL_IAM_LITERAL_H

#include "core/arena.h"
#include "core/str.h"

/* Seconds since 1970, or a date of ISO 8601 in the loose form that AWS takes. */
bool iam_literal_is_date(struct str text);

bool iam_literal_is_number(struct arena *arena, struct str text);

bool iam_literal_is_binary(struct arena *arena, struct str text);

/* "true" or "false", regardless of case. */
bool iam_literal_is_boolean(struct str text);

/* An address of IPv4 or IPv6: its bytes, and their number; 0: none. */
size_t iam_literal_address(struct str text, unsigned char bytes[16]);

/* An address, or a network as address/bits: also *bits of it count. The address's number of bytes;
 * 0: none. */
size_t iam_literal_network(struct str text, unsigned char bytes[16], unsigned *bits);

#endif
