#include "server/push/trigger.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buf.h"
#include "protocol/faults/faults.h"
#include "protocol/streams.h"
#include "protocol/wire/json.h"
#include "server/client/client.h"
#include "server/crash.h"
#include "server/push/failure.h"
#include "server/push/feed.h"
#include "server/push/filter.h"
#include "server/log.h"

#define POLL_MS 100            /* between two looks for records */
#define REPLY_WAIT_MS 60000
#define REPLY_MAX ((size_t)6 << 20) /* AWS: Lambda quotas, the payload of an answer */
#define PAUSE_FIRST_MS 100
#define PAUSE_MAX_MS 10000
#define FILTER_FILE_MAX (1024 * 1024)

/* One trigger. */
struct trigger {
	struct triggers *all;
	pthread_t thread;
	struct client_target target;
	struct filter filter;
	struct arena *arena;
	struct feed feed;
	bool was_missed; /* said once that there is nothing to read */
};

struct triggers {
	struct trigger_options options;
	atomic_bool is_stopping;
	size_t n;
	struct trigger *v;
	struct arena *kept; /* what is read at the start: filters, names */
};

/* The next TABLE=URL of the text; false at the end. */
static bool next_spec(const char **at, struct str *spec)
{
	*at += strspn(*at, ", ");
	if (strcmp(*at, "none") == 0)
		return false;
	*spec = (struct str){*at, strcspn(*at, ",")};
	*at += spec->n;
	return spec->n > 0;
}

static bool read_spec(struct str spec, struct str *table, struct client_target *target)
{
	const char *equals = memchr(spec.p, '=', spec.n);

	if (!equals || equals == spec.p)
		return false;
	*table = (struct str){spec.p, (size_t)(equals - spec.p)};
	return client_read_target((struct str){equals + 1, (size_t)(spec.p + spec.n - equals - 1)},
				  target);
}

bool trigger_specs_are_valid(const char *specs, struct str *problem)
{
	struct client_target target;
	struct str table;

	while (next_spec(&specs, problem)) {
		if (!read_spec(*problem, &table, &target))
			return false;
	}
	return true;
}

/* The text of --trigger-filter: "none", JSON, or a file of JSON. False where the file cannot be
 * read. */
static bool read_filter_text(struct arena *arena, const char *option, struct str *text)
{
	*text = str_of(option);
	if (strcmp(option, "none") == 0)
		*text = STR("{}");
	if (option[0] == '{' || strcmp(option, "none") == 0)
		return true;
	struct buf buf = buf_in(arena);
	FILE *file = fopen(option, "r");
	size_t n = 1;

	while (file && n > 0 && buf.n < FILTER_FILE_MAX) {
		n = fread(buf_reserve(&buf, 4096), 1, 4096, file);
		buf.n += n;
	}
	bool is_read = file && !ferror(file);
	if (file)
		fclose(file);
	*text = buf_str(&buf);
	return is_read;
}

bool trigger_filter_is_valid(struct arena *arena, const char *option, struct str *problem)
{
	struct filter filter;
	struct str text;

	*problem = str_of(option);
	return read_filter_text(arena, option, &text) &&
	       filter_read(arena, text, STR_ABSENT, &filter, problem);
}

/* At work the lease is kept meanwhile. */
static void pause_ms(struct trigger *trigger, int ms, bool is_at_work)
{
	for (; ms > 0 && !atomic_load(&trigger->all->is_stopping); ms -= POLL_MS) {
		struct timespec step = {0, (ms < POLL_MS ? ms : POLL_MS) * 1000000L};

		nanosleep(&step, NULL);
		if (is_at_work)
			feed_hold(&trigger->feed);
	}
}

/* AWS: a filter sees the record as the function would. A feed_filter. */
static bool is_record_wanted(void *context, struct str record)
{
	struct trigger *trigger = context;
	struct err err = err_in(trigger->arena);
	const struct json *json;

	return json_parse(trigger->arena, record, &json, &err) != OK ||
	       filter_passes(&trigger->filter, trigger->arena, json);
}

/* The records as a function's event. */
static struct str event_of(struct trigger *trigger, const struct feed_record *records, size_t n)
{
	struct buf out = buf_in(trigger->arena);

	buf_add_lit(&out, "{\"Records\":[");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_add_byte(&out, ',');
		buf_add_str(&out, records[i].json);
	}
	buf_add_lit(&out, "]}");
	return buf_str(&out);
}

