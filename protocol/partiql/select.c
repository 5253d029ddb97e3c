#include "core/base64.h"
#include "core/image.h"
#include "protocol/partiql/messages.h"
#include "protocol/partiql/plan.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/wire/java_number.h"
#include "protocol/work/work.h"
#include "storage/item_key.h"

#define TOKEN_VERSION 1
#define TOKEN_HEAD 10 /* version, check, range */

/* A SELECT under way. */
struct run {
	struct call *call;
	const struct partiql_statement *statement;
	const struct partiql_select *select;
	struct partiql_plan plan;
	struct read_page page;
};

/*
 * A check of what the token belongs to: the statement as it is written, its parameters, numbers
 * with their scale, the table's creation. It is a hash, since the token travels through the client.
 */
static uint64_t token_check(const struct run *run, struct str rest)
{
	struct buf buf = buf_in(run->call->arena);
	const struct parameter_list *list = run->select->list;
	struct value parameters = {
		.type = TYPE_L, .n = (uint32_t)list->n, .elements = run->select->parameters};
	struct member member = {STR("p"), parameters};
	struct value item = {.type = TYPE_M, .n = 1, .members = &member};

	buf_add_be64(&buf, run->plan.table->identity.number);
	buf_add_varint(&buf, run->select->text.n);
	buf_add_str(&buf, run->select->text);
	image_encode(&item, &buf);
	for (size_t i = 0; i < list->n; i++)
		buf_add_be64(&buf, (uint64_t)java_number_read(list->v[i].number).scale);
	buf_add_str(&buf, rest);
	return str_hash(buf_str(&buf), TOKEN_VERSION);
}

/* Where the next page begins: the range, and in it the row after which it goes on. */
static struct str make_token(const struct run *run, size_t range, struct str row_key)
{
	struct arena *arena = run->call->arena;
	struct buf rest = buf_in(arena), token = buf_in(arena), text = buf_in(arena);

	buf_add_byte(&rest, (int)range);
	buf_add_str(&rest, row_key);
	buf_add_byte(&token, TOKEN_VERSION);
	buf_add_be64(&token, token_check(run, buf_str(&rest)));
	buf_add_str(&token, buf_str(&rest));
	base64_encode(buf_str(&token), &text);
	return buf_str(&text);
}

static enum code read_token(const struct run *run, size_t *range, struct str *row_key,
			    struct err *err)
{
	struct str token;

	if (!base64_decode(run->call->arena, run->select->next_token, &token) ||
	    token.n < TOKEN_HEAD || token.p[0] != TOKEN_VERSION)
		return err_set(err, MSG_PARTIQL_NEXT_TOKEN);
	struct str rest = {token.p + 9, token.n - 9};
	bool is_other = str_be(token.p + 1, 8) != token_check(run, rest);
	for (size_t i = 0; i < run->select->list->n; i++) /* AWS: not even one that is the same */
		is_other = is_other || run->select->parameters[i].type == TYPE_L ||
			   run->select->parameters[i].type == TYPE_M;
	if (is_other)
		return err_set(err, MSG_PARTIQL_NEXT_TOKEN_OTHER);
	if ((unsigned char)rest.p[0] >= run->plan.n)
		return err_set(err, MSG_PARTIQL_NEXT_TOKEN);
	*range = (unsigned char)rest.p[0];
	*row_key = (struct str){rest.p + 1, rest.n - 1};
	return OK;
}

static void write_next(struct run *run, size_t range, const struct value *last_key,
		       struct str row_key)
{
	json_out_field_string(&run->call->out, "NextToken", make_token(run, range, row_key));
	json_out_name(&run->call->out, STR("LastEvaluatedKey"));
	json_out_item(&run->call->out, last_key);
}

static enum code read_ranges(struct run *run, size_t first, struct str start_after, struct err *err)
{
	struct read_page *page = &run->page;
	uint64_t left = run->select->limit;
	size_t i = first;

