#include "tests/simulation/judge.h"

#include <inttypes.h>
#include <string.h>

#include "core/buf.h"
#include "protocol/tables/settings.h"
#include "storage/check.h"
#include "tests/simulation/request.h"
#include "tests/unit/storage/fault_vfs.h"

static const char *const outcome_names[OUTCOME_COUNT] = {
	"done",
	"ConditionalCheckFailed",
	"TransactionCanceled",
	"IdempotentParameterMismatch",
	"ResourceNotFound",
	"ResourceInUse",
	"DuplicateItem",
	"refused",
};

/* The power is off, or the server ends: nobody hears this answer. */
static bool is_unheard(const struct machine *machine)
{
	return machine->is_off || fault_vfs_is_off();
}

bool judge_status(struct machine *machine, struct client *client)
{
	if (client->status < 500)
		return true;
	machine->errors++;
	if (!is_unheard(machine) && !machine_may_fail(machine, client))
		machine_fail(machine, client, "an error, and no fault");
	return false;
}

const struct json *judge_json(struct machine *machine, struct client *client)
{
	const struct json *root = NULL;
	struct err err = err_in(client->arena);

	if (json_parse(client->arena, client->answer, &root, &err) != OK)
		machine_fail(machine, client, "the answer is no JSON");
	return root;
}

static bool ends_with(struct str s, const char *end)
{
	size_t n = strlen(end);

	return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

static enum outcome outcome_of(struct client *client, const struct json *root)
{
	static const struct {
		const char *type;
		enum outcome outcome;
	} types[] = {
		{"#ConditionalCheckFailedException", CONDITION_FAILED},
		{"#TransactionCanceledException", TRANSACTION_CANCELED},
		{"#IdempotentParameterMismatchException", TOKEN_MISMATCH},
		{"#ResourceNotFoundException", NO_TABLE},
		{"#ResourceInUseException", TABLE_THERE},
		{"#DuplicateItemException", DUPLICATE_ITEM},
	};
	const struct json *type = root ? json_member(root, "__type") : NULL;

	if (client->status == 200)
		return DONE;
	for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++) {
		if (ends_with(json_string(client->arena, type), types[i].type))
			return types[i].outcome;
	}
	return REFUSED;
}

/*
 * Whether the table itself was being changed while the operation ran. After a sync that failed a
 * change may be stored that its operation was refused: until the next start the tables in memory
 * are those before it.
 */
static bool in_flux(const struct machine *machine, const struct client *client, unsigned t)
{
	bool is_own = client->op.kind >= OP_CREATE_TABLE && client->op.kind <= OP_TAG &&
		      client->op.table == t;

	return machine->is_broken || client->was_uncertain || machine->is_uncertain ||
	       machine->changing[t] > (is_own ? 1 : 0) || machine->changes[t] != client->changes[t];
}

static bool is_any_in_flux(const struct machine *machine, const struct client *client)
{
	const struct op *op = &client->op;
	bool is = op->n == 0 && in_flux(machine, client, op->table);

	for (unsigned i = 0; i < op->n; i++)
		is = is || in_flux(machine, client, op->actions[i].table);
	return is;
}

static bool is_of_table(enum op_kind kind)
{
	return kind >= OP_CREATE_TABLE && kind <= OP_TAG;
}

/* Whether a refusal that the model does not expect is no wonder. */
static bool may_refuse(const struct machine *machine, const struct client *client,
		       enum outcome outcome)
{
	const struct op *op = &client->op;
	bool is_unsettled = machine->is_unsettled[op->table] && op->n == 0;

	if (outcome != NO_TABLE && outcome != TABLE_THERE && outcome != REFUSED)
		return false;
	if (is_any_in_flux(machine, client))
		return true;
	return is_unsettled &&
	       (op->kind == OP_UPDATE_INDEX || op->kind == OP_DELETE_TABLE ||
		op->kind == OP_QUERY || op->kind == OP_SCAN || op->kind == OP_SEARCH);
}

static const struct view *seen_view(struct machine *machine, const struct client *client)
{
	return client->has_view ? &client->view : machine_version(machine, client->first_seen);
}

