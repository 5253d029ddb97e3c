#include "storage/job/job.h"

#include "core/image.h"
#include "core/key.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"
#include "storage/store/walk.h"
#include "storage/uuid.h"

#define ROWS "job/"
#define OPEN "jobopen/"
#define TOKENS "jobtoken/"
#define RANDOM_DIGITS 8

static const struct keyspace jobs_keyspace = {0, SYSTEM_COUNTERS};

static const struct field job_fields[] = {
	RECORD_FIELD(job, ns.account, "account", FIELD_STR),
	RECORD_FIELD(job, ns.region, "region", FIELD_STR),
	RECORD_FIELD(job, kind, "kind", FIELD_STR),
	RECORD_FIELD(job, id, "id", FIELD_STR),
	RECORD_FIELD(job, subject, "subject", FIELD_STR),
	RECORD_ENUM(job, state, "state", JOB_CANCELED),
	RECORD_FIELD(job, created_ms, "created_ms", FIELD_INT),
	RECORD_FIELD(job, due_ms, "due_ms", FIELD_INT),
	RECORD_FIELD(job, ended_ms, "ended_ms", FIELD_INT),
	RECORD_FIELD(job, token, "token", FIELD_STR),
	RECORD_FIELD(job, sameness, "sameness", FIELD_STR),
	RECORD_FIELD(job, failure, "failure", FIELD_STR),
	RECORD_FIELD(job, message, "message", FIELD_STR),
	RECORD_FIELD(job, data, "data", FIELD_INT),
	RECORD_FIELD(job, body, "body", FIELD_STR),
	RECORD_FIELD(job, progress, "progress", FIELD_STR),
	RECORD_FIELD(job, revision, "revision", FIELD_INT),
};
static const struct record job_record = RECORD(job, job_fields);

struct str job_pack(struct arena *arena, const struct record *record, const void *object)
{
	struct record_map map = record_map_new(arena, record->n);
	struct buf buf = buf_in(arena);

	record_map_write(&map, record, object);
	struct value value = record_map_end(&map);
	image_encode(&value, &buf);
	return buf_str(&buf);
}

bool job_unpack(struct arena *arena, const struct record *record, struct str bytes, void *object)
{
	struct value map;

	memset(object, 0, record->size);
	if (!str_is_set(bytes))
		return true;
	return image_decode(arena, str_copy(arena, bytes), &map) &&
	       record_read(arena, record, &map, object);
}

struct str job_encode(struct arena *arena, const struct job *job)
{
	return job_pack(arena, &job_record, job);
}

enum code job_decode(struct arena *arena, struct keyspace keyspace, const struct store_row *row,
		     struct job *job, struct err *err)
{
	bool is_sound = str_is_set(row->value) && job_unpack(arena, &job_record, row->value, job) &&
			job->data <= INT64_MAX;

	return is_sound ? OK : row_malformed(err, keyspace, row->key);
}

enum code job_malformed(const struct job *job, struct err *err)
{
	return row_malformed(err, jobs_keyspace,
			     str_printf(err->arena, ROWS STR_FMT "/" STR_FMT, STR_ARG(job->kind),
					STR_ARG(job->id)));
}

/* A run that is given a transaction already begun, and ends it. */
static enum code run_in(struct job_txn *txn, bool is_writing, job_apply *apply, void *context,
			struct err *err)
{
	if (!is_writing) {
		enum code code = apply(txn, context, err);

		store_abort(txn->txn);
		return code;
	}
	enum code code = catalog_arm(txn->catalog, txn->txn, txn->ns, err);
	if (code != OK) {
		store_abort(txn->txn);
		return code;
	}
	return store_end_for_good(txn->txn, apply(txn, context, err), err);
}