	json_out_name(&run->call->out, STR("Items"));
	json_out_open(&run->call->out, '[');
	page->found.last_key = VALUE_NONE;
	for (; i < run->plan.n && !value_is_set(&page->found.last_key); i++) {
		page->keys = run->plan.is_keyed ? &run->plan.ranges[i].keys : NULL;
		page->limit = left;
		page->start_after = i == first ? start_after : STR_ABSENT;
		struct work work = {.call = run->call, .kind = WORK_OF_PAGE, .page = page};
		enum code code = work_do(&work, err);

		if (code != OK)
			return code;
		for (size_t k = 0; k < page->found.count; k++)
			partiql_respond_item(run->call, run->statement->columns,
					     page->found.rows[k].image);
		call_charge(run->call, &page->found.cost);
		page->bytes_before += page->found.bytes;
		left -= run->select->limit ? page->found.scanned : 0;
	}
	json_out_close(&run->call->out, ']');
	if (value_is_set(&page->found.last_key))
		write_next(run, i - 1, &page->found.last_key,
			   item_key_of_row(run->call->arena, run->plan.table, run->plan.index,
					   &page->found.last_key));
	return OK;
}

static enum code prepare(struct run *run, struct err *err)
{
	const struct partiql_statement *statement = run->statement;
	struct expressions expressions = {
		.filter = statement->where,
		.projection = statement->columns
				      ? (struct projection *)(uintptr_t)&statement->columns->paths
				      : NULL};
	enum code code = partiql_plan_select(run->call, statement, &run->plan, err);

	if (code != OK)
		return code;
	code = rules_key_paths(run->plan.table, &expressions, err);
	if (code != OK)
		return code;
	if (run->plan.index && !run->plan.index->is_local && opt_is_true(run->select->consistent))
		return err_set(err, MSG_PARTIQL_INDEX_CONSISTENT);
	run->page = (struct read_page){
		.table = run->plan.table,
		.index = run->plan.index,
		.filter = run->plan.filter,
		.projection = expressions.projection,
		.is_consistent = opt_is_true(run->select->consistent),
		.wants_image = true,
		.filters_row = true,
		.is_reverse = run->plan.is_reverse,
	};
	call_charge(
		run->call,
		&(struct cost){.table = run->plan.table}); /* shown also where no range is read */
	code = rules_select(0, run->plan.index != NULL, expressions.projection, false,
			    &run->page.select, err);
	if (code != OK)
		return code;
	return rules_select_index(run->call->arena, run->plan.index, run->page.select,
				  expressions.projection, err);
}

static enum code run_page(struct run *run, struct err *err)
{
	struct str start_after = STR_ABSENT;
	size_t first = 0;
	enum code code = prepare(run, err);

	if (code != OK)
		return code;
	if (str_is_set(run->select->next_token))
		code = read_token(run, &first, &start_after, err);
	if (code != OK)
		return code;
	return read_ranges(run, first, start_after, err);
}

/* One item by its full key: what GetItem does. A token may follow it where a Limit of 1 asks for no
 * more, as in a Query. */
static enum code run_point(struct run *run, struct read_item *read, struct err *err)
{
	struct call *call = run->call;
	struct str row_key = STR_ABSENT;
	size_t range;
	enum code code = OK;

	run->plan = (struct partiql_plan){.table = read->table, .n = 1};
	if (str_is_set(run->select->next_token))
		code = read_token(run, &range, &row_key, err);
	struct work work = {.call = call, .kind = WORK_OF_ITEM, .reads = read, .n = 1};
	if (code != OK)
		return code;
	code = work_do(&work, err);
	if (code != OK)
		return code;
	bool has_item = str_is_set(read->image) && !str_is_set(row_key);
	call_charge(call, &read->cost);
	json_out_name(&call->out, STR("Items"));
	json_out_open(&call->out, '[');
	if (has_item)
		partiql_respond_item(call, run->statement->columns, read->image);
	json_out_close(&call->out, ']');
	if (has_item && run->select->limit == 1)
		write_next(run, 0, read->key, read->row_key);
	return OK;
}

enum code partiql_select_run(struct call *call, const struct partiql_statement *statement,
			     const struct partiql_select *select, struct err *err)
{
	struct run run = {.call = call, .statement = statement, .select = select};
	struct read_item read = {.mode = opt_is_true(select->consistent) ? READ_CONSISTENT
									 : READ_EVENTUAL};
	bool is_point;
	enum code code = partiql_plan_point(call, statement, &read, &is_point, err);

	json_out_open(&call->out, '{');
	if (code != OK)
		return code;
	code = is_point && !statement->order_count ? run_point(&run, &read, err)
						   : run_page(&run, err);
	if (code != OK)
		return code;
	respond_capacity(call, select->capacity, CAPACITY_READ);
	json_out_close(&call->out, '}');
	return OK;
}
