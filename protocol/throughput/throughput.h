/*
 * throughput - the limits of a table's throughput, enforced: what exceeds them is throttled in
 * AWS's words.
 *
 * It is off until an option or a test sets it for a namespace or for some of its tables. A request
 * is admitted by what it has cost, as its ConsumedCapacity shows it: reads when they have read and
 * before they answer, writes within their transaction and before its commit. A write takes from the
 * table and from each global index whose rows it changes; where one of them is empty the write is
 * refused, and nothing is written. A condition that failed costs, too. What costs nothing here:
 * time to live, and whatever else the server does by itself.
 *
 * The buckets belong to the process, as the rules of faults do: a row per table that each write
 * changes would make all its writers wait for each other. Of several servers on one database each
 * limits what it serves itself; "servers" in the settings makes it a share. Time is the namespace's
 * clock, so a test turns it by a minute and has the tokens of a minute. The page docs/testing.md
 * describes the JSON.
 *
 * The shelf protocol/throughput/ holds the arithmetic (bucket), what a table has (meter), the
 * settings, the namespaces that have some, and how requests are admitted (admission). Thread-safe.
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_H
#define DYNALITH_PROTOCOL_THROUGHPUT_H

#include "protocol/handler.h"
#include "protocol/ops.h"
#include "storage/read.h"

#define THROUGHPUT_NAMESPACES_MAX                                                                  \
	4096 /* whose throughput is enforced; by the option, further ones are not limited */
#define THROUGHPUT_TABLES_MAX                                                                      \
	10000 /* of a namespace; of more, those that were used longest ago begin again with full   \
		 buckets */

struct throughput_limits;

/* `is_shared`: all namespaces are one. */
struct throughput_limits *throughput_new(bool is_shared);
void throughput_free(struct throughput_limits *throughput);

/* From now on it is enforced for all namespaces that have no settings of their own. */
void throughput_enforce(struct throughput_limits *throughput);

/* The namespace's settings become those of the body, and all buckets and counts begin again.
 * ERR_VALIDATION: nothing was changed. */
enum code throughput_set(struct throughput_limits *throughput, struct ns ns, struct str body,
			 struct err *err) WARN_UNUSED;
/* The namespace has no settings and buckets any more; `ns` NULL: no namespace has. */
void throughput_clear(struct throughput_limits *throughput, const struct ns *ns);
/* The settings, and of each table that was used since: what is left, what was consumed, what was
 * throttled. */
enum code throughput_describe(const struct service *service, struct arena *arena, struct ns ns,
			      struct str *out, struct err *err) WARN_UNUSED;

/* How often this process has refused something: the i-th reason of throttling, or false where there
 * is no such. */
bool throughput_throttled(const struct throughput_limits *throughput, size_t i, const char **reason,
			  uint64_t *n);

/* Whether it may be enforced for any namespace. */
bool throughput_is_on(const struct throughput_limits *throughput);

/*
 * For op_run. throughput_begin: what the call consumes from now on is counted; ERR_THROTTLING where
 * the operation is called too often. throughput_again, also where nothing is limited: the handler
 * is run once more, and what it took is given back. throughput_end: with the code of the request;
 * what failed and is not billed is given back.
 */
enum code throughput_begin(struct throughput_limits *throughput, struct call *call,
			   enum op_id operation, struct err *err) WARN_UNUSED;
void throughput_again(struct call *call);
void throughput_end(struct call *call, enum code code);

#endif
