#include "server/kinesis/kinesis.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/md5.h"
#include "core/seen.h"
#include "protocol/streams.h"
#include "protocol/tables/destinations.h"
#include "server/crash.h"
#include "server/kinesis/messages.h"
#include "server/kinesis/put_records.h"
#include "server/log.h"
#include "storage/catalog/mark_walk.h"
#include "storage/monotonic.h"
#include "storage/stream/change_log.h"
#include "storage/stream/stream_position.h"

#define POLL_MS 100                /* between two looks for changes */
#define PAUSE_FIRST_MS 100
#define PAUSE_MAX_MS 10000
#define TRIES_MAX 6                /* of a new destination: within 3 s */
#define WINDOW_BYTES                                                                               \
	(1024 * 1024) /* of images in the store: with base64 less than the 5 MB of a request */
#define REFRESH_MS                                                                                 \
	3600000 /* how often a position that does not move is saved again: it is somebody's */
#define POSITION_IS_THERE 1        /* its stream: no stream counts here */

/* One destination, in the memory of this process. */
struct sender {
	uint64_t table;            /* number */
	struct str arn, reader, lease; /* of malloc, one piece: `arn` is its begin */
	struct stream_position at; /* as it was read or saved last */
	size_t done_n;             /* changes behind `at` that are taken already */
	uint64_t done[PUT_RECORDS_MAX];
	size_t limit;              /* changes in a request */
	int64_t pause_ms, until_ms; /* by the monotonic clock: not before then */
	unsigned tries;            /* probes of a new destination that nobody answered */
	bool is_known, is_failing, is_present;
};

struct kinesis {
	struct kinesis_options options;
	struct put_endpoint endpoint;
	pthread_t thread;
	atomic_bool is_ending;
	size_t n;
	struct sender **v;
};

/* A piece of work for one destination. */
struct piece {
	struct kinesis *kinesis;
	struct arena *arena;
	struct sender *sender;
	struct table *table;
	const struct destination *destination;
	size_t n;
	struct put_record *v;
	uint64_t next;             /* number behind the last one */
	bool is_more;
};

static atomic_bool has_warned;

bool kinesis_sends(void)
{
	return true;
}

bool kinesis_sends_nowhere(void)
{
	if (!atomic_exchange(&has_warned, true))
		log_line(LOG_WARN, LOG_KINESIS_NOWHERE);
	return false;
}

static struct store *store_of(const struct piece *piece)
{
	return catalog_store(piece->kinesis->options.service->catalog);
}

static int64_t real_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct sender *sender_of(struct kinesis *kinesis, struct arena *arena, uint64_t table,
				struct str arn)
{
	for (size_t i = 0; i < kinesis->n; i++) {
		if (kinesis->v[i]->table == table && str_eq(kinesis->v[i]->arn, arn))
			return kinesis->v[i];
	}
	struct sender *sender = arena_checked(calloc(1, sizeof(*sender)));
	struct str texts =
		str_printf(arena, STR_FMT "kinesis/" STR_FMT "kinesis/%llu/" STR_FMT, STR_ARG(arn),
			   STR_ARG(arn), (unsigned long long)table, STR_ARG(arn));
	char *kept = arena_checked(malloc(texts.n));

	memcpy(kept, texts.p, texts.n);
	sender->table = table;
	sender->arn = (struct str){kept, arn.n};
	sender->reader = (struct str){kept + arn.n, sizeof("kinesis/") - 1 + arn.n};
	sender->lease = (struct str){sender->reader.p + sender->reader.n,
				     texts.n - arn.n - sender->reader.n};
	sender->limit = PUT_RECORDS_MAX;
	kinesis->v = arena_checked(realloc(kinesis->v, (kinesis->n + 1) * sizeof(struct sender *)));
	return kinesis->v[kinesis->n++] = sender;
}

static void forget(struct sender *sender)
{
	free((void *)(uintptr_t)sender->arn.p);
	free(sender);
}

/* Those whose destinations are gone. */
static void forget_absent(struct kinesis *kinesis)
{
	size_t kept = 0;

	for (size_t i = 0; i < kinesis->n; i++) {
		if (kinesis->v[i]->is_present)
			kinesis->v[kept++] = kinesis->v[i];
		else
			forget(kinesis->v[i]);
	}
	kinesis->n = kept;
}