/* An item of an answer against one of the model. */
static void check_item(struct machine *machine, struct client *client, unsigned table, unsigned key,
		       const struct json *json, const struct item *wanted)
{
	struct item item;
	unsigned found;

	if (!json && !wanted->is_there)
		return;
	if (!json || !wanted->is_there)
		machine_fail(machine, client, "item %u of %s is %s", key, request_tables[table],
			     json ? "there, and should not be" : "missing");
	if (!request_read_item(client->arena, table, json, &item, &found))
		machine_fail(machine, client, "an item of %s that nobody wrote",
			     request_tables[table]);
	if (found != key || !model_same(&item, wanted))
		machine_fail(machine, client,
			     "item %u of %s: u %" PRId64 " n %d g %d l %d t %" PRId64
			     " v %d pad %d, not u %" PRId64 " n %d g %d l %d t %" PRId64
			     " v %d pad %d",
			     key, request_tables[table], item.u, item.n, item.g, item.l, item.t,
			     item.v, item.pad, wanted->u, wanted->n, wanted->g, wanted->l,
			     wanted->t, wanted->v, wanted->pad);
}

static const struct json *member(const struct json *object, const char *name)
{
	return object && json_type(object) == JSON_OBJECT ? json_member(object, name) : NULL;
}

static void check_single(struct machine *machine, struct client *client, const struct json *root,
			 const struct expected *expected)
{
	const struct action *action = &client->op.actions[0];
	const struct item *wanted =
		client->op.returns == RETURN_OLD ? &expected->old[0] : &expected->new[0];
	const struct json *attributes = member(root, "Attributes");

	if (expected->outcome != DONE)
		check_item(machine, client, action->table, action->key, member(root, "Item"),
			   &expected->old[0]);
	else if (client->op.returns != RETURN_NONE)
		check_item(machine, client, action->table, action->key, attributes, wanted);
	else if (attributes)
		machine_fail(machine, client, "attributes nobody asked for");
}

static void check_reasons(struct machine *machine, struct client *client, const struct json *root,
			  const struct expected *expected)
{
	const struct json *reasons = member(root, "CancellationReasons"),
			  *reason = reasons ? json_first(reasons) : NULL;

	for (unsigned i = 0; i < client->op.n; i++) {
		const struct json *code = member(reason, "Code");
		const char *wanted =
			expected->reasons[i] == DONE ? "None" : "ConditionalCheckFailed";

		if (!code || !str_eq(json_string(client->arena, code), str_of(wanted)))
			machine_fail(machine, client, "reason %u is not %s", i, wanted);
		reason = json_next(reason);
	}
}

static void check_gets(struct machine *machine, struct client *client, const struct json *root,
		       const struct view *view)
{
	const struct op *op = &client->op;
	const struct json *responses = member(root, "Responses"),
			  *at = op->kind == OP_TRANSACT_GET && responses ? json_first(responses)
									 : NULL;

	for (unsigned i = 0; i < op->n; i++) {
		unsigned table = op->actions[i].table, key = op->actions[i].key;
		const struct json *found = NULL;

		if (op->kind == OP_TRANSACT_GET) {
			found = member(at, "Item");
			at = at ? json_next(at) : NULL;
		} else {
			const struct json *list = member(responses, request_tables[table]);

			for (const struct json *each = list ? json_first(list) : NULL;
			     each && !found; each = json_next(each)) {
				struct item item;
				unsigned own;

				if (request_read_item(client->arena, table, each, &item, &own) &&
				    own == key)
					found = each;
			}
		}
		check_item(machine, client, table, key, found, &view->tables[table].items[key]);
	}
}

/* What an index of the model shows of an item. */
static struct item projected(int index, const struct item *item)
{
	struct item shown = {.is_there = true, .g = -1, .l = -1, .v = -1, .n = NO_NUMBER};

	if (index == INDEX_LOCAL)
		shown.l = item->l;
	else if (index == INDEX_LATE)
		shown = (struct item){.is_there = true,
				      .g = item->g,
				      .l = -1,
				      .v = -1,
				      .n = item->n,
				      .u = item->u};
	else
		shown = *item;
	return shown;
}

/* Where an item stands in the order of the page; items that are equal in it have no order that the
 * model knows. */
