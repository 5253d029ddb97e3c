#include "server/races/gate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "protocol/ops.h"
#include "server/platform/platform.h"
#include "server/races/gate_trouble.h"
#include "storage/monotonic.h"

#define GAP_MAX_MS 100
/* How much longer quiet must last where something may well come yet. */
#define EXPECTED_TIMES 5
#define HELD_MIN_MS 150
#define REPLAY_MIN_MS 1000
#define WORKING_MAX_MS 2000 /* a program that never sleeps is not waited for longer */

/* Requests that had come when the program was quiet: how many, and the sum of their ids. */
struct remembered {
	uint64_t before; /* what they had come behind */
	uint64_t sum;
	size_t n;
};

struct gate_memory {
	struct arena *arena;
	struct remembered *waited; /* all that waited, behind all that was carried out, in order */
	size_t waited_n;
	struct remembered *followed; /* those that came behind the answer of one request */
	size_t followed_n;
};

/* One request that is held. It is freed when its client has the answer. */
struct ticket {
	struct gate *gate;
	size_t request; /* in the trace; RACE_NONE: it is in none */
	atomic_bool may_go;
	bool is_begun;
	void *inner; /* the routes' own hold */
};

struct gate {
	struct gate_options options;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	struct ticket **tickets; /* by number in the trace; those that were answered are gone */
	size_t *waiting;         /* numbers, by arrival */
	size_t waiting_n;
	bool is_working, is_ending, has_thread;
	int64_t moved_ms; /* when something came or was answered */
	unsigned gap_ms;
	uint64_t before;
	struct remembered come; /* since the last answer */
	size_t order_from;      /* see race_plan_next() */
	struct gate_trouble trouble;
};

struct gate_memory *gate_memory_new(struct arena *arena)
{
	struct gate_memory *memory = arena_calloc(arena, 1, sizeof(*memory));

	memory->arena = arena;
	return memory;
}

static struct remembered *recall(struct gate_memory *memory, uint64_t before)
{
	for (size_t i = 0; i < memory->waited_n; i++) {
		if (memory->waited[i].before == before)
			return &memory->waited[i];
	}
	return NULL;
}

/* Whether just these have followed the last answer before, in whatever order it was given. Where
 * nothing followed it, something may come late. */
static bool is_followed_as_before(const struct gate *gate)
{
	const struct gate_memory *memory = gate->options.memory;
	size_t i = 0;

	while (i < memory->followed_n &&
	       (memory->followed[i].before != gate->come.before ||
		memory->followed[i].sum != gate->come.sum || memory->followed[i].n != gate->come.n))
		i++;
	return gate->come.n > 0 && i < memory->followed_n;
}

static struct remembered now_waiting(const struct gate *gate)
{
	struct remembered now = {.before = gate->before, .n = gate->waiting_n};

	for (size_t i = 0; i < gate->waiting_n; i++)
		now.sum += gate->options.trace->requests[gate->waiting[i]].id;
	return now;
}

/* Whether all has come that will come before the next one is carried out. */
static bool is_complete(const struct gate *gate)
{
	const struct remembered *then = recall(gate->options.memory, gate->before);
	struct remembered now = now_waiting(gate);

	return (then && then->n == now.n && then->sum == now.sum) || is_followed_as_before(gate);
}

static bool is_waiting(const struct gate *gate, uint64_t id)
{
	for (size_t i = 0; i < gate->waiting_n; i++) {
		if (gate->options.trace->requests[gate->waiting[i]].id == id)
			return true;
	}
	return false;
}

/* Quiet that is long enough; 0: the next one can be picked at once. */
static int64_t wanted_quiet_ms(const struct gate *gate, size_t next)
{
	const struct gate_options *options = &gate->options;
	int64_t quiet = options->quiet_ms, longer = quiet * EXPECTED_TIMES;

	if (next != RACE_NONE) {
		if (is_waiting(gate, options->plan->order[next]))
			return 0;
		return longer > REPLAY_MIN_MS ? longer : REPLAY_MIN_MS;
	}
	if (race_plan_holds_all(options->plan, options->trace, gate->waiting, gate->waiting_n))
		return longer > HELD_MIN_MS ? longer : HELD_MIN_MS;
	return is_complete(gate) ? 0 : quiet;
}

/* For how many milliseconds more the program must be quiet. */
static int64_t more_quiet_ms(struct gate *gate)
{
	const struct gate_options *options = &gate->options;
	size_t next = race_plan_next(options->plan, options->trace, gate->order_from);
	int64_t quiet = monotonic_ms() - gate->moved_ms, wanted = wanted_quiet_ms(gate, next);

	/* This process counts too: it may not have sent the last answer yet. */
	if (wanted > 0 && quiet >= wanted && quiet < WORKING_MAX_MS &&
	    (platform_works(options->program(options->of)) || platform_works(getpid())))
		return 1;
	if (quiet < wanted)
		return wanted - quiet;
	if (wanted > 0 && next != RACE_NONE)
		gate->order_from = next + 1; /* it does not come in this run */
	return 0;
}

