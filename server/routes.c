#include "server/routes.h"

#include "core/utf8.h"
#include "protocol/wire/json_out.h"
#include "server/console/events.h"
#include "server/control/admission.h"
#include "server/log.h"
#include "server/messages.h"
#include "server/origin.h"
#include "server/rotate.h"
#include "server/version.h"
#include "storage/monotonic.h"
#include "storage/pace.h"

#define ROOT "/_dynalith/"

/* The auth gate's context. */
struct caller {
	struct routes *routes;
	const struct http_request *request;
	int64_t now_s;
	struct ns ns; /* set by authenticate_shown() */
	bool is_console;
};

/* HEAD is a GET without the answer's body. */
static bool is_look(const struct http_request *request)
{
	return str_eq(request->method, STR("GET")) || str_eq(request->method, STR("HEAD"));
}

/* AWS: the API is at every path; ours is below that of our pages. */
static bool is_ours(const struct http_request *request)
{
	return str_eq(request->path, STR("/_dynalith")) ||
	       str_starts_with(request->path, STR("/_dynalith/"));
}

static int64_t wall_seconds(void)
{
	return (int64_t)time(
		NULL); /* signatures are about the real time, whatever the service's clock says */
}

static struct sigv4_request signed_request(const struct http_request *request)
{
	return (struct sigv4_request){
		.method = request->method,
		.path = request->path,
		.query = request->query,
		.body = request->wire_body,
		.headers = request->headers,
	};
}

static int64_t wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum code authenticate(void *context, struct ns *ns, struct err *err)
{
	struct caller *caller = context;
	const struct http_request *request = caller->request;
	struct sigv4_request is_signed = signed_request(request);
	struct sigv4 *sigv4 = caller->routes->sigv4;
	enum code code;

	if (request->claim)
		code = sigv4_prove(sigv4, request->arena, &is_signed, request->claim, ns, err);
	else
		code = sigv4_check(sigv4, request->arena, &is_signed, caller->now_s, ns, err);
	if (code == OK)
		arena_use_budget(
			request->arena,
			&caller->routes->http->stats->memory); /* from now on the common one */
	return code;
}

/* The same where the request may be shown to those who watch. */
static enum code authenticate_shown(void *context, struct ns *ns, struct err *err)
{
	struct caller *caller = context;
	enum code code = authenticate(context, ns, err);

	if (code == OK)
		caller->ns = (struct ns){str_copy(caller->request->arena, ns->account),
					 str_copy(caller->request->arena, ns->region)};
	return code;
}

/* Empty where there is none. */
static struct str access_key(void *context, struct arena *arena)
{
	const struct caller *caller = context;
	struct sigv4_request is_signed = signed_request(caller->request);

	return sigv4_access_key(caller->routes->sigv4, arena, &is_signed);
}

bool routes_admit(void *context, struct http_request *request)
{
	struct routes *routes = context;
	struct sigv4_request is_signed = signed_request(request);
	struct err err = err_in(request->arena);
	struct sigv4_claim *claim;

	if (sigv4_claim(routes->sigv4, request->arena, &is_signed, wall_seconds(), &claim, &err) !=
	    OK)
		return false;
	request->claim = claim;
	return true;
}

static void add_header(struct http_response *response, const char *name, struct str value)
{
	if (response->header_count < HTTP_HEADERS_MAX && str_is_set(value))
		response->headers[response->header_count++] =
			(struct http_response_header){name, value};
}

static void fill(struct http_response *response, const struct op_response *from)
{
	response->status = from->status;
	response->content_type = from->content_type;
	response->body = from->body;
}

static void refuse(const struct http_request *request, struct http_response *response,
		   const struct err *err)
{
	struct op_response refusal = {0};

	op_error_response(request->arena, err, &refusal);
	fill(response, &refusal);
}

/* The value of Access-Control-Allow-Origin, or absent. */
static struct str allowed_origin(const struct routes *routes, const struct http_request *request,
				 struct str origin)
{
	if (strcmp(routes->cors, "*") == 0 && !is_ours(request))
		return STR("*");
	return origin_is_listed(routes->cors, is_ours(request), origin) ? origin : STR_ABSENT;
}

