#include "storage/repair_internal.h"

#define COMMIT_BYTES (1024 * 1024)

void repair_begin(struct repair *repair)
{
	repair->pending = 0;
	repair->txn = NULL;
	repair->code = store_begin(repair->to, STORE_WRITE, &repair->txn, repair->err);
}

void repair_commit(struct repair *repair)
{
	struct store_txn *txn = repair->txn;

	repair->txn = NULL;
	repair->code = store_commit(txn, repair->err);
}

/* Commits once much is pending. */
void repair_put_note(struct repair *repair, size_t bytes)
{
	repair->pending += bytes;
	if (repair->code == OK && repair->pending > COMMIT_BYTES) {
		repair_commit(repair);
		if (repair->code == OK)
			repair_begin(repair);
	}
}

void repair_put(struct repair *repair, struct keyspace keyspace, struct str key, struct str value)
{
	if (repair->code == OK)
		repair->code = store_put(repair->txn, keyspace, key, value, repair->err);
	repair_put_note(repair, key.n + value.n);
}

void repair_set_aside(struct repair *repair, const struct salvage_row *row, const char *reason)
{
	struct salvage_row aside = *row;

	if (!aside.reason)
		aside.reason = reason;
	repair->report->aside++;
	repair->report->set_aside(repair->report->context, repair->table, &aside);
}

void repair_tell(struct repair *repair, struct str what)
{
	const struct table *table = repair->table;

	repair->report->losses++;
	repair->report->tell(
		repair->report->context,
		str_printf(repair->row,
			   "table " STR_FMT " (account " STR_FMT ", region " STR_FMT "): " STR_FMT,
			   STR_ARG(table->identity.name), STR_ARG(table->identity.account),
			   STR_ARG(table->identity.region), STR_ARG(what)));
}