static enum code run_job_txn(struct catalog *catalog, struct ns ns, bool is_writing,
			     job_apply *apply, void *context, struct err *err)
{
	struct job_txn txn = {.catalog = catalog, .ns = ns, .arena = err->arena};
	struct retry retry = {0};
	enum code code;

	do {
		code = store_begin(catalog_store(catalog), is_writing ? STORE_WRITE : STORE_READ,
				   &txn.txn, err);
		if (code != OK)
			continue;
		code = run_in(&txn, is_writing, apply, context, err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}

enum code job_write(struct catalog *catalog, struct ns ns, job_apply *apply, void *context,
		    struct err *err)
{
	return run_job_txn(catalog, ns, true, apply, context, err);
}

enum code job_read(struct catalog *catalog, struct ns ns, job_apply *apply, void *context,
		   struct err *err)
{
	return run_job_txn(catalog, ns, false, apply, context, err);
}

struct str job_id(struct arena *arena, int64_t now_ms)
{
	struct str uuid = uuid_new(arena);

	return str_printf(arena, "%014lld-%.*s", (long long)(now_ms > 0 ? now_ms : 0),
			  RANDOM_DIGITS, uuid.p);
}

/* What the keys of all rows of the table begin with; of a kind where it is set; of one job where
 * `name` is. */
static struct str job_key_of(const struct job_txn *txn, const char *rows, struct str kind,
			     struct str name)
{
	struct buf buf = buf_in(txn->arena);

	buf_add_str(&buf, str_of(rows));
	buf_add_str(&buf, catalog_key(txn->arena, txn->catalog, txn->ns, STR("")));
	if (str_is_set(kind)) {
		buf_add_str(&buf, kind);
		buf_add_byte(&buf, 0);
	}
	if (str_is_set(name))
		buf_add_str(&buf, name);
	return buf_str(&buf);
}

static struct store_range range_of(const struct job_txn *txn, const char *rows, struct str kind)
{
	struct str prefix = job_key_of(txn, rows, kind, STR_ABSENT);

	return (struct store_range){prefix, key_after_prefix(txn->arena, prefix), false};
}

/* When the next piece is due, and what the rest of the key says. */
static enum code put_open(struct job_txn *txn, const struct job *job, struct err *err)
{
	struct str key = job_key_of(txn, OPEN, job->kind, job->id);
	struct buf value = buf_in(txn->arena);

	if (job->state != JOB_RUNNING)
		return store_del(txn->txn, jobs_keyspace, key, err);
	buf_add_be64(&value, (uint64_t)job->due_ms);
	buf_add_byte(&value, (int)job->ns.account.n);
	buf_add_str(&value, job->ns.account);
	buf_add_byte(&value, (int)job->ns.region.n);
	buf_add_str(&value, job->ns.region);
	buf_add_byte(&value, (int)job->kind.n);
	buf_add_str(&value, job->kind);
	buf_add_str(&value, job->id);
	return store_put(txn->txn, jobs_keyspace, key, buf_str(&value), err);
}

/* The first key behind the one. */
static struct str key_behind(struct arena *arena, struct str key)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, key);
	buf_add_byte(&buf, 0);
	return buf_str(&buf);
}

static bool read_open(struct str key, struct str value, struct job_open *open)
{
	struct row_reader row = row_read(value);

	*open = (struct job_open){.key = key, .due_ms = row_ms(&row)};
	open->ns.account = row_take(&row, row_byte(&row));
	open->ns.region = row_take(&row, row_byte(&row));
	open->kind = row_take(&row, row_byte(&row));
	open->id = row_rest(&row);
	return row_is_whole(&row);
}

enum code job_find_open(struct store_txn *txn, struct arena *arena, struct str after, size_t limit,
			struct job_open **open, size_t *n, struct err *err)
{
	struct str prefix = STR(OPEN);
	struct store_range range = {prefix, key_after_prefix(arena, prefix), false};
	struct store_page page = {.n = 0};

	if (str_is_set(after))
		range.low = key_behind(arena, after);
	enum code code = store_page(txn, jobs_keyspace, &range,
				    (struct store_bounds){.rows = limit}, arena, &page, err);
	*open = ARENA_ARRAY(arena, struct job_open, page.n);
	*n = 0;
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		if (!read_open(page.v[i].key, page.v[i].value, &(*open)[(*n)++]))
			code = row_malformed(err, jobs_keyspace, page.v[i].key);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code job_restore(struct job_txn *txn, const struct job *job, struct err *err)
{
	struct job own = *job;

	own.ns = txn->ns;
	enum code code = store_put(txn->txn, jobs_keyspace, job_key_of(txn, ROWS, own.kind, own.id),
				   job_encode(txn->arena, &own), err);
	if (code != OK)
		return code;
	if (own.state == JOB_RUNNING)
		code = put_open(txn, &own, err);
	if (code != OK)
		return code;
	if (str_is_set(own.token))
		code = store_put(txn->txn, jobs_keyspace,
				 job_key_of(txn, TOKENS, own.kind, own.token), own.id, err);
	return code;
}

enum code job_add(struct job_txn *txn, const struct job *job, struct err *err)
{
	struct job own = *job;