/*
 * AWS: recorded by ScyllaDB's Alternator tests (test_cors) and dynalite's (connections): every
 * answer to a request with an Origin exposes these headers; OPTIONS with an Origin is a preflight
 * whatever its other headers, and the answer allows what it asks for.
 */
static void add_cors(const struct routes *routes, const struct http_request *request,
		     bool is_preflight, struct http_response *response)
{
	struct str origin = request->is_from_browser
				    ? headers_first(request->headers, STR("Origin"))
				    : STR_ABSENT;
	struct str allowed =
		str_is_set(origin) ? allowed_origin(routes, request, origin) : STR_ABSENT;

	if (!str_is_set(allowed))
		return;
	add_header(response, "Access-Control-Allow-Origin", allowed);
	add_header(response, "Access-Control-Expose-Headers",
		   STR("x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date"));
	if (!str_eq(allowed, STR("*")))
		add_header(response, "Vary", STR("Origin"));
	if (!is_preflight)
		return;
	add_header(response, "Access-Control-Allow-Methods",
		   headers_first(request->headers, STR("Access-Control-Request-Method")));
	add_header(response, "Access-Control-Allow-Headers",
		   headers_first(request->headers, STR("Access-Control-Request-Headers")));
	add_header(response, "Access-Control-Max-Age", STR("172800"));
}

/* Logs no part of the request's or the answer's content, which may be secret. */
static void log_request(enum log_level level, const char *message,
			const struct http_request *request, const struct op_response *answer,
			uint64_t ns)
{
	const struct log_field fields[] = {
		{"operation", str_of(answer->op ? op_name(answer->op) : NULL), false},
		{"status", str_printf(request->arena, "%d", answer->status), true},
		{"error", answer->code == OK ? STR_ABSENT : str_of(err_info(answer->code)->name),
		 false},
		{"ms", str_printf(request->arena, "%.3f", (double)ns / 1e6), true},
		{"problem", answer->problem, false},
		{"request", request->id, false},
	};

	log_event(level, message, fields, sizeof(fields) / sizeof(fields[0]));
}

/* One line a second at most: logging must not add load to an overloaded server. */
static void note_shed(struct routes *routes)
{
	const struct http_stats *stats = routes->http->stats;
	int64_t now = wall_seconds();
	unsigned long long n = atomic_fetch_add(&routes->shed, 1) + 1;

	if (atomic_exchange(&routes->shed_noted, now) != now)
		log_line(LOG_WARN,
			 "over a limit: %llu requests so far were answered ServiceUnavailable; now "
			 "%u connections, %zu MB held by requests",
			 n, atomic_load(&stats->connections.open),
			 atomic_load(&stats->memory.held) / (1024 * 1024));
}

static void account_request(struct routes *routes, const struct http_request *request,
			    const struct op_response *answer, uint64_t ns)
{
	metrics_observe(routes->metrics, answer, ns);
	if (answer->code == ERR_SERVICE_UNAVAILABLE)
		note_shed(routes);
	else if (answer->status >= 500)
		log_request(LOG_ERROR, "request failed", request, answer, ns);
	else if (routes->slow_ns && ns > routes->slow_ns)
		log_request(LOG_WARN, "slow request", request, answer, ns);
	else if (log_is_on(LOG_DEBUG))
		log_request(LOG_DEBUG, "request", request, answer, ns);
}

/* For insight: text, whatever the header has. */
static struct str says_who(void *context)
{
	static const struct str own = STR_INIT("x-dynalith-caller"), usual = STR_INIT("User-Agent");
	const struct headers *headers = ((const struct caller *)context)->request->headers;
	struct arena *arena = ((const struct caller *)context)->request->arena;
	struct str agent = STR_ABSENT;

	for (size_t i = 0; i < headers->n;
	     i++) { /* in one walk, and most names differ in their lengths: each request comes by */
		struct str name = headers->v[i].name;

		if (name.n == own.n && str_eq_nocase(name, own))
			return utf8_printable(arena, headers->v[i].value);
		if (name.n == usual.n && (name.p[0] | 0x20) == 'u' && !str_is_set(agent) &&
		    str_eq_nocase(name, usual))
			agent = headers->v[i].value;
	}
	return str_is_set(agent) ? utf8_printable(arena, agent) : agent;
}

