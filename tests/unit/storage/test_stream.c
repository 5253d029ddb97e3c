#include "storage/stream/stream_read.h"
#include "storage/upkeep/stream_sweep.h"
#include "storage/upkeep/ttl.h"
#include "tests/unit/storage/data_fixture.h"

#define HOUR_MS (60 * 60 * 1000LL)
#define SEEN_MAX 64

/* Fills what UpdateTable would: another stream, enabled. */
static void add_stream(struct table *table, enum stream_view view, const char *label,
		       int64_t now_ms)
{
	struct stream *streams = ARENA_ARRAY(table->arena, struct stream, table->streams.n + 1);

	for (size_t i = 0; i < table->streams.n; i++)
		streams[i] = table->streams.v[i];
	streams[table->streams.n] = (struct stream){.label = str_of(label),
						    .number = table->streams.n + 1,
						    .view = view,
						    .created_ms = now_ms};
	table->streams.v = streams;
	table->streams.n++;
	table->streams.view = view;
	table->streams.label = str_of(label);
}

static struct data data_streamed(enum stream_view view, const struct catalog_options *options)
{
	struct data d = data_open(options);
	struct table *table = data_table("data");

	add_stream(table, view, "first", 1000);
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1000, &d.table, &d.err), OK);
	return d;
}

static enum code run(struct data *d, struct write *writes, size_t n, enum write_mode mode,
		     int64_t now_ms)
{
	for (size_t i = 0; i < n; i++) {
		writes[i].table = d->table;
		CHECK_INT(write_prepare(d->arena, &writes[i], &d->err), OK);
	}
	return write_run(d->catalog, d->arena, writes, n, mode, NULL, now_ms, &d->err);
}

static const struct value *item_of(struct data *d, int n, const char *v)
{
	return data_item(d, "pk", "Sa", "sk", str_printf(d->arena, "N%d", n).p, "v", v, NULL);
}

static enum code put(struct data *d, int n, const char *v, int64_t now_ms)
{
	struct write write = {.kind = WRITE_PUT, .item = item_of(d, n, v)};

	return run(d, &write, 1, WRITE_ALONE, now_ms);
}

static enum code del(struct data *d, int n, int64_t now_ms)
{
	struct write write = {
		.kind = WRITE_DELETE,
		.key = data_item(d, "pk", "Sa", "sk", str_printf(d->arena, "N%d", n).p, NULL)};

	return run(d, &write, 1, WRITE_ALONE, now_ms);
}

/* Records as they were read, their images copied. */
struct seen {
	struct arena *arena;
	size_t n;
	struct stream_record records[SEEN_MAX];
	struct value keys[SEEN_MAX];
	size_t sizes[SEEN_MAX];
};

static void see(struct seen *seen, const struct stream_record *record, const struct value *keys,
		size_t size)
{
	struct buf buf = buf_in(seen->arena);
	struct value copy;

	if (seen->n == SEEN_MAX)
		return;
	image_encode(keys, &buf);
	CHECK(image_decode(seen->arena, buf_str(&buf), &copy));
	seen->records[seen->n] = *record;
	seen->records[seen->n].old_image = str_copy(seen->arena, record->old_image);
	seen->records[seen->n].new_image = str_copy(seen->arena, record->new_image);
	seen->keys[seen->n] = copy;
	seen->sizes[seen->n++] = size;
}

static enum code see_page(struct data *d, struct stream_cursor *cursor, size_t limit,
			  struct seen *seen)
{
	struct stream_page page;
	enum code code = stream_read_page(d->store, d->arena, cursor, limit, &page, &d->err);

	for (size_t i = 0; i < page.n; i++)
		see(seen, &page.v[i].record, &page.v[i].keys, page.v[i].size);
	return code;
}

static struct stream_shard shard_at(struct data *d, size_t i, int64_t now_ms, size_t *n)
{
	struct stream_shard_page page = {.limit = 1000};
	const struct stream *stream = &d->table->streams.v[d->table->streams.n - 1];

	CHECK_INT(stream_read_shards(d->store, d->arena, d->table, stream, now_ms, &page, &d->err),
		  OK);
	CHECK(!page.is_cut);
	*n = page.n;
	return i < page.n ? page.shards[i] : (struct stream_shard){0};
}

static struct stream_cursor cursor_of(struct data *d, size_t shard, int64_t now_ms)
{
	size_t n;

	return (struct stream_cursor){
		.table = d->table,
		.stream = &d->table->streams.v[d->table->streams.n - 1],
		.shard = shard_at(d, shard, now_ms, &n).stamp,
		.now_ms = now_ms,
	};
}

/* All records of the latest stream, shard after shard. */
static struct seen read_all(struct data *d, int64_t now_ms)
{
	struct seen seen = {.arena = d->arena};
	size_t shards;

	(void)shard_at(d, 0, now_ms, &shards);
	for (size_t i = 0; i < shards; i++) {
		struct stream_cursor cursor = cursor_of(d, i, now_ms);

		CHECK_INT(stream_read_start(d->store, d->arena, &cursor, STREAM_START_TRIM_HORIZON,
					    0, 0, &d->err),
			  OK);
		CHECK_INT(see_page(d, &cursor, 1000, &seen), OK);
		CHECK_INT(cursor.is_at_end, i + 1 < shards);
	}
	return seen;
}

static uint64_t rows(struct data *d)
{
	struct store_stat stat = {0};
	struct store_txn *txn;

	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(store_stat(txn, stream_keyspace(d->table), &stat, &d->err), OK);
	store_abort(txn);
	return stat.rows;
}

