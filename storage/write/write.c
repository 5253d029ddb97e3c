#include "storage/write/write.h"

#include "core/capacity.h"
#include "storage/catalog/catalog_size.h"
#include "storage/messages.h"
#include "storage/schema/currency.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"
#include "storage/stream/stream.h"
#include "storage/vector/vector_row.h"
#include "storage/write/write_internal.h"

const char *write_reason(enum code code)
{
	switch (code) {
	case OK:
		return "None";
	case ERR_CONDITIONAL_CHECK_FAILED:
		return "ConditionalCheckFailed";
	case ERR_DUPLICATE_ITEM:
		return "DuplicateItem";
	case ERR_ITEM_COLLECTION_SIZE:
	case ERR_DATA_LIMIT:
		return "ItemCollectionSizeLimitExceeded";
	case ERR_TRANSACTION_CONFLICT:
		return "TransactionConflict";
	case ERR_THROUGHPUT_EXCEEDED:
		return "ProvisionedThroughputExceeded";
	case ERR_THROTTLING:
		return "ThrottlingError";
	case ERR_REQUEST_LIMIT_EXCEEDED:
		return "RequestLimitExceeded";
	case ERR_ACCESS_DENIED:
		return "AccessDenied";
	case ERR_RESOURCE_NOT_FOUND:
		return "ResourceNotFound";
	default:
		return "ValidationError";
	}
}

bool write_is_reason(enum code code)
{
	return err_is_validation(code) || code == ERR_CONDITIONAL_CHECK_FAILED ||
	       code == ERR_ITEM_COLLECTION_SIZE;
}

enum code write_canceled(struct err *reasons, size_t n, struct err *err)
{
	struct buf codes = buf_in(err->arena);

	for (size_t i = 0; i < n; i++)
		buf_printf(&codes, "%s%s", i ? ", " : "", write_reason(reasons[i].code));
	enum code code = err_set(err, MSG_TRANSACTION_CANCELED, STR_ARG(buf_str(&codes)));
	err->reasons = reasons;
	err->reason_count = n;
	return code;
}

/* And whether the request may go on. */
static enum code write_within(struct write_step *step, struct err *err)
{
	enum code code = write_one(step, err);

	if (code != OK)
		return code;
	return err_if_over(step->arena, err);
}

static enum code run_all(struct run *run, struct err *err)
{
	struct err *reasons =
		run->mode == WRITE_TRANSACTION ? ARENA_ARRAY(run->arena, struct err, run->n) : NULL;
	bool has_failed = false;

	memset(run->sizes, 0, run->total * sizeof(*run->sizes));
	run->stream.endings = NULL;
	for (size_t i = 0; i < run->n; i++) {
		struct write_step step = {
			run->txn,
			run->arena,
			&run->writes[i],
			run->mode == WRITE_TRANSACTION,
			run->sizes[i],
			&run->stream,
			run->now_ms,
			run->collection_max,
			&run->scopes[i],
			run->catalog,
			run->vectors,
			run->histories ? write_history_of(run, i, run->now_ms) : NULL,
		};
		struct err own = err_in(run->arena);
		enum code code = write_within(&step, reasons ? &own : err);
		if (code != OK && (!reasons || !write_is_reason(code))) {
			if (reasons)
				*err = own;
			return code;
		}
		if (reasons)
			reasons[i] = own;
		has_failed = has_failed || code != OK;
	}
	return has_failed ? write_canceled(reasons, run->n, err) : OK;
}

static enum code size_collections(struct run *run, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < run->n; i++) {
		struct write *write = &run->writes[i];