static void hold_lease(void *context)
{
	struct piece *piece = context;
	struct err err = err_in(piece->arena);
	bool is_held;

	/* lost or not, what is under way cannot be called back: the next move finds out */
	if (lease_take(piece->kinesis->options.leases, piece->sender->lease, &is_held, NULL,
		       &err) != OK)
		err = err_in(piece->arena);
}

/* Puts the row where the sender is. Where another process has moved it, it is read again. */
static enum code move_to(struct piece *piece, const struct stream_position *to, struct err *err)
{
	struct sender *sender = piece->sender;
	struct stream_position next = *to;
	bool is_moved = true;

	next.saved_ms = real_ms();
	enum code code = stream_position_move(store_of(piece), piece->arena, sender->table,
					      sender->reader, &sender->at, &next, &is_moved, err);
	if (code == OK && is_moved)
		sender->at = next;
	sender->is_known = sender->is_known && code == OK && is_moved;
	return code;
}

/* Where a destination without a position begins: at its first change, if that is of the last day.
 */
static enum code find_begin(struct piece *piece, struct store_txn *txn, uint64_t next,
			    uint64_t *begin, struct err *err)
{
	struct service *service = piece->kinesis->options.service;
	const struct table_identity *table = &piece->table->identity;
	int64_t now_ms =
		service->now_ms(service->clock_context, (struct ns){table->account, table->region});
	uint64_t first = (uint64_t)piece->destination->first, oldest;
	enum code code =
		change_log_after(txn, piece->table, now_ms - STREAM_RETENTION_MS, &oldest, err);

	if (first > next)
		first = 0; /* the table was put back to a state with fewer changes */
	*begin = first > oldest ? first : oldest;
	return code;
}

/* The end of the log, and where a destination without a position begins. */
static enum code read_stream_ends(struct piece *piece, struct store_txn *txn, uint64_t *begin,
				  uint64_t *next, struct err *err)
{
	enum code code = stream_next(txn, piece->table, next, err);

	if (code != OK)
		return code;
	return find_begin(piece, txn, *next, begin, err);
}

static enum code find_stream_ends(struct piece *piece, uint64_t *begin, uint64_t *next,
				  struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store_of(piece), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = read_stream_ends(piece, txn, begin, next, err);
	store_abort(txn);
	return code;
}

/* The sender's position, as a row: of this enabling of the destination, and not behind the end of
 * the log. */
static enum code find_position(struct piece *piece, struct err *err)
{
	struct sender *sender = piece->sender;
	uint64_t first = (uint64_t)piece->destination->first, next, begin;
	enum code code = OK;

	if (!sender->is_known) {
		sender->done_n = 0;
		code = stream_position_get(store_of(piece), piece->arena, sender->table,
					   sender->reader, &sender->at, err);
	}
	if (code != OK)
		return code;
	code = find_stream_ends(piece, &begin, &next, err);
	if (code != OK)
		return code;
	sender->is_known = true;
	if (sender->at.stream && sender->at.shard == first && sender->at.next <= next)
		return real_ms() - sender->at.saved_ms > REFRESH_MS
			       ? move_to(piece, &sender->at, err)
			       : OK;
	sender->done_n = 0;
	const struct stream_position to = {
		.stream = POSITION_IS_THERE, .shard = first, .next = begin};
	return move_to(piece, &to, err);
}

static struct str partition_key(struct arena *arena, struct str row_key)
{
	unsigned char digest[MD5_SIZE];
	struct buf out = buf_in(arena);

	md5_of(row_key.p, row_key.n, digest);
	buf_add_hex(&out, digest, MD5_SIZE);
	return buf_str(&out);
}

static bool is_done(const struct sender *sender, uint64_t number)
{
	for (size_t i = 0; i < sender->done_n; i++) {
		if (sender->done[i] == number)
			return true;
	}
	return false;
}

static enum code add_kinesis_change(struct piece *piece, const struct stream_record *record,
				    struct err *err)
{
	struct put_record *out = &piece->v[piece->n++];
	struct json_out json = json_out_in(piece->arena);
	struct value *keys = ARENA_NEW(piece->arena, struct value);
	struct str row_key;
	enum code code = change_log_key(piece->arena, piece->table, record, &row_key, err);