static void reopen(struct data *d, const struct catalog_options *options)
{
	struct catalog_options defaults = {0};

	table_unref(d->table);
	catalog_close(d->catalog);
	CHECK_INT(catalog_open(d->store, options ? options : &defaults, &d->catalog, &d->err), OK);
	CHECK_INT(catalog_get(d->catalog, DATA_NS, STR("data"), 0, &d->table, &d->err), OK);
}

static void update(struct data *d, struct table *next)
{
	CHECK_INT(catalog_replace(d->catalog, d->table, table_ref(next), &d->err), OK);
	table_unref(d->table);
	d->table = next;
}

TEST(a_change_is_an_insert_a_modify_or_a_remove)
{
	struct data d = data_streamed(STREAM_NEW_AND_OLD_IMAGES, NULL);

	CHECK_INT(put(&d, 1, "N1", 5123), OK);
	CHECK_INT(put(&d, 1, "N22", 6000), OK);
	CHECK_INT(del(&d, 1, 7000), OK);
	struct seen seen = read_all(&d, 7000);
	CHECK_INT(seen.n, 3);
	CHECK_INT(seen.records[0].event, STREAM_INSERT);
	CHECK(!str_is_set(seen.records[0].old_image));
	CHECK(data_is(&d, seen.records[0].new_image, item_of(&d, 1, "N1")));
	CHECK_INT(seen.records[0].created_ms, 5123);
	CHECK_INT(seen.sizes[0], 7 + 10); /* pk 2 + 1, sk 2 + 2; v 1 + 2 */
	CHECK_INT(seen.records[1].event, STREAM_MODIFY);
	CHECK(data_is(&d, seen.records[1].old_image, item_of(&d, 1, "N1")));
	CHECK(data_is(&d, seen.records[1].new_image, item_of(&d, 1, "N22")));
	CHECK_INT(seen.sizes[1], 7 + 10 + 10);
	CHECK_INT(seen.records[2].event, STREAM_REMOVE);
	CHECK(data_is(&d, seen.records[2].old_image, item_of(&d, 1, "N22")));
	CHECK(!str_is_set(seen.records[2].new_image));
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(seen.keys[i].n, 2);
		CHECK(i == 0 || seen.records[i].sequence > seen.records[i - 1].sequence);
		CHECK(!seen.records[i].is_service_delete);
	}
	data_free(&d);
}

TEST(a_view_keeps_what_it_says)
{
	static const struct {
		enum stream_view view;
		bool old, new;
		size_t sizes[3];
	} cases[] = {
		{STREAM_KEYS_ONLY, false, false, {7, 7, 7}},
		{STREAM_NEW_IMAGE, false, true, {17, 17, 7}},
		{STREAM_OLD_IMAGE, true, false, {7, 17, 17}},
		{STREAM_NEW_AND_OLD_IMAGES, true, true, {17, 27, 17}},
	};

	for (size_t c = 0; c < 4; c++) {
		struct data d = data_streamed(cases[c].view, NULL);

		CHECK_INT(put(&d, 1, "N1", 5000), OK);
		CHECK_INT(put(&d, 1, "N2", 5000), OK);
		CHECK_INT(del(&d, 1, 5000), OK);
		struct seen seen = read_all(&d, 5000);
		CHECK_INT(seen.n, 3);
		for (size_t i = 0; i < 3; i++) {
			CHECK_INT(str_is_set(seen.records[i].old_image), cases[c].old && i > 0);
			CHECK_INT(str_is_set(seen.records[i].new_image), cases[c].new && i < 2);
			CHECK_INT(seen.sizes[i], cases[c].sizes[i]);
			CHECK_INT(seen.keys[i].n, 2);
			CHECK_STR(seen.keys[i].members[0].name, "pk");
		}
		data_free(&d);
	}
}

TEST(what_changes_nothing_is_not_recorded)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	struct write update = {.kind = WRITE_UPDATE,
			       .key = data_item(&d, "pk", "Sa", "sk", "N1", NULL)};
	struct write refused = {.kind = WRITE_PUT, .item = item_of(&d, 1, "N9")};

	CHECK_INT(put(&d, 1, "N1", 5000), OK);
	CHECK_INT(put(&d, 1, "N1", 5001), OK);
	CHECK_INT(del(&d, 2, 5002), OK);
	CHECK_INT(run(&d, &update, 1, WRITE_ALONE, 5003), OK);
	update.update = data_update(&d, "SET v = :v", ":v", "N1", NULL);
	CHECK_INT(run(&d, &update, 1, WRITE_ALONE, 5004), OK);
	refused.condition = data_condition(&d, EXPR_CONDITION, "attribute_not_exists(pk)", NULL);
	CHECK_INT(run(&d, &refused, 1, WRITE_ALONE, 5005), ERR_CONDITIONAL_CHECK_FAILED);
	CHECK_INT(read_all(&d, 5005).n, 1);
	data_free(&d);
}

