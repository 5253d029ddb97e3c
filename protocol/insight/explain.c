#include "protocol/insight/explain.h"

#include "core/image.h"
#include "protocol/insight/insight.h"
#include "protocol/insight/messages.h"
#include "protocol/insight/outline.h"

#define DEPTH_MAX 32 /* of conditions that are looked into */
#define EQUALITIES_MAX 8

/* What the writes of a call on trial would have cost. */
struct trial {
	struct call *call;
	struct write_admission admission;
	size_t n;
	struct cost *costs;
};

static enum code ask(void *context, const struct write *writes, size_t n, enum code code,
		     struct err *err)
{
	struct trial *trial = context;

	trial->costs = ARENA_ARRAY(trial->call->arena, struct cost, n);
	for (trial->n = 0; trial->n < n; trial->n++)
		cost_copy(&trial->costs[trial->n], &writes[trial->n].cost);
	return code == OK ? err_default(err, ERR_TRIAL) : code;
}

static const struct trial *trial_of(const struct call *call)
{
	return call->hooks[HOOK_TRIAL];
}

void explain_try(struct call *call)
{
	struct trial *trial = ARENA_NEW(call->arena, struct trial);

	*trial = (struct trial){.call = call, .admission = {ask, trial}};
	call->hooks[HOOK_TRIAL] = trial;
	access_begin(call);
}

const struct write_admission *explain_admission(const struct call *call)
{
	return &trial_of(call)->admission;
}

static void integer(struct json_out *out, const char *name, uint64_t value)
{
	json_out_name(out, str_of(name));
	json_out_integer(out, (int64_t)value);
}

static void units(struct json_out *out, struct units units)
{
	json_out_name(out, STR("read_units"));
	json_out_units(out, units.read);
	json_out_name(out, STR("write_units"));
	json_out_units(out, units.write);
}

static void text(struct json_out *out, const char *name, struct str value)
{
	json_out_name(out, str_of(name));
	json_out_string(out, value);
}

static void begin(struct json_out *out, const char *name, char bracket)
{
	json_out_name(out, str_of(name));
	json_out_open(out, bracket);
}

/* The attribute that a comparison is about, of those that a key condition can have; absent of
 * others. */
static struct str compared(const struct node *node)
{
	const struct node *path = node->arg_count > 1 ? node->args[0] : NULL;

	if (!path || !node_info(node->kind)->keys || path->kind != NODE_PATH ||
	    path->path->n != 1 || node->args[1]->kind != NODE_VALUE)
		return STR_ABSENT;
	return path->path->steps[0].name;
}

