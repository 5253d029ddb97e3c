#include "server/pull/pull_mark.h"

#include "core/base64.h"
#include "core/buf.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define MARKS "dynalith-pull" /* the table of marks */

/* The key of a segment's mark. */
static struct str mark_id(struct arena *arena, struct str table, size_t segment)
{
	return str_printf(arena, STR_FMT "/%zu", STR_ARG(table), segment);
}

enum code pull_mark_save(const struct pull *pull, struct arena *arena, struct str table,
			 const struct pull_mark *mark, struct err *err)
{
	struct str plain = str_printf(
		arena,
		"{\"rules\":\"" STR_FMT
		"\",\"items\":%llu,\"total\":%zu,\"done\":%s,\"key\":" STR_FMT "}",
		STR_ARG(pull->fingerprint), (unsigned long long)mark->items, mark->total,
		mark->is_done ? "true" : "false", STR_ARG(mark->key.n > 0 ? mark->key : STR("{}")));
	struct buf body = buf_in(arena);
	struct str answer;

	buf_printf(&body,
		   "{\"TableName\":\"" MARKS "\",\"Item\":{\"id\":{\"S\":\"" STR_FMT
		   "\"},\"mark\":{\"B\":\"",
		   STR_ARG(mark_id(arena, table, mark->segment)));
	base64_encode(fake_seal(pull->faker, arena, plain), &body);
	buf_add_lit(&body, "\"}}}");
	return pull_ask_file(pull, arena, table, "PutItem", buf_str(&body), &answer, err);
}

static enum code pull_read_mark(const struct pull *pull, struct arena *arena, struct str text,
				struct pull_mark *mark, struct err *err)
{
	const struct json *root;
	struct str sealed, plain;
	enum code code = json_parse(arena, text, &root, err);

	if (code != OK)
		return code;
	const struct json *item = json_text_get(root, "Item", JSON_OBJECT);
	struct str encoded = json_text_string(arena, json_text_get(item, "mark", JSON_OBJECT), "B");
	if (!base64_decode(arena, encoded, &sealed) ||
	    !fake_open(pull->faker, arena, sealed, &plain))
		return err_set(err, MSG_PULL_OTHER, pull->part);
	code = json_parse(arena, plain, &root, err);
	if (code != OK)
		return code;
	if (!str_eq(json_text_string(arena, root, "rules"), pull->fingerprint))
		return err_set(err, MSG_PULL_OTHER, pull->part);
	mark->items = (uint64_t)json_text_number(root, "items");
	mark->total = (size_t)json_text_number(root, "total");
	mark->is_done = json_boolean(json_member(root, "done"));
	mark->key = json_text_find(plain, STR("key"));
	if (mark->key.n <= 2)
		mark->key = STR("");
	return OK;
}

static const char marks_table[] =
	"{\"TableName\":\"" MARKS "\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
	"[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
	"\"id\",\"KeyType\":\"HASH\"}]}";

enum code pull_marks_prepare(const struct pull *pull, struct arena *arena, struct err *err)
{
	struct str answer;

	if (pull_ask_has_table(pull, arena, STR(MARKS)))
		return OK;
	return pull_ask_file(pull, arena, STR(MARKS), "CreateTable", str_of(marks_table), &answer,
			     err);
}

enum code pull_mark_find(const struct pull *pull, struct arena *arena, struct str table,
			 size_t segment, size_t total, struct pull_mark *mark, struct err *err)
{
	struct str body = str_printf(arena,
				     "{\"TableName\":\"" MARKS "\",\"ConsistentRead\":true,\"Key\":"
				     "{\"id\":{\"S\":\"" STR_FMT "\"}}}",
				     STR_ARG(mark_id(arena, table, segment))),
		   answer;
	enum code code = pull_ask_file(pull, arena, table, "GetItem", body, &answer, err);

	*mark = (struct pull_mark){.key = STR(""), .segment = segment, .total = total};
	if (code != OK)
		return code;
	if (!str_is_set(json_text_find(answer, STR("Item"))))
		return pull_mark_save(pull, arena, table, mark, err);
	return pull_read_mark(pull, arena, answer, mark, err);
}

enum code pull_marks_remove(const struct pull *pull, struct err *err)
{
	struct str answer;

	return pull_ask_file(pull, err->arena, STR(MARKS), "DeleteTable",
			     json_text_request(err->arena, "TableName", STR(MARKS)), &answer, err);
}
