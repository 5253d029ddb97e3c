#include "server/library/dynalith.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/crc32.h"
#include "protocol/op.h"
#include "protocol/ops.h"
#include "server/importers/apply.h"
#include "server/instance.h"
#include "server/library/messages.h"
#include "server/log.h"
#include "server/platform/platform.h"
#include "server/request_id.h"
#include "server/version.h"

#define ARENA_KEEP (512 * 1024) /* bytes an idle call keeps */
#define CALLS_KEPT 64           /* idle calls kept */
#define HEADERS_OWN 5
#define HELD_LOOK_MS 1          /* between two looks at a request that a fault rule holds */
#define ERROR_SIZE 512
#define PREFIX "/_dynalith/"
#define DATE "20260101"         /* of credentials that nobody checks */
#define SIZE_FIRST sizeof(struct dynalith_request) /* of the first version */

struct dynalith {
	struct arena *arena; /* of the options */
	struct config config;
	struct instance *instance;
	struct log_sink sink;
	struct {
		dynalith_log *write;
		void *context;
	} log;
	pid_t pid; /* of the process that opened it */
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* a call has ended, or it is closing */
	bool is_closing, is_closed;
	unsigned under_way;
	unsigned answers; /* that are not freed; they may outlive all but this struct */
	struct call *idle;
	unsigned idle_count;
};

/* One request and its answer. The arena has all that the answer points to. */
struct call {
	struct dynalith_answer answer; /* first: an answer is its call */
	struct dynalith *owner;
	struct call *next;
	struct arena *arena;
	char id[REQUEST_ID_SIZE + 1];
};

static _Thread_local char last_error[ERROR_SIZE];

static void *fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void *fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(last_error, sizeof(last_error), format, ap);
	va_end(ap);
	return NULL;
}

const char *dynalith_error(void)
{
	return last_error;
}

const char *dynalith_version(void)
{
	return DYNALITH_VERSION;
}

/* A line without its end. */
static void write_log(void *context, enum log_level level, const char *line, size_t n)
{
	const struct dynalith *instance = context;

	if (instance->log.write)
		instance->log.write(instance->log.context, (int)level, line,
				    n > 0 && line[n - 1] == '\n' ? n - 1 : n);
}

static enum code open_and_start(struct dynalith *instance, struct err *err)
{
	enum code code =
		instance_open(instance->arena, &instance->config, &instance->instance, err);

	if (code != OK)
		return code;
	code = instance_start(instance->instance, err);
	if (code != OK)
		instance_close(instance->instance);
	return code;
}

