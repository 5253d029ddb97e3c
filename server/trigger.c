#include "server/trigger.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buf.h"
#include "protocol/json.h"
#include "protocol/json_out.h"
#include "server/client.h"
#include "server/crash.h"
#include "server/log.h"
#include "storage/catalog.h"

#define POLL_MS 100            /* between two looks for records */
#define REPLY_WAIT_MS 60000
#define PAUSE_FIRST_MS 100
#define PAUSE_MAX_MS 10000
#define SHARD_MAX 128
#define SEQUENCE_MAX 64

/* One trigger; its position is where the next batch begins. */
struct trigger {
	struct triggers *all;
	pthread_t thread;
	struct str table;
	struct client_target target;
	struct arena *arena;
	char *account, *region;      /* of any length, as they stand in ARNs and iterators: these four are malloced */
	char *stream;                /* NULL: none found yet */
	char *iterator;              /* NULL: one must be got */
	char shard[SHARD_MAX];       /* empty: none found yet */
	char sequence[SEQUENCE_MAX]; /* of the last record that is done; empty: the shard's begin */
	bool is_at_end;              /* the shard is closed and read: its child is next */
	bool is_skipping;            /* LATEST: what was there before is read and not pushed */
	enum code refusal;           /* of the operation asked for last */
	bool was_missed;             /* said once that there is nothing to read */
};

struct triggers {
	struct trigger_options options;
	atomic_bool is_stopping;
	size_t n;
	struct trigger *v;
};

/* A record's JSON as GetRecords wrote it, and its sequence number. */
struct record {
	struct str json, sequence;
};

struct batch {
	size_t n;
	struct record *v;
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
	return client_read_target((struct str){equals + 1, (size_t)(spec.p + spec.n - equals - 1)}, target);
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

static void pause_ms(struct trigger *trigger, int ms)
{
	for (; ms > 0 && !atomic_load(&trigger->all->is_stopping); ms -= POLL_MS) {
		struct timespec step = {0, (ms < POLL_MS ? ms : POLL_MS) * 1000000L};

		nanosleep(&step, NULL);
	}
}

static enum code let_in(void *context, struct ns *ns, struct err *err)
{
	const struct trigger *trigger = context;

	(void)err;
	*ns = (struct ns){str_of(trigger->account), str_of(trigger->region)};
	return OK;
}

/* The answer to an operation as JSON, NULL where it is refused; *text is its body. */
static const struct json *ask(struct trigger *trigger, const char *target, struct str body, struct str *text)
{
	struct op_request request = {
		.arena = trigger->arena, .target = str_of(target), .body = body, .authenticate = let_in, .auth_context = trigger,
	};
	struct err err = err_in(trigger->arena);
	struct op_response response = {0};
	const struct json *json;

	op_run(trigger->all->options.service, &request, &response);
	if (str_is_set(response.problem))
		log_line(LOG_ERROR, "trigger " STR_FMT ": " STR_FMT, STR_ARG(trigger->table), STR_ARG(response.problem));
	trigger->refusal = response.code;
	*text = response.body;
	return response.status == 200 && json_parse(trigger->arena, response.body, &json, &err) == OK ? json : NULL;
}

/* The text of a member; absent where it is none. */
static struct str member_text(struct arena *arena, const struct json *object, const char *name)
{
	const struct json *member = object ? json_member(object, name) : NULL;

	return member && json_type(member) == JSON_STRING ? json_string(arena, member) : STR_ABSENT;
}

/* The same as a string; false where it is no text, or none that fits whole. */
static bool copy_member(struct arena *arena, const struct json *object, const char *name, char *out, size_t max)
{
	struct str text = member_text(arena, object, name);

	if (!str_is_set(text) || text.n >= max || str_has_zero(text))
		return false;
	memcpy(out, text.p, text.n);
	out[text.n] = '\0';
	return true;
}

/* Puts a copy of the text, NULL where it is absent, in place of what was there. */
static void keep(char **at, struct str text)
{
	char *copy = str_is_set(text) ? arena_checked(strndup(text.p, text.n)) : NULL;

	free(*at);
	*at = copy;
}

/* The table of that name, in whatever namespace it is, and its newest stream. Called when none is being read: one is read to its end before the next. */
static bool find_stream(struct trigger *trigger)
{
	struct table **tables;
	struct str text;
	size_t n = catalog_streamed(trigger->all->options.service->catalog, NULL, trigger->table, trigger->arena, &tables);

	if (n > 0) {
		keep(&trigger->account, tables[0]->account);
		keep(&trigger->region, tables[0]->region);
	}
	for (size_t i = 0; i < n; i++)
		table_unref(tables[i]);
	if (n == 0)
		return false;
	const struct json *answer = ask(trigger, "DynamoDB_20120810.DescribeTable",
					str_printf(trigger->arena, "{\"TableName\":\"" STR_FMT "\"}", STR_ARG(trigger->table)), &text);
	struct str found = member_text(trigger->arena, answer ? json_member(answer, "Table") : NULL, "LatestStreamArn");

	if (!str_is_set(found))
		return trigger->stream != NULL;
	if (!trigger->stream || !str_eq(found, str_of(trigger->stream))) {
		keep(&trigger->stream, found);
		keep(&trigger->iterator, STR_ABSENT);
		trigger->shard[0] = trigger->sequence[0] = '\0';
		trigger->is_at_end = false;
	}
	return true;
}

/* It is gone, with all that was not read; whatever the table gets next is new. */
static void forget_stream(struct trigger *trigger)
{
	if (!trigger->is_at_end)
		log_line(LOG_WARN, "trigger " STR_FMT ": the stream %s is gone before it was read to its end", STR_ARG(trigger->table), trigger->stream);
	keep(&trigger->stream, STR_ABSENT);
	keep(&trigger->iterator, STR_ABSENT);
	trigger->shard[0] = trigger->sequence[0] = '\0';
	trigger->is_at_end = trigger->is_skipping = trigger->was_missed = false;
}

/* Of a request about the stream: `name` (NULL: no more members) and its text. To be closed. */
static struct json_out body_of(const struct trigger *trigger, const char *name, const char *text)
{
	struct json_out body = json_out_in(trigger->arena);

