#include "server/transfer/transfer_rows.h"

#include "core/key.h"

struct store_range transfer_rows_partition(struct arena *arena, const struct transfer_body *body,
					   uint32_t partition)
{
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};

	key_segment(arena, (enum key_hash)body->hash, partition, (uint32_t)body->partitions,
		    &range.low, &range.high);
	return range;
}

enum code transfer_rows_read(struct job_step *step, const struct store_range *range, size_t bytes,
			     struct store_page *page, struct err *err)
{
	struct keyspace keyspace = {step->job->data, PART_ITEMS};
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(step->catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = store_page(txn, keyspace, range, (struct store_bounds){.bytes = bytes}, step->arena,
			  page, err);
	store_abort(txn);
	return code;
}

enum code transfer_rows_end(struct job_step *step, struct err *err)
{
	struct keyspace keyspace = {step->job->data, PART_ITEMS};
	struct job_txn txn;

	if (!step->job->data)
		return OK;
	enum code code = job_run_begin(step, &txn, err);
	if (code != OK)
		return code;
	step->job->data = 0;
	code = store_drop(txn.txn, keyspace, err);
	if (code == OK)
		return job_run_commit(step, &txn, err);
	store_abort(txn.txn);
	return code;
}
