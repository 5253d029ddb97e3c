/*
 * number_order - the order in which AWS's older layer writes the members of a number set: that of a
 * Java HashSet<BigDecimal> into which they come by value. The newer layer, which serves GetItem,
 * BatchGetItem, Query and the single writes, writes them by value.
 *
 * Source: sets of up to 17 numbers in Scan, TransactGetItems, PartiQL, cancellation reasons and
 * stream records, October 2026.
 */
#ifndef DYNALITH_PROTOCOL_NUMBER_ORDER_H
#define DYNALITH_PROTOCOL_NUMBER_ORDER_H

#include <stddef.h>

#include "core/arena.h"

/* Brings the members of "1","2",...: canonical numbers in the order of their values, into that
 * order. Where the arena is over it does nothing. */
void number_order(struct arena *arena, char *text, size_t n);

#endif
