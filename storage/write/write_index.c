#include "core/capacity.h"
#include "storage/index_row.h"
#include "storage/vector/vector_row.h"
#include "storage/write/write_internal.h"

#define VECTOR_BYTES_MIN                                                                           \
	1024 /* billed for a row of a vector index at least. Source: recorded answers of AWS */

/* Put and delete are billed each, by the size of the index's row; AWS: once also in a transaction,
 * whose factor is the table's alone. */
static double units_of(size_t old_size, size_t new_size)
{
	return capacity_write(old_size, new_size, false);
}

/* The filling may not have come to an item yet; then there is nothing to take out of its index, nor
 * out of the count. */
static enum code is_filled(struct write_step *step, const struct index *index, struct str key,
			   bool *is_there, struct err *err)
{
	struct str known;
	enum code code = store_get(step->txn, index_keyspace(step->write->table, index), key,
				   step->arena, &known, err);

	*is_there = code == OK && str_is_set(known);
	return code;
}

static enum code replace_index_row(struct write_step *step, const struct index *index,
				   const struct index_row *before, const struct index_row *after,
				   bool same_key, struct err *err)
{
	struct keyspace keyspace = index_keyspace(step->write->table, index);
	bool is_global = !index->is_local;
	bool is_kept = same_key && str_is_set(before->key);
	enum code code = OK;

	if (str_is_set(before->key) && !same_key) {
		code = write_note(step, keyspace, is_global, before->key, before->value, err);
		if (code != OK)
			return code;
		code = store_del(step->txn, keyspace, before->key, err);
	}
	if (code != OK)
		return code;
	if (str_is_set(after->key))
		code = write_note(step, keyspace, is_global, after->key,
				  is_kept ? before->value : STR_ABSENT, err);
	if (code != OK)
		return code;
	if (str_is_set(after->key) && !(is_kept && index->is_by_reference))
		code = index_row_put(step->txn, step->write->table, index, step->write->row_key,
				     after, err);
	return code;
}

static enum code write_index_row(struct write_step *step, size_t i, struct err *err)
{
	struct write *write = step->write;
	const struct index *index = &write->table->indexes.v[i];
	struct index_row before =
		index_row_of(step->arena, write->table, index, &write->old_item, write->old_image);
	struct index_row after =
		index_row_after(step->arena, write->table, index, &before, &write->old_item,
				&write->new_item, write->new_image);
	bool same_key =
		str_is_set(before.key) && str_is_set(after.key) && str_eq(before.key, after.key);
	double units = 0;
	enum code code = OK;

	if (!index_is_kept(index) || (same_key && str_eq(before.value, after.value)))
		return OK;
	if (same_key) {
		units = units_of(before.size, after.size);
	} else {
		units += str_is_set(before.key) ? units_of(before.size, 0) : 0;
		units += str_is_set(after.key) ? units_of(0, after.size) : 0;
	}
	if (index->is_backfilling && str_is_set(before.key)) {
		bool is_there;

		code = is_filled(step, index, before.key, &is_there, err);
		if (code != OK)
			return code;
		if (!is_there) {
			before.key = STR_ABSENT;
			before.size = 0;
		}
	}
	code = replace_index_row(step, index, &before, &after, same_key, err);
	write->cost.index[i].write += units;
	write->cost.index_is_touched[i] = units > 0;
	step->sizes[1 + i].items += str_is_set(after.key) - str_is_set(before.key);
	step->sizes[1 + i].bytes += (long long)after.size - (long long)before.size;
	return code;
}

/* Puts (value given) or deletes a row of a vector index, under a version of its own. */
static enum code change_vector(struct write_step *step, const struct index *index, struct str key,
			       struct str value, struct err *err)
{
	struct keyspace keyspace = index_keyspace(step->write->table, index);
	struct vector_version version;
	enum code code =
		vector_row_next_version(step->txn, step->arena, keyspace,
					vector_cache_seed(step->vectors), key, &version, err);

	if (code != OK)
		return code;
	vector_cache_note(step->vectors, keyspace, &version, key);
	return str_is_set(value) ? store_put(step->txn, keyspace, key, value, err)
				 : store_del(step->txn, keyspace, key, err);
}

/* Vector indexes are billed in bytes, the larger of the row's two sizes; transactions are not
 * billed twice. Source: recorded answers of AWS. */
static double vector_bytes_of(size_t old_size, size_t new_size)
{
	size_t size = old_size > new_size ? old_size : new_size;

	return size == 0 ? 0 : size < VECTOR_BYTES_MIN ? VECTOR_BYTES_MIN : (double)size;
}

static enum code write_vector_row(struct write_step *step, size_t i, struct err *err)
{
	struct write *write = step->write;
	const struct index *index = &write->table->indexes.vectors[i];
	struct index_row before =
		index_row_of(step->arena, write->table, index, &write->old_item, write->old_image);
	struct index_row after =
		index_row_of(step->arena, write->table, index, &write->new_item, write->new_image);
	bool had = str_is_set(before.key), has = str_is_set(after.key),
	     same_key = had && has && str_eq(before.key, after.key);
	struct size_change *sizes = &step->sizes[1 + write->table->indexes.n + i];

	if (!index_is_kept(index) || (!had && !has) ||
	    (same_key && str_eq(before.value, after.value)))
		return OK;
	write->cost.vector_bytes[i] +=
		same_key ? vector_bytes_of(before.size, after.size)
			 : vector_bytes_of(before.size, 0) + vector_bytes_of(0, after.size);
	if (index->is_backfilling && had) {
		enum code code = is_filled(step, index, before.key, &had, err);
		if (code != OK)
			return code;
		before.size = had ? before.size : 0;
	}
	if (had && !same_key) {
		enum code code = change_vector(step, index, before.key, STR_ABSENT, err);
		if (code != OK)
			return code;
	}
	if (has) {
		enum code code = change_vector(step, index, after.key, after.value, err);
		if (code != OK)
			return code;
	}
	sizes->items += has - had;
	sizes->bytes += (long long)after.size - (long long)before.size;
	return OK;
}

enum code write_indexes(struct write_step *step, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < step->write->table->indexes.n; i++) {
		code = write_index_row(step, i, err);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < step->write->table->indexes.vector_n; i++) {
		code = write_vector_row(step, i, err);
		if (code != OK)
			return code;
	}
	return OK;
}