/* Threads that begin here get none of the program's signals. */
static enum code open_quietly(struct dynalith *instance, struct err *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	enum code code = open_and_start(instance, err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

static bool begin(struct dynalith *instance, const char *options)
{
	struct err err = err_in(instance->arena);
	struct str problem;

	if (!config_read_text(instance->arena, str_of(options ? options : "{}"), &instance->config,
			      &problem)) {
		fail(STR_FMT, STR_ARG(problem));
		return false;
	}
	instance->sink = (struct log_sink){
		.level = log_level_of(instance->config.log_level),
		.is_json = true,
		.write = write_log,
		.context = instance,
	};
	const struct log_sink *before = log_use(&instance->sink);
	enum code code = open_quietly(instance, &err);
	log_use(before);
	if (code != OK) {
		fail(STR_FMT, STR_ARG(err.message));
		return false;
	}
	struct http_options *limits = instance_limits(instance->instance);
	limits->stats->memory.limit = limits->memory_limit;
	return true;
}

static void free_instance(struct dynalith *instance)
{
	arena_free(instance->arena);
	pthread_cond_destroy(&instance->changed);
	pthread_mutex_destroy(&instance->mutex);
	free(instance);
}

struct dynalith *dynalith_open(const char *options, dynalith_log *log, void *context)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct dynalith *instance = arena_checked(calloc(1, sizeof(*instance)));

	pthread_once(&once, request_id_seed);
	instance->arena = arena_new(0);
	instance->log.write = log;
	instance->log.context = context;
	instance->pid = getpid();
	pthread_mutex_init(&instance->mutex, NULL);
	pthread_cond_init(&instance->changed, NULL);
	if (begin(instance, options))
		return instance;
	free_instance(instance);
	return NULL;
}

/* NULL: the instance is closing. */
static struct call *take_call(struct dynalith *instance)
{
	struct call *call = NULL;

	pthread_mutex_lock(&instance->mutex);
	bool is_closing = instance->is_closing;
	if (!is_closing) {
		instance->under_way++;
		call = instance->idle;
		instance->idle = call ? call->next : NULL;
		instance->idle_count -= call != NULL;
	}
	pthread_mutex_unlock(&instance->mutex);
	if (is_closing)
		return NULL;
	if (!call) {
		call = arena_checked(calloc(1, sizeof(*call)));
		call->owner = instance;
		call->arena = arena_new(ARENA_KEEP);
	}
	arena_use_budget(call->arena, &instance_limits(instance->instance)->stats->memory);
	return call;
}

/* The answer is not among what requests under way hold. */
static void end_call(struct call *call)
{
	struct dynalith *instance = call->owner;

	arena_use_budget(call->arena, NULL);
	pthread_mutex_lock(&instance->mutex);
	instance->under_way--;
	instance->answers++;
	if (instance->is_closing)
		pthread_cond_broadcast(&instance->changed);
	pthread_mutex_unlock(&instance->mutex);
}

static void free_call(struct call *call)
{
	arena_free(call->arena);
	free(call);
}

void dynalith_free(struct dynalith_answer *answer)
{
	struct call *call = (struct call *)answer;

	if (!call)
		return;
	struct dynalith *instance = call->owner;
	arena_reset(call->arena);
	pthread_mutex_lock(&instance->mutex);
	bool is_kept = !instance->is_closing && instance->idle_count < CALLS_KEPT,
	     is_last = --instance->answers == 0 && instance->is_closed;
	if (is_kept) {
		call->next = instance->idle;
		instance->idle = call;
		instance->idle_count++;
	}
	pthread_mutex_unlock(&instance->mutex);
	if (!is_kept)
		free_call(call);
	if (is_last)
		free_instance(instance);
}

/* Sleeps; false where the instance closes meanwhile. */
static bool nap(struct dynalith *instance, uint64_t ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)(ms / 1000);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&instance->mutex);
	while (!instance->is_closing &&
	       pthread_cond_timedwait(&instance->changed, &instance->mutex, &until) == 0)
		;
	bool is_open = !instance->is_closing;
	pthread_mutex_unlock(&instance->mutex);
	return is_open;
}

static struct str full_target(struct arena *arena, const char *target)
{
	struct str name = str_of(target);

	if (strchr(target, '.'))
		return name;
	return ops_target(arena, name);
}

static struct headers *make_headers(struct arena *arena, const struct dynalith_request *from)
{
	struct headers *headers = ARENA_NEW(arena, struct headers);

	headers->cap = HEADERS_OWN + from->header_count;
	headers->v = ARENA_ARRAY(arena, struct header, headers->cap);
	if (from->target) {
		headers_add(headers, arena, STR("X-Amz-Target"), full_target(arena, from->target));
		headers_add(headers, arena, STR("Content-Type"), STR("application/x-amz-json-1.0"));
	}
	if (from->access_key || from->region) {
		headers_add(headers, arena, STR("X-Amz-Date"), STR(DATE "T000000Z"));
		headers_add(headers, arena, STR("Authorization"),
			    str_printf(arena,
				       "AWS4-HMAC-SHA256 Credential=%s/" DATE
				       "/%s/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
				       from->access_key ? from->access_key : "any",
				       from->region ? from->region : "us-east-1"));
	}
	for (size_t i = 0; i < from->header_count; i++)
		headers_add(headers, arena, str_of(from->headers[i].name),
			    str_of(from->headers[i].value));
	if (!str_is_set(headers_first(headers, STR("Host"))))
		headers_add(headers, arena, STR("Host"), STR("localhost"));
	return headers;
}

/* What the routes get. As the front end of HTTP makes it, of a whole request. */
static struct http_request make_request(struct call *call, const struct dynalith_request *from)
{
	const struct http_options *limits = instance_limits(call->owner->instance);
	struct str target = str_of(from->path ? from->path : "/");
	const char *mark = memchr(target.p, '?', target.n);
	struct headers *headers = make_headers(call->arena, from);
	struct str explain = headers_first(headers, STR("x-dynalith-explain"));