static void remember(const struct gate *gate)
{
	struct gate_memory *memory = gate->options.memory;

	if (gate->come.n > 0 && !is_followed_as_before(gate)) {
		memory->followed = arena_room(memory->arena, memory->followed, memory->followed_n,
					      sizeof(*memory->followed));
		memory->followed[memory->followed_n++] = gate->come;
	}
	if (recall(memory, gate->before))
		return;
	memory->waited = arena_room(memory->arena, memory->waited, memory->waited_n,
				    sizeof(*memory->waited));
	memory->waited[memory->waited_n++] = now_waiting(gate);
}

static void gate_let_go(struct gate *gate, size_t at)
{
	struct race_trace *trace = gate->options.trace;
	size_t request = gate->waiting[at];

	gate->waiting_n--;
	memmove(&gate->waiting[at], &gate->waiting[at + 1],
		(gate->waiting_n - at) * sizeof(*gate->waiting));
	race_trace_pick(trace, request);
	gate->before = gate->before * 31 + trace->requests[request].id;
	gate->is_working = true;
	atomic_store(&gate->tickets[request]->may_go, true);
}

static void pick_next(struct gate *gate)
{
	gate_let_go(gate, race_plan_pick(gate->options.plan, gate->options.trace, gate->waiting,
					 gate->waiting_n));
}

static void wait_ms(struct gate *gate, int64_t ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	platform_wait(&gate->changed, &gate->mutex, &until);
}

static void *schedule(void *context)
{
	struct gate *gate = context;

	pthread_mutex_lock(&gate->mutex);
	while (!gate->is_ending) {
		if (gate->waiting_n == 0 || gate->is_working) {
			pthread_cond_wait(&gate->changed, &gate->mutex);
			continue;
		}
		int64_t more = more_quiet_ms(gate);

		if (more > 0) {
			wait_ms(gate, more);
			continue;
		}
		remember(gate);
		pick_next(gate);
	}
	pthread_mutex_unlock(&gate->mutex);
	return NULL;
}

struct gate *gate_new(const struct gate_options *options)
{
	struct gate *gate = arena_checked(calloc(1, sizeof(*gate)));

	gate->options = *options;
	gate->trouble = (struct gate_trouble){.handler = options->handler,
					      .context = options->context,
					      .plan = options->plan,
					      .expires = options->expires};
	gate->moved_ms = monotonic_ms();
	pthread_mutex_init(&gate->mutex, NULL);
	platform_condition(&gate->changed);
	gate->has_thread =
		options->plan && pthread_create(&gate->thread, NULL, schedule, gate) == 0;
	return gate;
}

static struct str operation_of(const struct http_request *request)
{
	struct str name = STR_ABSENT;

	(void)ops_of_target(headers_first(request->headers, STR("X-Amz-Target")), &name);
	return name;
}

/* AWS: SDKs and Tools Reference Guide, "Retry behavior": "attempt=2; max=3". */
static bool is_repeat(const struct http_request *request)
{
	struct str attempt = headers_first(request->headers, STR("amz-sdk-request"));

	return str_is_set(attempt) && str_contains(attempt, STR("attempt=")) &&
	       !str_contains(attempt, STR("attempt=1;")) &&
	       !(attempt.n >= 9 &&
		 str_eq((struct str){attempt.p + attempt.n - 9, 9}, STR("attempt=1")));
}

/* AWS: SDKs and Tools Reference Guide, "Application ID": "app/NAME" in the user agent. A browser
 * sends another header. */
static struct str client_in(struct str agent)
{
	while (agent.n > 0) {
		const char *space = memchr(agent.p, ' ', agent.n);
		struct str word = {agent.p, space ? (size_t)(space - agent.p) : agent.n};

		if (str_starts_with(word, STR("app/")))
			return (struct str){word.p + 4, word.n - 4};
		agent = (struct str){word.p + word.n, agent.n - word.n};
		if (space)
			agent = (struct str){agent.p + 1, agent.n - 1};
	}
	return STR_ABSENT;
}

static struct str client_of(const struct http_request *request)
{
	struct str client = client_in(headers_first(request->headers, STR("User-Agent")));

	return str_is_set(client)
		       ? client
		       : client_in(headers_first(request->headers, STR("x-amz-user-agent")));
}

static void note_gap(struct gate *gate)
{
	int64_t now = monotonic_ms(), gap = now - gate->moved_ms;

	if (gap > gate->gap_ms && gap < GAP_MAX_MS)
		gate->gap_ms = (unsigned)gap;
	gate->moved_ms = now;
}

/* Keeps the ticket by its number, and holds it. */
static void hold_ticket(struct gate *gate, struct ticket *ticket)
{
	size_t n = ticket->request + 1;

	gate->tickets = arena_checked(realloc((void *)gate->tickets, n * sizeof(*gate->tickets)));
	gate->waiting = arena_checked(realloc(gate->waiting, n * sizeof(*gate->waiting)));
	gate->tickets[ticket->request] = ticket;
	gate->waiting[gate->waiting_n++] = ticket->request;
	pthread_cond_broadcast(&gate->changed);
}