	own.revision = 1;
	if (own.state != JOB_RUNNING && !own.ended_ms)
		own.ended_ms = own.created_ms;
	return job_restore(txn, &own, err);
}

enum code job_get(struct job_txn *txn, struct str kind, struct str id, struct job *job,
		  struct err *err)
{
	struct store_row row = {.key = job_key_of(txn, ROWS, kind, id)};
	enum code code = store_get(txn->txn, jobs_keyspace, row.key, txn->arena, &row.value, err);

	if (code != OK)
		return code;
	return str_is_set(row.value) ? job_decode(txn->arena, jobs_keyspace, &row, job, err)
				     : err_default(err, ERR_RESOURCE_NOT_FOUND);
}

struct finding {
	struct str kind, id;
	struct job *job;
};

static enum code apply_find(struct job_txn *txn, void *context, struct err *err)
{
	struct finding *finding = context;

	return job_get(txn, finding->kind, finding->id, finding->job, err);
}

enum code job_find(struct catalog *catalog, struct ns ns, struct str kind, struct str id,
		   struct job *job, struct err *err)
{
	struct finding finding = {kind, id, job};

	return job_read(catalog, ns, apply_find, &finding, err);
}

enum code job_find_token(struct job_txn *txn, struct str kind, struct str token, struct job *job,
			 bool *is_found, struct err *err)
{
	struct str id;
	enum code code = store_get(txn->txn, jobs_keyspace, job_key_of(txn, TOKENS, kind, token),
				   txn->arena, &id, err);

	*is_found = false;
	if (code != OK || !str_is_set(id))
		return code;
	code = job_get(txn, kind, id, job, err);
	*is_found = code == OK;
	return code == ERR_RESOURCE_NOT_FOUND ? OK : code;
}

enum code job_put(struct job_txn *txn, struct job *job, int64_t now_ms, struct err *err)
{
	struct job known;
	enum code code = job_get(txn, job->kind, job->id, &known, err);

	if (code == ERR_RESOURCE_NOT_FOUND || (code == OK && known.revision != job->revision))
		return err_default(err, ERR_CONFLICT);
	if (code != OK)
		return code;
	struct job next = *job;
	next.revision++;
	if (next.state != JOB_RUNNING && !next.ended_ms)
		next.ended_ms = now_ms;
	code = store_put(txn->txn, jobs_keyspace, job_key_of(txn, ROWS, next.kind, next.id),
			 job_encode(txn->arena, &next), err);
	if (code != OK)
		return code;
	if (next.state != known.state || next.due_ms != known.due_ms)
		code = put_open(txn, &next, err);
	if (code == OK)
		*job = next;
	return code;
}

enum code job_remove(struct job_txn *txn, const struct job *job, struct err *err)
{
	enum code code =
		store_del(txn->txn, jobs_keyspace, job_key_of(txn, ROWS, job->kind, job->id), err);

	if (code != OK)
		return code;
	if (job->state == JOB_RUNNING)
		code = store_del(txn->txn, jobs_keyspace, job_key_of(txn, OPEN, job->kind, job->id),
				 err);
	if (code != OK)
		return code;
	if (str_is_set(job->token))
		code = store_del(txn->txn, jobs_keyspace,
				 job_key_of(txn, TOKENS, job->kind, job->token), err);
	return code == OK && job->data
		       ? store_drop(txn->txn, (struct keyspace){job->data, PART_ITEMS}, err)
		       : code;
}

enum code job_list(struct job_txn *txn, struct str kind, struct job_page *list, struct err *err)
{
	struct store_range range = range_of(txn, ROWS, kind);
	struct store_page page = {.n = 0};

	range.is_reverse = list->is_reverse;
	if (str_is_set(list->after) && list->is_reverse)
		range.high = job_key_of(txn, ROWS, kind, list->after);
	else if (str_is_set(list->after))
		range.low = key_behind(txn->arena, job_key_of(txn, ROWS, kind, list->after));
	enum code code =
		store_page(txn->txn, jobs_keyspace, &range,
			   (struct store_bounds){.rows = list->limit}, txn->arena, &page, err);
	list->jobs = ARENA_ARRAY(txn->arena, struct job, page.n);
	list->n = 0;
	list->is_more = page.is_more;
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		code = job_decode(txn->arena, jobs_keyspace, &page.v[i], &list->jobs[list->n], err);
		if (code != OK)
			return code;
		list->after = list->jobs[list->n++].id;
	}
	return OK;
}

