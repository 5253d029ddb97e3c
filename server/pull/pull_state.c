#include "server/pull/pull_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base64.h"
#include "core/buf.h"
#include "server/mask/mask_option.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define TAG "dynalith:pulled"
#define CHOICE 16 /* digits of the hash that says which mask it was */

/* So that all fits into a tag, which has 256 characters at most: sealed, and in base64. */
static struct str short_choice(const struct pull *pull)
{
	return (struct str){pull->choice.p, pull->choice.n < CHOICE ? pull->choice.n : CHOICE};
}

static bool is_state_kept(void)
{
	const char *secret = getenv(MASK_SECRET);

	return secret && *secret;
}

void pull_state_save(const struct pull *pull, struct arena *arena, struct str table,
		     const struct pull_state *state)
{
	struct str plain = str_printf(
		arena, "{\"r\":\"" STR_FMT "\",\"i\":\"" STR_FMT "\",\"f\":%lld,\"u\":%lld}",
		STR_ARG(short_choice(pull)), STR_ARG(state->table_id), (long long)state->from_ms,
		(long long)state->until_ms);
	struct err err = err_in(arena);
	struct buf body = buf_in(arena);
	struct str answer;

	if (!is_state_kept())
		return;
	buf_printf(&body,
		   "{\"ResourceArn\":\"" STR_FMT "\",\"Tags\":[{\"Key\":\"" TAG "\",\"Value\":\"",
		   STR_ARG(pull_ask_arn(pull, arena, table)));
	base64_encode(fake_seal(pull->faker, arena, plain), &body);
	buf_add_lit(&body, "\"}]}");
	if (pull_ask_file(pull, arena, table, "TagResource", buf_str(&body), &answer, &err) != OK)
		fprintf(stderr,
			"dynalith: warning: " STR_FMT
			"; without that tag no changes can be applied later\n",
			STR_ARG(err.message));
}

/* The tag's value in the answer of ListTagsOfResource; absent: there is none. */
static struct str pulled_tag(struct arena *arena, struct str answer)
{
	struct err ignored = err_in(arena);
	const struct json *root;

	if (json_parse(arena, answer, &root, &ignored) != OK)
		return STR_ABSENT;
	const struct json *tags = json_text_get(root, "Tags", JSON_ARRAY);
	for (const struct json *at = tags ? json_first(tags) : NULL; at; at = json_next(at)) {
		if (str_eq(json_text_string(arena, at, "Key"), STR(TAG)))
			return json_text_string(arena, at, "Value");
	}
	return STR_ABSENT;
}

enum code pull_state_find(const struct pull *pull, struct arena *arena, struct str table,
			  struct pull_state *state, bool *is_there, struct err *err)
{
	struct err own = err_in(arena);
	struct str answer, sealed, plain;
	const struct json *root;
	enum code code = pull_ask_file(
		pull, arena, table, "ListTagsOfResource",
		json_text_request(arena, "ResourceArn", pull_ask_arn(pull, arena, table)), &answer,
		err);

	*is_there = false;
	if (code != OK)
		return code;
	struct str value = pulled_tag(arena, answer);
	if (!str_is_set(value))
		return OK;
	if (!base64_decode(arena, value, &sealed) ||
	    !fake_open(pull->faker, arena, sealed, &plain) ||
	    json_parse(arena, plain, &root, &own) != OK ||
	    !str_eq(json_text_string(arena, root, "r"), short_choice(pull)))
		return err_set(err, MSG_PULL_BASE_OTHER, STR_ARG(table));
	*is_there = true;
	*state = (struct pull_state){json_text_string(arena, root, "i"),
				     (int64_t)json_text_number(root, "f"),
				     (int64_t)json_text_number(root, "u")};
	return OK;
}

static int64_t state_now_ms(void)
{
	return (int64_t)time(NULL) * 1000;
}

enum code pull_state_begin(const struct pull *pull, struct arena *arena,
			   const struct pull_table *table, struct pull_state *state,
			   struct err *err)
{
	struct err own = err_in(arena);
	bool is_there = false;
	struct str id = json_text_string(arena, table->description, "TableId");

	if (is_state_kept() &&
	    pull_state_find(pull, arena, table->name, state, &is_there, &own) != OK)
		return err_set(err, MSG_PULL_OTHER, pull->part);
	if (is_there)
		return OK;
	*state = (struct pull_state){str_is_set(id) ? id : STR(""), state_now_ms(), state_now_ms()};
	pull_state_save(pull, arena, table->name, state);
	return OK;
}

void pull_state_end(const struct pull *pull, struct arena *arena, struct str table,
		    struct pull_state *state)
{
	state->until_ms = state_now_ms();
	pull_state_save(pull, arena, table, state);
}