TEST(batches_and_transactions_are_recorded_in_order_or_not_at_all)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	struct write batch[] = {
		{.kind = WRITE_PUT, .item = item_of(&d, 1, "N1")},
		{.kind = WRITE_PUT, .item = item_of(&d, 2, "N1")},
		{.kind = WRITE_DELETE, .key = data_item(&d, "pk", "Sa", "sk", "N3", NULL)},
	};
	struct write failing[] = {
		{.kind = WRITE_PUT, .item = item_of(&d, 3, "N1")},
		{.kind = WRITE_CHECK, .key = data_item(&d, "pk", "Sa", "sk", "N9", NULL),
		 .condition = data_condition(&d, EXPR_CONDITION, "attribute_exists(pk)", NULL)},
	};
	struct write going[] = {
		{.kind = WRITE_PUT, .item = item_of(&d, 4, "N1")},
		{.kind = WRITE_DELETE, .key = data_item(&d, "pk", "Sa", "sk", "N1", NULL)},
	};

	CHECK_INT(run(&d, batch, 3, WRITE_BATCH, 5000), OK);
	CHECK_INT(run(&d, failing, 2, WRITE_TRANSACTION, 5000), ERR_TRANSACTION_CANCELED);
	CHECK_INT(run(&d, going, 2, WRITE_TRANSACTION, 5000), OK);
	struct seen seen = read_all(&d, 5000);
	CHECK_INT(seen.n, 4);
	CHECK(data_is(&d, seen.records[0].new_image, item_of(&d, 1, "N1")));
	CHECK(data_is(&d, seen.records[1].new_image, item_of(&d, 2, "N1")));
	CHECK(data_is(&d, seen.records[2].new_image, item_of(&d, 4, "N1")));
	CHECK_INT(seen.records[3].event, STREAM_REMOVE);
	for (size_t i = 1; i < seen.n; i++)
		CHECK(seen.records[i].sequence > seen.records[i - 1].sequence);
	data_free(&d);
}

TEST(a_delete_by_the_service_says_so)
{
	struct data d = data_streamed(STREAM_KEYS_ONLY, NULL);
	struct table *next = table_clone(d.table);
	uint64_t deleted = 0;
	bool more;

	next->ttl.is_enabled = true;
	next->ttl.attribute = STR("v");
	update(&d, next);
	CHECK_INT(put(&d, 1, "N1800000000", 1799999999000), OK);
	CHECK_INT(put(&d, 2, "N1800000000", 1799999999000), OK);
	CHECK_INT(del(&d, 2, 1799999999000), OK);
	CHECK_INT(ttl_sweep(d.catalog, TIMES_AT(1800000001000), 0, &deleted, &more, &d.err), OK);
	CHECK_INT(deleted, 1);
	struct seen seen = read_all(&d, 1800000001000);
	CHECK_INT(seen.n, 4);
	for (size_t i = 0; i < seen.n; i++)
		CHECK_INT(seen.records[i].is_service_delete, i == 3);
	CHECK_INT(seen.records[3].event, STREAM_REMOVE);
	data_free(&d);
}

TEST(shards_rotate_by_records_and_lose_nothing)
{
	struct catalog_options options = {.rotation = {.records = 3}};
	struct data d = data_streamed(STREAM_NEW_IMAGE, &options);
	size_t n;

	for (int i = 0; i < 10; i++)
		CHECK_INT(put(&d, i, "N1", 5000), OK);
	CHECK_INT(read_all(&d, 5000).n, 10);
	struct stream_shard first = shard_at(&d, 0, 5000, &n);
	CHECK_INT(n, 4);
	CHECK_INT(first.parent, 0);
	CHECK_INT(first.closed_ms, 5000);
	CHECK_INT(first.end - first.start, 4); /* its own number and three records */
	for (size_t i = 1; i < n; i++) {
		struct stream_shard before = shard_at(&d, i - 1, 5000, &n),
				    shard = shard_at(&d, i, 5000, &n);

		CHECK(shard.parent == before.stamp && shard.stamp > before.stamp);
		CHECK(shard.start == before.end);
		CHECK_INT(shard.end == 0, i == 3);
	}
	data_free(&d);
}

TEST(a_rotation_in_a_transaction_that_fails_did_not_happen)
{
	struct catalog_options options = {.rotation = {.records = 1}};
	struct data d = data_streamed(STREAM_NEW_IMAGE, &options);
	struct write failing[] = {
		{.kind = WRITE_PUT, .item = item_of(&d, 3, "N1")},
		{.kind = WRITE_PUT, .item = item_of(&d, 4, "N1")},
		{.kind = WRITE_CHECK,
		 .key = data_item(&d, "pk", "Sa", "sk", "N9", NULL),
		 .condition = data_condition(&d, EXPR_CONDITION, "attribute_exists(pk)", NULL)},
	};
	size_t n;

	CHECK_INT(put(&d, 1, "N1", 5000), OK);
	CHECK_INT(run(&d, failing, 3, WRITE_TRANSACTION, 5000), ERR_TRANSACTION_CANCELED);
	(void)shard_at(&d, 0, 5000, &n);
	CHECK_INT(n, 1);
	CHECK_INT(put(&d, 2, "N1", 5000), OK);
	CHECK_INT(put(&d, 3, "N1", 5000), OK);
	(void)shard_at(&d, 0, 5000, &n);
	CHECK_INT(n, 3);
	CHECK_INT(read_all(&d, 5000).n, 3);
	data_free(&d);
}

TEST(shards_rotate_by_age_and_on_demand)
{
	struct catalog_options options = {.rotation = {.ms = 60000}};
	struct data d = data_streamed(STREAM_NEW_IMAGE, &options);
	size_t n;

	CHECK_INT(put(&d, 1, "N1", 60999), OK);
	(void)shard_at(&d, 0, 60999, &n);
	CHECK_INT(n, 1);
	CHECK_INT(put(&d, 2, "N1", 61000), OK);
	(void)shard_at(&d, 0, 61000, &n);
	CHECK_INT(n, 2);
	CHECK_INT(stream_rotate(d.store, d.table, 61000, &d.err), OK);
	CHECK_INT(stream_rotate(d.store, d.table, 61000, &d.err), OK);
	CHECK_INT(put(&d, 3, "N1", 61000), OK);
	struct stream_shard last = shard_at(&d, 3, 61000, &n);
	CHECK_INT(n, 4);
	CHECK_INT(last.stamp, 61002); /* names are unique within a millisecond */
	struct seen seen = read_all(&d, 61000);
	CHECK_INT(seen.n, 3);
	CHECK(seen.records[2].sequence > last.start);
	data_free(&d);
}

