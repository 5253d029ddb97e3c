#include "protocol/respond.h"


#define GB (1024.0 * 1024 * 1024)

void respond_item(struct call *call, struct str image, const struct projection *projection)
{
	struct subject subject = {.arena = call->arena, .image = image};

	if (!projection) {
		json_out_image(&call->out, image);
		return;
	}
	struct value projected = expr_project(projection, &subject);

	json_out_item(&call->out, &projected);
}

static void write_units(struct json_out *out, enum capacity_form form, struct units units)
{
	json_out_name(out, STR("CapacityUnits"));
	json_out_units(out, units.read + units.write);
	if (form == CAPACITY_TRANSACT_READ || (form == CAPACITY_TRANSACT_WRITE && units.read > 0)) {
		json_out_name(out, STR("ReadCapacityUnits"));
		json_out_units(out, units.read);
	} else if (form == CAPACITY_TRANSACT_WRITE) {
		json_out_name(out, STR("WriteCapacityUnits"));
		json_out_units(out, units.write);
	}
}

static void write_indexes(struct json_out *out, enum capacity_form form, const struct cost *cost,
			  bool is_local)
{
	bool is_open = false;

	for (size_t i = 0; i < cost->table->indexes.n; i++) {
		if (!cost->index_is_touched[i] || cost->table->indexes.v[i].is_local != is_local)
			continue;
		if (!is_open) {
			json_out_name(out, is_local ? STR("LocalSecondaryIndexes")
						    : STR("GlobalSecondaryIndexes"));
			json_out_open(out, '{');
			is_open = true;
		}
		json_out_name(out, cost->table->indexes.v[i].name);
		json_out_open(out, '{');
		write_units(out, form, cost->index[i]);
		json_out_close(out, '}');
	}
	if (is_open)
		json_out_close(out, '}');
}

static void write_vectors(struct json_out *out, const struct cost *cost)
{
	bool is_open = false;

	for (size_t i = 0; i < cost->table->indexes.vector_n; i++) {
		if (cost->vector_bytes[i] <= 0)
			continue;
		if (!is_open) {
			json_out_name(out, STR("VectorIndexes"));
			json_out_open(out, '{');
			is_open = true;
		}
		json_out_name(out, cost->table->indexes.vectors[i].name);
		json_out_open(out, '{');
		json_out_name(out, STR("VectorWriteRequestBytes"));
		json_out_units(out, cost->vector_bytes[i]);
		json_out_close(out, '}');
	}
	if (is_open)
		json_out_close(out, '}');
}

static void write_capacity(struct call *call, int wanted, enum capacity_form form,
			   const struct cost *cost)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	json_out_field_string(out, "TableName", call_named(call, cost->table));
	write_units(out, form, cost_total(cost));
	if (wanted == RETURN_CONSUMED_CAPACITY_INDEXES) {
		json_out_name(out, STR("Table"));
		json_out_open(out, '{');
		write_units(out, form, cost->base);
		json_out_close(out, '}');
		write_indexes(out, form, cost, true);
		write_indexes(out, form, cost, false);
		write_vectors(out, cost);
	}
	json_out_close(out, '}');
}

static bool is_wanted(int wanted)
{
	return wanted == RETURN_CONSUMED_CAPACITY_TOTAL ||
	       wanted == RETURN_CONSUMED_CAPACITY_INDEXES;
}

void respond_capacity(struct call *call, int wanted, enum capacity_form form)
{
	if (!is_wanted(wanted) || call->charges.n == 0)
		return;
	json_out_name(&call->out, STR("ConsumedCapacity"));
	write_capacity(call, wanted, form, &call->charges.v[0]);
}

