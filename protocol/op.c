#include "protocol/op.h"

#include "core/image.h"
#include "core/utf8.h"
#include "protocol/conflicts/conflicts.h"
#include "protocol/faults/fault_hold.h"
#include "protocol/faults/faults.h"
#include "protocol/handler.h"
#include "protocol/iam/across.h"
#include "protocol/iam/iam.h"
#include "protocol/insight/contributors.h"
#include "protocol/insight/explain.h"
#include "protocol/insight/insight.h"
#include "protocol/item_messages.h"
#include "protocol/wire/messages.h"
#include "protocol/partiql/partiql.h"
#include "protocol/rollouts.h"
#include "protocol/work/work.h"
#include "protocol/wire/serde.h"
#include "storage/store/retry.h"
#include "storage/write/write.h"

#define CLOCKED_BODY 1024 /* bytes */
#define MOVES_MAX 10 /* times an operation is run again because a table was changed meanwhile */

/* What an operation may hold up. */
enum op_work {
	WORK_READ,
	WORK_WRITE,
	WORK_ITEMS,  /* writes the items of the request and nothing else, and waits for no other
			request */
	WORK_SCHEMA, /* fills indexes and drops keyspaces */
	WORK_SEARCH, /* compares vectors */
	WORK_COUNT,
};

static const struct {
	bool is_writing;   /* it takes the writers' turn */
	bool is_uncounted; /* its work counts no steps, so that a slice cannot end it */
} works[WORK_COUNT] = {
	[WORK_READ] = {false, false}, [WORK_WRITE] = {true, false},  [WORK_ITEMS] = {true, false},
	[WORK_SCHEMA] = {true, true}, [WORK_SEARCH] = {false, true},
};

struct op {
	enum op_service service;
	struct str name;
	const struct shape *input;                                             /* NULL: not here */
	enum surface surface;
	enum op_work work;
	enum code (*run)(struct call *call, const void *input, struct err *err);
};

/* Handlers take their own input type; these pass it on. */
#define OPERATION(service, wire, prefix, ...)                                                      \
	static enum code run_##prefix(struct call *call, const void *input, struct err *err)       \
	{                                                                                          \
		return op_##prefix(call, input, err);                                              \
	}
#define ABSENT(service, wire)
#include "protocol/ops.def"