/* With the mutex. Without a thread that picks, requests pass. */
static struct ticket *arrive(struct gate *gate, const struct http_request *request)
{
	struct ticket *ticket = arena_checked(calloc(1, sizeof(*ticket)));
	bool is_held = gate->has_thread && !gate->is_ending;

	*ticket = (struct ticket){.gate = gate, .request = RACE_NONE};
	atomic_init(&ticket->may_go, !is_held);
	if (gate->is_ending || (gate->options.plan && !gate->has_thread))
		return ticket;
	note_gap(gate);
	ticket->request = race_trace_arrive(gate->options.trace, operation_of(request),
					    request->body, client_of(request), is_repeat(request));
	gate->come.n++;
	gate->come.sum += gate->options.trace->requests[ticket->request].id;
	if (is_held)
		hold_ticket(gate, ticket);
	else
		race_trace_pick(gate->options.trace, ticket->request);
	return ticket;
}

/* What the trace has of it now: others may come meanwhile. False: it is in none. */
static bool find_about(const struct ticket *ticket, struct race_request *about)
{
	if (ticket->request == RACE_NONE)
		return false;
	pthread_mutex_lock(&ticket->gate->mutex);
	*about = ticket->gate->options.trace->requests[ticket->request];
	pthread_mutex_unlock(&ticket->gate->mutex);
	return true;
}

static void gate_end(struct ticket *ticket, struct http_response *response)
{
	struct gate *gate = ticket->gate;
	struct race_trace *trace = gate->options.trace;

	pthread_mutex_lock(&gate->mutex);
	trace->is_untroubled = gate->trouble.is_prevented;
	if (ticket->request != RACE_NONE && !gate->is_ending) {
		race_trace_answer(trace, ticket->request, response->status, response->body);
		gate->come = (struct remembered){.before = trace->requests[ticket->request].id};
		gate->is_working = false;
		gate->moved_ms = monotonic_ms();
		pthread_cond_broadcast(&gate->changed);
	}
	pthread_mutex_unlock(&gate->mutex);
	free(ticket);
}

static bool gate_carry_out(struct ticket *ticket, const struct http_request *request,
			   struct http_response *response)
{
	const struct gate_options *options = &ticket->gate->options;
	struct gate_trouble *trouble = &ticket->gate->trouble;
	struct http_request inner = *request;
	struct race_request about;
	bool is_traced = find_about(ticket, &about), is_answered = false;

	if (is_traced && !ticket->is_begun)
		is_answered = gate_trouble_begin(trouble, &about, request, response);
	ticket->is_begun = true;
	inner.hold = ticket->inner;
	ticket->inner = NULL;
	if (!is_answered && !options->handler(options->context, &inner, response)) {
		ticket->inner = response->hold;
		response->hold = ticket;
		return false;
	}
	if (is_traced)
		gate_trouble_end(trouble, &about, request, response);
	if (is_traced && options->watch && about.is_write && response->status == 200)
		race_watch_look(options->watch, request, &about, ticket->request);
	gate_end(ticket, response);
	return true;
}

bool gate_handle(void *context, const struct http_request *request, struct http_response *response)
{
	struct gate *gate = context;
	struct ticket *ticket = request->hold;

	if (ticket)
		return gate_carry_out(ticket, request, response);
	bool is_call = request->problem == HTTP_FINE && str_eq(request->method, STR("POST")) &&
		       str_is_set(operation_of(request));
	if (!is_call)
		return gate->options.handler(gate->options.context, request, response);
	pthread_mutex_lock(&gate->mutex);
	response->hold = arrive(gate, request);
	pthread_mutex_unlock(&gate->mutex);
	return false;
}

bool gate_is_held(const void *hold)
{
	const struct ticket *ticket = hold;

	if (!atomic_load(&ticket->may_go))
		return true;
	return ticket->inner && ticket->gate->options.is_held(ticket->inner);
}

void gate_open(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	while (gate->waiting_n > 0) {
		struct ticket *ticket = gate->tickets[gate->waiting[--gate->waiting_n]];

		ticket->request = RACE_NONE;
		atomic_store(&ticket->may_go, true);
	}
	gate->is_ending = true;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->mutex);
}

void gate_settle(struct gate *gate, const struct race_facts *facts)
{
	pthread_mutex_lock(&gate->mutex);
	gate->options.trace->facts = facts;
	race_plan_settle(gate->options.plan, gate->options.trace);
	pthread_mutex_unlock(&gate->mutex);
}

unsigned gate_gap_ms(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	unsigned gap = gate->gap_ms;
	pthread_mutex_unlock(&gate->mutex);
	return gap;
}

void gate_free(struct gate *gate)
{
	gate_open(gate);
	if (gate->has_thread)
		pthread_join(gate->thread, NULL);
	pthread_cond_destroy(&gate->changed);
	pthread_mutex_destroy(&gate->mutex);
	free((void *)gate->tickets);
	free(gate->waiting);
	free(gate);
}
