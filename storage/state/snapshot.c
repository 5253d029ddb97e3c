#include "storage/state/snapshot_internal.h"

#include "core/key.h"
#include "storage/index_row.h"
#include "storage/schema/currency.h"
#include "storage/state/state_messages.h"
#include "storage/store/row.h"
#include "storage/stream/stream_shard.h"
#include "storage/uuid.h"

static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};
static const struct store_bounds no_bounds = {0, 0};

#define PREFIX "snapshot/"

/*
 * Rows of a snapshot's keyspace: what it is, the record of each table by name, tokens by the part
 * of their keyspace and what follows the namespace, jobs by number.
 */
enum kind { KIND_ABOUT = 'a', KIND_JOB = 'j', KIND_TABLE = 't', KIND_TOKEN = 'u' };

struct keyspace snapshot_keyspace(uint64_t number)
{
	return (struct keyspace){number, PART_SNAPSHOT};
}

static struct store_range range_of_kind(struct arena *arena, enum kind kind)
{
	char byte = (char)kind;
	struct str prefix = str_copy(arena, (struct str){&byte, 1});

	return (struct store_range){prefix, key_after_prefix(arena, prefix), false};
}

static struct str row_key(struct arena *arena, enum kind kind, struct str rest)
{
	return str_printf(arena, "%c" STR_FMT, (char)kind, STR_ARG(rest));
}

struct str snapshot_table_key(struct arena *arena, struct str name)
{
	return row_key(arena, KIND_TABLE, name);
}

/* "snapshot/", what the keys of the namespace's tables begin with, and the name, which has no zero
 * byte. */
bool snapshot_is_key(struct str key)
{
	return str_starts_with(key, STR(PREFIX));
}

static struct str index_key(const struct space *space, struct str name)
{
	struct buf buf = buf_in(space->arena);

	buf_add_str(&buf, STR(PREFIX));
	buf_add_str(&buf, catalog_key(space->arena, space->catalog, space->ns, STR("")));
	buf_add_str(&buf, name);
	return buf_str(&buf);
}

static enum code read_about(const struct space *space, struct snapshot *snapshot, struct err *err)
{
	struct str key = row_key(space->arena, KIND_ABOUT, STR("")), about;
	enum code code = store_get(space->txn, snapshot_keyspace(snapshot->number), key,
				   space->arena, &about, err);

	if (code != OK)
		return code;
	struct row_reader row = row_read(about);
	snapshot->created_ms = row_ms(&row);
	snapshot->extra = row_rest(&row);
	return row_is_whole(&row) ? OK
				  : row_malformed(err, snapshot_keyspace(snapshot->number), key);
}

/* ERR_RESOURCE_NOT_FOUND where there is no such one. */
enum code snapshot_find(const struct space *space, struct str name, struct snapshot *snapshot,
			struct err *err)
{
	*snapshot = (struct snapshot){.name = name};
	enum code code = row_get_number(space->txn, counters_keyspace, index_key(space, name),
					space->arena, &snapshot->number, err);

	if (code != OK)
		return code;
	if (!snapshot->number) /* no keyspace has that number */
		return err_set(err, MSG_SNAPSHOT_NONE, STR_ARG(name));
	return read_about(space, snapshot, err);
}

static enum code copy_rows(struct store_txn *txn, struct keyspace from, struct keyspace to,
			   struct err *err)
{
	enum code code = store_create(txn, to, err);

	return code == OK ? store_copy(txn, from, to, err) : code;
}

static enum code copy_index(const struct space *space, const struct table *from,
			    const struct table *to, const struct index *index, struct err *err)
{
	enum code code = index_row_create(space->txn, to, index, err);
	struct str progress = STR_ABSENT;

	if (code != OK)
		return code;
	code = store_copy(space->txn, index_keyspace(from, index), index_keyspace(to, index), err);
	if (code != OK)
		return code;
	if (index->is_backfilling)
		code = store_get(space->txn, counters_keyspace,
				 catalog_progress_key(space->arena, from, index), space->arena,
				 &progress, err);
	return code == OK && str_is_set(progress)
		       ? store_put(space->txn, counters_keyspace,
				   catalog_progress_key(space->arena, to, index), progress, err)
		       : code;
}

