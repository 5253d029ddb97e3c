#include "protocol/handler.h"

#include "protocol/insight/access.h"
#include "protocol/tables/arn.h"
#include "protocol/tables/settings.h"
#include "protocol/wire/messages.h"
#include "storage/monotonic.h"

#define NAME_MIN 3
#define NAME_MAX_LENGTH 255
#define TOKEN_LIFE_MS (10 * 60 * (int64_t)1000)

void call_charge(struct call *call, const struct cost *cost)
{
	struct charges *charges = &call->charges;

	for (size_t i = 0; i < charges->n; i++) {
		if (charges->v[i].table == cost->table) {
			cost_add(&charges->v[i], cost);
			return;
		}
	}
	if (charges->n == charges->cap) {
		size_t cap = charges->cap ? charges->cap * 2 : 1;

		charges->v = arena_grow(call->arena, charges->v, charges->n * sizeof(*charges->v),
					cap * sizeof(*charges->v));
		charges->cap = cap;
	}
	cost_copy(&charges->v[charges->n++], cost);
}

struct units call_consumed(const struct call *call)
{
	struct units sum = {0, 0};

	for (size_t i = 0; i < call->charges.n; i++) {
		struct units units = cost_total(&call->charges.v[i]);

		sum.read += units.read;
		sum.write += units.write;
	}
	return sum;
}

bool call_is_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-' || c == '.'))
			return false;
	}
	return name.n >= NAME_MIN && name.n <= NAME_MAX_LENGTH;
}

bool call_owns(const struct call *call, struct str account, struct str region)
{
	return catalog_options(call->service->catalog)->is_shared ||
	       (str_eq(account, call->ns.account) && str_eq(region, call->ns.region));
}

/* arn:aws:dynamodb:REGION:ACCOUNT:table/NAME of the caller's region and account. AWS: which part is
 * wrong decides the text. */
static enum code read_table_arn(const struct call *call, struct str arn, struct str *name,
				struct err *err)
{
	struct arn parts = arn_split(arn);
	const char *slash =
		parts.resource.n ? memchr(parts.resource.p, '/', parts.resource.n) : NULL;
	struct str type = {parts.resource.p, slash ? (size_t)(slash - parts.resource.p) : 0};

	if (!slash || parts.region.n == 0 || parts.account.n == 0 ||
	    !str_eq(parts.service, STR("dynamodb")))
		return err_set(err, MSG_TABLE_ARN_FORM, STR_ARG(arn));
	if (!str_eq(type, STR("table")))
		return err_set(err, MSG_TABLE_ARN_TYPE, STR_ARG(arn));
	struct str own = {slash + 1, parts.resource.n - type.n - 1};
	if (own.n < NAME_MIN)
		return err_set(err, MSG_TABLE_ARN_SHORT, STR_ARG(arn));
	if (!call_is_name(own)) /* an index's or a stream's too */
		return err_set(err, MSG_TABLE_ARN_FORM, STR_ARG(arn));
	if (!str_eq(parts.partition, STR("aws")))
		return err_set(err, MSG_TABLE_ARN_PARTITION, STR_ARG(arn));
	if (!call_owns(call, call->ns.account, parts.region))
		return err_set(err, MSG_TABLE_ARN_REGION, STR_ARG(arn));
	if (!call_owns(call, parts.account, parts.region))
		return err_set(err, MSG_DENIED);
	*name = own;
	return OK;
}

enum code call_check_values(const struct call *call, struct err *err)
{
	if (call->value_err.code != OK)
		*err = call->value_err;
	return call->value_err.code;
}

enum code call_check_action(const struct action_err *action, bool is_deep, struct err *err)
{
	if (action->err.code == OK || action->is_deep != is_deep)
		return OK;
	*err = action->err;
	return err->code;
}

enum code call_check_late(const struct call *call, struct err *err)
{
	if (call->late_err.code != OK)
		*err = call->late_err;
	return call->late_err.code;
}

enum code call_table_name(struct call *call, struct str name_or_arn, struct str *name,
			  struct err *err)
{
	struct str own = name_or_arn;
	enum code code = OK;

	if (str_starts_with(name_or_arn, STR("arn:")))
		code = read_table_arn(call, name_or_arn, &own, err);
	else if (!call_is_name(name_or_arn))
		code = err_set(err, MSG_TABLE_NAME);
	return RESULT(code, name, own);
}

enum code call_refresh(struct call *call, struct err *err)
{
	enum code code = clocks_refresh(catalog_options(call->service->catalog)->clocks, err);

	if (code != OK)
		return code;
	call->now_ms = call->service->now_ms(call->service->clock_context, call->ns);
	return OK;
}