/* One post of records and what came of it. */
struct attempt {
	struct client_reply reply;
	bool is_answered, is_function_error;
	const char *problem;
	size_t done; /* records that the function took, from the first */
};

/*
 * How many of the records are taken when the function names some that failed: those before the
 * first of these. AWS: none where a name is empty, null, no text or missing; here also where it is
 * no record's of the batch, since what failed is then not known.
 */
static size_t done_before(struct trigger *trigger, const struct json *failures,
			  const struct feed_record *records, size_t n)
{
	size_t done = n;

	for (const struct json *one = json_first(failures); one; one = json_next(one)) {
		const struct json *member =
			json_type(one) == JSON_OBJECT ? json_member(one, "itemIdentifier") : NULL;
		struct str name = member && json_type(member) == JSON_STRING
					  ? json_string(trigger->arena, member)
					  : STR_ABSENT;
		size_t i = 0;

		while (i < n && !str_eq(records[i].sequence, name))
			i++;
		if (i == n)
			return 0;
		done = i < done ? i : done;
	}
	return done;
}

/* Fills in what the reply says: all records are taken, some, or none. */
static void judge_attempt(struct trigger *trigger, struct attempt *attempt,
			  const struct feed_record *records, size_t n)
{
	const struct client_reply *reply = &attempt->reply;
	struct err err = err_in(trigger->arena);
	const struct json *body = NULL;

	attempt->problem = "it answered with an error";
	attempt->is_function_error = reply->is_function_error;
	if (reply->status < 200 || reply->status > 299 || reply->is_function_error)
		return;
	attempt->done = n;
	if (reply->body.n == 0 || json_parse(trigger->arena, reply->body, &body, &err) != OK ||
	    json_type(body) != JSON_OBJECT)
		return;
	const struct json *failures = json_member(body, "batchItemFailures");

	if (json_member(body, "errorMessage")) {
		attempt->is_function_error = true;
		attempt->done = 0;
	} else if (failures && json_type(failures) == JSON_ARRAY) {
		attempt->problem = "it named records that failed";
		attempt->done = done_before(trigger, failures, records, n);
	}
}

static struct attempt post(struct trigger *trigger, const struct feed_record *records, size_t n)
{
	const struct client_request request = {
		.method = "POST",
		.body = event_of(trigger, records, n),
		.wait_ms = REPLY_WAIT_MS,
		.whole_ms = REPLY_WAIT_MS,
		.reply_max = REPLY_MAX,
		.stopping = &trigger->all->is_stopping,
		.tick = feed_hold,
		.tick_context = &trigger->feed,
	};
	struct attempt attempt = {0};

	attempt.is_answered = client_ask(trigger->arena, &trigger->target, &request, &attempt.reply,
					 &attempt.problem);
	if (attempt.is_answered)
		judge_attempt(trigger, &attempt, records, n);
	return attempt;
}

static void leave_behind(struct trigger *trigger, const struct feed_record *record, unsigned posts,
			 const struct attempt *last)
{
	const char *path = trigger->all->options.failures;
	const struct feed *feed = &trigger->feed;
	struct ns ns = {feed->table->identity.account, feed->table->identity.region};

	if (strcmp(path, "log") != 0) {
		const struct failure failure = {
			.account = ns.account,
			.region = ns.region,
			.function = failure_function(trigger->target.path),
			.invocations = posts,
			.status = last->is_answered ? last->reply.status : 0,
			.is_function_error = last->is_function_error,
			.now_ms = feed->service->now_ms(feed->service->clock_context, ns),
			.stream = streams_arn(trigger->arena, feed->table, feed->stream),
			.shard = streams_shard_id(trigger->arena, feed->table, feed->at.shard),
			.first = record->sequence,
			.last = record->sequence,
			.first_s = record->made_s,
			.last_s = record->made_s,
			.records = 1,
			.payload = event_of(trigger, record, 1),
		};

		const char *problem = failure_append(trigger->arena, path,
						     failure_text(trigger->arena, &failure));
		if (problem)
			log_line(LOG_ERROR,
				 "trigger " STR_FMT
				 ": the record left behind cannot be added to %s: %s",
				 STR_ARG(feed->name), path, problem);
	}
	log_line(LOG_WARN, "trigger " STR_FMT ": record " STR_FMT " is left behind: %s",
		 STR_ARG(feed->name), STR_ARG(record->sequence), last->problem);
}

