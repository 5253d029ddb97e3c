#include "storage/expiry.h"
#include "storage/write/write_internal.h"

enum code write_expiry(struct write_step *step, struct err *err)
{
	struct write *write = step->write;
	enum code code = OK;

	if (!write->table->ttl.is_enabled)
		return OK;
	struct str before = expiry_row(step->arena, write->table, write->row_key, write->old_image);
	struct str after = expiry_row(step->arena, write->table, write->row_key, write->new_image);
	if (str_is_set(before) == str_is_set(after) && str_eq(before, after))
		return OK;
	if (str_is_set(before))
		code = store_del(step->txn, table_expiry(write->table), before, err);
	if (code != OK)
		return code;
	if (str_is_set(after) && !expiry_is_too_old(after, step->now_ms))
		code = store_put(step->txn, table_expiry(write->table), after, STR("-"), err);
	return code;
}

/* Not so where the clock was turned back since the row was found. */
static bool is_due(const struct write_step *step)
{
	return str_cmp(step->write->expiry_row, expiry_bound(step->arena, step->now_ms)) < 0;
}

bool write_is_expired(const struct write_step *step)
{
	const struct write *write = step->write;

	return is_due(step) &&
	       str_eq(expiry_row(step->arena, write->table, write->row_key, write->old_image),
		      write->expiry_row);
}

enum code write_forget_expiry(struct write_step *step, struct err *err)
{
	struct write *write = step->write;

	write->new_image = write->old_image;
	return is_due(step)
		       ? store_del(step->txn, table_expiry(write->table), write->expiry_row, err)
		       : OK;
}