static struct origin_signs signs_of(const struct http_request *request, bool is_get)
{
	return (struct origin_signs){
		.origin = headers_first(request->headers, STR("Origin")),
		.site = headers_first(request->headers, STR("Sec-Fetch-Site")),
		.mode = headers_first(request->headers, STR("Sec-Fetch-Mode")),
		.dest = headers_first(request->headers, STR("Sec-Fetch-Dest")),
		.user = headers_first(request->headers, STR("Sec-Fetch-User")),
		.host = headers_first(request->headers, STR("Host")),
		.language = headers_first(request->headers, STR("Accept-Language")),
		.is_get = is_get,
	};
}

/* The console says so in a header; nobody but our own page is believed. */
static bool is_of_console(const struct http_request *request)
{
	if (!request->is_from_browser ||
	    !str_eq(headers_first(request->headers, STR("x-dynalith-caller")), STR("console")))
		return false;
	const struct origin_signs signs = signs_of(request, false);
	return origin_is_own_page(&signs);
}

static void show_watchers(struct routes *routes, struct caller *caller,
			  const struct op_response *answer, uint64_t took_ns)
{
	const struct http_request *request = caller->request;
	const struct event event = {
		.ns = caller->ns,
		.time_ms = wall_ms(),
		.took_ns = took_ns,
		.id = request->id,
		.operation = answer->op ? str_of(op_name(answer->op)) : STR(""),
		.caller = says_who(caller),
		.status = answer->status,
		.error = answer->code == OK ? STR("") : str_of(err_info(answer->code)->name),
		.consumed = answer->consumed,
		.fault = answer->fault,
		.request = request->body,
		.response = answer->body,
		.is_unseen = caller->is_console,
	};

	events_note(routes->console.events, &event);
}

static bool call_api(struct routes *routes, const struct http_request *request,
		     struct http_response *response)
{
	struct events *events = routes->console.events;
	struct caller caller = {.routes = routes, .request = request, .now_s = wall_seconds(),
				.is_console = is_of_console(request)};
	bool is_shown = events_want(events, 400, caller.is_console); /* if it is refused */
	struct op_request call = {
		.arena = request->arena,
		.began_ns = monotonic_ns(),
		.target = headers_first(request->headers, STR("X-Amz-Target")),
		.content_type = headers_first(request->headers, STR("Content-Type")),
		.body = request->body,
		.host = headers_first(request->headers, STR("Host")),
		.authenticate = is_shown ? authenticate_shown : authenticate,
		.auth_context = &caller,
		.access_key = access_key,
		.caller = says_who,
		.is_unseen = caller.is_console,
		.explain = request->is_explained ? OP_EXPLAIN_TOO : OP_EXPLAIN_NOT,
		.is_long = request->haste == HTTP_LONG && routes->http->slice_ns > 0,
		.is_counted = request->is_long_write,
		.hold = request->hold,
		.slice_ns = request->slice_ns,
		.may_wait = request->haste == HTTP_BEHIND,
	};
	struct op_response answer = {0};

	bool is_done = op_run(routes->service, &call, &answer);
	response->took_ns = monotonic_ns() - call.began_ns;
	response->is_long_write = answer.is_long_write;
	response->is_behind = answer.is_behind;
	response->hold = answer.hold;
	if (!is_done)
		return false;
	if (!caller.is_console)
		account_request(routes, request, &answer, response->took_ns);
	if (is_shown && events_want(events, answer.status, caller.is_console))
		show_watchers(routes, &caller, &answer, response->took_ns);
	fill(response, &answer);
	response->fault = answer.fault;
	if (request->is_explained)
		add_header(response, "x-dynalith-explain", answer.explanation);
	return true;
}

