#include "server/trigger.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buf.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/client.h"
#include "server/crash.h"
#include "server/failure.h"
#include "server/filter.h"
#include "server/log.h"
#include "storage/catalog/catalog.h"

#define POLL_MS 100            /* between two looks for records */
#define REPLY_WAIT_MS 60000
#define PAUSE_FIRST_MS 100
#define PAUSE_MAX_MS 10000
#define SHARD_MAX 128
#define FILTER_FILE_MAX (1024 * 1024)
#define SEQUENCE_MAX 64

/* One trigger; its position is where the next batch begins. */
struct trigger {
	struct triggers *all;
	pthread_t thread;
	struct str table;
	struct client_target target;
	struct filter filter;
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
	struct arena *kept; /* what is read at the start: filters */
};

/* A record as a function's event holds it, its sequence number, and when it was made. */
struct record {
	struct str json, sequence;
	int64_t made_s;
};

struct batch {
	size_t n; /* that pass the filter */
	struct record *v;
	size_t seen;
	struct str last; /* sequence number of the last one seen */
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

/* The text of --trigger-filter: "none", JSON, or a file of JSON. False where the file cannot be read. */
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
	return read_filter_text(arena, option, &text) && filter_read(arena, text, STR_ABSENT, &filter, problem);
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
		keep(&trigger->account, tables[0]->identity.account);
		keep(&trigger->region, tables[0]->identity.region);
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

		if (!wants_newest)
			json_out_field_integer(&body, "Limit", 1);
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

/* The record as a function's event has it: with the stream's ARN, and two names spelt in another way than by GetRecords. */
static struct str event_record(struct trigger *trigger, struct str json)
{
	static const char service_user[] = "\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\",\"Type\":\"Service\"}";
	struct json_out arn = json_out_in(trigger->arena);
	struct buf out = buf_in(trigger->arena);

	assert(json.p);
	const char *user = memmem(json.p, json.n, service_user, sizeof(service_user) - 1);