	if (code != OK || !stream_record_keys(piece->arena, piece->table, record, keys))
		return code;
	const struct streams_change change = {.table = piece->table,
					      .record = record,
					      .keys = keys,
					      .size = stream_record_size(record, keys)};
	streams_write_kinesis(&json, piece->arena, &change,
			      piece->destination->precision == PRECISION_MICROSECOND);
	*out = (struct put_record){
		record->sequence,
		json_out_str(&json),
		partition_key(piece->arena, row_key),
		is_done(piece->sender, record->sequence),
	};
	return OK;
}

/* The changes from the position on, in the order of their numbers. */
static enum code read_changes(struct piece *piece, struct err *err)
{
	struct change_log_page page = {.bounds = {PUT_RECORDS_MAX, WINDOW_BYTES},
				       .to = (uint64_t)piece->destination->until};
	struct store_txn *txn;
	enum code code = find_position(piece, err);

	if (code != OK)
		return code;
	code = store_begin(store_of(piece), STORE_READ, &txn, err);
	if (code != OK)
		return code;
	page.from = piece->sender->at.next;
	if (piece->sender->is_known)
		code = change_log_read(txn, piece->arena, piece->table, &page, err);
	store_abort(txn);
	piece->v = ARENA_ARRAY(piece->arena, struct put_record, page.n);
	for (size_t i = 0; i < page.n && code == OK; i++)
		code = add_kinesis_change(piece, &page.v[i], err);
	piece->next = page.from;
	piece->is_more = page.is_more;
	return code;
}

/* The next request: of each item the first change that is not taken yet. */
static struct put_batch request_of(struct piece *piece)
{
	struct put_batch request = {
		.stream_arn = piece->sender->arn, .tick = {hold_lease, piece}};
	struct seen seen = seen_new(piece->arena, piece->n);

	request.v = ARENA_ARRAY(piece->arena, struct put_record *, piece->n);
	for (size_t i = 0; i < piece->n && request.n < piece->sender->limit; i++) {
		if (!piece->v[i].is_done && seen_add(&seen, piece->v[i].key))
			request.v[request.n++] = &piece->v[i];
	}
	return request;
}

/* Remembers what is taken, and moves the position behind the changes that all are. */
static enum code note_done(struct piece *piece, struct err *err)
{
	struct sender *sender = piece->sender;
	struct stream_position to = sender->at;
	size_t i = 0;

	while (i < piece->n && piece->v[i].is_done)
		i++;
	to.next = i < piece->n ? piece->v[i].number : piece->next;
	sender->done_n = 0;
	for (; i < piece->n; i++) {
		if (piece->v[i].is_done)
			sender->done[sender->done_n++] = piece->v[i].number;
	}
	return to.next != sender->at.next ? move_to(piece, &to, err) : OK;
}

/* Where a part was taken the pause does not grow: the endpoint works. */
static void wait_longer(struct piece *piece, bool was_part_taken, struct str problem)
{
	struct sender *sender = piece->sender;

	if (!sender->is_failing && !atomic_load(&piece->kinesis->is_ending))
		log_line(LOG_WARN, LOG_KINESIS_RETRY, STR_ARG(sender->arn),
			 STR_ARG(piece->table->identity.name), STR_ARG(problem));
	sender->is_failing = true;
	sender->pause_ms = sender->pause_ms == 0 || was_part_taken ? PAUSE_FIRST_MS
			   : sender->pause_ms * 2 < PAUSE_MAX_MS   ? sender->pause_ms * 2
								   : PAUSE_MAX_MS;
	sender->until_ms = monotonic_ms() + sender->pause_ms;
}

/* A request that is wrong: its half, down to one change alone, which is left behind. */
static void cut_down(struct piece *piece, const struct put_batch *request, struct str problem)
{
	struct sender *sender = piece->sender;

	if (request->n > 1) {
		sender->limit = (request->n + 1) / 2;
		return;
	}
	log_line(LOG_WARN, LOG_KINESIS_LEFT, STR_ARG(sender->arn),
		 STR_ARG(piece->table->identity.name), (unsigned long long)request->v[0]->number,
		 STR_ARG(problem));
	request->v[0]->is_done = true;
}