static int order_of(const struct op *op, const struct view *view, unsigned key)
{
	const struct item *item = &view->tables[op->table].items[key];

	if (op->kind == OP_SCAN)
		return 0;
	int order = op->index == INDEX_LATE     ? item->n
		    : op->index == INDEX_GLOBAL ? 0
		    : op->index == INDEX_LOCAL  ? item->l * SORTS + (int)(key % SORTS)
						: (int)(key % SORTS);
	return op->is_reverse ? -order : order;
}

static bool is_in_page(const struct op *op, const struct view *view, unsigned key)
{
	const struct model_table *table = &view->tables[op->table];
	const struct item *item = &table->items[key];
	int partition = model_has_sort(op->table) ? (int)(key / SORTS) : (int)key;

	if (op->index >= 0 ? !model_is_in(table, (enum model_index)op->index, item)
			   : !item->is_there)
		return false;
	if (op->kind == OP_SCAN)
		return true;
	if (op->partition !=
	    (op->index == INDEX_GLOBAL || op->index == INDEX_LATE ? item->g : partition))
		return false;
	if (op->low <= op->high) {
		int sort = op->index == INDEX_LOCAL  ? item->l
			   : op->index == INDEX_LATE ? item->n
						     : (int)(key % SORTS);

		if (sort < op->low || sort > op->high)
			return false;
	}
	if (op->start < 0)
		return true;
	return op->is_reverse ? (int)key < op->start : (int)key > op->start;
}

static int64_t integer(const struct json *value)
{
	int64_t n = -1;

	return value && json_integer(value, &n) ? n : -1;
}

static void check_counts(struct machine *machine, struct client *client, const struct json *root,
			 unsigned matching)
{
	const struct op *op = &client->op;
	unsigned wanted = op->limit && op->limit < matching ? op->limit : matching;
	bool is_one = op->kind == OP_QUERY && op->index < 0 &&
		      !model_has_sort(
			      op->table); /* no page is behind an item that must be the only one */
	bool has_more = op->limit && op->limit <= matching && !is_one;

	if (integer(member(root, "Count")) != wanted ||
	    integer(member(root, "ScannedCount")) != wanted)
		machine_fail(machine, client, "a page of %u items should have %u",
			     (unsigned)integer(member(root, "Count")), wanted);
	if ((member(root, "LastEvaluatedKey") != NULL) != has_more)
		machine_fail(machine, client, "LastEvaluatedKey should%s be there",
			     has_more ? "" : " not");
	const struct json *items = member(root, "Items");
	if (!op->is_count && (!items || json_count(items) != wanted))
		machine_fail(machine, client, "not %u items", wanted);
}

static void check_page(struct machine *machine, struct client *client, const struct json *root,
		       const struct view *view)
{
	const struct op *op = &client->op;
	const struct json *items = member(root, "Items");
	bool matches[KEYS], is_shown[KEYS] = {false};
	unsigned n = 0, key = 0;
	int last = INT32_MIN;

	for (unsigned k = 0; k < KEYS; k++)
		n += matches[k] = is_in_page(op, view, k);
	check_counts(machine, client, root, n);
	for (const struct json *each = items && !op->is_count ? json_first(items) : NULL; each;
	     each = json_next(each)) {
		struct item item, wanted;

		if (!request_read_item(client->arena, op->table, each, &item, &key))
			machine_fail(machine, client, "an item that nobody wrote");
		if (!matches[key] || is_shown[key])
			machine_fail(machine, client, "item %u is %s", key,
				     is_shown[key] ? "there twice" : "there, and should not be");
		wanted = projected(op->index, &view->tables[op->table].items[key]);
		check_item(machine, client, op->table, key, each, &wanted);
		if (order_of(op, view, key) < last)
			machine_fail(machine, client, "item %u is out of order", key);
		last = order_of(op, view, key);
		is_shown[key] = true;
	}
	for (unsigned k = 0; items && !op->is_count && k < KEYS; k++) {
		if (matches[k] && !is_shown[k] && order_of(op, view, k) < last)
			machine_fail(machine, client, "item %u is left out", k);
	}
}

