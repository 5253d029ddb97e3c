#include "server/tools/online.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base64.h"
#include "protocol/tables/settings.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "storage/catalog/catalog.h"
#include "storage/check.h"
#include "storage/monotonic.h"
#include "storage/store/maintenance.h"
#include "storage/uuid.h"

#define PAGES_AT_ONCE 2048       /* that a piece of a check reads: 8 MB */
#define FINDINGS_MAX 1000        /* lines of an answer */
#define BYTES_AT_ONCE (512 * 1024)
#define IDLE_MS 10000
#define CURSOR_NUMBERS 5

struct online {
	struct store *store;
	pthread_mutex_t mutex;   /* of all that follows */
	struct live_copy *copy;  /* NULL: none is under way */
	struct arena *arena;     /* of its id */
	struct str id;
	int64_t used_ms;
};

struct online *online_new(struct store *store)
{
	struct online *online = arena_checked(calloc(1, sizeof(*online)));

	online->store = store;
	online->arena = arena_new(0);
	pthread_mutex_init(&online->mutex, NULL);
	return online;
}

static void let_go(struct online *online)
{
	if (online->copy)
		online->store->maintenance->copy_end(online->copy);
	online->copy = NULL;
}

void online_free(struct online *online)
{
	let_go(online);
	pthread_mutex_destroy(&online->mutex);
	arena_free(online->arena);
	free(online);
}

void online_tick(void *context)
{
	struct online *online = context;

	if (pthread_mutex_trylock(&online->mutex) != 0)
		return;
	if (online->copy && monotonic_ms() - online->used_ms > IDLE_MS)
		let_go(online);
	pthread_mutex_unlock(&online->mutex);
}

/* Where a check goes on: at a page of the file, then in the store. */
struct place {
	uint32_t page;            /* 0: all were read */
	struct check_cursor rows;
};

static struct str write_copy_place(struct arena *arena, const struct place *place)
{
	const struct check_cursor *rows = &place->rows;
	const uint64_t numbers[CURSOR_NUMBERS] = {place->page, rows->number, rows->stage,
						  rows->index, rows->unreadable};
	struct buf bytes = buf_in(arena), text = buf_in(arena);

	for (size_t i = 0; i < CURSOR_NUMBERS; i++)
		buf_add_be64(&bytes, numbers[i]);
	buf_add_byte(&bytes, str_is_set(rows->table));
	buf_add_be32(&bytes, (uint32_t)rows->table.n);
	buf_add_str(&bytes, rows->table);
	buf_add_byte(&bytes, str_is_set(rows->key));
	buf_add_str(&bytes, rows->key);
	base64_encode(buf_str(&bytes), &text);
	return buf_str(&text);
}

static bool read_copy_place(struct arena *arena, struct str text, struct place *place)
{
	const size_t head = CURSOR_NUMBERS * 8 + 5;
	struct str bytes;

	*place = (struct place){.rows = CHECK_START};
	if (!base64_decode(arena, text, &bytes) || bytes.n < head + 1)
		return false;
	const char *p = bytes.p;
	size_t table_n = (size_t)str_be(p + head - 4, 4);
	if (table_n > bytes.n - head - 1)
		return false;
	place->page = (uint32_t)str_be(p, 8);
	place->rows.number = str_be(p + 8, 8);
	place->rows.stage = (unsigned)str_be(p + 16, 8);
	place->rows.index = (unsigned)str_be(p + 24, 8);
	place->rows.unreadable = str_be(p + 32, 8);
	if (p[head - 5])
		place->rows.table = (struct str){p + head, table_n};
	if (p[head + table_n])
		place->rows.key =
			(struct str){p + head + table_n + 1, bytes.n - head - table_n - 1};
	return true;
}

/* The body's cursor; the beginning where it has none. */
static enum code read_body(struct arena *arena, struct str body, struct place *place,
			   struct err *err)
{
	const struct json *root = NULL, *cursor;

	*place = (struct place){.page = 1, .rows = CHECK_START};
	if (str_trim(body).n == 0)
		return OK;
	if (json_parse(arena, body, &root, err) != OK || json_type(root) != JSON_OBJECT)
		return err_set(err, MSG_CHECK_BODY);
	cursor = json_member(root, "cursor");
	if (!cursor)
		return OK;
	if (json_type(cursor) != JSON_STRING ||
	    !read_copy_place(arena, json_string(arena, cursor), place))
		return err_set(err, MSG_CHECK_BODY);
	return OK;
}

struct lines {
	struct arena *arena;
	struct json_out *out;
	size_t n;
};

static void add_line(void *context, struct str line)
{
	struct lines *lines = context;

	if (lines->n++ < FINDINGS_MAX)
		json_out_string(lines->out, line);
}