static void show_comparison(struct json_out *out, const struct node *node)
{
	json_out_open(out, '{');
	text(out, "attribute", compared(node));
	text(out, "operator", node_info(node->kind)->shown);
	begin(out, "values", '[');
	for (unsigned i = 1; i < node->arg_count; i++) {
		if (node->args[i]->kind == NODE_VALUE)
			json_out_value(out, &node->args[i]->value);
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

/* Calls `visit` for each comparison that must hold. */
static void each_comparison(const struct node *node, unsigned depth,
			    void (*visit)(void *context, const struct node *node), void *context)
{
	if (!node || depth > DEPTH_MAX)
		return;
	if (node->kind == NODE_AND) {
		each_comparison(node->args[0], depth + 1, visit, context);
		each_comparison(node->args[1], depth + 1, visit, context);
	} else if (str_is_set(compared(node))) {
		visit(context, node);
	}
}

static void visit_range(void *context, const struct node *node)
{
	show_comparison(context, node);
}

static const struct key_schema *keys_of(const struct access *access)
{
	return access->index ? &access->index->keys : &access->table->keys;
}

/* The keys that are read or written: nothing is everything. */
static void show_range(struct json_out *out, const struct access *access)
{
	begin(out, "range", '[');
	each_comparison(access->keys, 0, visit_range, out);
	for (unsigned i = 0; access->item && i < key_schema_count(&access->table->keys); i++) {
		const struct value *value =
			value_member(access->item, access->table->keys.attributes[i].name);

		if (!value)
			continue;
		json_out_open(out, '{');
		text(out, "attribute", access->table->keys.attributes[i].name);
		text(out, "operator", STR("="));
		begin(out, "values", '[');
		json_out_value(out, value);
		json_out_close(out, ']');
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static const char *place_of(const struct access *access)
{
	return access->index ? "index" : "table";
}

static void show_flow(struct json_out *out, const struct access *access)
{
	bool is_write = access->kind >= ACCESS_PUT;

	if (is_write && str_is_set(access->before))
		integer(out, "bytes_before", image_item_size(access->before));
	if (is_write && str_is_set(access->after))
		integer(out, "bytes_after", image_item_size(access->after));
	if (is_write)
		return;
	integer(out, "items_read", access->scanned);
	if (access->kind != ACCESS_SEARCH) /* which leaves out also what is less near */
		integer(out, "items_filtered", access->scanned - access->returned);
	integer(out, "items_returned", access->returned);
	integer(out, "bytes_read", access->bytes);
	if (access->kind == ACCESS_GET || access->kind == ACCESS_SEARCH)
		return;
	json_out_field_boolean(out, "is_continued", (access->how & ACCESS_CONTINUED) != 0);
	json_out_field_boolean(out, "has_more", (access->how & ACCESS_MORE) != 0);
}

static struct str why_scan(const struct call *call, const struct access *access,
			   enum op_id operation)
{
	if (operation == OP_Scan)
		return str_printf(call->arena, EXPLAIN_SCAN, place_of(access));
	return str_printf(call->arena, EXPLAIN_STATEMENT,
			  STR_ARG(keys_of(access)->attributes[0].name), place_of(access));
}

static void show_access(struct json_out *out, const struct call *call, const struct access *access,
			enum op_id operation)
{
	static const char *const names[OUTLINE_PARTS] = {"kind",   "table",     "index",
							 "key",    "filter",    "projection",
							 "update", "condition", "how"};
	struct buf texts[OUTLINE_PARTS];
	struct outline outline = {.texts = texts};

	for (size_t i = 0; i < OUTLINE_PARTS; i++)
		texts[i] = buf_in(call->arena);
	outline_access(&outline, access);
	json_out_open(out, '{');
	for (size_t i = 0; i < OUTLINE_PARTS; i++) {
		struct str part = str_trim(buf_str(&texts[i]));

		if (part.n > 0)
			text(out, names[i], part);
	}
	show_range(out, access);
	show_flow(out, access);
	if (access->kind == ACCESS_SCAN)
		text(out, "why_scan", why_scan(call, access, operation));
	json_out_close(out, '}');
}

/* The comparisons of a filter. */
struct asked {
	size_t n;
	const struct node *nodes[EQUALITIES_MAX];
};

static void collect(void *context, const struct node *node)
{
	struct asked *asked = context;

	if (asked->n < EQUALITIES_MAX)
		asked->nodes[asked->n++] = node;
}

static const struct node *asks_for(const struct asked *asked, struct str name, bool is_equality)
{
	for (size_t i = 0; i < asked->n; i++) {
		if (str_eq(compared(asked->nodes[i]), name) &&
		    (!is_equality || asked->nodes[i]->kind == NODE_EQ))
			return asked->nodes[i];
	}
	return NULL;
}

struct better {
	struct json_out *out;
	const struct access *access;
	struct asked asked;
	size_t n;
};

static void suggest(struct better *better, const char *operation, const struct index *index,
		    struct str attribute, const char *why)
{
	struct json_out *out = better->out;

	json_out_open(out, '{');
	text(out, "operation", str_of(operation));
	text(out, "table", better->access->table->identity.name);
	if (index)
		text(out, "index", index->name);
	text(out, "attribute", attribute);
	text(out, "why", str_of(why));
	json_out_close(out, '}');
	better->n++;
}

/* Whether the key has one attribute in each part, as most have. */
static bool is_plain(const struct key_schema *keys)
{
	return keys->hash_count == 1 && keys->range_count <= 1;
}

static void better_than_scan(struct better *better)
{
	const struct table *table = better->access->table;
	const struct key_attribute *own = table->keys.attributes;
	bool has_partition = asks_for(&better->asked, own[0].name, true) != NULL;

	if (has_partition &&
	    (table->keys.range_count == 0 || asks_for(&better->asked, own[1].name, true)))
		suggest(better, "GetItem", NULL, own[0].name, EXPLAIN_BETTER_ITEM);
	else if (has_partition)
		suggest(better, "Query", NULL, own[0].name, EXPLAIN_BETTER_TABLE);
	for (size_t i = 0; i < table->indexes.n; i++) {
		const struct index *index = &table->indexes.v[i];

		if (!index->is_local && is_plain(&index->keys) &&
		    asks_for(&better->asked, index->keys.attributes[0].name, true))
			suggest(better, "Query", index, index->keys.attributes[0].name,
				EXPLAIN_BETTER_INDEX);
	}
	for (size_t i = 0; i < better->asked.n && better->n == 0; i++) {
		if (better->asked.nodes[i]->kind == NODE_EQ)
			suggest(better, "Query", NULL, compared(better->asked.nodes[i]),
				EXPLAIN_BETTER_NEW);
	}
}

static void better_sort_key(struct better *better, const struct key_schema *keys,
			    const struct index *index)
{
	const struct key_schema *now = keys_of(better->access);

	if (keys != now && is_plain(keys) && keys->range_count == 1 &&
	    str_eq(keys->attributes[0].name, now->attributes[0].name) &&
	    asks_for(&better->asked, keys->attributes[1].name, false))
		suggest(better, "Query", index, keys->attributes[1].name, EXPLAIN_BETTER_SORT);
}

static void better_than_query(struct better *better)
{
	const struct table *table = better->access->table;

	better_sort_key(better, &table->keys, NULL);
	for (size_t i = 0; i < table->indexes.n; i++)
		better_sort_key(better, &table->indexes.v[i].keys, &table->indexes.v[i]);
}

static void show_better(struct json_out *out, const struct access *access)
{
	struct better better = {.out = out, .access = access};

	if (access->kind != ACCESS_SCAN && access->kind != ACCESS_QUERY)
		return;
	each_comparison(access->condition, 0, collect, &better.asked);
	if (access->kind == ACCESS_SCAN)
		better_than_scan(&better);
	else
		better_than_query(&better);
}

static void show_cost(struct json_out *out, const struct cost *cost)
{
	json_out_open(out, '{');
	text(out, "table", cost->table->identity.name);
	units(out, cost->base);
	begin(out, "indexes", '{');
	for (size_t i = 0; i < cost->table->indexes.n; i++) {
		if (cost->index[i].read + cost->index[i].write <= 0)
			continue;
		json_out_name(out, cost->table->indexes.v[i].name);
		json_out_open(out, '{');
		units(out, cost->index[i]);
		json_out_close(out, '}');
	}
	json_out_close(out, '}');
	json_out_close(out, '}');
}

static void show_error(struct json_out *out, const struct err *err)
{
	const struct err_info *info = err_info(err->code);

	begin(out, "error", '{');
	text(out, "type", str_of(info->name));
	text(out, "message", info->status >= 500 ? str_of(info->text) : err->message);
	json_out_close(out, '}');
}

/* What the findings' rules say of it alone. `is_short`: only the names. */
static void show_findings(struct json_out *out, const struct call *call,
			  const struct explain_request *request, bool is_short)
{
	struct insight *insight = insight_new(1, false);
	const struct insight_request folded = {
		.number = request->number, .code = request->code == ERR_TRIAL ? OK : request->code,
			.consumed = call_consumed(call), .caller = STR(""),
	};

	insight_fold(insight, call, &folded);
	insight_show_request(insight, call->arena, is_short, out);
	insight_free(insight);
}

static void charge_trial(struct call *call)
{
	const struct trial *trial = trial_of(call);

	for (size_t i = 0; trial && i < trial->n && call->charges.n == 0; i++) {
		for (; i < trial->n; i++)
			call_charge(call, &trial->costs[i]);
	}
}

static struct str describe(struct call *call, const struct explain_request *request, bool is_short)
{
	const struct accesses *accesses = access_list(call);
	bool has_failed = request->code != OK && request->code != ERR_TRIAL;
	struct json_out out = json_out_in(call->arena);

	charge_trial(call);
	json_out_open(&out, '{');
	text(&out, "operation", ops_name(request->number));
	json_out_field_boolean(&out, "is_trial", call_has(call, HOOK_TRIAL));
	if (is_short)
		json_out_field_boolean(&out, "is_cut", true);
	integer(&out, "status", has_failed ? (uint64_t)err_info(request->code)->status : 200);
	if (has_failed && !is_short)
		show_error(&out, request->err);
	units(&out, call_consumed(call));
	if (!is_short) {
		begin(&out, "accesses", '[');
		for (size_t i = 0; i < accesses->n; i++)
			show_access(&out, call, &accesses->v[i], request->number);
		json_out_close(&out, ']');
		begin(&out, "tables", '[');
		for (size_t i = 0; i < call->charges.n; i++)
			show_cost(&out, &call->charges.v[i]);
		json_out_close(&out, ']');
		begin(&out, "better", '[');
		for (size_t i = 0; i < accesses->n; i++)
			show_better(&out, &accesses->v[i]);
		json_out_close(&out, ']');
	}
	show_findings(&out, call, request, is_short);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

struct str explain_describe(struct call *call, const struct explain_request *request)
{
	return describe(call, request, false);
}

/* What is not ASCII as \uXXXX, in pairs where it must be. */
static struct str in_ascii(struct arena *arena, struct str json)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < json.n;) {
		unsigned char c = (unsigned char)json.p[i];
		unsigned length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
		uint32_t point = length == 1 ? c : c & (0x7Fu >> length);

		for (unsigned k = 1; k < length && i + k < json.n; k++)
			point = point << 6 | ((unsigned char)json.p[i + k] & 0x3F);
		i += length;
		if (length == 1)
			buf_add_byte(&buf, (int)point);
		else if (point < 0x10000)
			buf_printf(&buf, "\\u%04x", (unsigned)point);
		else
			buf_printf(&buf, "\\u%04x\\u%04x",
				   (unsigned)(0xD800 + ((point - 0x10000) >> 10)),
				   (unsigned)(0xDC00 + ((point - 0x10000) & 0x3FF)));
	}
	return buf_str(&buf);
}

struct str explain_line(struct call *call, const struct explain_request *request)
{
	struct str whole = in_ascii(call->arena, describe(call, request, false));

	return whole.n <= EXPLAIN_LINE_MAX ? whole
					   : in_ascii(call->arena, describe(call, request, true));
}