static void note_elsewhere(struct call *call, struct str name)
{
	struct ns where;
	unsigned left_out;

	if (!call->service->note ||
	    !catalog_elsewhere(call->service->catalog, call->ns, name, call->arena, &where))
		return;
	if (!note_gate_opens(&call->service->notes, monotonic_ms(), &left_out))
		return;
	struct str rest = left_out > 0 ? str_printf(call->arena, NOTE_LEFT_OUT, left_out) : STR("");
	call->service->note(call->service->note_context,
			    str_printf(call->arena, NOTE_TABLE_ELSEWHERE, STR_ARG(name),
				       STR_ARG(call->ns.account), STR_ARG(call->ns.region),
				       STR_ARG(where.account), STR_ARG(where.region),
				       STR_ARG(rest)));
}

static void hold(struct call *call, struct table *table, struct str arn)
{
	if (table->settings->counts_keys)
		access_begin(call);
	call->tables.v =
		arena_room(call->arena, call->tables.v, call->tables.n, sizeof(*call->tables.v));
	call->tables.v[call->tables.n++] = (struct held_table){table, arn};
}

void call_hold(struct call *call, struct table *table)
{
	hold(call, table, STR_ABSENT);
}

struct str call_named(const struct call *call, const struct table *table)
{
	for (size_t i = 0; i < call->tables.n; i++) {
		if (call->tables.v[i].table == table)
			return str_is_set(call->tables.v[i].arn) ? call->tables.v[i].arn
								 : table->identity.name;
	}
	return table->identity.name;
}

void call_look_again(struct call *call)
{
	call->tables.from = call->tables.n;
}

static enum code refuse_absent(struct str name, enum absent_table words, struct err *err)
{
	switch (words) {
	case ABSENT_TABLE:
	case ABSENT_AT_ALL:
		return err_set(err, MSG_TABLE_NOT_FOUND, STR_ARG(name));
	case ABSENT_BACKUP:
		return err_set(err, MSG_TABLE_NOT_FOUND_BACKUP, STR_ARG(name));
	case ABSENT_RESOURCE:
		break;
	}
	return err->code;
}

static bool is_in_transition(const struct table *table)
{
	return table->state.status == STATUS_CREATING || table->state.status == STATUS_DELETING;
}

/* The table for operations on its items. One that seems not to be there yet, or not any more, may
 * be there by what another server did. */
static enum code get_for_items(const struct call *call, struct str name, struct table **out,
			       struct err *err)
{
	struct table *table = NULL;
	enum code code =
		catalog_get(call->service->catalog, call->ns, name, call->now_ms, &table, err);

	if (code != OK)
		return code;
	if (is_in_transition(table)) {
		table_unref(table);
		code = catalog_get_current(call->service->catalog, call->ns, name, call->now_ms,
					   &table, err);
	}
	if (code != OK)
		return code;
	if (is_in_transition(table)) {
		/* AWS: the error for items of a table that does not exist yet, or not any more */
		table_unref(table);
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	}
	*out = table;
	return OK;
}

static enum code look_up_table(struct call *call, struct str name, enum absent_table words,
			       struct table **out, struct err *err)
{
	if (words == ABSENT_RESOURCE)
		return get_for_items(call, name, out, err);
	/* operations that describe or change a table use its current snapshot */
	enum code code = call_refresh(call, err);
	if (code != OK)
		return code;
	return catalog_get_current(call->service->catalog, call->ns, name, call->now_ms, out, err);
}

enum code call_table(struct call *call, struct str name_or_arn, enum absent_table words,
		     struct table **out, struct err *err)
{
	struct table *table;
	struct str name;
	enum code code = call_check_values(call, err);

	if (code != OK)
		return code;
	code = call_table_name(call, name_or_arn, &name, err);
	if (code != OK)
		return code;
	for (size_t i = call->tables.from; i < call->tables.n;
	     i++) { /* a batch names its tables often */
		if (str_eq(call->tables.v[i].table->identity.name, name)) {
			*out = call->tables.v[i].table;
			return OK;
		}
	}
	code = look_up_table(call, name, words, &table, err);
	if (code != OK) {
		note_elsewhere(call, name);
		return code == ERR_RESOURCE_NOT_FOUND ? refuse_absent(name, words, err) : code;
	}
	if ((words == ABSENT_BACKUP || words == ABSENT_TABLE) &&
	    str_is_set(table->state.job)) { /* AWS: DDB-TABLE-217 */
		table_unref(table);
		return refuse_absent(name, words, err);
	}
	hold(call, table, name.p == name_or_arn.p ? STR_ABSENT : name_or_arn);
	*out = table;
	return OK;
}

struct write_token call_token(struct call *call, struct str client_token, struct str sameness)
{
	struct buf fingerprint = buf_in(call->arena);
	struct str space = write_token_space(call->arena, call->ns);

	if (!str_is_set(client_token))
		return (struct write_token){.token = STR_ABSENT};
	buf_add_be64(&fingerprint, str_hash(sameness, 1));
	buf_add_be64(&fingerprint, str_hash(sameness, 2));
	return (struct write_token){
		.token = str_printf(call->arena, STR_FMT STR_FMT, STR_ARG(space),
				    STR_ARG(client_token)),
		.space_size = space.n,
		.fingerprint = buf_str(&fingerprint),
		.expires_ms = call->now_ms + TOKEN_LIFE_MS,
	};
}