/* By service, then in byte order of the names, for the search below. */
static const struct op ops[] = {
#define OPERATION(service, wire, prefix, type, surface, work, ...)                                 \
	{SERVICE_##service, STR_INIT(#wire), &shape_##type,                                        \
	 SURFACE_##surface, WORK_##work,     run_##prefix},
#define ABSENT(service, wire)                                                                      \
	{SERVICE_##service, STR_INIT(#wire), NULL, SURFACE_OLDER, WORK_READ, NULL},
#include "protocol/ops.def"
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

size_t op_count(void)
{
	return OPS;
}

const struct op *op_at(size_t i)
{
	return &ops[i];
}

const char *op_name(const struct op *op)
{
	return op->name.p;
}

bool op_is_supported(const struct op *op)
{
	return op->input != NULL;
}

enum op_id op_number(const struct op *op)
{
	return (enum op_id)(op - ops);
}

static const struct op *find(enum op_service service, struct str name)
{
	size_t low = 0, high = OPS;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = ops[middle].service != service ? (int)ops[middle].service - (int)service
							   : str_cmp(ops[middle].name, name);

		if (order == 0)
			return &ops[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* A request on its way through the gates. */
struct passage {
	const struct op_request *request;
	const struct op *op;
	struct call call;
	const struct json *json;
	enum surface surface; /* by which the request is read */
	void *input;
	struct str account; /* of the access key */
	struct units consumed;
	struct str explanation;
	struct str judged; /* on trial: how --iam decides, a JSON array; or absent */
	struct fault_signer signer;
	struct fault_reply fault;
	struct fault_hold *hold; /* it is held from now on */
	bool is_counted; /* as a long write, for this run */
	bool is_given_up, is_late; /* given up within its slice: for any reason; because it takes
				      long itself */
};

static bool is_media_type(struct str type, struct str wanted)
{
	return str_starts_with(type, wanted) &&
	       (type.n == wanted.n || type.p[wanted.n] == ';' || type.p[wanted.n] == ' ');
}

static enum code gate_media_type(struct passage *passage, struct err *err)
{
	struct str type = passage->request->content_type;

	if (!str_is_set(type) || is_media_type(type, STR("application/x-amz-json-1.0")) ||
	    is_media_type(type, STR("application/x-amz-json-1.1")) ||
	    is_media_type(type, STR("application/json")))
		return OK;
	return err_default(err, ERR_UNKNOWN_OPERATION);
}

static enum code gate_target(struct passage *passage, struct err *err)
{
	struct str target = passage->request->target, name;
	enum op_service service = ops_of_target(target, &name);

	/* DynamoDB Local has no other service */
	if (passage->call.service->is_dropin && str_is_set(target) &&
	    (service == SERVICE_COUNT || service == SERVICE_SCALING))
		return err_default(err, ERR_INVALID_ACTION);
	if (service != SERVICE_COUNT)
		passage->op = find(service, name);
	return passage->op && op_is_supported(passage->op)
		       ? OK
		       : err_default(err, ERR_UNKNOWN_OPERATION);
}

static enum code gate_auth(struct passage *passage, struct err *err)
{
	const struct service *service = passage->call.service;
	enum code code = passage->request->authenticate(passage->request->auth_context,
							&passage->call.ns, err);

	if (code == OK) /* each namespace has its own time */
		passage->call.now_ms = service->now_ms(service->clock_context, passage->call.ns);
	return code;
}

static bool is_writing(const struct op *op)
{
	return works[op->work].is_writing;
}

/* A request within a slice does not start work that may take long, nor where it might wait long. */
static enum code gate_slice(struct passage *passage, struct err *err)
{
	const struct op_request *request = passage->request;
	atomic_uint *long_writes = &passage->call.service->long_writes;

	passage->is_counted = request->is_long && !request->is_counted && is_writing(passage->op);
	if (passage->is_counted)
		atomic_fetch_add(long_writes, 1);
	arena_yield(request->arena, request->is_long);
	if (request->slice_ns == 0)
		return OK;
	passage->is_late = works[passage->op->work].is_uncounted;
	passage->is_given_up =
		passage->is_late ||
		(!request->may_wait && is_writing(passage->op) &&
		 atomic_load_explicit(long_writes, memory_order_relaxed) > 0);
	return passage->is_given_up ? err_default(err, ERR_SERVICE_UNAVAILABLE) : OK;
}

static enum code gate_json(struct passage *passage, struct err *err)
{
	enum code code =
		json_parse(passage->request->arena, passage->request->body, &passage->json, err);

	if (code == OK && json_type(passage->json) != JSON_OBJECT)
		return err_set(err, MSG_JSON_MALFORMED);
	return code;
}

/* Types first, then constraints: shape_bind keeps that order. */
static enum code gate_shape(struct passage *passage, struct err *err)
{
	struct shape_bound bound;
	enum code code = OK;

	passage->surface =
		rollout_surface(&passage->call, op_number(passage->op), passage->op->surface);
	if (passage->surface == SURFACE_SEARCH)
		code = serde_check(passage->op->input, passage->json, passage->request->body, err);
	if (code != OK)
		return code;
	code = shape_bind(passage->request->arena, passage->op->input, passage->surface,
			  passage->json, &bound, err);
	if (code != OK)
		return code;
	passage->input = bound.input;
	passage->call.value_err = bound.value_err;
	passage->call.late_err = bound.late_err;
	passage->call.actions = bound.actions;
	passage->call.is_older = bound.is_older;
	passage->call.request.json = passage->json;
	return code;
}

static void release(struct call *call)
{
	for (size_t i = 0; i < call->tables.n; i++)
		table_unref(call->tables.v[i].table);
	call->tables.n = call->tables.from = 0;
	for (size_t i = 0; i < call->statements.n; i++)
		partiql_kept_unref(call->statements.v[i]);
	call->statements.n = 0;
}

/* AWS's newer layer puts some errors of some operations into its envelope, as if they were the only
 * broken constraint. */
static enum code envelope(const struct passage *passage, enum code code, struct err *err)
{
	if (passage->call.is_older || !surface_envelops(passage->surface, code))
		return code;
	return err_set(err, MSG_CONSTRAINTS, 1u, "", STR_ARG(err->message));
}

/*
 * Whether a table of the call changed, so that the call must run again. A transaction found it, or
 * the rules judged the request by a stale snapshot. Such a snapshot is let go of.
 */
static bool has_moved(const struct call *call, enum code code)
{
	bool is_judged = err_is_validation(code) && call->tables.n > 0;
	bool has_moved = code == ERR_TABLE_MOVED;

	for (size_t i = call->tables.from;
	     i < call->tables.n && (is_judged || code == ERR_TABLE_MOVED); i++)
		has_moved = !catalog_holds(call->service->catalog, call->tables.v[i].table) ||
			    has_moved;
	return has_moved;
}

static enum code run(struct passage *passage, struct err *err)
{
	struct call *call = &passage->call;

	work_again(call);
	enum code code = work_meet_request(call, passage->json, err);
	if (code != OK)
		return code;
	return passage->op->run(call, passage->input, err);
}

/* --iam. A request that nobody sent comes from this process. */
static enum code admit(struct passage *passage, struct err *err)
{
	const struct op_request *request = passage->request;

	if (!request->access_key || request->hold) /* one that was held was admitted then */
		return OK;
	const struct iam_request_of of = {
		.operation = op_number(passage->op),
		.shape = passage->op->input,
		.input = passage->input,
		.access_key = request->access_key(request->auth_context, request->arena),
		.account = passage->account,
		.told = call_has(&passage->call, HOOK_TRIAL) ? &passage->judged : NULL,
	};
	return iam_admit(passage->call.service->iam, &passage->call, &of, err);
}

static enum code pass_gate(struct passage *passage, struct err *err)
{
	enum code code = err_if_over(passage->request->arena, err);

	if (code != OK || !passage->call.service->iam)
		return code;
	return admit(passage, err);
}

/*
 * Where a table changed, the operation looks it up again and runs again from its start. The same
 * where a read met a conflict; the write path retries writes itself.
 */
static enum code gate_handler(struct passage *passage, struct err *err)
{
	struct retry retry = {0};
	const struct insight *insight = passage->call.service->insight;
	if ((insight || passage->request->explain) && ops_is_of_items(op_number(passage->op)))
		access_begin(&passage->call);
	enum code code = pass_gate(passage, err);
	if (is_writing(passage->op)) /* others will wait for its turn; until here nobody did */
		arena_yield(passage->request->arena, false);
	if (code != OK)
		return code;
	for (int i = 0; i < MOVES_MAX; i++) {
		passage->call.out = json_out_in(passage->request->arena);
		passage->call.out.is_hashed = passage->surface == SURFACE_OLDER;
		passage->call.charges = (struct charges){0};
		code = run(passage, err);
		if (!has_moved(&passage->call, code) && !retry_again(&retry, code))
			break;
		release(&passage->call);
	}
	code = retry_code(code, err);
	/* rules may stop where the arena is over: what they found by then is no answer */
	if ((code == OK && passage->call.out.is_cut) ||
	    (err_is_validation(code) && arena_is_over(passage->request->arena)))
		return err_default(err, ERR_SERVICE_UNAVAILABLE);
	if (code == OK && passage->call.out.is_malformed)
		return err_set(err, MSG_IMAGE_MALFORMED);
	return envelope(passage, code, err);
}

/* With --iam a request that names another account's table works in that account, if admit() lets
 * it. */
static enum code gate_account(struct passage *passage, struct err *err)
{
	struct call *call = &passage->call;
	const struct service *service = call->service;

	(void)err;
	passage->account = call->ns.account;
	if (!service->iam || !passage->request->access_key ||
	    catalog_options(service->catalog)->is_shared)
		return OK;
	struct str account = iam_across(call, op_number(passage->op), passage->json);
	if (!str_is_set(account))
		return OK;
	call->ns.account = account;
	call->now_ms = service->now_ms(service->clock_context, call->ns);
	return OK;
}

static enum code gate_hooks(struct passage *passage, struct err *err)
{
	const struct work_start start = {op_number(passage->op), &passage->signer,
					 passage->request->hold != NULL};

	passage->signer =
		(struct fault_signer){passage->request->access_key, passage->request->auth_context};
	return work_begin(&passage->call, &start, err);
}

/* The precedence of errors is this order. */
static enum code (*const gates[])(struct passage *passage, struct err *err) = {
	gate_media_type, gate_target,  gate_slice, gate_auth,    gate_json,
	gate_shape,      gate_account, gate_hooks, gate_handler,
};

static void write_reasons(struct json_out *out, const struct err *err)
{
	json_out_name(out, STR("CancellationReasons"));
	json_out_open(out, '[');
	for (size_t i = 0; i < err->reason_count; i++) {
		const struct err *reason = &err->reasons[i];

		json_out_open(out, '{');
		json_out_field_string(out, "Code", str_of(write_reason(reason->code)));
		if (str_is_set(reason->item)) {
			json_out_name(out, STR("Item"));
			json_out_image(out, reason->item);
		}
		if (reason->code != OK)
			json_out_field_string(out, "Message", reason->message);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* AWS: the API's model spells it small in ThrottlingException alone. */
static void write_throttle(struct json_out *out, const struct err *err)
{
	json_out_name(out, err->code == ERR_THROTTLING ? STR("throttlingReasons")
						       : STR("ThrottlingReasons"));
	json_out_open(out, '[');
	json_out_open(out, '{');
	json_out_field_string(out, "reason", err->throttle.reason);
	json_out_field_string(out, "resource", err->throttle.resource);
	json_out_close(out, '}');
	json_out_close(out, ']');
}

/* Details of server errors go to the log, not to the client. */
static struct str public_message(struct arena *arena, const struct err *err)
{
	const struct err_info *info = err_info(err->code);

	return info->status >= 500 ? str_of(info->text) : utf8_printable(arena, err->message);
}

/* Whether there was room for all of it. */
static bool write_error(struct arena *arena, const struct err *err, enum surface surface,
			enum op_service service, struct op_response *response)
{
	const struct err_info *info = err_info(err->code);
	struct json_out out = json_out_in(arena);
	bool is_of_scaling = service == SERVICE_SCALING; /* it names no name space */
	/* AWS: errors of signatures say "message", as dynalite's tests (connections) pin byte by
	 * byte */
	bool is_of_signature =
		err->code >= ERR_MISSING_AUTH_TOKEN && err->code <= ERR_EXPIRED_TOKEN;
	bool is_of_search = surface == SURFACE_SEARCH &&
			    err->code == ERR_SERIALIZATION; /* AWS: captures of 23 October 2026 */
	bool is_capital =
		(info->space == SPACE_CORAL_SERVICE && !is_of_signature && !is_of_search) ||
		err->reason_count > 0 || err->is_capital || (is_of_scaling && !is_of_signature);
	struct str message = public_message(arena, err);

	out.is_hashed = surface == SURFACE_OLDER &&
			(err->reason_count > 0 ||
			 err->is_capital); /* the items of transactions and statements */
	json_out_open(&out, '{');
	json_out_field_string(&out, "__type",
			      str_printf(arena, "%s%s",
					 is_of_scaling ? "" : err_space_prefix(info->space),
					 info->name));
	if (err->reason_count > 0)
		write_reasons(&out, err);
	if (str_is_set(err->item)) {
		json_out_name(&out, STR("Item"));
		json_out_image(&out, err->item);
	}
	if (message.n > 0) {
		json_out_name(&out, is_capital ? STR("Message") : STR("message"));
		json_out_string(&out, message);
	}
	if (str_is_set(err->throttle.reason))
		write_throttle(&out, err);
	json_out_close(&out, '}');
	response->status = info->status;
	response->content_type = ops_service_row(service)->content_type;
	response->body = json_out_str(&out);
	response->code = err->code;
	return !out.is_cut;
}

static void error_response(struct arena *arena, const struct err *err, enum surface surface,
			   enum op_service service, struct op_response *response)
{
	struct err unavailable = err_in(arena);

	if (write_error(arena, err, surface, service, response))
		return;
	(void)(err_default(&unavailable, ERR_SERVICE_UNAVAILABLE) == OK);
	write_error(arena, &unavailable, surface, service, response);
}

void op_error_response(struct arena *arena, const struct err *err, struct op_response *response)
{
	error_response(arena, err, SURFACE_OLDER, SERVICE_DYNAMODB, response);
}

static void fold(const struct passage *passage, enum code code)
{
	const struct op_request *request = passage->request;
	const struct insight_request folded = {
		.number = op_number(passage->op), .code = code, .consumed = passage->consumed,
		.began_ns = request->began_ns, .body = request->body,
		.caller = request->caller ? request->caller(request->auth_context) : STR(""),
	};

	insight_fold(passage->call.service->insight, &passage->call, &folded);
}

/* What the server sends to itself, such as --init, and the console's requests are no traffic. */
static bool is_traffic(const struct op_request *request)
{
	return request->access_key && !request->is_unseen;
}

static struct str explain(struct passage *passage, enum code code, const struct err *err)
{
	const struct explain_request explained =
		{.number = op_number(passage->op), .code = code, .err = err};

	if (!call_has(&passage->call, HOOK_TRIAL))
		return explain_line(&passage->call, &explained);
	struct str text = explain_describe(&passage->call, &explained);
	if (!str_is_set(passage->judged))
		return text;
	return str_printf(passage->call.arena, "%.*s,\"iam\":" STR_FMT "}", (int)text.n - 1, text.p,
			  STR_ARG(passage->judged));
}

/* Runs the gates within the CPU time that there is. */
static enum code pass(struct passage *passage, struct err *err)
{
	const struct op_request *request = passage->request;
	const struct service *service = passage->call.service;
	bool is_sliced = request->slice_ns > 0 && request->slice_ns < service->cpu_limit_ns;
	enum code code = OK;

	if (service->cpu_ns)
		arena_limit_time(request->arena, service->cpu_ns,
				 is_sliced ? request->slice_ns : service->cpu_limit_ns);
	if (is_sliced &&
	    request->body.n >= CLOCKED_BODY) /* to parse it takes a part of the slice */
		(void)arena_works(request->arena, ARENA_LOOK);
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]) && code == OK; i++)
		code = gates[i](passage, err);
	passage->is_late = passage->is_late || (is_sliced && !fault_has_counted(&passage->call) &&
						code != OK && arena_is_late(request->arena));
	passage->is_given_up = passage->is_given_up || passage->is_late;
	arena_limit_time(request->arena, NULL, 0); /* the rest takes little time */
	passage->consumed = code == OK ? call_consumed(&passage->call)
				       : (struct units){0, 0}; /* while the tables are held */
	if (call_has(&passage->call, HOOK_INSIGHT) && !passage->is_given_up) {
		bool is_trial = call_has(&passage->call, HOOK_TRIAL);

		if (request->explain && ops_is_of_items(op_number(passage->op)))
			passage->explanation = explain(passage, code, err);
		if (service->insight && !is_trial && is_traffic(request))
			fold(passage, code);
		if (!is_trial && !request->is_unseen)
			contributors_fold(service->contributors, &passage->call);
	}
	release(&passage->call);
	passage->hold =
		work_end(&passage->call, passage->is_given_up ? ERR_SERVICE_UNAVAILABLE : code,
			 &passage->fault);
	passage->is_given_up = passage->is_given_up || passage->hold;
	if (passage->is_counted)
		atomic_fetch_sub(&passage->call.service->long_writes, 1);
	return code;
}

bool op_run(struct service *service, const struct op_request *request, struct op_response *response)
{
	struct passage passage = {
		.request = request,
		.call = {.service = service,
			 .arena = request->arena,
			 .request = {.host = request->host},
			 .is_long = request->is_long,
			 .is_unseen = request->is_unseen},
	};
	struct err err = err_in(request->arena);
	if (request->hold)
		work_resume(&passage.call, request->hold, &passage.fault);
	if (request->explain == OP_EXPLAIN_ALONE)
		explain_try(&passage.call);
	enum code code = pass(&passage, &err);

	if (passage.is_given_up) {
		response->hold = passage.hold;
		response->is_long_write = passage.is_late && is_writing(passage.op);
		response->is_behind = !passage.is_late;
		atomic_fetch_add(&service->long_writes, response->is_long_write);
		return false;
	}
	enum op_service of = passage.op ? passage.op->service : SERVICE_DYNAMODB;
	response->op = passage.op;
	response->fault = passage.fault;
	response->explanation = passage.explanation;
	if (code != OK) {
		error_response(request->arena, &err, passage.surface, of, response);
		response->problem = response->status >= 500 ? err.message : STR_ABSENT;
		return true;
	}
	response->status = 200;
	response->content_type = ops_service_row(of)->content_type;
	response->body = json_out_str(&passage.call.out);
	response->code = OK;
	response->consumed = passage.consumed;
	return true;
}

bool op_is_held(const struct fault_hold *hold)
{
	return !fault_hold_is_over(hold);
}

void op_drop_hold(struct fault_hold *hold)
{
	struct fault_reply reply;

	if (hold)
		conflict_end(fault_hold_end(hold, &reply));
}

void op_end_long_write(struct service *service)
{
	atomic_fetch_sub(&service->long_writes, 1);
}

static enum code let_inside_in(void *context, struct ns *ns, struct err *err)
{
	(void)err;
	*ns = *(const struct ns *)context;
	return OK;
}

struct op_request op_request_inside(struct arena *arena, const struct ns *ns, struct str operation,
				    struct str body)
{
	return (struct op_request){
		.arena = arena,
		.target = ops_target(arena, operation),
		.content_type = STR("application/x-amz-json-1.0"),
		.body = body,
		.authenticate = let_inside_in,
		.auth_context = (void *)(uintptr_t)ns,
	};
}