static uint64_t pages(struct data *d, int n, int64_t now_ms)
{
	trace_store_reset(d->store);
	CHECK_INT(put(d, n, "N1", now_ms), OK);
	return trace_store_count_in(d->store, TRACE_PAGE, stream_keyspace(d->table));
}

/* The latest shard, the first and the last record are looked for once. */
TEST(writers_remember_their_stream)
{
	struct catalog_options options = {.rotation = {.records = 2}};
	struct data d = data_streamed(STREAM_NEW_IMAGE, &options);

	CHECK_INT(pages(&d, 1, 5000), 3);
	CHECK_INT(pages(&d, 2, 5000), 0);
	CHECK_INT(pages(&d, 3, 5000), 0); /* the third rotates */
	CHECK_INT(pages(&d, 4, 5000), 0);
	reopen(&d, &options);
	CHECK_INT(pages(&d, 5, 6000), 3);
	CHECK_INT(pages(&d, 6, 6000), 0);
	data_free(&d);
}

/* What a writer deleted in a transaction that failed is there again, and goes with the next one. */
TEST(a_trimming_that_fails_is_done_by_the_next_write)
{
	int64_t later = 5000 + 26 * HOUR_MS;
	uint64_t calls = 0;

	for (int round = 0; round < 2; round++) { /* the first tells which call is the commit */
		struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);

		CHECK_INT(put(&d, 1, "N1", 5000), OK);
		CHECK_INT(put(&d, 2, "N1", 5001), OK);
		CHECK_INT(rows(&d), 3);
		trace_store_reset(d.store);
		trace_store_fail(d.store, calls, ERR_INTERNAL);
		CHECK_INT(put(&d, 3, "N1", later), round ? ERR_INTERNAL : OK);
		trace_store_fail(d.store, 0, OK);
		for (enum trace_call call = TRACE_BEGIN; call < TRACE_ROW; call++)
			calls +=
				round || call == TRACE_ABORT ? 0 : trace_store_count(d.store, call);
		CHECK_INT(rows(&d), round ? 3 : 2);
		CHECK_INT(put(&d, 3, "N2", later), OK);
		CHECK_INT(rows(&d), round ? 2 : 3); /* the shard, and the new records */
		data_free(&d);
	}
}

static enum code start(struct data *d, enum stream_start kind, uint64_t sequence, int64_t time_ms,
		       int64_t now_ms, uint64_t *position)
{
	struct stream_cursor cursor = cursor_of(d, 0, now_ms);
	enum code code =
		stream_read_start(d->store, d->arena, &cursor, kind, sequence, time_ms, &d->err);

	*position = cursor.position;
	return code;
}

TEST(a_reader_starts_where_it_asks)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	uint64_t at;

	CHECK_INT(start(&d, STREAM_START_LATEST, 0, 0, 5000, &at), OK);
	CHECK_INT(at, 2);
	for (int i = 0; i < 5; i++)
		CHECK_INT(put(&d, i, "N1", 5000 + 1000 * i), OK); /* numbers 2 to 6 */
	CHECK_INT(start(&d, STREAM_START_TRIM_HORIZON, 0, 0, 9000, &at), OK);
	CHECK(at <= 2);
	CHECK_INT(start(&d, STREAM_START_LATEST, 0, 0, 9000, &at), OK);
	CHECK_INT(at, 7);
	CHECK_INT(start(&d, STREAM_START_AT_SEQUENCE, 4, 0, 9000, &at), OK);
	CHECK_INT(at, 4);
	CHECK_INT(start(&d, STREAM_START_AFTER_SEQUENCE, 4, 0, 9000, &at), OK);
	CHECK_INT(at, 5);
	CHECK_INT(start(&d, STREAM_START_AT_SEQUENCE, 1, 0, 9000, &at), OK); /* the shard's own */
	CHECK_INT(start(&d, STREAM_START_AFTER_SEQUENCE, 6, 0, 9000, &at), OK);
	CHECK_INT(at, 7);
	CHECK_INT(start(&d, STREAM_START_AFTER_SEQUENCE, 7, 0, 9000, &at), ERR_VALIDATION);
	CHECK_STR(d.err.message, "Invalid SequenceNumber for the shard");
	CHECK_INT(start(&d, STREAM_START_AT_SEQUENCE, 0, 0, 9000, &at), ERR_VALIDATION);
	for (int64_t ms = 4000; ms <= 10000; ms += 500) {
		CHECK_INT(start(&d, STREAM_START_AT_TIME, 0, ms, 10000, &at), OK);
		CHECK_INT(ms <= 5000
				  ? at <= 2
				  : at == (uint64_t)(ms >= 9001 ? 7 : 2 + (ms - 5000 + 999) / 1000),
			  true);
	}
	struct stream_cursor wrong = cursor_of(&d, 0, 9000);
	wrong.shard++;
	CHECK_INT(stream_read_start(d.store, d.arena, &wrong, STREAM_START_LATEST, 0, 0, &d.err),
		  ERR_RESOURCE_NOT_FOUND);
	CHECK_STR(d.err.message, "Requested resource not found: Shard does not exist");
	data_free(&d);
}