		if (write->wants_collection_size && write->kind != WRITE_CHECK &&
		    table_has_collections(write->table))
			code = write_size_collection(run->catalog, run->txn, run->arena, write,
						     &run->scopes[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Of each write: the larger of the item's images, by what reading it costs. */
static struct str note_run_sizes(struct run *run)
{
	struct buf sizes = buf_in(run->arena);

	for (size_t i = 0; i < run->n; i++) {
		const struct write *write = &run->writes[i];
		size_t old = vector_row_read_size(write->table, run->arena, write->old_image),
		       new = vector_row_read_size(write->table, run->arena, write->new_image);

		buf_add_be32(&sizes, (uint32_t)(old > new ? old : new));
	}
	return buf_str(&sizes);
}

/* AWS: a repeated transaction writes nothing and costs the reading of the items that the first one
 * was charged for, also of one that it deleted; captured 2026-10 (dynoxide 3.2.0). */
static void charge_reads(struct run *run, struct str sizes)
{
	struct row_reader row = row_read(sizes);

	for (size_t i = 0; i < run->n; i++) {
		struct write *write = &run->writes[i];
		size_t size = row_u32(&row);

		if (row.is_cut) /* of an older data file */
			size = vector_row_read_size(write->table, run->arena, write->old_image);
		write->cost = (struct cost){.table = write->table};
		write->cost.base.read = capacity_read(size, READ_TRANSACTIONAL);
	}
}

/* Before the commit, so that a flush sees that the changes are under way. */
static enum code join_sizes(struct run *run, struct err *err)
{
	for (size_t i = 0; i < run->total; i++) {
		const struct write *write = &run->writes[i];
		enum code code = catalog_size_count(run->txn, write->table, &run->scopes[i],
						    write->row_key, run->sizes[i], err);

		if (code != OK)
			return code;
		code = catalog_size_join(run->catalog, run->txn, write->table, &run->scopes[i],
					 run->sizes[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

static void leave_sizes(struct run *run, enum code code)
{
	for (size_t i = 0; i < run->total; i++)
		catalog_size_leave(run->writes[i].table, &run->scopes[i], run->sizes[i], code);
}

/* What became of the writes, or why they may not be. */
static enum code ask(struct run *run, enum code code, struct err *err)
{
	const struct write_admission *admission = run->admission;
	bool is_billed = code == OK || code == ERR_CONDITIONAL_CHECK_FAILED ||
			 code == ERR_TRANSACTION_CANCELED;

	return admission && is_billed
		       ? admission->ask(admission->context, run->writes, run->n, code, err)
		       : code;
}

/* The reasons of a transaction that is cancelled are of one moment, as are the items that it would
 * have written. Else it runs again. */
static enum code verify(struct run *run, enum code code, struct err *err)
{
	struct err own = err_in(run->arena);
	enum code verified = code == ERR_TRANSACTION_CANCELED ? store_verify(run->txn, &own) : OK;

	if (verified == OK)
		return code;
	*err = own;
	return verified;
}

/* All that is written before the commit, with the token of the request where it has one. */
static enum code run_with_token(struct run *run, struct write_token *token, struct err *err)
{
	enum code code = ask(run, verify(run, run_all(run, err), err), err);

	if (code != OK)
		return code;
	if (token) {
		token->sizes = note_run_sizes(run);
		code = write_note_token(run->txn, run->arena, token, err);
	}
	if (code != OK)
		return code;
	if (run->group)
		code = write_group_repeat(run, err);
	if (code != OK)
		return code;
	code = size_collections(run, err);
	return code == OK ? join_sizes(run, err) : code;
}

/* Runs the writes within a store transaction that is begun, and ends it. */
static enum code run_and_commit(struct run *run, struct write_token *token, struct err *err)
{
	enum code code =
		token ? write_check_token(run->txn, run->arena, token, run->now_ms, err) : OK;

	if (code == OK && token && token->was_done) {
		charge_reads(run, token->sizes);
		code = size_collections(run, err);
		if (code ==
		    OK) /* the answer says that it is done: it must be as safe as the first one's */
			return store_commit(run->txn, err);
		store_abort(run->txn);
		return code;
	}
	code = code == OK ? run_with_token(run, token, err) : code;
	if (code != OK) {
		store_abort(run->txn);
		leave_sizes(run, ERR_CONFLICT);
		return code;
	}
	code = store_commit_for_good(run->txn, err);
	stream_end(&run->stream, code);
	if (run->group)
		write_group_end(run, code);
	leave_sizes(run, code);
	return code;
}

/* Where the table's reads lag, the write notes what was. */
static void keep_history(struct run *run, size_t i, struct str row)
{
	const struct table *table = run->writes[i].table;
	struct lag lag;

	if (!catalog_options(run->catalog)->clocks ||
	    !lag_holds(row, &catalog_options(run->catalog)->lag, &lag))
		return;
	if (!run->histories)
		run->histories = ARENA_ARRAY(run->arena, struct history_writer *, run->total);
	run->histories[i] = ARENA_NEW(run->arena, struct history_writer);
	*run->histories[i] = (struct history_writer){
		.arena = run->arena,
		.lag = lag,
		.space = write_token_space(
			run->arena, (struct ns){table->identity.account, table->identity.region}),
	};
}

/* All old images at once. ERR_TABLE_MOVED where a table was changed since its snapshot was taken.
 */
static enum code read_old(struct run *run, struct err *err)
{
	struct currency_item one,
		*items = run->total == 1 ? &one
					 : arena_alloc(run->arena, run->total * sizeof(*items));

	for (size_t i = 0; i < run->total; i++)
		items[i] = (struct currency_item){.table = run->writes[i].table,
						  .row_key = run->writes[i].row_key};
	enum code code = currency_get_items(run->txn, run->arena, items, run->total, err);
	run->histories = NULL;
	if (code != OK)
		return code;
	for (size_t i = 0; i < run->total; i++) {
		run->writes[i].old_image = items[i].image;
		if (str_is_set(items[i].lag) || lag_is_on(&catalog_options(run->catalog)->lag))
			keep_history(run, i, items[i].lag);
		if (i > 0 && items[i].table == items[i - 1].table)
			run->scopes[i] = run->scopes[i - 1];
		else
			code = catalog_size_scope(run->txn, items[i].table, items[i].count,
						  &run->scopes[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Whether the transaction writes a time: records of streams, tokens, rows of what expires, history.
 */
static bool is_stamped(const struct run *run, const struct write_token *token)
{
	bool is_stamped = token != NULL || run->histories != NULL;

	for (size_t i = 0; i < run->total && !is_stamped; i++)
		is_stamped =
			table_logs(run->writes[i].table) || run->writes[i].table->ttl.is_enabled;
	return is_stamped;
}

/* The time may be another one by now: a process turned the clock. All tables of a transaction are
 * in one namespace. */
static enum code tell_time(struct catalog *catalog, struct run *run, struct write_token *token,
			   struct err *err)
{
	const struct table *table = run->writes[0].table;
	int64_t now_ms = run->now_ms;

	if (!catalog_options(catalog)->clocks || !is_stamped(run, token))
		return OK;
	enum code code = clocks_stamp(catalog_options(catalog)->clocks, run->txn,
				      (struct ns){table->identity.account, table->identity.region},
				      &now_ms, err);
	if (code == OK && token)
		token->expires_ms += now_ms - run->now_ms;
	run->now_ms = run->stream.now_ms = now_ms;
	return code;
}

/* What is read beside versions and items: ends of streams, the clocks' version, a token. */
static enum code foresee(struct run *run, const struct write_token *token, struct err *err)
{
	if (!store_foresees(run->txn))
		return OK;
	struct store_key *keys = ARENA_ARRAY(run->arena, struct store_key, 2 * run->total + 1);
	size_t n = 0;

	for (size_t i = 0; i < run->total; i++) {
		if (table_logs(run->writes[i].table))
			n = stream_foresee(run->txn, run->arena, run->writes[i].table,
					   run->writes[i].row_key, &run->stream, keys, n);
	}
	if (token)
		keys[n++] = write_token_key(token);
	enum code code = store_foresee(run->txn, keys, n, err);
	if (code != OK)
		return code;
	if (run->group)
		code = write_group_foresee(run, err);
	return code == OK && is_stamped(run, token)
		       ? clocks_foresee(catalog_options(run->catalog)->clocks, run->txn, err)
		       : code;
}

/* What the transaction reads before it writes. */
static enum code read_before_write(struct catalog *catalog, struct run *run,
				   struct write_token *token, struct err *err)
{
	enum code code = foresee(run, token, err);

	if (code != OK)
		return code;
	code = read_old(run, err);
	if (code != OK)
		return code;
	code = tell_time(catalog, run, token, err);
	if (code != OK)
		return code;
	return run->group ? write_group_read(run, err) : OK;
}

/* One whole transaction. */
static enum code run_write_once(struct catalog *catalog, struct run *run, struct write_token *token,
				struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < run->n; i++) {
		if (run->writes[i].thought &&
		    (run->writes[i].condition || run->writes[i].kind == WRITE_UPDATE))
			code = write_think(run, &run->writes[i], err);
		if (code != OK)
			return code;
	}
	code = store_begin(catalog_store(catalog), STORE_WRITE, &run->txn, err);
	if (code != OK)
		return code;
	code = read_before_write(catalog, run, token, err);
	if (code == OK)
		return run_and_commit(run, token, err);
	store_abort(run->txn);
	return code;
}

static enum code run_again(struct run *run, struct write_token *token, struct err *err)
{
	struct retry retry = {0};
	enum code code;

	run->sizes = arena_alloc(run->arena, run->total * SIZES_MAX * sizeof(struct size_change));
	run->scopes = ARENA_ARRAY(run->arena, struct size_scope, run->total);
	do {
		code = run_write_once(run->catalog, run, token, err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}

static enum code run_planned(struct run *run, struct write_token *token, struct err *err)
{
	enum code code = write_group_plan(run, err);

	if (code != OK)
		return code;
	return run_again(run, token, err);
}

/* `run` says what to write: for this part of it. */
static enum code run_part(struct run run, struct write_token *token, struct err *err)
{
	struct write *writes = run.writes;

	run.total = run.n;
	if (!write_has_group(writes, run.n))
		return run_again(&run, token, err);
	enum code code = run_planned(&run, token, err);
	memcpy(writes, run.writes, run.n * sizeof(*writes));
	write_group_release(&run);
	return code;
}

/* How many writes of a batch fit into one transaction: each reads and writes an item, its rows in
 * indexes, and with a stream a record of both images. */
static size_t batch_part_of(struct catalog *catalog, const struct write *writes, size_t n)
{
	size_t rows = 0;

	for (size_t i = 0; i < n; i++) {
		size_t own = (4 + 2 * table_index_total(writes[i].table)) *
			     (1 + writes[i].table->group.n);

		rows = own > rows ? own : rows;
	}
	return store_units(catalog_store(catalog), n, rows * ITEM_SIZE_MAX);
}

enum code write_run_admitted(struct catalog *catalog, struct arena *arena, struct write *writes,
			     size_t n, enum write_mode mode, struct write_token *token,
			     int64_t now_ms, const struct write_admission *admission,
			     struct err *err)
{
	struct run run = {
		.catalog = catalog,
		.arena = arena,
		.mode = mode,
		.stream = {.rotation = &catalog_options(catalog)->rotation, .now_ms = now_ms},
		.now_ms = now_ms,
		.collection_max = catalog_options(catalog)->collection_max,
		.vectors = catalog_vector_memory(catalog),
		.admission = admission,
	};
	size_t part = mode == WRITE_BATCH ? batch_part_of(catalog, writes, n) : n;

	for (size_t i = 0; i < n; i += part) {
		run.writes = writes + i;
		run.n = n - i < part ? n - i : part;
		enum code code = run_part(run, token, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code write_run(struct catalog *catalog, struct arena *arena, struct write *writes, size_t n,
		    enum write_mode mode, struct write_token *token, int64_t now_ms,
		    struct err *err)
{
	return write_run_admitted(catalog, arena, writes, n, mode, token, now_ms, NULL, err);
}

enum code write_repeat(struct catalog *catalog, struct arena *arena, struct table *table,
		       const struct write_change *changes, size_t n, int64_t now_ms,
		       struct err *err)
{
	struct run run = {
		.catalog = catalog,
		.arena = arena,
		.total = n,
		.mode = WRITE_BATCH,
		.stream = {.rotation = &catalog_options(catalog)->rotation, .now_ms = now_ms},
		.now_ms = now_ms,
		.collection_max = UINT64_MAX,
		.vectors = catalog_vector_memory(catalog),
	};

	write_group_take(&run, table, changes);
	return run_again(&run, NULL, err);
}