	json_out_open(&body, '{');
	json_out_field_string(&body, "StreamArn", str_of(trigger->stream));
	if (name) {
		json_out_name(&body, str_of(name));
		json_out_string(&body, str_of(text));
	}
	return body;
}

/* The shard to begin with: the oldest, or where what was before is skipped the newest; behind `shard`, where there is one, its child. */
static bool find_shard(struct trigger *trigger)
{
	char last[SHARD_MAX], found[SHARD_MAX] = "";
	bool wants_newest = trigger->is_skipping && !trigger->shard[0];

	snprintf(last, sizeof(last), "%s", trigger->shard);
	for (bool is_more = true; is_more && (wants_newest || !found[0]);) {
		struct json_out body = body_of(trigger, last[0] ? "ExclusiveStartShardId" : NULL, last);
		struct str text;

		json_out_close(&body, '}');
		const struct json *answer = ask(trigger, "DynamoDBStreams_20120810.DescribeStream", json_out_str(&body), &text);
		const struct json *description = answer ? json_member(answer, "StreamDescription") : NULL;
		const struct json *shards = description ? json_member(description, "Shards") : NULL;

		for (const struct json *shard = shards ? json_first(shards) : NULL; shard; shard = json_next(shard)) {
			copy_member(trigger->arena, shard, "ShardId", found, sizeof(found));
			if (!wants_newest)
				break;
		}
		is_more = copy_member(trigger->arena, description, "LastEvaluatedShardId", last, sizeof(last));
	}
	if (!found[0] && trigger->refusal == ERR_RESOURCE_NOT_FOUND)
		forget_stream(trigger);
	if (!found[0])
		return false;
	memcpy(trigger->shard, found, sizeof(found));
	trigger->sequence[0] = '\0';
	keep(&trigger->iterator, STR_ABSENT);
	trigger->is_at_end = false;
	return true;
}

static bool find_iterator(struct trigger *trigger)
{
	struct json_out body = body_of(trigger, trigger->sequence[0] ? "SequenceNumber" : NULL, trigger->sequence);
	struct str text;

	json_out_field_string(&body, "ShardId", str_of(trigger->shard));
	json_out_field_string(&body, "ShardIteratorType", trigger->sequence[0] ? STR("AFTER_SEQUENCE_NUMBER") : STR("TRIM_HORIZON"));
	json_out_close(&body, '}');
	const struct json *answer = ask(trigger, "DynamoDBStreams_20120810.GetShardIterator", json_out_str(&body), &text);
	keep(&trigger->iterator, member_text(trigger->arena, answer, "ShardIterator"));
	if (trigger->iterator)
		return true;
	/* what came after the last record is trimmed, or the shard itself is gone: on with what there still is */
	if (trigger->sequence[0])
		trigger->sequence[0] = '\0';
	else
		trigger->shard[0] = '\0';
	return false;
}

/* The text of the object that begins at `at`. */
static struct str object_at(const char *at, const char *end)
{
	size_t depth = 0;

	for (const char *p = at; p < end; p++) {
		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++)
				p += *p == '\\';
		} else if (*p == '{') {
			depth++;
		} else if (*p == '}' && --depth == 0) {
			return (struct str){at, (size_t)(p + 1 - at)};
		}
	}
	return STR_ABSENT;
}

/*
 * The records of an answer: their text as it was written, so that nothing of it is changed. No attribute's value is a bare list, so
 * the first such text is the member of the answer.
 */