TEST(a_page_has_its_limits)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	struct seen seen = {.arena = d.arena};

	for (int i = 0; i < 4; i++)
		CHECK_INT(put(&d, i, data_long(&d, 'S', 300000), 5000), OK);
	struct stream_cursor cursor = cursor_of(&d, 0, 5000);
	cursor.position = 2;
	CHECK_INT(see_page(&d, &cursor, 1000, &seen), OK);
	CHECK_INT(seen.n, 3); /* a fourth would make more than 1 MB */
	CHECK_INT(cursor.position, 5);
	CHECK_INT(see_page(&d, &cursor, 1000, &seen), OK);
	CHECK_INT(seen.n, 4);
	CHECK_INT(cursor.position, 6);
	CHECK_INT(see_page(&d, &cursor, 1000, &seen), OK);
	CHECK_INT(seen.n, 4);
	CHECK_INT(cursor.position, 6);
	cursor.position = 2;
	CHECK_INT(see_page(&d, &cursor, 2, &seen), OK);
	CHECK_INT(seen.n, 6);
	CHECK_INT(cursor.position, 4);
	data_free(&d);
}

TEST(records_are_trimmed_after_a_day)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	struct seen seen = {.arena = d.arena};
	int64_t day = 24 * HOUR_MS;
	uint64_t at;

	for (int i = 0; i < 5; i++)
		CHECK_INT(put(&d, i, "N1", 1000 + i * HOUR_MS), OK); /* numbers 2 to 6 */
	int64_t now = 1000 + day + 2 * HOUR_MS; /* the third is just not too old */
	for (int swept = 0; swept < 2; swept++) {
		CHECK_INT(start(&d, STREAM_START_TRIM_HORIZON, 0, 0, now, &at), OK);
		CHECK_INT(at, 4);
		CHECK_INT(start(&d, STREAM_START_AT_SEQUENCE, 4, 0, now, &at), OK);
		CHECK_INT(start(&d, STREAM_START_AFTER_SEQUENCE, 3, 0, now, &at), OK);
		CHECK_INT(start(&d, STREAM_START_AT_SEQUENCE, 3, 0, now, &at), ERR_TRIMMED_DATA);
		CHECK_STR(d.err.message, "The data you are trying to access has been trimmed");
		CHECK_INT(start(&d, STREAM_START_AT_SEQUENCE, 1, 0, now, &at), ERR_TRIMMED_DATA);
		CHECK_INT(start(&d, STREAM_START_AT_TIME, 0, 0, now, &at), OK);
		CHECK_INT(at, 4);
		struct stream_cursor cursor = cursor_of(&d, 0, now);
		cursor.position = 2;
		CHECK_INT(see_page(&d, &cursor, 10, &seen), ERR_TRIMMED_DATA);
		CHECK_INT(read_all(&d, now).n, 3);
		CHECK_INT(rows(&d), swept ? 1 + 3 : 1 + 5);
		CHECK_INT(stream_sweep(d.catalog, TIMES_AT(now), &d.err), OK);
	}
	/* when all are gone, the numbers that were used are still known */
	CHECK_INT(stream_sweep(d.catalog, TIMES_AT(now + 2 * day), &d.err), OK);
	CHECK_INT(rows(&d), 1);
	reopen(&d, NULL);
	CHECK_INT(put(&d, 1, "N2", now + 2 * day), OK);
	seen = read_all(&d, now + 2 * day);
	CHECK_INT(seen.n, 1);
	CHECK_INT(seen.records[0].sequence, 7);
	data_free(&d);
}

TEST(a_sweep_with_nothing_to_do_writes_nothing)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);

	for (int i = 0; i < 20; i++)
		CHECK_INT(put(&d, i, "N1", 5000), OK);
	trace_store_reset(d.store);
	CHECK_INT(stream_sweep(d.catalog, TIMES_AT(6000), &d.err), OK);
	CHECK_INT(trace_store_count(d.store, TRACE_PUT) + trace_store_count(d.store, TRACE_DEL) +
			  trace_store_count(d.store, TRACE_COMMIT),
		  0);
	CHECK_INT(trace_store_count(d.store, TRACE_ROW),
		  3); /* the mark, the oldest record, the oldest shard */
	data_free(&d);
}

/* The same with an arena of its own, so that many of them need little memory. */
static void rotate_or_put(struct data *d, bool has_record, int i)
{
	struct arena *arena = d->arena;

	d->arena = arena_new(0);
	d->err = err_in(d->arena);
	CHECK_INT(has_record ? put(d, i, "N1", 5000)
			     : stream_rotate(d->store, d->table, 5000, &d->err),
		  OK);
	arena_free(d->arena);
	d->arena = arena;
	d->err = err_in(arena);
}

/* Rows that a scan shows, and the most rows that one transaction deletes. */
TEST(trimming_many_shards_is_linear)
{
	const struct {
		uint64_t per_shard; /* records; 0: none at all */
		int n;              /* records, or shards */
	} cases[] = {{0, 4000}, {1, 4000}, {3, 4000}, {1000, 4000}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct catalog_options options = {.rotation = {.records = cases[c].per_shard}};
		struct data d = data_streamed(STREAM_KEYS_ONLY, &options);

		for (int i = 0; i < cases[c].n; i++)
			rotate_or_put(&d, cases[c].per_shard > 0, i);
		uint64_t before = rows(&d);
		trace_store_reset(d.store);
		CHECK_INT(stream_sweep(d.catalog, TIMES_AT(6000 + STREAM_RETENTION_MS), &d.err),
			  OK);
		CHECK_INT(rows(&d), 1);
		CHECK_INT(trace_store_count(d.store, TRACE_DEL), before - 1);
		CHECK(trace_store_count(d.store, TRACE_ROW) <= before + before / 2);
		CHECK(trace_store_count(d.store, TRACE_PUT) <= 10 + before / 100);
		CHECK(trace_store_count(d.store, TRACE_DEL) <=
		      1000 * trace_store_count(d.store, TRACE_COMMIT));
		data_free(&d);
	}
}