static enum code show_health(struct routes *routes, const struct http_request *request,
			     const struct ns *ns, struct http_response *response, struct err *err)
{
	static const char form[] = "{\"status\":\"ok\",\"version\":\"" DYNALITH_VERSION
				   "\",\"store\":\"" STR_FMT "\"" STR_FMT "}";
	static const char data_form[] = ",\"data\":{\"used_bytes\":%llu,\"max_bytes\":%llu}";
	static const struct {
		const char *name, *text;
	} reasons[STORE_REASON_COUNT] = {
#define REASON(id, name, text) [STORE_REASON_##id] = {name, text},
#include "storage/store/reasons.def"
#undef REASON
	};
	struct store_usage usage;

	store_usage(catalog_store(routes->service->catalog), &usage);
	(void)ns, (void)err;
	response->content_type = STR("application/json");
	if (upkeep_misses_store(routes->upkeep)) {
		enum store_reason reason = usage.reason ? usage.reason : STORE_REASON_OTHER;

		response->status = 503;
		response->body = str_printf(request->arena, FORM_HEALTH_STORE, reasons[reason].name,
					    reasons[reason].text);
		return OK;
	}
	struct str data = usage.limit ? str_printf(request->arena, data_form,
						   (unsigned long long)(usage.used + usage.log),
						   (unsigned long long)usage.limit)
				      : STR("");
	response->body = str_printf(request->arena, form, STR_ARG(routes->store), STR_ARG(data));
	return OK;
}

static enum code show_metrics(struct routes *routes, const struct http_request *request,
			      const struct ns *ns, struct http_response *response, struct err *err)
{
	const struct http_options *http = routes->http;
	struct metrics_gauges gauges = {
		.version = STR(DYNALITH_VERSION),
		.store = routes->store,
		.connections = atomic_load(&http->stats->connections.open),
		.connections_max = http->connections.room.within,
		.connections_over = atomic_load(&http->stats->connections.over),
		.requests = atomic_load(&http->stats->requests),
		.requests_shed = atomic_load(&routes->shed),
		.address_connections_over = atomic_load(&http->stats->connections.address_over),
		.address_requests_over =
			atomic_load(&http->stats->connections.address_requests_over),
		.misses_store = upkeep_misses_store(routes->upkeep),
		.is_crowded = pace_is_crowded(catalog_pace(routes->service->catalog)),
		.unproven_bytes = atomic_load(&http->stats->unproven.held),
		.requests_aside = atomic_load(&http->stats->aside),
		.workers = atomic_load(&http->stats->lanes),
		.memory_bytes = atomic_load(&http->stats->memory.held),
		.memory_max_bytes = http->memory_limit,
		.throughput = routes->service->throughput,
	};

	(void)ns, (void)err;
	store_usage(catalog_store(routes->service->catalog), &gauges.data);
	response->content_type = STR("text/plain; version=0.0.4");
	response->body = metrics_text(routes->metrics, &gauges, request->arena);
	return OK;
}

/* The value of a query parameter that needs no decoding; absent where there is none. */
static struct str query_value(struct str query, struct str name)
{
	for (size_t at = 0; at < query.n;) {
		const char *end = memchr(query.p + at, '&', query.n - at);
		struct str pair = {query.p + at, end ? (size_t)(end - query.p) - at : query.n - at};

		if (str_starts_with(pair, name) && pair.n > name.n && pair.p[name.n] == '=')
			return (struct str){pair.p + name.n + 1, pair.n - name.n - 1};
		at += pair.n + 1;
	}
	return STR_ABSENT;
}

/*
 * Fills in whom the request is from, and about which namespace: the query's ?account=...&region=...
 * or ?access_key=..., else the signature's; of one part alone the other is the signature's or the
 * usual one. It is about all of them with ?all=true, or with neither a signature nor a name.
 */
static enum code read_wanted(struct routes *routes, const struct http_request *request,
			     struct admission *wanted, struct err *err)
{
	struct caller caller = {.routes = routes, .request = request, .now_s = wall_seconds()};
	struct str account = query_value(request->query, STR("account")),
		   region = query_value(request->query, STR("region"));
	struct str key = query_value(request->query, STR("access_key"));
	bool is_signed = routes->auth == AUTH_VERIFY ||
			 str_is_set(headers_first(request->headers, STR("Authorization")));
	enum code code = OK;