	return (struct http_request){
		.haste = HTTP_LONG,
		.arena = call->arena,
		.method = str_of(from->method ? from->method : "POST"),
		.path = {target.p, mark ? (size_t)(mark - target.p) : target.n},
		.query = mark ? str_of(mark + 1) : STR(""),
		.body = {from->body ? from->body : "", from->body_size},
		.wire_body = {from->body ? from->body : "", from->body_size},
		.problem = from->body_size > limits->body_limit ? HTTP_TOO_LARGE : HTTP_FINE,
		.id = {call->id, REQUEST_ID_SIZE},
		.headers = headers,
		.is_explained = str_is_set(explain) && !str_eq(explain, STR("0")),
	};
}

/* Runs it until it is done. A fault rule may hold it, until the instance closes. Without threads
 * nobody could let it go, so it is answered as an overloaded server does: with 503. */
static void run(struct call *call, const struct dynalith_request *from,
		struct http_response *response)
{
	struct routes *routes = instance_routes(call->owner->instance);
	struct http_request request = make_request(call, from);

	while (*response = (struct http_response){.status = 200},
	       !routes_handle(routes, &request, response)) {
		const struct http_response undone = *response;
		bool is_open = true;

		while (is_open && undone.hold && routes_is_held(undone.hold))
			is_open = platform_has_threads() && nap(call->owner, HELD_LOOK_MS);
		arena_reset(call->arena);
		request = make_request(call, from);
		request.is_long_write = undone.is_long_write;
		request.hold = undone.hold;
		request.problem = is_open ? request.problem : HTTP_OVERLOADED;
	}
}

/* What a fault rule does to the answer. Between pieces of the body time passes, as on a slow
 * network. */
static void slow_down(struct call *call, const struct fault_reply *fault, size_t body_size)
{
	uint64_t pieces = fault->piece_bytes > 0
				  ? (body_size + fault->piece_bytes - 1) / fault->piece_bytes
				  : 0;
	uint64_t ms = fault->delay_ms + (pieces > 1 ? (pieces - 1) * fault->piece_ms : 0);

	if (ms > 0)
		nap(call->owner, ms);
}

static void fill(struct call *call, const struct http_response *response)
{
	struct dynalith_header *headers =
		ARENA_ARRAY(call->arena, struct dynalith_header, response->header_count + 1);
	struct str body = response->body;

	for (size_t i = 0; i < response->header_count; i++)
		headers[i] = (struct dynalith_header){
			response->headers[i].name,
			str_copy(call->arena, response->headers[i].value).p};
	call->answer = (struct dynalith_answer){
		.status = response->fault.is_dropped ? 0 : response->status,
		.request_id = call->id,
		.crc32 = crc32_of(body.p, body.n) ^ response->fault.is_crc_wrong,
		.body = body.p ? body.p : "",
		.body_size = body.n,
		.content_type = str_is_set(response->content_type)
					? str_copy(call->arena, response->content_type).p
					: NULL,
		.headers = headers,
		.header_count = response->header_count,
	};
}

static void answer_call(struct call *call, const struct dynalith_request *request)
{
	struct http_response response;

	request_id_make(call->id);
	run(call, request, &response);
	if (response.stream) { /* it would never end */
		response.stream->end(response.stream);
		response = (struct http_response){.status = 501,
						  .content_type = STR("application/json"),
						  .body = STR(MSG_NO_STREAMS)};
	}
	slow_down(call, &response.fault, response.body.n);
	fill(call, &response);
}

static bool is_usable(const struct dynalith *instance)
{
	if (!instance)
		fail(MSG_NO_INSTANCE);
	else if (instance->pid != getpid())
		fail(MSG_FORKED);
	return instance && instance->pid == getpid();
}

static bool is_whole(const struct dynalith_request *request)
{
	if (!request || request->size != SIZE_FIRST || (!request->body && request->body_size > 0) ||
	    (!request->headers && request->header_count > 0)) {
		fail(MSG_REQUEST);
		return false;
	}
	for (size_t i = 0; i < request->header_count; i++) {
		if (!request->headers[i].name || !request->headers[i].value) {
			fail(MSG_REQUEST);
			return false;
		}
	}
	return true;
}