enum code job_list_open(struct job_txn *txn, struct str kind, struct str subject, struct job **jobs,
			size_t *n, struct err *err)
{
	struct store_range range = range_of(txn, OPEN, kind);
	struct walk walk = walk_begin(txn->txn, jobs_keyspace, &range, err);
	struct store_row row;
	enum code code = OK;

	*jobs = NULL;
	*n = 0;
	while (code == OK && walk_next(&walk, &row)) {
		struct job_open open;
		struct job job;

		code = read_open(row.key, row.value, &open)
			       ? job_get(txn, open.kind, open.id, &job, err)
			       : row_malformed(err, jobs_keyspace, row.key);
		if (code != OK || (str_is_set(subject) && !str_eq(job.subject, subject)))
			continue;
		*jobs = arena_room(txn->arena, *jobs, *n, sizeof(**jobs));
		(*jobs)[(*n)++] = job;
	}
	enum code read = walk_end(&walk);
	return code != OK ? code : read;
}

enum code job_all(struct job_txn *txn, struct job **jobs, size_t *n, struct err *err)
{
	struct store_range range = range_of(txn, ROWS, STR_ABSENT);
	struct walk walk = walk_begin(txn->txn, jobs_keyspace, &range, err);
	struct store_row row;
	enum code code = OK;

	*jobs = NULL;
	*n = 0;
	while (code == OK && walk_next(&walk, &row)) {
		*jobs = arena_room(txn->arena, *jobs, *n, sizeof(**jobs));
		code = job_decode(txn->arena, jobs_keyspace, &row, &(*jobs)[*n], err);
		*n += code == OK;
	}
	enum code read = walk_end(&walk);
	return code != OK ? code : read;
}

enum code job_numbers(struct store_txn *txn, void (*visit)(void *context, uint64_t number),
		      void *context, struct err *err)
{
	struct str prefix = STR(ROWS);
	struct store_range range = {prefix, key_after_prefix(err->arena, prefix), false};
	struct walk walk = walk_begin(txn, jobs_keyspace, &range, err);
	struct store_row row;
	struct job job;
	enum code code = OK;

	while (code == OK && walk_next(&walk, &row)) {
		code = job_decode(err->arena, jobs_keyspace, &row, &job, err);
		if (code == OK && job.data)
			visit(context, job.data);
	}
	enum code read = walk_end(&walk);
	return code != OK ? code : read;
}

uint64_t job_data_of(struct arena *arena, struct str key, struct str row)
{
	const struct store_row own = {key, row};
	struct err ignored = err_in(arena);
	struct job job;

	return str_starts_with(key, STR(ROWS)) &&
			       job_decode(arena, jobs_keyspace, &own, &job, &ignored) == OK
		       ? job.data
		       : 0;
}

enum code job_remove_all(struct job_txn *txn, struct err *err)
{
	static const char *const rows[] = {ROWS, OPEN, TOKENS};
	struct job *jobs;
	size_t n;
	enum code code = job_all(txn, &jobs, &n, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].data)
			code = store_drop(txn->txn, (struct keyspace){jobs[i].data, PART_ITEMS},
					  err);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && n > 0; i++) {
		struct store_range range = range_of(txn, rows[i], STR_ABSENT);

		code = store_del_range(txn->txn, jobs_keyspace, &range, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code job_copy_all(struct job_txn *from, struct ns to, struct err *err)
{
	struct job_txn target = *from;
	struct job *jobs;
	size_t n;
	enum code code = job_all(from, &jobs, &n, err);

	target.ns = to;
	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		uint64_t data = jobs[i].data;

		if (data)
			code = catalog_next_number(from->txn, from->arena, &jobs[i].data, err);
		if (code != OK)
			return code;
		if (data)
			code = store_create(from->txn, (struct keyspace){jobs[i].data, PART_ITEMS},
					    err);
		if (code != OK)
			return code;
		if (data)
			code = store_copy(from->txn, (struct keyspace){data, PART_ITEMS},
					  (struct keyspace){jobs[i].data, PART_ITEMS}, err);
		if (code != OK)
			return code;
		code = job_restore(&target, &jobs[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

bool job_is_sound(struct arena *arena, const struct store_row *row)
{
	struct err ignored = err_in(arena);
	struct job_open open;
	struct job job;

	if (str_starts_with(row->key, STR(OPEN)))
		return read_open(row->key, row->value, &open);
	return job_decode(arena, jobs_keyspace, row, &job, &ignored) == OK;
}
