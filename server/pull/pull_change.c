#include "server/pull/pull_change.h"

#include "core/buf.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "server/pull/pull_choice.h"
#include "server/seed/json_text.h"

#define KEYS_MAX 2 /* attributes of a key */

static const struct json *key_schema(const struct pull_table *table)
{
	return json_text_get(table->description, "KeySchema", JSON_ARRAY);
}

static size_t key_names(const struct pull_table *table, struct arena *arena,
			struct str names[KEYS_MAX])
{
	const struct json *keys = key_schema(table);
	size_t n = 0;

	for (const struct json *at = keys ? json_first(keys) : NULL; at && n < KEYS_MAX;
	     at = json_next(at))
		names[n++] = json_text_string(arena, at, "AttributeName");
	return n;
}

bool pull_change_needs_old(const struct pull *pull, const struct pull_table *table,
			   struct arena *arena)
{
	struct str names[KEYS_MAX];
	size_t n = key_names(table, arena, names);

	return mask_depends(pull->mask, table->name, names, n);
}

static struct str item_text(struct arena *arena, const struct value *item)
{
	struct json_out out = json_out_in(arena);

	json_out_item(&out, item);
	return json_out_str(&out);
}

/* The key of an item, as JSON; empty: it has no whole one. */
static struct str key_of_item(const struct pull_table *table, struct arena *arena, struct str item)
{
	struct str names[KEYS_MAX], rest = json_text_inside(item), name, value;
	size_t n = key_names(table, arena, names), found = 0;
	struct buf key = buf_in(arena);

	while (json_text_member(&rest, &name, &value)) {
		struct str quoted = {name.p - 1, name.n + 2},
			   plain = json_text_unquoted(arena, quoted);

		for (size_t i = 0; i < n; i++) {
			if (!str_eq(plain, names[i]))
				continue;
			buf_printf(&key, "%s" STR_FMT ":", found++ > 0 ? "," : "{",
				   STR_ARG(quoted));
			buf_add_str(&key, value);
		}
	}
	buf_add_byte(&key, '}');
	return found == n ? buf_str(&key) : STR("");
}

/* The key that an item had, masked. Other attributes that no rule names any more do not matter. */
static struct str masked_old_key(const struct pull_page *page, struct str item)
{
	size_t unknown;

	(void)mask_unknowns(page->pull->mask, &unknown);
	struct str masked = mask_item(page->pull->mask, page->arena, page->table->name, item);
	if (unknown == 0)
		mask_forget_unknowns(page->pull->mask);
	return key_of_item(page->table, page->arena, masked);
}

static enum code change_put(struct pull_page *page, struct strict *strict, struct str item,
			    struct str old_key, struct err *err)
{
	struct str masked;
	enum code code = strict_item(strict, page->pull->mask, page->arena, page->table->name,
				     key_schema(page->table), item, &masked, err);

	if (code != OK)
		return code;
	struct str key = key_of_item(page->table, page->arena, masked);
	if (old_key.n > 0 && !str_eq(old_key, key)) {
		code = pull_page_remove(page, old_key, err);
		if (code != OK)
			return code;
	}
	return pull_page_put(page, masked, err);
}

enum code pull_change_add(struct pull_page *page, struct strict *strict,
			  const struct record_put *record, struct err *err)
{
	const struct pull *pull = page->pull;
	struct str keys = item_text(page->arena, record->keys),
		   old = record->old_image ? item_text(page->arena, record->old_image) : keys,
		   item = record->new_image ? item_text(page->arena, record->new_image) : STR("");

	/* outside of the sample before and now */
	if (pull->only_count == 0 && !pull_choice_has(pull, page->table, page->arena, keys))
		return OK;
	bool is_put = item.n > 0 && pull_choice_has(pull, page->table, page->arena, item);
	/* without an old image an item that is put has the key that it had, or is new */
	struct str old_key = is_put && !record->old_image ? STR("") : masked_old_key(page, old);
	if (is_put)
		return change_put(page, strict, item, old_key, err);
	if (old_key.n == 0)
		return err_set(err, MSG_PULL_KEY, STR_ARG(page->table->name));
	return pull_page_remove(page, old_key, err);
}