static void read_records(struct arena *arena, struct str text, const struct json *records, struct batch *batch)
{
	static const char begin[] = "\"Records\":[";
	const char *at = memmem(text.p, text.n, begin, sizeof(begin) - 1), *end = text.p + text.n;

	for (const struct json *record = at ? json_first(records) : NULL; record; record = json_next(record)) {
		const struct json *change = json_member(record, "dynamodb");
		const struct json *sequence = change ? json_member(change, "SequenceNumber") : NULL;

		at = memchr(at, '{', (size_t)(end - at));
		if (!at || !sequence)
			return;
		batch->v[batch->n] = (struct record){object_at(at, end), json_string(arena, sequence)};
		at += batch->v[batch->n++].json.n;
	}
}

/* Adds what there is to the batch, up to its size; false where the reading has to be set up again. */
static bool read_more(struct trigger *trigger, struct batch *batch)
{
	unsigned room = trigger->all->options.batch - (unsigned)batch->n;
	struct json_out body = json_out_in(trigger->arena);
	struct str text;

	json_out_open(&body, '{');
	json_out_field_string(&body, "ShardIterator", str_of(trigger->iterator));
	json_out_field_integer(&body, "Limit", room);
	json_out_close(&body, '}');
	const struct json *answer = ask(trigger, "DynamoDBStreams_20120810.GetRecords", json_out_str(&body), &text);
	keep(&trigger->iterator, member_text(trigger->arena, answer, "NextShardIterator"));
	if (!answer) /* expired, trimmed, or the table is gone */
		return false;
	read_records(trigger->arena, text, json_member(answer, "Records"), batch);
	trigger->is_at_end = !trigger->iterator;
	return true;
}

/* The records as a function's event. */
static struct str event_of(struct trigger *trigger, const struct record *records, size_t n)
{
	static const char service_user[] = "\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\",\"Type\":\"Service\"}";
	struct json_out arn = json_out_in(trigger->arena);
	struct buf out = buf_in(trigger->arena);

	json_out_string(&arn, str_of(trigger->stream));
	buf_add_lit(&out, "{\"Records\":[");
	for (size_t i = 0; i < n; i++) {
		struct str json = records[i].json;

		assert(json.p);
		const char *user = memmem(json.p, json.n, service_user, sizeof(service_user) - 1);

		buf_printf(&out, "%s{\"eventSourceARN\":" STR_FMT ",", i ? "," : "", STR_ARG(json_out_str(&arn)));
		if (user) { /* Lambda's events spell these two in another way than GetRecords */
			buf_add(&out, json.p + 1, (size_t)(user - json.p) - 1);
			buf_add_lit(&out, "\"userIdentity\":{\"type\":\"Service\",\"principalId\":\"dynamodb.amazonaws.com\"}");
			json.n -= (size_t)(user - json.p) + sizeof(service_user) - 1;
			json.p = user + sizeof(service_user) - 1;
			buf_add_str(&out, json);
		} else {
			buf_add(&out, json.p + 1, json.n - 1);
		}
	}
	buf_add_lit(&out, "]}");
	return buf_str(&out);
}

/* How many of the records a reply takes as done: all of them, those before the first that failed, or none. */
static size_t done_by(struct trigger *trigger, const struct client_reply *reply, const struct record *records, size_t n, const char **problem)
{
	struct err err = err_in(trigger->arena);
	const struct json *body = NULL, *failures;
	size_t done = n;

	*problem = "it answered with an error";
	if (reply->status < 200 || reply->status > 299 || reply->is_function_error)
		return 0;
	if (reply->body.n == 0 || json_parse(trigger->arena, reply->body, &body, &err) != OK || json_type(body) != JSON_OBJECT)
		return n;
	if (json_member(body, "errorMessage"))
		return 0;
	failures = json_member(body, "batchItemFailures");
	*problem = "it named records that failed";
	for (const struct json *one = failures && json_type(failures) == JSON_ARRAY ? json_first(failures) : NULL; one; one = json_next(one)) {
		char sequence[SEQUENCE_MAX];

		if (!copy_member(trigger->arena, one, "itemIdentifier", sequence, sizeof(sequence)))
			return 0;
		for (size_t i = 0; i < done; i++) {
			if (str_eq(records[i].sequence, str_of(sequence)))
				done = i;
		}
	}
	return done;
}

static void remember(struct trigger *trigger, const struct record *record)
{
	snprintf(trigger->sequence, sizeof(trigger->sequence), STR_FMT, STR_ARG(record->sequence));
}

static void leave_behind(struct trigger *trigger, const struct record *record, const char *problem)
{
	const char *path = trigger->all->options.failures;
	FILE *file = strcmp(path, "log") != 0 ? fopen(path, "a") : NULL;

	if (file) {
		fprintf(file, STR_FMT "\n", STR_ARG(record->json));
		fclose(file);
	}
	log_line(LOG_WARN, "trigger " STR_FMT ": record " STR_FMT " is left behind: %s", STR_ARG(trigger->table), STR_ARG(record->sequence),
		 problem);
	remember(trigger, record);
}

