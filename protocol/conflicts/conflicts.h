/*
 * conflicts - transactions that meet: with `conflicts: real` an item that a transaction is about
 * refuses other requests until the transaction is done, as at AWS, instead of letting them wait for
 * their turn.
 *
 * AWS: Developer Guide, "Transaction conflict handling in DynamoDB": PutItem, UpdateItem and
 * DeleteItem fail with TransactionConflictException where a TransactWriteItems is under way for the
 * item; a TransactWriteItems is canceled where another one or a single write is, with the reason
 * TransactionConflict; a TransactGetItems, too. Others are not refused: single writes wait for each
 * other, and GetItem, Query and Scan see what is committed. A BatchWriteItem has no such error in
 * the API's model: its members come back as UnprocessedItems. A repeated transaction whose first
 * one is still under way gets TransactionInProgressException.
 *
 * A request is under way from when its parameters and keys were found good until it is done; one
 * that a fault rule holds, all the while. Which items are busy is known to this process alone:
 * requests to other servers on the same database wait for their turn.
 *
 * The shelf protocol/conflicts/ holds this and nothing else. Thread-safe.
 */
#ifndef DYNALITH_PROTOCOL_CONFLICTS_H
#define DYNALITH_PROTOCOL_CONFLICTS_H

#include <stdatomic.h>

#include "protocol/handler.h"
#include "storage/read.h"

#define CONFLICT_NAMESPACES_MAX 4096 /* that have a setting of their own */

struct conflicts;
struct conflict_ticket;

/* `is_real`: for namespaces without a setting. `is_shared`: all namespaces are one. */
struct conflicts *conflicts_new(bool is_real, bool is_shared);
void conflicts_free(struct conflicts *conflicts);

/* The namespace's own setting; ERR_VALIDATION for too many. And back to the usual one. */
enum code conflicts_set(struct conflicts *conflicts, struct ns ns, bool is_real,
			struct err *err) WARN_UNUSED;
void conflicts_clear(struct conflicts *conflicts, struct ns ns);
bool conflicts_are_real(struct conflicts *conflicts, struct ns ns);

/* Whether any namespace has them: one load, for those that never have. */
bool conflicts_are_on(const struct conflicts *conflicts);

/*
 * For protocol/work, where conflicts_are_on(). The items are busy until conflict_end(), or the call
 * is refused as above. The handler may run again: the same items of the same call change nothing.
 */
enum code conflict_at_writes(struct call *call, const struct write *writes, size_t n,
			     enum write_mode mode, struct err *err) WARN_UNUSED;
enum code conflict_at_reads(struct call *call, const struct read_item *reads, size_t n,
			    struct err *err) WARN_UNUSED;
enum code conflict_at_token(struct call *call, const struct write_token *token,
			    struct err *err) WARN_UNUSED;

/* Whether the i-th member of a batch, as the hook saw them, stays undone. */
bool conflict_leaves_out(const struct call *call, size_t i);

/* The ticket of the items that are busy by the call; NULL: none are. A call that is run again from
 * its start goes on with the ticket that it had. */
struct conflict_ticket *conflict_ticket(const struct call *call);
void conflict_resume(struct call *call, struct conflict_ticket *ticket);

/* Nothing is busy any more by the ticket, which goes; NULL: nothing. */
void conflict_end(struct conflict_ticket *ticket);

#endif