/* One trimming of two records and two shards at most: what it deleted; whether it says that all is
 * done. */
static uint64_t trim(struct data *d, int64_t now_ms, bool *is_done)
{
	struct store_txn *txn;

	trace_store_reset(d->store);
	CHECK_INT(store_begin(d->store, STORE_WRITE, &txn, &d->err), OK);
	CHECK_INT(stream_trim(txn, d->arena, d->table, 2, now_ms, is_done, &d->err), OK);
	CHECK_INT(store_commit(txn, &d->err), OK);
	return trace_store_count(d->store, TRACE_DEL);
}

/* Records of shards behind the page stay until the page with their shards comes. */
TEST(trimming_goes_by_pages_of_shards)
{
	struct data d = data_streamed(STREAM_KEYS_ONLY, NULL);
	int64_t day = 5000 + STREAM_RETENTION_MS;
	bool is_done;

	for (int i = 0; i < 3; i++) /* three shards without records, one with two, an open one */
		CHECK_INT(stream_rotate(d.store, d.table, 5000, &d.err), OK);
	CHECK_INT(put(&d, 1, "N1", 5000), OK);
	CHECK_INT(put(&d, 2, "N1", 5000), OK);
	CHECK_INT(stream_rotate(d.store, d.table, 5000, &d.err), OK);
	CHECK_INT(trim(&d, day, &is_done), 0);
	CHECK(is_done);
	CHECK_INT(trim(&d, day + 1, &is_done), 2);
	CHECK(!is_done);
	CHECK_INT(trim(&d, day + 1, &is_done), 2 + 2);
	CHECK_INT(rows(&d), 1);
	CHECK_INT(trim(&d, day + 1, &is_done), 0);
	CHECK(is_done);
	data_free(&d);
}

/* A page in which one shard went, or one shard's records, is not the last. */
TEST(trimming_goes_on_after_any_change)
{
	for (int is_whole = 0; is_whole < 2; is_whole++) {
		struct data d = data_streamed(STREAM_KEYS_ONLY, NULL);
		bool is_done;

		CHECK_INT(put(&d, 1, "N1", 5000), OK);
		CHECK_INT(stream_rotate(d.store, d.table, is_whole ? 5000 : 6000, &d.err), OK);
		for (int i = 0; i < 3; i++)
			CHECK_INT(stream_rotate(d.store, d.table, 6000, &d.err), OK);
		CHECK_INT(trim(&d, 5001 + STREAM_RETENTION_MS, &is_done), is_whole ? 2 : 1);
		CHECK(!is_done);
		CHECK_INT(trim(&d, 5001 + STREAM_RETENTION_MS, &is_done), 0);
		CHECK(is_done);
		data_free(&d);
	}
}

TEST(writers_trim_many_shards_in_time_linear_in_what_they_delete)
{
	struct catalog_options options = {.rotation = {.records = 1}};
	struct data d = data_streamed(STREAM_KEYS_ONLY, &options);

	for (int i = 0; i < 4000; i++)
		rotate_or_put(&d, true, i);
	uint64_t before = rows(&d);
	trace_store_reset(d.store);
	CHECK_INT(put(&d, 1, "N2", 5000 + STREAM_RETENTION_MS + HOUR_MS), OK);
	uint64_t deleted = before + 3 - rows(&d);
	CHECK(deleted >= 256);
	CHECK(trace_store_count(d.store, TRACE_ROW) <= 2 * deleted);
	data_free(&d);
}

TEST(a_page_of_shards_costs_what_it_returns)
{
	struct catalog_options options = {.rotation = {.records = 1}};
	struct data d = data_streamed(STREAM_KEYS_ONLY, &options);
	const struct stream *stream = &d.table->streams.v[0];
	size_t seen = 0;
	uint64_t last = 0;

	for (int i = 0; i < 3000; i++)
		rotate_or_put(&d, true, i);
	for (bool is_more = true; is_more; seen += 100) {
		struct stream_shard_page page = {.from = last + 1, .limit = 100};

		trace_store_reset(d.store);
		CHECK_INT(
			stream_read_shards(d.store, d.arena, d.table, stream, 6000, &page, &d.err),
			OK);
		CHECK(trace_store_count(d.store, TRACE_ROW) <= 102);
		CHECK_INT(page.n, 100);
		for (size_t i = 0; i < page.n; i++) {
			CHECK(page.shards[i].stamp > last);
			last = page.shards[i].stamp;
		}
		is_more = page.is_cut;
	}
	CHECK_INT(seen, 3000);

	/* a second stream's shards are found without a walk over the first one's */
	struct table *off = table_clone(d.table);
	off->streams.view = STREAM_OFF;
	off->streams.v[0].disabled_ms = 6000;
	update(&d, off);
	struct table *on = table_clone(d.table);
	add_stream(on, STREAM_KEYS_ONLY, "second", 7000);
	update(&d, on);
	struct stream_shard_page page = {.limit = 100};
	trace_store_reset(d.store);
	CHECK_INT(stream_read_shards(d.store, d.arena, d.table, &d.table->streams.v[1], 7000, &page,
				     &d.err),
		  OK);
	CHECK_INT(page.n, 1);
	CHECK(!page.is_cut);
	CHECK(trace_store_count(d.store, TRACE_ROW) < 20);
	page = (struct stream_shard_page){.from = last, .limit = 100};
	CHECK_INT(stream_read_shards(d.store, d.arena, d.table, &d.table->streams.v[0], 7000, &page,
				     &d.err),
		  OK);
	CHECK_INT(page.n, 1);
	CHECK(!page.is_cut);
	data_free(&d);
}