	wanted->ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	wanted->access_key = access_key(&caller, request->arena);
	if (is_signed || wanted->access_key.n > 0)
		code = authenticate(&caller, &wanted->ns, err);
	const struct sigv4_rights rights =
		sigv4_rights(routes->sigv4, request->arena, wanted->access_key);
	wanted->may_control = rights.may_control;
	wanted->may_change = rights.may_change;
	wanted->asked = wanted->ns;
	if (str_is_set(key))
		wanted->asked.account = sigv4_account(routes->sigv4, request->arena, key);
	if (str_is_set(account))
		wanted->asked.account = account;
	if (str_is_set(region))
		wanted->asked.region = region;
	wanted->is_one =
		(is_signed || str_is_set(key) || str_is_set(account) || str_is_set(region)) &&
		!str_eq(query_value(request->query, STR("all")), STR("true"));
	return code == OK && wanted->is_one ? control_check_namespace(wanted->asked, err) : code;
}

static enum code show_clock(struct routes *routes, const struct http_request *request,
			    const struct ns *ns, struct http_response *response, struct err *err)
{
	enum code code = clocks_refresh(routes->clock, err);

	if (code != OK)
		return code;
	response->content_type = STR("application/json");
	response->body = clock_describe(routes->clock, ns, request->arena, 0);
	return OK;
}

/* Answers after everything that becomes due by the turn is done, so that a test can look at once.
 */
struct turn {
	struct clocks *clocks;
	const struct ns *ns;
	struct str body;
};

static enum code turn(void *context, struct err *err)
{
	const struct turn *of = context;

	return clock_turn(of->clocks, of->ns, of->body, err);
}

static enum code turn_clock(struct routes *routes, const struct http_request *request,
			    const struct ns *ns, struct http_response *response, struct err *err)
{
	struct turn of = {routes->clock, ns, request->body};
	uint64_t expired;
	enum code code = upkeep_run(routes->upkeep, ns, turn, &of, &expired, err);

	if (code != OK)
		return code;
	response->content_type = STR("application/json");
	response->body = clock_describe(routes->clock, ns, request->arena, expired);
	return OK;
}

static enum code rotate(struct routes *routes, const struct http_request *request,
			const struct ns *ns, struct http_response *response, struct err *err)
{
	struct str table = query_value(request->query, STR("table"));
	size_t rotated = 0;

	if (!str_is_set(table))
		return err_set(err, MSG_ROTATE_TABLE);
	enum code code = rotate_streams(routes->service, ns, table, &rotated, err);
	if (code != OK)
		return code;
	response->content_type = STR("application/json");
	response->body = str_printf(request->arena, "{\"rotated\":%zu}", rotated);
	return OK;
}

static enum event_bodies bodies_of(struct str query)
{
	struct str wanted = query_value(query, STR("bodies"));

	return str_eq(wanted, STR("open"))   ? EVENT_BODIES_OPEN
	       : str_eq(wanted, STR("none")) ? EVENT_BODIES_NONE
					     : EVENT_BODIES_MASKED;
}

/* How many of the latest requests are wanted: 0 where the query does not say. */
static enum code read_events_past(struct str query, unsigned *past, struct err *err)
{
	struct str wanted = query_value(query, STR("past"));

	*past = 0;
	if (!str_is_set(wanted))
		return OK;
	for (size_t i = 0; i < wanted.n; i++) {
		if (wanted.p[i] < '0' || wanted.p[i] > '9')
			return err_set(err, MSG_EVENTS_PAST, EVENTS_PAST_MAX);
		*past = *past * 10 + (unsigned)(wanted.p[i] - '0');
		if (*past > EVENTS_PAST_MAX)
			return err_set(err, MSG_EVENTS_PAST, EVENTS_PAST_MAX);
	}
	return OK;
}

