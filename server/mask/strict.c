#include "server/mask/strict.h"

#include <stdlib.h>

#include "core/buf.h"
#include "server/mask/hashes.h"
#include "server/mask/messages.h"
#include "server/mask/rule.h"
#include "server/seed/json_text.h"

#define PATHS_SHOWN 20

struct strict {
	struct hashes afters; /* keys as they became */
	struct hashes pairs;  /* the same, with what they were */
};

struct strict *strict_new(void)
{
	return arena_checked(calloc(1, sizeof(struct strict)));
}

void strict_free(struct strict *strict)
{
	if (!strict)
		return;
	hashes_free(&strict->afters);
	hashes_free(&strict->pairs);
	free(strict);
}

/* Appends the values of the key. False: the item has no whole key, and will be refused for it. */
static bool add_key(struct buf *buf, struct arena *arena, const struct json *keys, struct str item)
{
	struct str text;

	for (const struct json *at = keys ? json_first(keys) : NULL; at; at = json_next(at)) {
		if (!rule_text_of(arena, item, json_text_string(arena, at, "AttributeName"), &text))
			return false;
		buf_printf(buf, "%zu:", text.n);
		buf_add_str(buf, text);
	}
	return true;
}

enum code strict_item(struct strict *strict, struct mask *mask, struct arena *arena,
		      struct str table, const struct json *keys, struct str item, struct str *out,
		      struct err *err)
{
	struct str masked = mask_item(mask, arena, table, item);
	struct buf key = buf_in(arena);

	buf_printf(&key, "%zu:", table.n);
	buf_add_str(&key, table);
	if (add_key(&key, arena, keys, masked)) {
		bool is_new = hashes_add(&strict->afters, buf_str(&key));

		if (!add_key(&key, arena, keys, item))
			return RESULT(OK, out, masked);
		if (!is_new && !hashes_have(&strict->pairs, buf_str(&key)))
			return err_set(err, MSG_MASK_EQUAL, STR_ARG(table));
		hashes_add(&strict->pairs, buf_str(&key));
	}
	return RESULT(OK, out, masked);
}

enum code strict_check(const struct mask *mask, struct err *err)
{
	size_t n;
	const struct mask_unknown *unknowns = mask_unknowns(mask, &n);
	struct buf paths = buf_in(err->arena);

	for (size_t i = 0; i < n && i < PATHS_SHOWN; i++)
		buf_printf(&paths, "%s" STR_FMT ": " STR_FMT " (%llu)", i > 0 ? ", " : "",
			   STR_ARG(unknowns[i].table), STR_ARG(unknowns[i].path),
			   (unsigned long long)unknowns[i].count);
	if (n > PATHS_SHOWN)
		buf_printf(&paths, ", and %zu more", n - PATHS_SHOWN);
	return n == 0 ? OK : err_set(err, MSG_MASK_UNKNOWN, STR_ARG(buf_str(&paths)));
}