/* An hour at a time: what a day holds stays, and so does the store's size. */
TEST(a_year_of_writes_does_not_grow)
{
	struct catalog_options options = {.rotation = {.ms = 4 * HOUR_MS}};
	struct data d = data_streamed(STREAM_NEW_AND_OLD_IMAGES, &options);
	uint64_t most = 0;

	for (int hour = 0; hour < 365 * 24; hour++) {
		int64_t now = 1000 + hour * HOUR_MS;
		struct arena *arena = d.arena;

		d.arena = arena_new(0);
		d.err = err_in(d.arena);
		CHECK_INT(put(&d, hour % 7, str_printf(d.arena, "N%d", hour).p, now), OK);
		if (hour % 24 == 0) {
			uint64_t n = rows(&d);

			most = n > most ? n : most;
		}
		arena_free(d.arena);
		d.arena = arena;
		d.err = err_in(arena);
	}
	CHECK(most <= 26 + 9); /* the records and shards of a day, and what the slack and the open
				  shard add */
	CHECK_INT(read_all(&d, 1000 + (365 * 24 - 1) * HOUR_MS).n, 25);
	data_free(&d);
}

TEST(a_disabled_stream_is_readable_for_a_day)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	size_t n;

	CHECK_INT(put(&d, 1, "N1", 5000), OK);
	struct table *off = table_clone(d.table);
	off->streams.view = STREAM_OFF;
	off->streams.v[0].disabled_ms = 6000;
	update(&d, off);
	CHECK_INT(put(&d, 2, "N1", 7000), OK);
	struct stream_shard shard = shard_at(&d, 0, 7000, &n);
	CHECK_INT(n, 1);
	CHECK_INT(shard.closed_ms, 6000);
	struct stream_cursor cursor = cursor_of(&d, 0, 7000);
	struct seen seen = {.arena = d.arena};
	CHECK_INT(stream_read_start(d.store, d.arena, &cursor, STREAM_START_TRIM_HORIZON, 0, 0,
				    &d.err),
		  OK);
	CHECK_INT(see_page(&d, &cursor, 10, &seen), OK);
	CHECK_INT(seen.n, 1);
	CHECK(cursor.is_at_end);
	CHECK_INT(stream_rotate(d.store, d.table, 7000, &d.err), ERR_RESOURCE_NOT_FOUND);

	struct table *on = table_clone(d.table);
	add_stream(on, STREAM_KEYS_ONLY, "second", 8000);
	update(&d, on);
	CHECK_INT(put(&d, 3, "N1", 9000), OK);
	seen = read_all(&d, 9000); /* of the second */
	CHECK_INT(seen.n, 1);
	CHECK(seen.records[0].sequence > 3);
	shard = shard_at(&d, 0, 9000, &n);
	CHECK_INT(n, 1);
	CHECK_INT(shard.parent, 0);
	CHECK(!stream_is_gone(&d.table->streams.v[0], 6000 + STREAM_RETENTION_MS));
	CHECK(stream_is_gone(&d.table->streams.v[0], 6001 + STREAM_RETENTION_MS));
	CHECK_INT(rows(&d), 4);
	CHECK_INT(stream_sweep(d.catalog, TIMES_AT(6001 + STREAM_RETENTION_MS), &d.err), OK);
	CHECK_INT(rows(&d), 2); /* the first one's shard and record are gone */
	data_free(&d);
}

TEST(the_stream_of_a_table_being_deleted_is_closed)
{
	struct catalog_options options = {.transient_status_ms = 1000};
	struct data d = data_streamed(STREAM_NEW_IMAGE, &options);

	CHECK_INT(catalog_delete(d.catalog, d.table, 6000, &d.err), OK);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 6500, &d.table, &d.err), OK);
	CHECK_INT(d.table->state.status, STATUS_DELETING);
	CHECK_INT(stream_rotate(d.store, d.table, 6500, &d.err), ERR_RESOURCE_NOT_FOUND);
	data_free(&d);
}

static size_t streamed(struct data *d, struct table ***tables)
{
	struct table_list *list = ARENA_NEW(d->arena, struct table_list);

	*list = data_marked(d->catalog, MARK_STREAM, STR_ABSENT);
	*tables = list->v;
	return list->n;
}