static enum code show_events(struct routes *routes, const struct http_request *request,
			     const struct ns *ns, struct http_response *response, struct err *err)
{
	if (!routes->console.is_on)
		return err_set(err, MSG_CONSOLE_OFF);
	struct str bodies = query_value(request->query, STR("bodies"));
	if (str_is_set(bodies) && !str_eq(bodies, STR("masked")) && !str_eq(bodies, STR("open")) &&
	    !str_eq(bodies, STR("none")))
		return err_set(err, MSG_EVENTS_BODIES);
	unsigned past;
	enum code code = read_events_past(request->query, &past, err);
	if (code != OK)
		return code;
	if (str_eq(request->method, STR("GET"))) {
		response->stream =
			events_watch(routes->console.events, ns, bodies_of(request->query), past);
		if (!response->stream)
			return err_set(err, MSG_EVENTS_WATCHERS, EVENTS_WATCHERS_MAX);
	}
	response->content_type = STR("text/event-stream");
	response->body = STR("");
	add_header(response, "Cache-Control", STR("no-store"));
	add_header(response, "X-Accel-Buffering", STR("no"));
	return OK;
}

/* The default clock may have been turned: times that are past by either are past. */
static int64_t latest_ms(const struct routes *routes)
{
	int64_t now_ms = wall_seconds() * 1000,
		turned_ms = clock_now_ms(routes->clock, (struct ns){STR(""), STR("")});

	return turned_ms > now_ms ? turned_ms : now_ms;
}

static enum code check_data(struct routes *routes, const struct http_request *request,
			    const struct ns *ns, struct http_response *response, struct err *err)
{
	(void)ns;
	response->content_type = STR("application/json");
	return online_check(routes->online, request->arena, request->body, latest_ms(routes),
			    &response->body, err);
}

static enum code back_up(struct routes *routes, const struct http_request *request,
			 const struct ns *ns, struct http_response *response, struct err *err)
{
	bool is_bytes;
	enum code code = online_backup(
		routes->online, request->arena, query_value(request->query, STR("id")),
		query_value(request->query, STR("at")), &is_bytes, &response->body, err);

	(void)ns;
	response->content_type =
		is_bytes ? STR("application/octet-stream") : STR("application/json");
	return code;
}

/* The handlers of PAGE rows, by the row. `ns` is the namespace that is asked for; NULL: all. */
typedef enum code page_handler(struct routes *routes, const struct http_request *request,
			       const struct ns *ns, struct http_response *response,
			       struct err *err);

static page_handler *const pages[] = {
#define PAGE(method, path, show, needs, traits, what) show,
#define ENDPOINT(method, path, handle, needs, what) NULL,
#include "server/control/endpoints.def"
};

static enum code run_page(struct routes *routes, const struct endpoint *endpoint,
			  const struct http_request *request,
			  const struct admission *wanted, struct http_response *response,
			  struct err *err)
{
	size_t n, row = (size_t)(endpoint - endpoint_all(&n));
	bool is_of_all = (endpoint->traits & ALL) && !wanted->is_one;

	return pages[row](routes, request, is_of_all ? NULL : &wanted->asked, response, err);
}

static enum code run_endpoint(struct routes *routes, const struct endpoint *endpoint,
			      struct str name, const struct http_request *request,
			      struct admission *wanted, struct http_response *response,
			      struct err *err)
{
	/* where all may see it, an overloaded server looks at no signature */
	bool is_unasked = endpoint->needs == NEEDS_NOTHING ||
			  ((endpoint->traits & VITAL) && routes->auth != AUTH_VERIFY &&
			   !routes->service->iam);
	enum code code = is_unasked ? OK : read_wanted(routes, request, wanted, err);

	if (code != OK)
		return code;
	if (endpoint->needs != NEEDS_NOTHING) {
		code = admission_check(&routes->control, request->arena, wanted, err);
		if (code != OK)
			return code;
	}
	code = endpoint_check_query(endpoint, request->arena, request->query, err);
	if (code != OK)
		return code;
	if (!endpoint->handle)
		return run_page(routes, endpoint, request, wanted, response, err);
	const struct control_call call = {
		.control = &routes->control,
		.arena = request->arena,
		.ns = wanted->asked,
		.name = name,
		.query = request->query,
		.body = request->body,
		.may_control = wanted->may_control,
	};
	return endpoint_run(endpoint, &call, &response->body, err);
}