static bool has_done(const struct put_batch *request)
{
	for (size_t i = 0; i < request->n; i++) {
		if (request->v[i]->is_done)
			return true;
	}
	return false;
}

/* One request after the other until all is taken, something fails or the server ends. */
static enum code send_changes(struct piece *piece, struct err *err)
{
	struct sender *sender = piece->sender;
	struct put_batch request = request_of(piece);
	enum code code = OK;

	while (code == OK && request.n > 0 && sender->is_known &&
	       sender->until_ms <= monotonic_ms() && !atomic_load(&piece->kinesis->is_ending)) {
		struct str problem = STR("");
		enum put_result result = put_records_send(&piece->kinesis->endpoint, piece->arena,
							  &request, &problem);

		if (result == PUT_SENT) {
			sender->is_failing = false;
			sender->pause_ms = 0;
			sender->limit = sender->limit * 2 < PUT_RECORDS_MAX ? sender->limit * 2
									    : PUT_RECORDS_MAX;
		} else if (result == PUT_REFUSED) {
			cut_down(piece, &request, problem);
		} else {
			wait_longer(piece, has_done(&request), problem);
		}
		code = note_done(piece, err);
		request = request_of(piece);
	}
	return code;
}

/* Whether a disabled destination has sent all it was to send. */
static bool is_finished(const struct piece *piece)
{
	return !piece->destination->is_enabled && piece->sender->done_n == 0 && !piece->is_more &&
	       piece->sender->at.next == piece->next;
}

/* AWS: an enabling that does not find its stream fails. *is_usable: this one went well, now or
 * before. */
static enum code probe_kinesis(struct piece *piece, bool *is_usable, struct err *err)
{
	struct sender *sender = piece->sender;
	struct service *service = piece->kinesis->options.service;
	const struct table_identity *table = &piece->table->identity;
	struct stream_position at;
	struct str problem = STR("");
	enum code code = OK;

	*is_usable = sender->is_known || !piece->destination->is_enabled;
	if (!*is_usable)
		code = stream_position_get(store_of(piece), piece->arena, sender->table,
					   sender->reader, &at, err);
	if (code != OK || *is_usable)
		return code;
	*is_usable = at.stream && at.shard == (uint64_t)piece->destination->first;
	if (*is_usable)
		return OK;
	enum put_result result =
		put_records_probe(&piece->kinesis->endpoint, piece->arena, sender->arn,
				  (struct put_tick){hold_lease, piece}, &problem);
	*is_usable = result == PUT_SENT;
	if (*is_usable) {
		sender->is_failing = false;
		sender->tries = 0;
		sender->pause_ms = 0;
		return OK;
	}
	if (result == PUT_FAILED && ++sender->tries < TRIES_MAX) {
		wait_longer(piece, false, problem);
		return OK;
	}
	if (atomic_load(&piece->kinesis->is_ending))
		return OK;
	log_line(LOG_WARN, LOG_KINESIS_ENABLE, STR_ARG(sender->arn), STR_ARG(table->name),
		 STR_ARG(problem));
	sender->is_present = false;
	return destination_fail(
		service->catalog, piece->table, sender->arn,
		service->now_ms(service->clock_context, (struct ns){table->account, table->region}),
		err);
}

/* Work for one destination; *did_work where there may be more. */
static enum code serve_destination(struct piece *piece, bool *did_work, struct err *err)
{
	struct service *service = piece->kinesis->options.service;
	const struct table_identity *table = &piece->table->identity;
	bool is_held, is_new;
	enum code code = lease_take(piece->kinesis->options.leases, piece->sender->lease, &is_held,
				    &is_new, err);

	if (code != OK || !is_held)
		return code;
	bool is_usable;
	if (is_new)
		piece->sender->is_known = false;
	code = probe_kinesis(piece, &is_usable, err);
	if (code != OK || !is_usable)
		return code;
	code = read_changes(piece, err);
	if (code != OK)
		return code;
	if (piece->n > 0)
		code = send_changes(piece, err);
	if (code != OK)
		return code;
	*did_work = *did_work || (piece->n > 0 && !piece->sender->is_failing);
	if (!piece->sender->is_known || !is_finished(piece))
		return OK;
	const struct stream_position nowhere = {0};
	code = move_to(piece, &nowhere, err);
	piece->sender->is_present = false;
	if (code != OK)
		return code;
	return destination_finish(
		service->catalog, piece->table, piece->sender->arn,
		service->now_ms(service->clock_context, (struct ns){table->account, table->region}),
		err);
}