/* Posts the records until all are done, left behind, or the server stops. Depth is the logarithm of the batch. */
static void push(struct trigger *trigger, const struct record *records, size_t n)
{
	const char *problem = "";
	int pause = PAUSE_FIRST_MS;

	for (unsigned tries = 0; tries <= trigger->all->options.retries && n > 0; tries++) {
		struct client_reply reply = {0};
		const struct client_request request = {"POST", event_of(trigger, records, n), REPLY_WAIT_MS, &trigger->all->is_stopping};
		bool is_answered = client_ask(trigger->arena, &trigger->target, &request, &reply, &problem);
		size_t done = is_answered ? done_by(trigger, &reply, records, n, &problem) : 0;

		if (atomic_load(&trigger->all->is_stopping) && done == 0)
			return;
		if (done > 0) {
			remember(trigger, &records[done - 1]);
			tries = 0;
		}
		records += done;
		n -= done;
		if (n > 0 && tries < trigger->all->options.retries)
			pause_ms(trigger, pause);
		pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
	}
	if (n == 1) {
		leave_behind(trigger, records, problem);
	} else if (n > 1) {
		push(trigger, records, n / 2);
		if (!atomic_load(&trigger->all->is_stopping))
			push(trigger, records + n / 2, n - n / 2);
	}
}

/* Where to read: on in the shard, in its child, or in the stream that follows. */
static bool find_place(struct trigger *trigger)
{
	if (trigger->is_at_end && find_shard(trigger))
		return true;
	/* looked for only when there is none or it is read to its end */
	if ((!trigger->stream || trigger->is_at_end) && !find_stream(trigger))
		return false;
	return !trigger->is_at_end && (trigger->shard[0] || find_shard(trigger));
}

/* One batch, if there are records. False: there was nothing to do. */
static bool run_once(struct trigger *trigger)
{
	struct batch batch = {0, ARENA_ARRAY(trigger->arena, struct record, trigger->all->options.batch)};
	int waited = 0;

	if (!find_place(trigger))
		return false;
	if (!trigger->iterator && !find_iterator(trigger))
		return false;
	while (read_more(trigger, &batch) && batch.n < trigger->all->options.batch && batch.n > 0 && trigger->iterator &&
	       waited < trigger->all->options.window_ms && !trigger->is_skipping && !atomic_load(&trigger->all->is_stopping)) {
		pause_ms(trigger, POLL_MS);
		waited += POLL_MS;
	}
	if (trigger->is_skipping && batch.n > 0)
		remember(trigger, &batch.v[batch.n - 1]);
	else if (batch.n > 0)
		push(trigger, batch.v, batch.n);
	trigger->is_skipping = trigger->is_skipping && (batch.n > 0 || trigger->is_at_end);
	return batch.n > 0 || trigger->is_at_end;
}

static void *run(void *context)
{
	struct trigger *trigger = context;

	crash_request(NULL);
	while (!atomic_load(&trigger->all->is_stopping)) {
		arena_reset(trigger->arena);
		bool did_work = run_once(trigger);

		if (!did_work && !trigger->stream && !trigger->was_missed) {
			log_line(LOG_INFO, "trigger " STR_FMT ": waits for a table with a stream", STR_ARG(trigger->table));
			trigger->was_missed = true;
		}
		if (!did_work)
			pause_ms(trigger, POLL_MS);
	}
	return NULL;
}

static void forget(struct trigger *trigger)
{
	arena_free(trigger->arena);
	free(trigger->account);
	free(trigger->region);
	free(trigger->stream);
	free(trigger->iterator);
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
	at = options->specs;
	while (next_spec(&at, &spec)) {
		struct trigger *trigger = &triggers->v[triggers->n];

		trigger->all = triggers;
		trigger->arena = arena_new(0);
		bool is_valid = read_spec(spec, &trigger->table, &trigger->target);
		/* of a stream that is made later nothing is older than the trigger */
		trigger->is_skipping = is_valid && find_stream(trigger) && !options->from_horizon;
		if (!is_valid || pthread_create(&trigger->thread, NULL, run, trigger) != 0) {
			forget(trigger);
			trigger_stop(triggers);
			return NULL;
		}
		triggers->n++;
	}
	return triggers;
}

void trigger_stop(struct triggers *triggers)
{
	atomic_store(&triggers->is_stopping, true);
	for (size_t i = 0; i < triggers->n; i++) {
		pthread_join(triggers->v[i].thread, NULL);
		forget(&triggers->v[i]);
	}
	free(triggers->v);
	free(triggers);
}