	json_out_string(&arn, str_of(trigger->stream));
	buf_printf(&out, "{\"eventSourceARN\":" STR_FMT ",", STR_ARG(json_out_str(&arn)));
	if (user) {
		buf_add(&out, json.p + 1, (size_t)(user - json.p) - 1);
		buf_add_lit(&out, "\"userIdentity\":{\"type\":\"Service\",\"principalId\":\"dynamodb.amazonaws.com\"}");
		json.n -= (size_t)(user - json.p) + sizeof(service_user) - 1;
		json.p = user + sizeof(service_user) - 1;
		buf_add_str(&out, json);
	} else {
		buf_add(&out, json.p + 1, json.n - 1);
	}
	return buf_str(&out);
}

/* AWS: a filter sees the record as the function would. */
static bool is_wanted(struct trigger *trigger, struct str record)
{
	struct err err = err_in(trigger->arena);
	const struct json *json;

	return trigger->filter.n == 0 || json_parse(trigger->arena, record, &json, &err) != OK || filter_passes(&trigger->filter, trigger->arena, json);
}

/*
 * The records of an answer: their text as it was written, so that nothing of it is changed. No attribute's value is a bare list, so
 * the first such text is the member of the answer.
 */
static void read_records(struct trigger *trigger, struct str text, const struct json *records, struct batch *batch)
{
	static const char begin[] = "\"Records\":[";
	const char *at = memmem(text.p, text.n, begin, sizeof(begin) - 1), *end = text.p + text.n;

	for (const struct json *record = at ? json_first(records) : NULL; record; record = json_next(record)) {
		const struct json *change = json_member(record, "dynamodb");
		const struct json *sequence = change ? json_member(change, "SequenceNumber") : NULL;
		const struct json *made = change ? json_member(change, "ApproximateCreationDateTime") : NULL;

		at = memchr(at, '{', (size_t)(end - at));
		if (!at || !sequence)
			return;
		struct str json = object_at(at, end), event = event_record(trigger, json);

		at += json.n;
		batch->seen++;
		batch->last = json_string(trigger->arena, sequence);
		if (is_wanted(trigger, event))
			batch->v[batch->n++] = (struct record){event, batch->last, made ? (int64_t)json_number(made) : 0};
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
	read_records(trigger, text, json_member(answer, "Records"), batch);
	trigger->is_at_end = !trigger->iterator;
	return true;
}

/* The records as a function's event. */
static struct str event_of(struct trigger *trigger, const struct record *records, size_t n)
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
 * How many of the records are taken when the function names some that failed: those before the first of these. AWS: none where a name is empty, null,
 * no text or missing; here also where it is no record's of the batch, since what failed is then not known.
 */
static size_t done_before(struct trigger *trigger, const struct json *failures, const struct record *records, size_t n)
{
	size_t done = n;

	for (const struct json *one = json_first(failures); one; one = json_next(one)) {
		struct str name = json_type(one) == JSON_OBJECT ? member_text(trigger->arena, one, "itemIdentifier") : STR_ABSENT;
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
static void judge(struct trigger *trigger, struct attempt *attempt, const struct record *records, size_t n)
{
	const struct client_reply *reply = &attempt->reply;
	struct err err = err_in(trigger->arena);
	const struct json *body = NULL;

	attempt->problem = "it answered with an error";
	attempt->is_function_error = reply->is_function_error;
	if (reply->status < 200 || reply->status > 299 || reply->is_function_error)
		return;
	attempt->done = n;
	if (reply->body.n == 0 || json_parse(trigger->arena, reply->body, &body, &err) != OK || json_type(body) != JSON_OBJECT)
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

static struct attempt post(struct trigger *trigger, const struct record *records, size_t n)
{
	const struct client_request request = {
		.method = "POST", .body = event_of(trigger, records, n), .wait_ms = REPLY_WAIT_MS, .stopping = &trigger->all->is_stopping,
	};
	struct attempt attempt = {0};

	attempt.is_answered = client_ask(trigger->arena, &trigger->target, &request, &attempt.reply, &attempt.problem);
	if (attempt.is_answered)
		judge(trigger, &attempt, records, n);
	return attempt;
}

static void remember(struct trigger *trigger, struct str sequence)
{
	snprintf(trigger->sequence, sizeof(trigger->sequence), STR_FMT, STR_ARG(sequence));
}

static void leave_behind(struct trigger *trigger, const struct record *record, unsigned posts, const struct attempt *last)
{
	const struct service *service = trigger->all->options.service;
	const char *path = trigger->all->options.failures;
	FILE *file = strcmp(path, "log") != 0 ? fopen(path, "a") : NULL;
	struct ns ns = {str_of(trigger->account), str_of(trigger->region)};

	if (file) {
		const struct failure failure = {
			.account = ns.account, .region = ns.region, .function = failure_function(trigger->target.path), .invocations = posts,
			.status = last->is_answered ? last->reply.status : 0, .is_function_error = last->is_function_error,
			.now_ms = service->now_ms(service->clock_context, ns), .stream = str_of(trigger->stream), .shard = str_of(trigger->shard),
			.first = record->sequence, .last = record->sequence, .first_s = record->made_s, .last_s = record->made_s, .records = 1,
			.payload = event_of(trigger, record, 1),
		};

		fprintf(file, STR_FMT "\n", STR_ARG(failure_text(trigger->arena, &failure)));
		fclose(file);
	}
	log_line(LOG_WARN, "trigger " STR_FMT ": record " STR_FMT " is left behind: %s", STR_ARG(trigger->table), STR_ARG(record->sequence),
		 last->problem);
	remember(trigger, record->sequence);
}

/* Posts the records until all are done, left behind, or the server stops. `posts` held them before. Depth is the logarithm of the batch. */
static void push(struct trigger *trigger, const struct record *records, size_t n, unsigned posts)
{
	struct attempt attempt = {.problem = ""};
	int pause = PAUSE_FIRST_MS;

	for (unsigned tries = 0; tries <= trigger->all->options.retries && n > 0; tries++) {
		attempt = post(trigger, records, n);
		posts++;
		if (atomic_load(&trigger->all->is_stopping) && attempt.done == 0)
			return;
		if (attempt.done > 0) {
			remember(trigger, records[attempt.done - 1].sequence);
			tries = 0;
		}
		records += attempt.done;
		n -= attempt.done;
		if (n > 0 && tries < trigger->all->options.retries)
			pause_ms(trigger, pause);
		pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
	}
	if (n == 1) {
		leave_behind(trigger, records, posts, &attempt);
	} else if (n > 1) {
		push(trigger, records, n / 2, posts);
		if (!atomic_load(&trigger->all->is_stopping))
			push(trigger, records + n / 2, n - n / 2, posts);
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
	struct batch batch = {.v = ARENA_ARRAY(trigger->arena, struct record, trigger->all->options.batch)};
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
	if (!trigger->is_skipping)
		push(trigger, batch.v, batch.n, 0);
	if (batch.seen > 0 && !atomic_load(&trigger->all->is_stopping))
		remember(trigger, batch.last); /* behind what the filter drops */
	trigger->is_skipping = trigger->is_skipping && (batch.seen > 0 || trigger->is_at_end);
	return batch.seen > 0 || trigger->is_at_end;
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

/* What of the filters is for the trigger's table. */
static bool read_filter(struct trigger *trigger)
{
	struct arena *kept = trigger->all->kept;
	struct str text, problem;

	return read_filter_text(kept, trigger->all->options.filter, &text) && filter_read(kept, text, trigger->table, &trigger->filter, &problem);
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
		bool is_valid = read_spec(spec, &trigger->table, &trigger->target);
		is_valid = is_valid && read_filter(trigger);
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
	arena_free(triggers->kept);
	free(triggers->v);
	free(triggers);
}