static void check_search(struct machine *machine, struct client *client, const struct json *root,
			 const struct view *view)
{
	const struct op *op = &client->op;
	const struct model_table *table = &view->tables[op->table];
	const struct json *results = member(root, "SearchResults");
	bool is_shown[KEYS] = {false};
	unsigned n = 0, key = 0;

	for (unsigned k = 0; k < KEYS; k++)
		n += model_is_in(table, INDEX_NEAR, &table->items[k]);
	if (!results || json_count(results) != (n < op->limit ? n : op->limit))
		machine_fail(machine, client, "a search finds %u of %u items",
			     results ? (unsigned)json_count(results) : 0, n);
	for (const struct json *each = json_first(results); each; each = json_next(each)) {
		struct item item;

		if (!request_read_item(client->arena, op->table, member(each, "Item"), &item,
				       &key) ||
		    is_shown[key])
			machine_fail(machine, client, "a search finds what nobody wrote, or twice");
		is_shown[key] = true;
		struct item shown = table->items[key];
		shown.v = -1; /* the vector itself is not shown */
		check_item(machine, client, op->table, key, member(each, "Item"), &shown);
		if (!model_is_in(table, INDEX_NEAR, &table->items[key]))
			machine_fail(machine, client, "item %u is no longer in the index", key);
	}
}

/* Whether every index that the answer lists is active; *names has a bit per index of the model. */
static bool are_active(struct client *client, const struct json *table, const char *list,
		       unsigned *names)
{
	const struct json *indexes = member(table, list);
	bool are = true;

	for (const struct json *each = indexes ? json_first(indexes) : NULL; each;
	     each = json_next(each)) {
		const struct json *status = member(each, "IndexStatus");

		are = are && status && str_eq(json_string(client->arena, status), STR("ACTIVE"));
		for (unsigned i = 0; i < INDEX_COUNT; i++) {
			if (str_eq(json_string(client->arena, member(each, "IndexName")),
				   str_of(request_indexes[i])))
				*names |= 1u << i;
		}
	}
	return are;
}

static void check_sizes(struct machine *machine, struct client *client, const struct json *table,
			const struct model_table *model)
{
	uint64_t n = 0, bytes = 0;

	for (unsigned k = 0; k < KEYS; k++) {
		n += model->items[k].is_there;
		bytes += model->items[k].is_there
				 ? request_item_size(client->op.table, k, &model->items[k],
						     model->has[INDEX_NEAR])
				 : 0;
	}
	if (integer(member(table, "ItemCount")) != (int64_t)n ||
	    integer(member(table, "TableSizeBytes")) != (int64_t)bytes)
		machine_fail(machine, client,
			     "%" PRIu64 " items of %" PRIu64 " bytes are described as %" PRId64
			     " of %" PRId64,
			     n, bytes, integer(member(table, "ItemCount")),
			     integer(member(table, "TableSizeBytes")));
}

static void check_description(struct machine *machine, struct client *client,
			      const struct json *root)
{
	unsigned t = client->op.table, names = 0;
	const struct model_table *model = &machine_head(machine)->tables[t];
	const struct json *table = member(root, "Table");

	if (in_flux(machine, client, t) || !machine_is_quiet(machine, client))
		return;
	bool are = are_active(client, table, "GlobalSecondaryIndexes", &names);
	are = are_active(client, table, "VectorIndexes", &names) && are;
	for (unsigned i = INDEX_GLOBAL; i < INDEX_COUNT; i++) {
		if (model->has[i] && !(names >> i & 1))
			machine_fail(machine, client, "index %s is missing", request_indexes[i]);
		if (!model->has[i] && (names >> i & 1) && (are || !machine->is_unsettled[t]))
			machine_fail(machine, client, "index %s is there, and should not be",
				     request_indexes[i]);
	}
	if (are)
		machine->is_unsettled[t] = false;
	else if (!machine->is_unsettled[t])
		machine_fail(machine, client, "an index that was ACTIVE is not any more");
	if (member(table, "LatestStreamArn") == NULL && model->has_stream)
		machine_fail(machine, client, "the stream is missing");
	if (!machine_may_fail(machine, client)) /* a failed commit makes the numbers count again,
						   which is a write, and may fail too */
		check_sizes(machine, client, table, model);
}