static enum code serve_table(struct kinesis *kinesis, struct arena *arena, struct table *table,
			     bool *did_work, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < table->settings->destination_count && code == OK; i++) {
		const struct destination *destination = &table->settings->destinations[i];

		if (!destination->is_enabled && destination->until == 0)
			continue;
		struct sender *sender =
			sender_of(kinesis, arena, table->identity.number, destination->stream_arn);
		struct piece piece = {.kinesis = kinesis,
				      .arena = arena,
				      .sender = sender,
				      .table = table,
				      .destination = destination};

		sender->is_present = true;
		if (sender->until_ms <= monotonic_ms())
			code = serve_destination(&piece, did_work, err);
	}
	return code;
}

/* All tables with destinations once. */
static enum code serve_all(struct kinesis *kinesis, struct arena *arena, bool *did_work,
			   struct err *err)
{
	struct catalog *catalog = kinesis->options.service->catalog;
	struct marks marks = {.kind = MARK_SENDING, .is_more = true};
	enum code code = clocks_refresh(catalog_options(catalog)->clocks, err);

	for (size_t i = 0; i < kinesis->n; i++)
		kinesis->v[i]->is_present = false;
	while (code == OK && marks.is_more && !atomic_load(&kinesis->is_ending)) {
		code = mark_walk_page(catalog, arena, &marks, err);
		for (size_t i = 0; i < marks.n && code == OK; i++) {
			struct table *table = NULL;

			code = catalog_marked(catalog, &marks.v[i], &table, err);
			if (code != OK || !table)
				continue;
			if (table->state.status != STATUS_DELETING)
				code = serve_table(kinesis, arena, table, did_work, err);
			table_unref(table);
		}
	}
	if (code != OK)
		return code;
	if (!atomic_load(&kinesis->is_ending))
		forget_absent(kinesis);
	return OK;
}

static void pause_thread(struct kinesis *kinesis)
{
	if (!atomic_load(&kinesis->is_ending))
		nanosleep(&(struct timespec){0, POLL_MS * 1000000L}, NULL);
}

static void *work_on_destinations(void *context)
{
	struct kinesis *kinesis = context;
	struct arena *arena = arena_new(64 * 1024);
	bool is_failing = false;

	crash_request(NULL);
	while (!atomic_load(&kinesis->is_ending)) {
		struct err err = err_in(arena);
		bool did_work = false;
		enum code code = serve_all(kinesis, arena, &did_work, &err);

		if (code != OK && !is_failing)
			log_line(LOG_ERROR, LOG_KINESIS_STORE, STR_ARG(err.message));
		is_failing = code != OK;
		if (!did_work)
			pause_thread(kinesis);
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

struct kinesis *kinesis_start(const struct kinesis_options *options)
{
	struct kinesis *kinesis = arena_checked(calloc(1, sizeof(*kinesis)));

	kinesis->options = *options;
	kinesis->endpoint = (struct put_endpoint){
		.where = options->where,
		.credentials = options->credentials,
		.authorities = options->authorities,
		.stopping = &kinesis->is_ending,
		.sigv4 = sigv4_new(AUTH_VERIFY, NULL, 0),
	};
	if (log_thread(&kinesis->thread, work_on_destinations, kinesis) == 0)
		return kinesis;
	sigv4_free(kinesis->endpoint.sigv4);
	free(kinesis);
	return NULL;
}

void kinesis_stop(struct kinesis *kinesis)
{
	if (!kinesis)
		return;
	atomic_store(&kinesis->is_ending, true);
	pthread_join(kinesis->thread, NULL);
	for (size_t i = 0; i < kinesis->n; i++)
		forget(kinesis->v[i]);
	free(kinesis->v);
	sigv4_free(kinesis->endpoint.sigv4);
	free(kinesis);
}