/*
 * Posts the records until all are done, left behind, or the server stops. `posts` held them before.
 * Depth is the logarithm of the batch. False: not all are done, since the server stops or another
 * process has moved on.
 */
static bool push(struct trigger *trigger, const struct feed_record *records, size_t n,
		 unsigned posts)
{
	struct attempt attempt = {.problem = ""};
	int pause = PAUSE_FIRST_MS;

	for (unsigned tries = 0; tries <= trigger->all->options.retries && n > 0; tries++) {
		attempt = post(trigger, records, n);
		posts++;
		if (atomic_load(&trigger->all->is_stopping) && attempt.done == 0)
			return false;
		if (attempt.done > 0) {
			if (!feed_move(&trigger->feed, trigger->arena,
				       records[attempt.done - 1].number + 1))
				return false;
			tries = 0;
		}
		records += attempt.done;
		n -= attempt.done;
		if (n > 0 && tries < trigger->all->options.retries)
			pause_ms(trigger, pause, true);
		pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
	}
	if (n == 1) {
		leave_behind(trigger, records, posts, &attempt);
		return feed_move(&trigger->feed, trigger->arena, records->number + 1);
	}
	return n == 0 ||
	       (push(trigger, records, n / 2, posts) && !atomic_load(&trigger->all->is_stopping) &&
		push(trigger, records + n / 2, n - n / 2, posts));
}

/* The last record first, in a post of its own. False: not all of it was taken, and the batch is
 * still to be pushed. */
static bool post_reversed(struct trigger *trigger, const struct feed_batch *batch)
{
	struct feed_record *reversed = ARENA_ARRAY(trigger->arena, struct feed_record, batch->n);

	for (size_t i = 0; i < batch->n; i++)
		reversed[i] = batch->v[batch->n - 1 - i];
	return post(trigger, reversed, batch->n).done == batch->n;
}

/* Pushes the batch, by the usual way or as a fault rule wants it. False as push(). */
static bool deliver_batch(struct trigger *trigger, const struct feed_batch *batch)
{
	const struct table_identity *table = &trigger->feed.table->identity;

	switch (batch->n ? fault_deliver(trigger->feed.service->faults,
					 (struct ns){table->account, table->region}, table->name)
			 : FAULT_DELIVER_ONCE) {
	case FAULT_DELIVER_ONCE:
		break;
	case FAULT_DELIVER_TWICE:
		post(trigger, batch->v, batch->n);
		break;
	case FAULT_DELIVER_REVERSED:
		if (post_reversed(trigger, batch))
			return feed_move(&trigger->feed, trigger->arena,
					 batch->v[batch->n - 1].number + 1);
	}
	return push(trigger, batch->v, batch->n, 0);
}

/* One batch, if there are records. False: there was nothing to do. */
static bool run_trigger_once(struct trigger *trigger)
{
	const struct trigger_options *options = &trigger->all->options;
	struct feed *feed = &trigger->feed;
	struct feed_batch batch = {
		.v = ARENA_ARRAY(trigger->arena, struct feed_record, options->batch),
		.limit = options->batch,
		.filter = trigger->filter.n > 0 ? is_record_wanted : NULL,
		.filter_context = trigger,
	};

	if (!feed_find(feed, trigger->arena) || !feed_read(feed, trigger->arena, &batch))
		return false;
	if (batch.seen == 0)
		return feed->is_at_end && feed_go_on(feed, trigger->arena);
	if (!feed_take(feed, trigger->arena))
		return false;
	for (int waited = 0; batch.n > 0 && batch.n < batch.limit && waited < options->window_ms &&
			     !feed->is_at_end;
	     waited += POLL_MS) {
		pause_ms(trigger, POLL_MS, true);
		if (atomic_load(&trigger->all->is_stopping) ||
		    !feed_read(feed, trigger->arena, &batch))
			break;
	}
	if (deliver_batch(trigger, &batch) && feed->at.next != batch.next)
		feed_move(feed, trigger->arena, batch.next); /* behind what the filter drops */
	return true;
}