/* Gives `to`, which is as `from`, a number and copies of its rows. */
static enum code copy_table(const struct space *space, const struct table *from, struct table *to,
			    struct err *err)
{
	enum code code = catalog_next_number(space->txn, space->arena, &to->identity.number, err);

	if (code != OK)
		return code;
	currency_follow(NULL, to);
	code = copy_rows(space->txn, table_items(from), table_items(to), err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < table_index_total(from); i++) {
		code = copy_index(space, from, to, table_index_at(from, i), err);
		if (code != OK)
			return code;
	}
	if (from->ttl.is_enabled)
		code = copy_rows(space->txn, table_expiry(from), table_expiry(to), err);
	if (code != OK)
		return code;
	if (table_is_global(from))
		code = copy_rows(space->txn, table_replication(from), table_replication(to), err);
	if (code != OK)
		return code;
	if (table_has_log(from))
		code = copy_rows(space->txn, stream_keyspace(from), stream_keyspace(to), err);
	return code;
}

/* A stream that the namespace had. */
struct had {
	struct str table, label;
	struct stream_nexts nexts; /* the sequence numbers that its next records would have got */
};

/* Where a copy goes: into a snapshot, or into a namespace (snapshot 0). */
struct target {
	uint64_t snapshot;
	struct ns ns;
	bool is_other;       /* the copy is another table */
	size_t n;
	struct had *had;     /* by the target, before it was cleared */
};

/* A reader that goes on from a record that is gone misses none: no sequence number of the stream is
 * used twice. */
static enum code skip_used(struct space *space, const struct target *target,
			   const struct table *copy, struct err *err)
{
	for (size_t i = 0; i < target->n; i++) {
		if (!str_eq(target->had[i].table, copy->identity.name) ||
		    !str_eq(target->had[i].label, copy->streams.label))
			continue;
		return stream_skip(space->txn, space->arena, copy, &target->had[i].nexts, err);
	}
	return OK;
}

static enum code note_stream(struct space *space, const struct space_record *record,
			     struct target *target, struct err *err)
{
	struct table *table;
	enum code code = space_decode(space, record, &table, err);

	if (code != OK)
		return code;
	if (table->streams.n > 0 && table->state.status != STATUS_DELETING) {
		struct had had = {str_copy(space->arena, table->identity.name),
				  str_copy(space->arena, table->streams.label),
				  {.n = 0}};

		code = stream_nexts(space->txn, space->arena, table, &had.nexts, err);
		target->had[target->n++] = had;
	}
	table_unref(table);
	return code;
}

static enum code note_streams(struct space *space, struct target *target, struct err *err)
{
	struct space_records records;
	enum code code = space_records(space, &records, err);