static void call_endpoint(struct routes *routes, const struct endpoint *endpoint, struct str name,
			  const struct http_request *request,
			  struct http_response *response)
{
	const size_t root = sizeof(ROOT) - 1;
	bool is_open = routes->auth != AUTH_VERIFY;
	struct admission wanted = {
		.needs = endpoint->needs,
		.method = endpoint->method,
		.pattern = endpoint->path,
		.may_control = is_open,
		.may_change = is_open,
		.path = {request->path.p + root, request->path.n - root},
		.is_unseen = is_of_console(request),
	};
	struct err err = err_in(request->arena);

	response->status = 200;
	response->content_type = STR("application/json");
	if (run_endpoint(routes, endpoint, name, request, &wanted, response, &err) != OK)
		refuse(request, response, &err);
}

static bool is_root(const struct routes *routes, const struct http_request *request)
{
	return is_look(request) && (str_eq(request->path, STR("/")) || request->path.n == 0) &&
		routes->root_status == 200;
}

/* AWS: the answer to health checks. DynamoDB Local refuses, and scripts wait for that refusal. */
static void greet(struct routes *routes, const struct http_request *request,
		  struct http_response *response)
{
	struct admission wanted = {0};
	struct err err = err_in(request->arena);
	bool is_asked = routes->auth == AUTH_VERIFY || routes->service->iam;

	response->status = 200;
	if (is_asked && read_wanted(routes, request, &wanted, &err) != OK)
		refuse(request, response, &err);
	else
		response->body = STR("healthy: dynamodb.us-east-1.amazonaws.com ");
}

static bool has_trait(const struct endpoint *endpoint, enum endpoint_trait trait)
{
	return endpoint && (endpoint->traits & trait);
}

/*
 * Whether the request may take longer than its haste allows: a turn of the clock takes as long as
 * the work that becomes due, an endpoint as long as its change.
 */
static bool is_too_long(const struct http_request *request, const struct endpoint *endpoint)
{
	bool is_call = str_eq(request->method, STR("POST")) && !is_ours(request);
	bool is_other = endpoint && !has_trait(endpoint, VITAL);

	return (is_call && request->haste == HTTP_FOR_VITAL) ||
		(is_other && request->haste != HTTP_LONG);
}

/* The methods that the path has; empty where it has none. */
static struct str methods_at(struct arena *arena, struct str path)
{
	struct buf methods = buf_in(arena);
	size_t n;
	const struct endpoint *endpoints = endpoint_all(&n);

	for (size_t i = 0; i < n; i++) {
		if (endpoint_is_at(&endpoints[i], path))
			buf_printf(&methods, "%s" STR_FMT "%s", buf_str(&methods).n ? ", " : "",
				   STR_ARG(endpoints[i].method),
				   str_eq(endpoints[i].method, STR("GET")) ? ", HEAD" : "");
	}
	return buf_str(&methods);
}

static void add_page(struct json_out *out, struct str method, struct str path, const char *what)
{
	json_out_open(out, '{');
	json_out_field_string(out, "method", method);
	json_out_field_string(out, "path", path);
	json_out_field_string(out, "what", str_of(what));
	json_out_close(out, '}');
}