static void check_list(struct machine *machine, struct client *client, const struct json *root)
{
	const struct json *names = member(root, "TableNames");

	for (unsigned t = 0; t < TABLES && machine_is_quiet(machine, client); t++) {
		bool is_there = false;

		for (const struct json *each = names ? json_first(names) : NULL; each;
		     each = json_next(each))
			is_there = is_there || str_eq(json_string(client->arena, each),
						      str_of(request_tables[t]));
		if (!in_flux(machine, client, t) &&
		    is_there != machine_head(machine)->tables[t].exists)
			machine_fail(machine, client, "table %s is %slisted", request_tables[t],
				     is_there ? "" : "not ");
	}
}

static void check_tags(struct machine *machine, struct client *client, const struct json *root)
{
	const struct json *tags = member(root, "Tags");
	bool is_tagged = tags && json_count(tags) > 0;

	if (machine_is_quiet(machine, client) && !in_flux(machine, client, client->op.table) &&
	    is_tagged != machine_head(machine)->tables[client->op.table].is_tagged)
		machine_fail(machine, client, "the table is %stagged", is_tagged ? "" : "not ");
}

static void check_statement(struct machine *machine, struct client *client, const struct json *root,
			    const struct view *view)
{
	const struct action *action = &client->op.actions[0];
	const struct json *items = member(root, "Items");

	if (!items || json_count(items) > 1)
		machine_fail(machine, client, "not one item");
	check_item(machine, client, action->table, action->key, json_first(items),
		   &view->tables[action->table].items[action->key]);
}

/* The answer as such, when its outcome is the expected one. */
static void check_answer(struct machine *machine, struct client *client, const struct json *root,
			 const struct expected *expected)
{
	const struct view *view = seen_view(machine, client);
	const struct op *op = &client->op;

	switch (op->kind) {
	case OP_PUT: case OP_UPDATE: case OP_DELETE:
		if (expected->outcome == DONE || expected->outcome == CONDITION_FAILED)
			check_single(machine, client, root, expected);
		break;
	case OP_TRANSACT_WRITE:
		if (expected->outcome == TRANSACTION_CANCELED)
			check_reasons(machine, client, root, expected);
		break;
	default:
		break;
	}
	if (expected->outcome != DONE)
		return;
	if (op->kind == OP_GET)
		check_item(machine, client, op->actions[0].table, op->actions[0].key,
			   member(root, "Item"),
			   &view->tables[op->actions[0].table].items[op->actions[0].key]);
	else if (op->kind == OP_BATCH_GET || op->kind == OP_TRANSACT_GET)
		check_gets(machine, client, root, view);
	else if (op->kind == OP_SELECT_STATEMENT)
		check_statement(machine, client, root, view);
	else if (op->kind == OP_QUERY || op->kind == OP_SCAN)
		check_page(machine, client, root, view);
	else if (op->kind == OP_SEARCH)
		check_search(machine, client, root, view);
	else if (op->kind == OP_DESCRIBE)
		check_description(machine, client, root);
	else if (op->kind == OP_LIST_TABLES)
		check_list(machine, client, root);
	else if (op->kind == OP_LIST_TAGS)
		check_tags(machine, client, root);
}

static bool changes_something(const struct client *client)
{
	return client->op.kind <= OP_DELETE_STATEMENT ||
	       (is_of_table(client->op.kind) && client->op.kind != OP_TAG);
}