struct dynalith_answer *dynalith_send(struct dynalith *instance,
				      const struct dynalith_request *request)
{
	if (!is_usable(instance) || !is_whole(request))
		return NULL;
	struct call *call = take_call(instance);
	if (!call)
		return fail(MSG_CLOSING);
	const struct log_sink *before = log_use(&instance->sink);
	answer_call(call, request);
	log_use(before);
	end_call(call);
	return &call->answer;
}

struct dynalith_answer *dynalith_call(struct dynalith *instance, const char *operation,
				      const void *body, size_t body_size)
{
	const struct dynalith_request request = {
		.size = sizeof(request), .target = operation, .body = body, .body_size = body_size};

	return operation ? dynalith_send(instance, &request) : fail(MSG_OPERATION);
}

struct dynalith_answer *dynalith_control(struct dynalith *instance, const char *method,
					 const char *path, const char *body)
{
	char *whole = method && path ? arena_checked(malloc(sizeof(PREFIX) + strlen(path))) : NULL;

	if (!whole)
		return fail(MSG_CONTROL);
	memcpy(whole, PREFIX, sizeof(PREFIX) - 1);
	memcpy(whole + sizeof(PREFIX) - 1, path, strlen(path) + 1);
	const struct dynalith_request request = {
		.size = sizeof(request),
		.method = method,
		.path = whole,
		.body = body,
		.body_size = body ? strlen(body) : 0,
	};
	struct dynalith_answer *answer = dynalith_send(instance, &request);
	free(whole);
	return answer;
}

struct applying {
	struct dynalith *instance;
	const char *access_key, *region;
};

static enum code send_own(void *context, struct arena *arena, const struct seed_request *asked,
			  struct seed_reply *reply, struct err *err)
{
	const struct applying *applying = context;
	const struct dynalith_request request = {
		.size = sizeof(request),
		.target = asked->operation,
		.access_key = applying->access_key,
		.region = str_is_set(asked->region) ? asked->region.p : applying->region,
		.body = asked->body.p,
		.body_size = asked->body.n,
	};
	struct dynalith_answer *answer = dynalith_send(applying->instance, &request);

	if (!answer)
		return err_set(err, MSG_APPLY_REFUSED, last_error);
	*reply = (struct seed_reply){
		answer->status, str_copy(arena, (struct str){answer->body, answer->body_size})};
	dynalith_free(answer);
	return OK;
}

int dynalith_apply(struct dynalith *instance, const char *path, const char *access_key,
		   const char *region)
{
	struct applying applying = {instance, access_key, region};

	if (!is_usable(instance))
		return -1;
	if (!path) {
		fail(MSG_PATH);
		return -1;
	}
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct log_sink *before = log_use(&instance->sink);
	enum code code = apply_to((struct seed_target){.send = send_own,
						       .context = &applying,
						       .region = str_of(region),
						       .account = seed_account(str_of(access_key))},
				  path, &err);
	log_use(before);
	if (code != OK)
		fail(STR_FMT, STR_ARG(err.message));
	arena_free(arena);
	return code == OK ? 0 : -1;
}

int dynalith_tick(struct dynalith *instance)
{
	if (!is_usable(instance) || platform_has_threads())
		return -1;
	const struct log_sink *before = log_use(&instance->sink);
	int64_t wait_ms = instance_tick(instance->instance);
	log_use(before);
	return (int)wait_ms;
}

void dynalith_close(struct dynalith *instance)
{
	if (!instance || instance->pid != getpid())
		return; /* the child of a fork has none of its threads */
	pthread_mutex_lock(&instance->mutex);
	instance->is_closing = true;
	pthread_cond_broadcast(&instance->changed);
	while (instance->under_way > 0)
		pthread_cond_wait(&instance->changed, &instance->mutex);
	struct call *idle = instance->idle; /* it grows no more */
	instance->idle = NULL;
	pthread_mutex_unlock(&instance->mutex);
	const struct log_sink *before = log_use(&instance->sink);
	while (idle) {
		struct call *call = idle;

		idle = call->next;
		free_call(call);
	}
	instance_close(instance->instance);
	log_use(before);
	pthread_mutex_lock(&instance->mutex);
	instance->is_closed = true;
	bool is_last = instance->answers == 0;
	pthread_mutex_unlock(&instance->mutex);
	if (is_last)
		free_instance(instance);
}