TEST(a_deleted_tables_stream_is_kept_for_a_day)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	struct table **tables, *deleted;

	CHECK_INT(put(&d, 1, "N1", 5000), OK);
	CHECK_INT(catalog_delete(d.catalog, d.table, 6000, &d.err), OK);
	/* by the snapshot of one who did not see it go: a closed stream stays closed */
	CHECK_INT(stream_rotate(d.store, d.table, 6500, &d.err), ERR_TABLE_MOVED);
	for (int opened = 0; opened < 2; opened++) {
		struct catalog_options options = {0};
		size_t n;

		CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 6000, &deleted, &d.err),
			  ERR_RESOURCE_NOT_FOUND);
		CHECK_INT(streamed(&d, &tables), 1);
		table_unref(d.table);
		d.table = tables[0];
		CHECK_INT(d.table->streams.v[0].disabled_ms, 6000);
		CHECK_INT(shard_at(&d, 0, 7000, &n).closed_ms, 6000);
		CHECK_INT(n, 1);
		struct stream_cursor cursor = cursor_of(&d, 0, 7000);
		struct seen seen = {.arena = d.arena};
		CHECK_INT(stream_read_start(d.store, d.arena, &cursor, STREAM_START_TRIM_HORIZON, 0,
					    0, &d.err),
			  OK);
		CHECK_INT(see_page(&d, &cursor, 10, &seen), OK);
		CHECK_INT(seen.n, 1);
		if (opened == 0) {
			catalog_close(d.catalog);
			CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
		}
	}
	CHECK_INT(stream_sweep(d.catalog, TIMES_AT(6000 + STREAM_RETENTION_MS), &d.err), OK);
	CHECK_INT(streamed(&d, &tables), 1);
	table_unref(tables[0]);
	CHECK_INT(stream_sweep(d.catalog, TIMES_AT(6001 + STREAM_RETENTION_MS), &d.err), OK);
	CHECK_INT(streamed(&d, &tables), 0);
	struct store_stat stat;
	struct store_txn *txn;
	CHECK_INT(store_begin(d.store, STORE_READ, &txn, &d.err), OK);
	CHECK_INT(store_stat(txn, stream_keyspace(d.table), &stat, &d.err), ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_stat(txn, (struct keyspace){0, SYSTEM_TABLES}, &stat, &d.err), OK);
	CHECK_INT(stat.rows, 0);
	store_abort(txn);
	data_free(&d);
}

/* Whatever call fails: the write is there with its record, or neither is; and the next write goes
 * on. */
TEST(a_failing_store_leaves_item_and_record_alike)
{
	struct catalog_options options = {.rotation = {.records = 2}};
	struct data d = data_streamed(STREAM_NEW_AND_OLD_IMAGES, &options);
	int failures = 0;

	for (int n = 1; n < 60; n++) {
		const struct value *key = data_item(&d, "pk", "Sa", "sk", "N1", NULL);
		const char *v = str_printf(d.arena, "N%d", n).p;

		trace_store_fail(d.store, (uint64_t)(n % 20 + 1), ERR_INTERNAL);
		enum code code = put(&d, 1, v, 5000);
		trace_store_fail(d.store, 0, OK);
		failures += code != OK;
		struct seen seen = read_all(&d, 5000);
		if (seen.n == SEEN_MAX)
			break;
		CHECK(seen.n == 0 || str_eq(seen.records[seen.n - 1].new_image, data_get(&d, key)));
		for (size_t i = 1; i < seen.n; i++)
			CHECK(str_eq(seen.records[i].old_image, seen.records[i - 1].new_image));
	}
	CHECK(failures > 10);
	data_free(&d);
}

TEST(malformed_records_are_refused)
{
	struct data d = data_streamed(STREAM_NEW_IMAGE, NULL);
	struct stream_change change = {STR_ABSENT, data_image(&d, item_of(&d, 1, "N1")), false, 0};
	struct stream_record record = stream_record_of(d.arena, d.table, &change, 5000), decoded;
	struct str row = stream_record_encode(d.arena, &record),
		   key = stream_shard_record_key(d.arena, 77);

	CHECK(stream_record_decode(key, row, &decoded));
	CHECK_INT(decoded.sequence, 77);
	CHECK_INT(decoded.created_ms, 5000);
	for (size_t n = 0; n < row.n; n++)
		CHECK(!stream_record_decode(key, (struct str){row.p, n}, &decoded));
	char *bytes = arena_bytes(d.arena, row.n);
	memcpy(bytes, row.p, row.n);
	bytes[1] = 4; /* no such event */
	CHECK(!stream_record_decode(key, (struct str){bytes, row.n}, &decoded));
	data_free(&d);
}

TEST_MAIN(TEST_CASE(a_change_is_an_insert_a_modify_or_a_remove),
	  TEST_CASE(a_view_keeps_what_it_says), TEST_CASE(what_changes_nothing_is_not_recorded),
	  TEST_CASE(batches_and_transactions_are_recorded_in_order_or_not_at_all),
	  TEST_CASE(a_delete_by_the_service_says_so),
	  TEST_CASE(shards_rotate_by_records_and_lose_nothing),
	  TEST_CASE(a_rotation_in_a_transaction_that_fails_did_not_happen),
	  TEST_CASE(shards_rotate_by_age_and_on_demand),
	  TEST_CASE(trimming_goes_by_pages_of_shards), TEST_CASE(trimming_goes_on_after_any_change),
	  TEST_CASE(writers_remember_their_stream),
	  TEST_CASE(a_trimming_that_fails_is_done_by_the_next_write),
	  TEST_CASE(a_reader_starts_where_it_asks), TEST_CASE(a_page_has_its_limits),
	  TEST_CASE(records_are_trimmed_after_a_day),
	  TEST_CASE(a_sweep_with_nothing_to_do_writes_nothing),
	  TEST_CASE(a_year_of_writes_does_not_grow), TEST_CASE(trimming_many_shards_is_linear),
	  TEST_CASE(writers_trim_many_shards_in_time_linear_in_what_they_delete),
	  TEST_CASE(a_page_of_shards_costs_what_it_returns),
	  TEST_CASE(a_disabled_stream_is_readable_for_a_day),
	  TEST_CASE(a_deleted_tables_stream_is_kept_for_a_day),
	  TEST_CASE(the_stream_of_a_table_being_deleted_is_closed),
	  TEST_CASE(a_failing_store_leaves_item_and_record_alike),
	  TEST_CASE(malformed_records_are_refused))