static void judge(struct machine *machine, struct client *client)
{
	const struct op *op = &client->op;
	struct expected expected;

	if (is_unheard(machine) || !judge_status(machine, client))
		return;
	const struct json *root = client->answer.n > 0 ? judge_json(machine, client) : NULL;
	enum outcome outcome = outcome_of(client, root);
	const struct view *view = seen_view(machine, client);

	machine->outcomes[outcome]++;
	model_evaluate(op, view, &expected, NULL);
	if (is_of_table(op->kind) &&
	    client->has_applied) /* the transactions behind it, pieces of an index, saw it done */
		expected.outcome = DONE;
	if ((op->kind == OP_QUERY || op->kind == OP_SCAN || op->kind == OP_SEARCH) &&
	    expected.outcome == DONE) {
		int index = op->kind == OP_SEARCH ? INDEX_NEAR : op->index;

		if (index >= 0 && !view->tables[op->table].has[index])
			expected.outcome = REFUSED;
	}
	bool is_refusal = is_of_table(op->kind) || op->kind == OP_QUERY || op->kind == OP_SCAN ||
			  op->kind == OP_SEARCH;
	bool is_expected = outcome == expected.outcome ||
			   (is_refusal && expected.outcome != DONE && outcome != DONE);
	if (!is_expected && may_refuse(machine, client, outcome))
		return;
	if (!is_expected && outcome == DONE && expected.outcome != DONE &&
	    !changes_something(client) && is_any_in_flux(machine, client))
		return;
	if (!is_expected)
		machine_fail(machine, client, "%s, not %s", outcome_names[outcome],
			     outcome_names[expected.outcome]);
	if (outcome == DONE && changes_something(client) && client->commits == 0)
		machine_fail(machine, client, "it is answered as done, and was not committed");
	check_answer(machine, client, root, &expected);
}

static void tell(void *context, struct str line)
{
	struct buf *lines = context;

	buf_add_str(lines, line);
	buf_add_byte(lines, '\n');
}

/* The store's own check: indexes, queue and streams against the items. */
static void check_rows(struct machine *machine, struct client *client)
{
	struct buf lines = buf_in(client->arena);
	struct check_report report = {.tell = tell, .context = &lines};
	struct err err = err_in(client->arena);

	if (check_store(machine->store, &settings_records, machine_now_ms(), &report, &err) != OK ||
	    is_unheard(machine))
		return;
	machine->checks++;
	machine->checked_rows +=
		report.items + report.index_rows + report.expiry_rows + report.records;
	if (report.findings > 0 && !machine_may_fail(machine, client))
		machine_fail(machine, client, "check: " STR_FMT, STR_ARG(buf_str(&lines)));
}

/* A whole round of upkeep: what was due before it is gone. */
static void keep_up(struct machine *machine, struct client *client)
{
	struct err err = err_in(client->arena);
	/* a commit of another client may be under way: the model has it, and the round need not */
	uint64_t expired = 0, acknowledged = machine->acknowledged;
	enum code code = upkeep_run(machine->upkeep, NULL, NULL, NULL, &expired, &err);

	if (is_unheard(machine))
		return;
	if (code != OK && !machine_may_fail(machine, client))
		machine_fail(machine, client, "a round of upkeep: " STR_FMT, STR_ARG(err.message));
	if (code != OK || machine_may_fail(machine, client) || machine->is_uncertain)
		return;
	const struct view *before = machine_version(machine, acknowledged),
			  *after = machine_head(machine);
	for (unsigned t = 0; t < TABLES; t++) {
		const struct model_table *table = &before->tables[t];

		if (!table->has_ttl || table->made != after->tables[t].made ||
		    machine->changes[t] != client->changes[t] || machine->changing[t] > 0)
			continue;
		for (unsigned k = 0; k < KEYS; k++) {
			const struct item *item = &table->items[k];

			if (item->is_there && item->t > 0 && item->t * 1000 < client->op.now_ms &&
			    model_same(item, &after->tables[t].items[k]))
				machine_fail(machine, client,
					     "item %u of %s was due at %" PRId64
					     " and is still there",
					     k, request_tables[t], item->t);
		}
	}
}

void judge_op(struct machine *machine, struct client *client)
{
	machine->counts[client->op.kind]++;
	machine_begin_op(machine, client);
	if (client->op.kind == OP_UPDATE_INDEX || client->op.kind == OP_CREATE_TABLE ||
	    client->op.kind == OP_UPDATE_TTL)
		machine->is_unsettled[client->op.table] = true;
	if (client->op.kind == OP_REPLAY) {
		judge_replay(machine, client);
	} else if (client->op.kind == OP_CHECK) {
		check_rows(machine, client);
	} else if (client->op.kind == OP_ROUND) {
		keep_up(machine, client);
	} else {
		machine_ask(machine, client, request_name(client->op.kind, client->op.is_on),
			    request_body(client->arena, &client->op));
		judge(machine, client);
	}
	machine_end_op(machine, client);
}