static void add_figures(struct json_out *out, const struct check_report *report)
{
	json_out_field_integer(out, "count", (int64_t)report->findings);
	json_out_field_integer(out, "tables", (int64_t)report->tables);
	json_out_field_integer(out, "items", (int64_t)report->items);
	json_out_field_integer(out, "index_rows", (int64_t)report->index_rows);
	json_out_field_integer(out, "expiry_rows", (int64_t)report->expiry_rows);
	json_out_field_integer(out, "records", (int64_t)report->records);
}

enum code online_check(struct online *online, struct arena *arena, struct str body, int64_t now_ms,
		       struct str *answer, struct err *err)
{
	struct json_out out = json_out_in(arena);
	struct lines lines = {.arena = arena, .out = &out};
	struct check_report report = {.tell = add_line, .context = &lines};
	struct place place;
	enum code code = read_body(arena, body, &place, err);

	if (code != OK)
		return code;
	if (!online->store->maintenance)
		place.page = 0;
	json_out_open(&out, '{');
	json_out_name(&out, STR("findings"));
	json_out_open(&out, '[');
	if (place.page)
		code = online->store->maintenance->verify_some(online->store, place.page,
							       PAGES_AT_ONCE, &place.page, add_line,
							       &lines, &report.findings, err);
	else
		code = check_step(online->store, &settings_records, now_ms, arena, &place.rows,
				  &report, err);
	if (code != OK)
		return code;
	json_out_close(&out, ']');
	add_figures(&out, &report);
	if (!place.rows.is_done)
		json_out_field_string(&out, "cursor", write_copy_place(arena, &place));
	json_out_close(&out, '}');
	*answer = json_out_str(&out);
	return OK;
}

static enum code begin_online_copy(struct online *online, struct err *err)
{
	if (!online->store->maintenance)
		return err_set(err, MSG_BACKUP_DATABASE);
	if (online->copy)
		return err_set(err, MSG_BACKUP_BUSY);
	enum code code = online->store->maintenance->copy_begin(online->store, &online->copy, err);
	if (code != OK)
		return code;
	arena_reset(online->arena);
	online->id = uuid_new(online->arena);
	return OK;
}

static struct str describe_online_copy(const struct online *online, struct arena *arena,
				       const struct live_copy_progress *progress)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "backup", online->id);
	json_out_field_integer(&out, "pages", (int64_t)progress->pages);
	json_out_field_integer(&out, "total", (int64_t)progress->total);
	if (progress->is_whole)
		json_out_field_integer(&out, "bytes", (int64_t)progress->bytes);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static enum code read_bytes(struct online *online, struct arena *arena, struct str at,
			    struct str *answer, struct err *err)
{
	char *bytes = arena_bytes(arena, BYTES_AT_ONCE), *end = NULL;
	unsigned long long from = strtoull(str_copy(arena, at).p, &end, 10);
	size_t n = BYTES_AT_ONCE;

	if (*end || at.n == 0)
		return err_set(err, MSG_BACKUP_QUERY);
	enum code code = online->store->maintenance->copy_read(online->copy, from, bytes, &n, err);
	*answer = (struct str){bytes, n};
	return code;
}

/* With the lock held. A copy that failed is dropped at once. */
static enum code serve(struct online *online, struct arena *arena, struct str id, struct str at,
		       bool *is_bytes, struct str *answer, struct err *err)
{
	struct live_copy_progress progress = {.pages = 0};
	enum code code = OK;

	if (!str_is_set(id))
		code = begin_online_copy(online, err);
	else if (!online->copy || !str_eq(id, online->id))
		return err_set(err, MSG_BACKUP_QUERY);
	if (code != OK)
		return code;
	online->used_ms = monotonic_ms();
	*is_bytes = str_is_set(at) && !str_eq(at, STR("end"));
	*answer = STR("{}");
	if (*is_bytes)
		return read_bytes(online, arena, at, answer, err);
	if (str_is_set(at)) {
		let_go(online);
		return OK;
	}
	code = online->store->maintenance->copy_step(online->copy, &progress, err);
	if (code == OK)
		*answer = describe_online_copy(online, arena, &progress);
	else
		let_go(online);
	online->used_ms = monotonic_ms();
	return code;
}

enum code online_backup(struct online *online, struct arena *arena, struct str id, struct str at,
			bool *is_bytes, struct str *answer, struct err *err)
{
	*is_bytes = false;
	pthread_mutex_lock(&online->mutex);
	enum code code = serve(online, arena, id, at, is_bytes, answer, err);
	pthread_mutex_unlock(&online->mutex);
	return code;
}