static void *run_trigger(void *context)
{
	struct trigger *trigger = context;

	crash_request(NULL);
	while (!atomic_load(&trigger->all->is_stopping)) {
		arena_reset(trigger->arena);
		bool did_work = run_trigger_once(trigger);

		if (!did_work && !trigger->feed.table && !trigger->was_missed) {
			log_line(LOG_INFO, "trigger " STR_FMT ": waits for a table with a stream",
				 STR_ARG(trigger->feed.name));
			trigger->was_missed = true;
		}
		if (!did_work)
			pause_ms(trigger, POLL_MS, false);
	}
	return NULL;
}

static void forget(struct trigger *trigger)
{
	feed_close(&trigger->feed);
	arena_free(trigger->arena);
}

/* What of the filters is for the trigger's table. */
static bool read_filter(struct trigger *trigger)
{
	struct arena *kept = trigger->all->kept;
	struct str text, problem;

	return read_filter_text(kept, trigger->all->options.filter, &text) &&
	       filter_read(kept, text, trigger->feed.name, &trigger->filter, &problem);
}

/* By its table and URL; the second of two that are alike reads by itself. */
static struct feed feed_of(const struct triggers *triggers, struct str table, struct str spec)
{
	const struct trigger_options *options = &triggers->options;
	struct str url = {spec.p + table.n + 1, spec.n - table.n - 1}, reader = url;
	const char *at = options->specs;
	struct str before;

	for (size_t alike = 1; next_spec(&at, &before) && before.p < spec.p;) {
		if (str_eq(before, spec))
			reader = str_printf(triggers->kept, STR_FMT "#%zu", STR_ARG(url), ++alike);
	}
	return (struct feed){
		.service = options->service,
		.leases = options->leases,
		.name = table,
		.reader = reader,
		.lease = str_printf(triggers->kept, "trigger/" STR_FMT "/" STR_FMT, STR_ARG(table),
				    STR_ARG(reader)),
		.is_from_latest = !options->from_horizon,
	};
}

static bool start_one(struct trigger *trigger, struct str spec)
{
	struct str table;

	if (!read_spec(spec, &table, &trigger->target))
		return false;
	trigger->feed = feed_of(trigger->all, table, spec);
	if (!read_filter(trigger))
		return false;
	feed_find(&trigger->feed, trigger->arena); /* what is newer than this is pushed */
	return log_thread(&trigger->thread, run_trigger, trigger) == 0;
}

/* A filter for a table without a trigger would never say anything. */
static void warn_of_filters(const struct triggers *triggers)
{
	struct arena *kept = triggers->kept;
	struct err err = err_in(kept);
	const struct json *root;
	struct str text;

	if (!read_filter_text(kept, triggers->options.filter, &text) ||
	    json_parse(kept, text, &root, &err) != OK || json_type(root) != JSON_OBJECT ||
	    json_member(root, "Filters"))
		return;
	for (const struct json *of = json_first(root); of; of = json_next(of)) {
		struct str table = json_name(kept, of);
		size_t i = 0;

		while (i < triggers->n && !str_eq(triggers->v[i].feed.name, table))
			i++;
		if (i == triggers->n)
			log_line(LOG_WARN,
				 "--trigger-filter: no --trigger names the table '" STR_FMT "'",
				 STR_ARG(table));
	}
}

struct triggers *trigger_start(const struct trigger_options *options)
{
	struct triggers *triggers = arena_checked(calloc(1, sizeof(*triggers)));
	const char *at = options->specs;
	struct str spec;
	size_t n = 0;

	while (next_spec(&at, &spec))
		n++;
	triggers->options = *options;
	triggers->v = arena_checked(calloc(n ? n : 1, sizeof(*triggers->v)));
	triggers->kept = arena_new(0);
	at = options->specs;
	while (next_spec(&at, &spec)) {
		struct trigger *trigger = &triggers->v[triggers->n];

		trigger->all = triggers;
		trigger->arena = arena_new(0);
		if (!start_one(trigger, spec)) {
			forget(trigger);
			trigger_stop(triggers);
			return NULL;
		}
		triggers->n++;
	}
	warn_of_filters(triggers);
	return triggers;
}

void trigger_stop(struct triggers *triggers)
{
	atomic_store(&triggers->is_stopping, true);
	for (size_t i = 0; i < triggers->n; i++) {
		pthread_join(triggers->v[i].thread, NULL);
		forget(&triggers->v[i]);
	}
	arena_free(triggers->kept);
	free(triggers->v);
	free(triggers);
}