/* The index, at /_dynalith/ and where we have no page: which there are. */
static void list_pages(const struct http_request *request, struct http_response *response)
{
	struct json_out out = json_out_in(request->arena);
	struct str methods = methods_at(request->arena, request->path);
	size_t n;
	const struct endpoint *endpoints = endpoint_all(&n);

	bool is_index = is_look(request) && request->path.n <= sizeof(ROOT) - 1;

	response->status = is_index ? 200 : methods.n ? 405 : 404;
	if (response->status == 405)
		add_header(response, "Allow", methods);
	json_out_open(&out, '{');
	if (!is_index)
		json_out_field_string(&out, "message",
				      str_printf(request->arena,
						 "There is no page for " STR_FMT " " STR_FMT,
						 STR_ARG(request->method), STR_ARG(request->path)));
	json_out_name(&out, STR("pages"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < n; i++)
		add_page(&out, endpoints[i].method,
			 str_printf(request->arena, ROOT STR_FMT, STR_ARG(endpoints[i].path)),
			 endpoints[i].what);
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	response->content_type = STR("application/json");
	response->body = json_out_str(&out);
}

static void refuse_as(struct routes *routes, const struct http_request *request,
		      struct http_response *response, const struct err *err)
{
	metrics_count(routes->metrics, NULL, err->code);
	refuse(request, response, err);
}

static void refuse_problem(struct routes *routes, const struct http_request *request,
			   struct http_response *response)
{
	struct err err = err_in(request->arena);

	switch (request->problem) {
	case HTTP_OVERLOADED:
		err_default(&err, ERR_SERVICE_UNAVAILABLE);
		note_shed(routes);
		break;
	case HTTP_TOO_LARGE:
		err_default(&err, ERR_REQUEST_TOO_LARGE);
		break;
	case HTTP_BAD_FRAMING:
		err_set(&err, MSG_HTTP_FRAMING);
		break;
	case HTTP_HEAD_TOO_LARGE:
		err_set(&err, MSG_HTTP_HEAD);
		break;
	case HTTP_BAD_ENCODING:
	case HTTP_FINE:
		err_set(&err, MSG_BODY_ENCODING);
		break;
	}
	refuse_as(routes, request, response, &err);
}

/* Whether the page of a browser may make this request; else *err says why not. Browsers mark all
 * requests but a GET. */
static enum code check_origin(const struct routes *routes, const struct http_request *request,
			      bool is_get, struct err *err)
{
	if (!request->is_from_browser && !is_get)
		return OK;
	const struct origin_signs signs = signs_of(request, is_get);

	if (origin_may_call(routes->cors, is_ours(request), &signs))
		return OK;
	return str_is_set(signs.origin) ? err_set(err, MSG_ORIGIN, STR_ARG(signs.origin))
					: err_set(err, MSG_ORIGIN_UNKNOWN, STR_ARG(signs.host));
}

static bool is_call(const struct http_request *request)
{
	return str_eq(request->method, STR("POST")) && !is_ours(request);
}

static bool handle_routed(struct routes *routes, const struct http_request *request,
			  struct http_response *response)
{
	bool is_get = is_look(request);
	bool is_preflight = str_eq(request->method, STR("OPTIONS")) &&
			    str_is_set(headers_first(request->headers, STR("Origin")));
	struct str name = STR_ABSENT;
	const struct endpoint *endpoint = is_ours(request) ?
		endpoint_find(request->method, request->path, &name) : NULL;
	struct err err = err_in(request->arena);

	add_cors(routes, request, is_preflight, response);
	if (request->problem != HTTP_FINE &&
	    !(request->problem == HTTP_OVERLOADED && has_trait(endpoint, VITAL))) {
		op_drop_hold(request->hold);
		refuse_problem(routes, request, response);
	} else if (!is_preflight && !has_trait(endpoint, PUBLIC) &&
		   check_origin(routes, request, is_get, &err) != OK) {
		refuse_as(routes, request, response, &err);
	} else if (is_too_long(request, endpoint)) {
		return false;
	} else if (is_call(request)) {
		return call_api(routes, request, response);
	} else if (is_get && console_is_sought(&routes->console, request)) {
		console_answer(&routes->console, request, response);
	} else if (is_preflight) {
		response->status = 200;
		response->body = STR("");
	} else if (is_root(routes, request)) {
		greet(routes, request, response);
	} else if (endpoint) {
		call_endpoint(routes, endpoint, name, request, response);
	} else if (is_ours(request)) {
		list_pages(request, response);
	} else {
		err_default(&err, ERR_MISSING_AUTH_KEY);
		refuse_as(routes, request, response, &err);
	}
	return true;
}

bool routes_is_held(const void *hold)
{
	return op_is_held(hold);
}

bool routes_handle(void *context, const struct http_request *request,
		   struct http_response *response)
{
	struct routes *routes = context;

	bool is_done = handle_routed(routes, request, response);

	if (request->is_long_write)
		op_end_long_write(routes->service);
	return is_done;
}