void respond_capacities(struct call *call, int wanted, enum capacity_form form)
{
	if (!is_wanted(wanted))
		return;
	json_out_name(&call->out, STR("ConsumedCapacity"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < call->charges.n; i++) {
		const struct cost *cost = &call->charges.v[i];
		bool is_failed = cost->failed.read + cost->failed.write > 0 &&
				 cost->base.read + cost->base.write <= 0;

		if (!is_failed) /* AWS leaves a table out of which all statements failed */
			write_capacity(call, wanted, form, cost);
	}
	json_out_close(&call->out, ']');
}

static void expect_rows(struct json_out *out, const struct read_found *found)
{
	size_t bytes = 0;

	for (size_t i = 0; i < found->count; i++)
		bytes += found->rows[i].image.n;
	json_out_expect(out, found->count, bytes);
}

void respond_page(struct call *call, const struct read_page *page, int wanted)
{
	bool has_items = page->select != READ_COUNT;

	json_out_open(&call->out, '{');
	if (has_items) {
		expect_rows(&call->out, &page->found);
		json_out_name(&call->out, STR("Items"));
		json_out_open(&call->out, '[');
		for (size_t i = 0; i < page->found.count; i++) {
			const struct read_row *row = &page->found.rows[i];

			if (str_is_set(row->image))
				json_out_image(&call->out, row->image);
			else
				json_out_item(&call->out, &row->projected);
		}
		json_out_close(&call->out, ']');
	}
	json_out_field_integer(&call->out, "Count", (int64_t)page->found.count);
	json_out_field_integer(&call->out, "ScannedCount", (int64_t)page->found.scanned);
	if (value_is_set(&page->found.last_key) &&
	    !read_is_single(page)) { /* any start key would be refused */
		json_out_name(&call->out, STR("LastEvaluatedKey"));
		json_out_item(&call->out, &page->found.last_key);
	}
	call_charge(call, &page->found.cost);
	respond_capacity(call, wanted, CAPACITY_READ);
	json_out_close(&call->out, '}');
}

/* {"ItemCollectionKey": {...}, "SizeEstimateRangeGB": [low, high]} as a value. */
static void respond_collection(struct call *call, const struct table *table,
			       const struct value *item_or_key, uint64_t bytes)
{
	struct json_out *out = &call->out;
	double low = (double)(uint64_t)((double)bytes / GB);

	json_out_open(out, '{');
	json_out_name(out, STR("ItemCollectionKey"));
	json_out_open(out, '{');
	for (unsigned i = 0; i < table->keys.hash_count; i++) {
		const struct value *value =
			value_member(item_or_key, table->keys.attributes[i].name);

		if (value) {
			json_out_name(out, table->keys.attributes[i].name);
			json_out_value(out, value);
		}
	}
	json_out_close(out, '}');
	json_out_name(out, STR("SizeEstimateRangeGB"));
	json_out_open(out, '[');
	json_out_units(out, low);
	json_out_units(out, low + 1);
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static const struct value *key_holder(const struct write *write)
{
	return write->kind == WRITE_PUT ? write->item : write->key;
}

bool respond_wants_metrics(int wanted)
{
	return wanted == RETURN_ITEM_COLLECTION_METRICS_SIZE;
}

void respond_metrics(struct call *call, int wanted, const struct write *write)
{
	if (!respond_wants_metrics(wanted) || !table_has_collections(write->table))
		return;
	json_out_name(&call->out, STR("ItemCollectionMetrics"));
	respond_collection(call, write->table, key_holder(write), write->collection_bytes);
}

static bool is_same_collection(const struct write *a, const struct write *b)
{
	if (a->table != b->table)
		return false;
	for (unsigned i = 0; i < a->table->keys.hash_count; i++) {
		const struct value *x =
			value_member(key_holder(a), a->table->keys.attributes[i].name);
		const struct value *y =
			value_member(key_holder(b), a->table->keys.attributes[i].name);

		if (!x || !y || !value_equal(x, y))
			return false;
	}
	return true;
}

/* Whether write i is the first of its collection (or, with by_table, of its table) that changed
 * something. */
static bool is_first(const struct write *writes, size_t i, bool by_table)
{
	for (size_t j = 0; j < i; j++)
		if (writes[j].kind != WRITE_CHECK &&
		    (by_table ? writes[j].table == writes[i].table
			      : is_same_collection(&writes[j], &writes[i])))
			return false;
	return true;
}

static void write_table_metrics(struct call *call, const struct write *writes, size_t n,
				size_t first)
{
	json_out_name(&call->out, call_named(call, writes[first].table));
	json_out_open(&call->out, '[');
	for (size_t i = first; i < n; i++) {
		if (writes[i].table != writes[first].table || writes[i].kind == WRITE_CHECK ||
		    !is_first(writes, i, false))
			continue;
		respond_collection(call, writes[i].table, key_holder(&writes[i]),
				   writes[i].collection_bytes);
	}
	json_out_close(&call->out, ']');
}

void respond_metrics_by_table(struct call *call, int wanted, const struct write *writes, size_t n)
{
	bool is_open = false;

	if (!respond_wants_metrics(wanted))
		return;
	for (size_t i = 0; i < n; i++) {
		if (writes[i].kind == WRITE_CHECK || !table_has_collections(writes[i].table) ||
		    !is_first(writes, i, true))
			continue;
		if (!is_open) {
			json_out_name(&call->out, STR("ItemCollectionMetrics"));
			json_out_open(&call->out, '{');
			is_open = true;
		}
		write_table_metrics(call, writes, n, i);
	}
	if (is_open)
		json_out_close(&call->out, '}');
}