	target->had = ARENA_ARRAY(space->arena, struct had, records.n);
	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n; i++) {
		if (!records.v[i].is_retired)
			code = note_stream(space, &records.v[i], target, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code put_copy(struct space *space, const struct target *target, struct table *copy,
			  struct err *err)
{
	struct str name = copy->identity.name;

	if (target->snapshot)
		return store_put(space->txn, snapshot_keyspace(target->snapshot),
				 row_key(space->arena, KIND_TABLE, name),
				 table_encode(space->arena, copy), err);
	copy->identity.account = target->ns.account;
	copy->identity.region = target->ns.region;
	if (target->is_other)
		copy->identity.id = uuid_new(copy->arena);
	enum code code = skip_used(space, target, copy, err);
	if (code != OK)
		return code;
	/* its items are counted when somebody wants to know */
	code = currency_put(space->txn, copy, 0, err);
	if (code != OK)
		return code;
	struct str key = catalog_key(space->arena, space->catalog, target->ns, name);
	code = catalog_inherit_lag(space->catalog, space->txn, target->ns, key,
				   copy->identity.number, err);
	return code == OK ? space_put_record(space, key, copy, copy, err) : code;
}

static enum code copy_from(struct space *space, const struct space_record *record,
			   const struct table *from, const struct target *target, struct err *err)
{
	struct table *copy;
	enum code code = space_decode(space, record, &copy, err);

	if (code != OK)
		return code;
	code = copy_table(space, from, copy, err);
	code = code == OK ? put_copy(space, target, copy, err) : code;
	table_unref(copy);
	return code;
}

static enum code copy_record(struct space *space, const struct space_record *record,
			     const struct target *target, struct err *err)
{
	struct table *from;
	enum code code = space_decode(space, record, &from, err);

	if (code != OK)
		return code;
	if (from->state.status != STATUS_DELETING)
		code = copy_from(space, record, from, target, err);
	table_unref(from);
	return code;
}

/* Copies the tables of the namespace. */
static enum code copy_tables(struct space *space, const struct target *target, struct err *err)
{
	struct space_records records;
	enum code code = space_records(space, &records, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n; i++) {
		if (!records.v[i].is_retired)
			code = copy_record(space, &records.v[i], target, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code save_tokens(struct space *space, uint64_t snapshot, struct err *err)
{
	struct store_range range = space_token_range(space);

	for (size_t k = 0; k < SPACE_TOKEN_KEYSPACES; k++) {
		struct store_page page = {.n = 0};
		enum code code = store_page(space->txn, space_token_keyspaces[k], &range, no_bounds,
					    space->arena, &page, err);

		if (code != OK)
			return code;
		for (size_t i = 0; i < page.n; i++) {
			struct buf key = buf_in(space->arena);

			buf_add_byte(&key, KIND_TOKEN);
			buf_add_byte(&key, (int)k);
			buf_add_str(&key, page.v[i].key);
			code = store_put(space->txn, snapshot_keyspace(snapshot), buf_str(&key),
					 page.v[i].value, err);
			if (code != OK)
				return code;
		}
	}
	return OK;
}

static enum code load_tokens(struct space *space, uint64_t snapshot, struct err *err)
{
	struct store_range range = range_of_kind(space->arena, KIND_TOKEN);
	struct store_page page = {.n = 0};
	enum code code = store_page(space->txn, snapshot_keyspace(snapshot), &range, no_bounds,
				    space->arena, &page, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		struct row_reader row = row_read(row_behind(page.v[i].key, 1));
		size_t k = row_byte(&row);
		struct str key = row_rest(&row);

		if (!row_is_whole(&row) || key.n == 0 || k >= SPACE_TOKEN_KEYSPACES)
			return row_malformed(err, snapshot_keyspace(snapshot), page.v[i].key);
		code = store_put(space->txn, space_token_keyspaces[k], key, page.v[i].value, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Gives the job a copy of the keyspace that it owns. */
static enum code copy_data(struct space *space, struct job *job, struct err *err)
{
	struct keyspace from = {job->data, PART_ITEMS};
	enum code code =
		job->data ? catalog_next_number(space->txn, space->arena, &job->data, err) : OK;

	return code == OK && job->data
		       ? copy_rows(space->txn, from, (struct keyspace){job->data, PART_ITEMS}, err)
		       : code;
}

static enum code save_jobs(struct space *space, uint64_t snapshot, struct err *err)
{
	struct job_txn txn = space_jobs(space);
	struct job *jobs;
	size_t n;
	enum code code = job_all(&txn, &jobs, &n, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		struct buf key = buf_in(space->arena);

		buf_add_byte(&key, KIND_JOB);
		buf_add_be32(&key, (uint32_t)i);
		code = copy_data(space, &jobs[i], err);
		if (code != OK)
			return code;
		code = store_put(space->txn, snapshot_keyspace(snapshot), buf_str(&key),
				 job_encode(space->arena, &jobs[i]), err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* The jobs of a snapshot, as they were kept. */
static enum code read_jobs(struct space *space, uint64_t snapshot, struct job **jobs, size_t *n,
			   struct err *err)
{
	struct store_range range = range_of_kind(space->arena, KIND_JOB);
	struct store_page page = {.n = 0};
	enum code code = store_page(space->txn, snapshot_keyspace(snapshot), &range, no_bounds,
				    space->arena, &page, err);

	*jobs = ARENA_ARRAY(space->arena, struct job, page.n);
	if (code != OK)
		return code;
	for (*n = 0; *n < page.n; ++*n) {
		code = job_decode(space->arena, snapshot_keyspace(snapshot), &page.v[*n],
				  &(*jobs)[*n], err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code load_jobs(struct space *space, uint64_t snapshot, struct err *err)
{
	struct job_txn txn = space_jobs(space);
	struct job *jobs;
	size_t n;
	enum code code = read_jobs(space, snapshot, &jobs, &n, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		code = copy_data(space, &jobs[i], err);
		if (code != OK)
			return code;
		code = job_restore(&txn, &jobs[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code drop_jobs(struct space *space, uint64_t snapshot, struct err *err)
{
	struct job *jobs;
	size_t n;
	enum code code = read_jobs(space, snapshot, &jobs, &n, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].data)
			code = store_drop(space->txn, (struct keyspace){jobs[i].data, PART_ITEMS},
					  err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code snapshot_publish(struct space *space, const struct snapshot *snapshot, uint64_t number,
			   struct err *err)
{
	struct buf about = buf_in(space->arena), value = buf_in(space->arena);

	buf_add_be64(&about, (uint64_t)snapshot->created_ms);
	buf_add_str(&about, snapshot->extra);
	buf_add_be64(&value, number);
	enum code code =
		store_put(space->txn, snapshot_keyspace(number),
			  row_key(space->arena, KIND_ABOUT, STR("")), buf_str(&about), err);
	return code == OK ? store_put(space->txn, counters_keyspace,
				      index_key(space, snapshot->name), buf_str(&value), err)
			  : code;
}

static enum code apply_take(struct space *space, void *context, struct err *err)
{
	const struct snapshot *snapshot = context;
	struct target target = {0};
	struct snapshot known;
	enum code code = snapshot_find(space, snapshot->name, &known, err);

	if (code == OK)
		return err_set(err, MSG_SNAPSHOT_THERE, STR_ARG(snapshot->name));
	if (code != ERR_RESOURCE_NOT_FOUND)
		return code;
	code = catalog_next_number(space->txn, space->arena, &target.snapshot, err);
	if (code != OK)
		return code;
	code = store_create(space->txn, snapshot_keyspace(target.snapshot), err);
	if (code != OK)
		return code;
	code = copy_tables(space, &target, err);
	if (code != OK)
		return code;
	code = save_tokens(space, target.snapshot, err);
	if (code != OK)
		return code;
	code = save_jobs(space, target.snapshot, err);
	return code == OK ? snapshot_publish(space, snapshot, target.snapshot, err) : code;
}

enum code snapshot_take(struct catalog *catalog, struct ns ns, const struct snapshot *snapshot,
			struct err *err)
{
	struct snapshot own = *snapshot;

	return space_change(catalog, ns, SPACE_BARE | SPACE_QUIET, apply_take, &own, err);
}

/* The records of a snapshot's tables. */
enum code snapshot_records(const struct space *space, uint64_t snapshot,
			   struct space_records *records, struct err *err)
{
	struct store_range range = range_of_kind(space->arena, KIND_TABLE);
	struct store_page page = {.n = 0};
	enum code code = store_page(space->txn, snapshot_keyspace(snapshot), &range, no_bounds,
				    space->arena, &page, err);

	*records =
		(struct space_records){.v = ARENA_ARRAY(space->arena, struct space_record, page.n)};
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++)
		records->v[records->n++] =
			(struct space_record){.key = page.v[i].key, .record = page.v[i].value};
	return OK;
}

struct restoration {
	struct str name;
	struct str *extra;
};

static enum code apply_restore(struct space *space, void *context, struct err *err)
{
	const struct restoration *restoration = context;
	struct target target = {.ns = space->ns};
	struct space_records records = {0};
	struct snapshot snapshot;
	enum code code = snapshot_find(space, restoration->name, &snapshot, err);

	if (code != OK)
		return code;
	code = note_streams(space, &target, err);
	if (code != OK)
		return code;
	code = space_clear(space, err);
	if (code != OK)
		return code;
	code = snapshot_records(space, snapshot.number, &records, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n; i++) {
		code = copy_record(space, &records.v[i], &target, err);
		if (code != OK)
			return code;
	}
	*restoration->extra = snapshot.extra;
	code = load_jobs(space, snapshot.number, err);
	if (code != OK)
		return code;
	return load_tokens(space, snapshot.number, err);
}

enum code snapshot_restore(struct catalog *catalog, struct ns ns, struct str name,
			   struct str *extra, struct err *err)
{
	struct restoration restoration = {name, extra};

	return space_change(catalog, ns, 0, apply_restore, &restoration, err);
}

enum code snapshot_drop(struct space *space, uint64_t number, struct err *err)
{
	struct space_records records;
	enum code code = snapshot_records(space, number, &records, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n; i++) {
		struct table *table;

		code = space_decode(space, &records.v[i], &table, err);
		if (code != OK)
			return code;
		code = space_drop(space, &records.v[i], table, err);
		table_unref(table);
		if (code != OK)
			return code;
	}
	code = drop_jobs(space, number, err);
	return code == OK ? store_drop(space->txn, snapshot_keyspace(number), err) : code;
}

static enum code apply_snapshot_remove(struct space *space, void *context, struct err *err)
{
	const struct str *name = context;
	struct snapshot snapshot;
	enum code code = snapshot_find(space, *name, &snapshot, err);

	if (code != OK)
		return code;
	code = snapshot_drop(space, snapshot.number, err);
	return code == OK ? store_del(space->txn, counters_keyspace, index_key(space, *name), err)
			  : code;
}

enum code snapshot_remove(struct catalog *catalog, struct ns ns, struct str name, struct err *err)
{
	return space_change(catalog, ns, SPACE_BARE | SPACE_QUIET, apply_snapshot_remove, &name,
			    err);
}

static enum code list_snapshots(const struct space *space, struct snapshots *snapshots,
				struct err *err)
{
	struct str prefix = index_key(space, STR(""));
	struct store_range range = {prefix, key_after_prefix(space->arena, prefix), false};
	struct store_page page = {.n = 0};
	enum code code = store_page(space->txn, counters_keyspace, &range, no_bounds, space->arena,
				    &page, err);

	if (code != OK)
		return code;
	*snapshots = (struct snapshots){.v = ARENA_ARRAY(space->arena, struct snapshot, page.n)};
	for (size_t i = 0; i < page.n; i++) {
		struct snapshot *snapshot = &snapshots->v[snapshots->n++];

		*snapshot = (struct snapshot){.name = row_behind(page.v[i].key, prefix.n)};
		if (!row_is_number(page.v[i].value, &snapshot->number))
			return row_malformed(err, counters_keyspace, page.v[i].key);
		code = read_about(space, snapshot, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code snapshot_list(struct catalog *catalog, struct ns ns, struct arena *arena,
			struct snapshots *snapshots, struct err *err)
{
	struct space space = {.catalog = catalog, .ns = ns, .arena = arena};
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &space.txn, err);

	if (code != OK)
		return code;
	code = list_snapshots(&space, snapshots, err);
	store_abort(space.txn);
	return code;
}

static enum code check_clone_target(const struct space *space, const struct snapshot_clone *clone,
				    struct err *err)
{
	struct space_records records;
	enum code code = space_records(space, &records, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n && !clone->replaces; i++) {
		if (!records.v[i].is_retired)
			return err_set(err, MSG_CLONE_FULL, STR_ARG(space->ns.account));
	}
	return OK;
}

/* So that a clone to several namespaces is refused before the first is changed. */
static enum code check_targets(struct catalog *catalog, const struct snapshot_clone *clone,
			       struct err *err)
{
	struct space space = {.catalog = catalog, .arena = err->arena};
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &space.txn, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < clone->n && code == OK; i++) {
		space.ns = clone->to[i];
		code = check_clone_target(&space, clone, err);
	}
	store_abort(space.txn);
	return code;
}

static enum code apply_clone(struct space *space, void *context, struct err *err)
{
	const struct snapshot_clone *clone = context;
	const struct target target = {.ns = space->ns, .is_other = true};
	struct space source = {.catalog = space->catalog,
			       .ns = clone->from,
			       .txn = space->txn,
			       .arena = space->arena};
	enum code code = check_clone_target(space, clone, err);

	if (code != OK)
		return code;
	code = space_clear(space, err);
	if (code != OK)
		return code;
	struct job_txn jobs = space_jobs(&source);
	code = copy_tables(&source, &target, err);
	return code == OK ? job_copy_all(&jobs, space->ns, err) : code;
}

enum code snapshot_clone(struct catalog *catalog, const struct snapshot_clone *clone,
			 struct err *err)
{
	struct snapshot_clone own = *clone;
	enum code code = check_targets(catalog, clone, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < clone->n; i++) {
		code = space_change(catalog, clone->to[i], 0, apply_clone, &own, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code snapshot_tables(struct store_txn *txn, uint64_t snapshot,
			  void (*visit)(void *context, uint64_t table), void *context,
			  struct err *err)
{
	struct store_range range = range_of_kind(err->arena, KIND_TABLE);
	struct store_page page = {.n = 0};
	enum code code = store_page(txn, snapshot_keyspace(snapshot), &range, no_bounds, err->arena,
				    &page, err);

	for (size_t i = 0; i < page.n && code == OK; i++) {
		uint64_t number, version;

		if (table_record_version(page.v[i].value, &number, &version))
			visit(context, number);
	}
	range = range_of_kind(err->arena, KIND_JOB);
	if (code != OK)
		return code;
	code = store_page(txn, snapshot_keyspace(snapshot), &range, no_bounds, err->arena, &page,
			  err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		struct job job;

		code = job_decode(err->arena, snapshot_keyspace(snapshot), &page.v[i], &job, err);
		if (code != OK)
			return code;
		if (job.data)
			visit(context, job.data);
	}
	return OK;
}

/* Rows of a snapshot that still comes in are those of snapshot_file.h. */
bool snapshot_is_sound(struct arena *arena, const struct settings_records *records,
		       const struct store_row *row)
{
	struct row_reader key = row_read(row->key), value = row_read(row->value);
	unsigned kind = row_byte(&key);
	struct err ignored = err_in(arena);
	struct table *table;

	if (kind == KIND_JOB)
		return job_is_sound(arena, row);
	if (kind == KIND_TOKEN)
		return row_byte(&key) < SPACE_TOKEN_KEYSPACES && !key.is_cut;
	if (kind != KIND_TABLE) {
		(void)row_ms(&value);
		return kind == 'm' ||
		       (key.rest.n == 0 && (kind == KIND_ABOUT || kind == 'e' || kind == 'n') &&
			!value.is_cut);
	}
	bool is_sound = table_decode(row->value, records, &table, &ignored) == OK;
	if (is_sound)
		table_unref(table);
	return is_sound;
}
