#include "server/seed/seed.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "protocol/tables/policy_scope.h"
#include "protocol/wire/json_out.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"
#include "storage/monotonic.h"

#define BATCH_ITEMS 25 /* AWS: the most that BatchWriteItem takes */
#define BATCH_BYTES (4u << 20)
#define SENDS_MAX 20 /* of a batch whose items are left unprocessed */
#define PAUSE_MS 20  /* before the second; then twice as long each */
#define ACTIVE_MS 600000
#define SAY_MS 2000
#define PROBLEMS_MAX 100 /* of one file, each in a line of its own */

/* A table that was made or looked up. */
struct known {
	struct known *next;
	struct str name, hash;    /* the partition key's attribute */
	const struct json *types, *keys; /* AttributeDefinitions, KeySchema */
	bool is_made;             /* by this file */
	bool is_described;        /* the file says how it is made, whether or not it was there */
};

struct batch {
	struct arena *arena;
	struct str table;
	struct str items[BATCH_ITEMS];
	size_t n, bytes;
};

struct seed {
	const struct seed_options *options;
	struct arena *arena; /* of one file */
	struct arena *piece; /* of one request */
	const struct seed_file *file;
	bool is_within;    /* a file that another names is read */
	bool is_writing;   /* the file is read the second time */
	struct str asking; /* the region of requests; absent: the target's own */
	struct source *source;
	enum code unsent;    /* why the last operation got no answer, or OK */
	struct buf problems; /* a line each */
	size_t problem_count;
	struct known *tables;
	struct batch batch;
	uint64_t ordinal; /* of the item that is read */
	uint64_t *bad;    /* ordinals of those passed over, ascending */
	size_t bad_count, bad_next;
	struct seed_counts counts;
	int64_t said_ms;
};

struct str seed_account(struct str access_key)
{
	return str_is_set(access_key) && policy_scope_is_account(access_key) ? access_key
									     : STR("000000000000");
}

struct seed *seed_new(const struct seed_options *options)
{
	struct seed *seed = arena_checked(calloc(1, sizeof(*seed)));

	seed->options = options;
	seed->arena = arena_new(0);
	seed->piece = arena_new(1 << 20);
	seed->batch.arena = arena_new(1 << 20);
	return seed;
}

void seed_free(struct seed *seed)
{
	arena_free(seed->arena);
	arena_free(seed->piece);
	arena_free(seed->batch.arena);
	free(seed);
}

struct seed_counts seed_counts(const struct seed *seed)
{
	return seed->counts;
}

struct arena *seed_arena(const struct seed *seed)
{
	return seed->arena;
}

const char *seed_path(const struct seed *seed)
{
	return seed->file->path;
}

const struct seed_options *seed_options(const struct seed *seed)
{
	return seed->options;
}

struct source *seed_source(const struct seed *seed)
{
	return seed->source;
}

struct str seed_table_name(const struct seed *seed)
{
	bool is_named = str_is_set(seed->options->table) && !seed->is_within;

	return is_named ? seed->options->table : seed->file->table;
}

/* Carries out an operation. Where the answer is an error, *type has its name and *reason its text;
 * else *type is empty. */
static enum code ask(struct seed *seed, const struct seed_target *target, const char *operation,
		     struct str body, struct seed_reply *reply, struct str *type,
		     struct str *reason, struct err *err)
{
	const struct seed_request request = {
		operation, body, str_is_set(seed->asking) ? seed->asking : target->region,
		target->account};
	enum code code = target->send(target->context, seed->piece, &request, reply, err);

	*type = STR("");
	seed->unsent = code;
	if (code != OK)
		return code;
	if (reply->status != 200) {
		json_text_error(seed->piece, reply->body, type, reason);
		if (!str_is_set(*type))
			*type = STR("?");
		if (!str_is_set(*reason))
			*reason = str_printf(seed->piece, "status %d", reply->status);
	}
	return OK;
}

static enum code must(struct seed *seed, const struct seed_target *target, const char *operation,
		      struct str name, struct str body, struct seed_reply *reply, struct err *err)
{
	struct str type, reason;
	enum code code = ask(seed, target, operation, body, reply, &type, &reason, err);

	return code != OK || type.n == 0
		       ? code
		       : err_set(err, MSG_SEED_REFUSED, operation, STR_ARG(name), STR_ARG(reason));
}

static struct known *find(struct seed *seed, struct str name)
{
	struct known *known = seed->tables;

	while (known && !str_eq(known->name, name))
		known = known->next;
	return known;
}

/* The table's description once it is ACTIVE; NULL where there is no such table. */
static enum code describe(struct seed *seed, const struct seed_target *target, struct str name,
			  const struct json **table, struct err *err)
{
	int64_t until = monotonic_ms() + ACTIVE_MS;
	struct seed_reply reply;
	struct str type, reason;

	for (long pause = 1;; pause = pause < 200 ? pause * 2 : pause) {
		const struct json *root, *status = NULL;
		enum code code = ask(seed, target, "DescribeTable",
				     json_text_request(seed->piece, "TableName", name), &reply,
				     &type, &reason, err);

		*table = NULL;
		if (code != OK || str_eq(type, STR("ResourceNotFoundException")))
			return code;
		if (type.n > 0)
			return err_set(err, MSG_SEED_REFUSED, "DescribeTable", STR_ARG(name),
				       STR_ARG(reason));
		code = json_parse(seed->arena, str_copy(seed->arena, reply.body), &root, err);
		if (code != OK)
			return code;
		*table = json_type(root) == JSON_OBJECT ? json_member(root, "Table") : NULL;
		status = *table ? json_member(*table, "TableStatus") : NULL;
		if (status && json_type(status) == JSON_STRING &&
		    str_eq(json_string(seed->piece, status), STR("ACTIVE")))
			return OK;
		if (monotonic_ms() > until)
			return err_set(err, MSG_SEED_SLOW_TABLE, STR_ARG(name));
		monotonic_sleep_ms(pause);
	}
}

/* The first attribute of the key. */
static struct str hash_of(struct arena *arena, const struct json *table)
{
	const struct json *keys = json_member(table, "KeySchema"),
			  *first = keys ? json_first(keys) : NULL;
	const struct json *name = first ? json_member(first, "AttributeName") : NULL;

	return name ? json_string(arena, name) : STR("");
}

static enum code remember(struct seed *seed, struct str name, bool is_made, struct known **out,
			  struct err *err)
{
	const struct json *table = NULL;
	enum code code = describe(seed, &seed->options->write, name, &table, err);

	if (code != OK)
		return code;
	if (!table)
		return err_set(err, MSG_SEED_NO_TABLE, STR_ARG(name));
	struct known *known = ARENA_NEW(seed->arena, struct known);
	*known = (struct known){.next = seed->tables,
				.name = str_copy(seed->arena, name),
				.hash = hash_of(seed->arena, table),
				.types = json_member(table, "AttributeDefinitions"),
				.keys = json_member(table, "KeySchema"),
				.is_made = is_made};
	seed->tables = known;
	if (!seed->options->is_check_apart)
		return RESULT(OK, out, known);
	struct str type, reason, body = description_to_create(seed->piece, table);
	struct seed_reply reply;
	code = ask(seed, &seed->options->check, "CreateTable", body, &reply, &type, &reason,
		   err); /* one that is there already is from a file before */
	return RESULT(code, out, known);
}

static enum code known_table(struct seed *seed, struct str name, struct known **out,
			     struct err *err)
{
	struct known *known = find(seed, name);

	if (!known)
		return remember(seed, name, false, out, err);
	return RESULT(OK, out, known);
}

enum code seed_at(const struct seed *seed, size_t line, struct err *err)
{
	return seed_at_origin(seed, (struct origin){.line = line}, err);
}

enum code seed_at_origin(const struct seed *seed, struct origin origin, struct err *err)
{
	struct str reason = err->message;
	const char *path = origin.path ? origin.path : seed->file->path;

	if (seed->unsent != OK)
		return seed->unsent;
	return origin.line > 0 ? err_set(err, MSG_SEED_AT_LINE, path, origin.line, STR_ARG(reason))
			       : err_set(err, MSG_SEED_AT, path, STR_ARG(reason));
}

static struct str place_of(struct seed *seed, struct origin origin, struct str path,
			   struct str reason)
{
	struct err err = err_in(seed->arena);

	err_set(&err, MSG_SEED_PLACE, STR_ARG(path), path.n > 0 ? ": " : "", STR_ARG(reason));
	seed_at_origin(seed, origin, &err);
	return err.message;
}

void seed_refuse(struct seed *seed, struct origin origin, struct str path, struct str reason)
{
	struct str line;

	if (seed->is_writing)
		return;
	line = place_of(seed, origin, path, reason);
	if (seed->options->is_keep_going) {
		if (seed->options->warn)
			seed->options->warn(seed->options->context, line);
		seed->counts.bad++;
		return;
	}
	if (seed->problem_count++ < PROBLEMS_MAX)
		buf_printf(&seed->problems, "%s" STR_FMT, seed->problem_count > 1 ? "\n" : "",
			   STR_ARG(line));
}

void seed_warn(struct seed *seed, struct origin origin, struct str path, struct str reason)
{
	if (seed->options->is_strict)
		seed_refuse(seed, origin, path, reason);
	if (seed->is_writing || seed->options->is_strict)
		return;
	seed->counts.warnings++;
	if (seed->options->warn)
		seed->options->warn(seed->options->context,
				    str_printf(seed->arena, "warning: " STR_FMT,
					       STR_ARG(place_of(seed, origin, path, reason))));
}

bool seed_has_problems(const struct seed *seed)
{
	return seed->problem_count > 0;
}

static void refuse_unused(void *context, struct origin origin, struct str path)
{
	seed_refuse(context, origin, path,
		    STR("not known here, or of another type than it must have"));
}

void seed_refuse_unused(struct seed *seed, const struct json *root, struct str path)
{
	source_left_out(seed->source, root, path, refuse_unused, seed);
}

static enum code ask_and_wait(struct seed *seed, struct str name,
			      const struct seed_request *request, struct err *err)
{
	struct seed_reply reply;
	const struct json *table;
	enum code code = must(seed, &seed->options->write, request->operation, name, request->body,
			      &reply, err);

	if (code != OK || strcmp(request->operation, "UpdateTable") != 0)
		return code;
	return describe(seed, &seed->options->write, name, &table, err);
}

/* The requests behind CreateTable, each in its region; a table that changes is waited for. */
static enum code follow_up(struct seed *seed, struct str name, const struct seed_request *request,
			   struct err *err)
{
	seed->asking = request->region;
	enum code code = ask_and_wait(seed, name, request, err);
	seed->asking = STR_ABSENT;
	return code;
}

static struct str unprotected_body(struct seed *seed, struct str name)
{
	struct json_out out = json_out_in(seed->piece);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	json_out_field_boolean(&out, "DeletionProtectionEnabled", false);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

/* In that region, or in the target's own. False: it cannot be reached any more. */
static bool delete_table(struct seed *seed, struct str name, struct str region)
{
	const struct seed_target *target = &seed->options->write;
	struct err err = err_in(seed->piece);
	struct seed_reply reply;
	struct str type, reason;

	seed->asking = region;
	bool is_reached =
		ask(seed, target, "UpdateTable", unprotected_body(seed, name), &reply, &type,
		    &reason, &err) == OK &&
		ask(seed, target, "DeleteTable", json_text_request(seed->piece, "TableName", name),
		    &reply, &type, &reason, &err) == OK;
	seed->asking = STR_ABSENT;
	return is_reached;
}

static void say_progress(struct seed *seed)
{
	int64_t now = monotonic_ms();

	if (!seed->options->say || now - seed->said_ms < SAY_MS)
		return;
	seed->said_ms = now;
	seed->options->say(seed->options->context,
			   str_printf(seed->piece, "%s: %llu items so far", seed->file->path,
				      (unsigned long long)seed->counts.items));
}

static int64_t number_at(const struct json *object, const char *name)
{
	const struct json *value = json_text_get(object, name, JSON_NUMBER);
	int64_t number = 0;

	return value && json_integer(value, &number) ? number : 0;
}

/* The import of that ARN, when it has ended. */
static enum code import_end(struct seed *seed, struct str name, struct str arn,
			    const struct json **import, struct err *err)
{
	struct seed_reply reply;
	const struct json *root;

	for (long pause = 1;; pause = pause < 200 ? pause * 2 : pause) {
		struct json_out out = json_out_in(seed->piece);

		json_out_open(&out, '{');
		json_out_field_string(&out, "ImportArn", arn);
		json_out_close(&out, '}');
		enum code code = must(seed, &seed->options->write, "DescribeImport", name,
				      json_out_str(&out), &reply, err);
		if (code != OK)
			return code;
		code = json_parse(seed->piece, reply.body, &root, err);
		if (code != OK)
			return code;
		*import = json_text_get(root, "ImportTableDescription", JSON_OBJECT);
		if (!str_eq(json_text_string(seed->piece, *import, "ImportStatus"),
			    STR("IN_PROGRESS")))
			return OK;
		say_progress(seed);
		monotonic_sleep_ms(pause);
	}
}

/* Waits until all items are there. Records that are no items are errors, or passed over. */
static enum code import_wait(struct seed *seed, struct str name, struct str answer, struct err *err)
{
	const struct json *root, *import;
	enum code code = json_parse(seed->piece, answer, &root, err);

	if (code != OK)
		return code;
	import = json_text_get(root, "ImportTableDescription", JSON_OBJECT);
	struct str arn = json_text_string(seed->arena, import, "ImportArn");
	code = import_end(seed, name, str_is_set(arn) ? arn : STR(""), &import, err);
	if (code != OK)
		return code;
	struct str status = json_text_string(seed->piece, import, "ImportStatus"),
		   kind = json_text_string(seed->piece, import, "FailureCode"),
		   why = json_text_string(seed->piece, import, "FailureMessage");
	int64_t bad = number_at(import, "ErrorCount");
	if (!str_eq(status, STR("COMPLETED")) && bad == 0)
		return err_set(err, MSG_SEED_IMPORT_FAILED, STR_ARG(name),
			       STR_ARG(str_is_set(kind) ? kind : STR("it failed")),
			       STR_ARG(str_is_set(why) ? why : STR("no reason")));
	seed->counts.items += (uint64_t)number_at(import, "ImportedItemCount");
	if (bad == 0)
		return OK;
	struct str id = arn;
	while (str_contains(id, STR("/")))
		str_cut(&id, '/');
	err_set(err, MSG_SEED_IMPORT, STR_ARG(name), (long long)bad,
		(long long)number_at(import, "ProcessedItemCount"), STR_ARG(id));
	if (!seed->options->is_keep_going)
		return err->code;
	if (seed->options->warn)
		seed->options->warn(seed->options->context, err->message);
	seed->counts.bad += (uint64_t)bad;
	return OK;
}

/* By CreateTable or ImportTable, and what follows. */
static enum code make_table(struct seed *seed, const char *operation, struct str name,
			    struct str body, const struct seed_request *follow_ups, size_t n,
			    struct err *err)
{
	struct seed_reply reply;
	struct str type, reason;
	struct known *known;
	enum code code =
		ask(seed, &seed->options->write, operation, body, &reply, &type, &reason, err);

	if (code != OK)
		return code;
	bool is_there = str_eq(type, STR("ResourceInUseException")), is_made = type.n == 0;
	if (!is_there && !is_made)
		return err_set(err, MSG_SEED_REFUSED, operation, STR_ARG(name), STR_ARG(reason));
	seed->counts.tables += is_made;
	seed->counts.tables_there += is_there;
	if (is_made && strcmp(operation, "ImportTable") == 0)
		code = import_wait(seed, name, reply.body, err);
	if (code != OK) { /* an import that failed may leave its table */
		seed->counts.tables--;
		delete_table(seed, name, STR_ABSENT);
		return code;
	}
	code = remember(seed, name, is_made, &known, err);
	if (code == OK)
		known->is_described = true;
	for (size_t i = 0; i < n && code == OK && is_made; i++)
		code = follow_up(seed, name, &follow_ups[i], err);
	return code;
}

static enum code make_at(struct seed *seed, const char *operation, struct origin origin,
			 struct str name, struct str body, const struct seed_request *follow_ups,
			 size_t n, struct err *err)
{
	if (seed->is_writing || seed->problem_count > 0)
		return OK; /* the file is refused */
	const struct known *known = find(seed, name);
	if (known && known->is_described) {
		err_set(err, MSG_SEED_TWICE, STR_ARG(name));
		return seed_at_origin(seed, origin, err);
	}
	enum code code = make_table(seed, operation, name, body, follow_ups, n, err);
	arena_reset(seed->piece);
	return code == OK ? OK : seed_at_origin(seed, origin, err);
}

enum code seed_table(struct seed *seed, struct origin origin, struct str name, struct str body,
		     const struct seed_request *follow_ups, size_t n, struct err *err)
{
	return make_at(seed, "CreateTable", origin, name, body, follow_ups, n, err);
}

enum code seed_import(struct seed *seed, struct origin origin, struct str name, struct str body,
		      const struct seed_request *follow_ups, size_t n, struct err *err)
{
	if (seed->options->change) {
		err_set(err, MSG_SEED_IMPORT_MASK, STR_ARG(name));
		return seed_at_origin(seed, origin, err);
	}
	return make_at(seed, "ImportTable", origin, name, body, follow_ups, n, err);
}

static void add_bad(struct seed *seed)
{
	uint64_t *room = arena_room(seed->arena, seed->bad, seed->bad_count, sizeof(*seed->bad));

	seed->bad = room;
	seed->bad[seed->bad_count++] = seed->ordinal;
}

static enum code pass_over(struct seed *seed, size_t line, struct err *err)
{
	enum code code = seed_at(seed, line, err);

	if (!seed->options->is_keep_going)
		return code;
	if (seed->options->warn)
		seed->options->warn(seed->options->context, err->message);
	seed->counts.bad++;
	return OK;
}

enum code seed_bad_line(struct seed *seed, size_t line, struct err *err)
{
	return seed->is_writing ? OK : pass_over(seed, line, err);
}

static void begin_put(struct json_out *out, struct str table, struct str item)
{
	json_out_open(out, '{');
	json_out_field_string(out, "TableName", table);
	json_out_name(out, STR("Item"));
	buf_add_str(&out->buf, item);
	out->needs_comma = true;
}

/* A write that is refused by its condition, unless something is wrong with the item. */
static enum code try_item(struct seed *seed, struct str table, struct str item, struct err *err)
{
	struct json_out out = json_out_in(seed->piece);
	struct seed_reply reply;
	struct known *known;
	struct str type, reason;
	enum code code = known_table(seed, table, &known, err);

	if (code != OK)
		return code;
	begin_put(&out, table, item);
	json_out_field_string(&out, "ConditionExpression",
			      STR("attribute_exists(#k) AND attribute_not_exists(#k)"));
	json_out_name(&out, STR("ExpressionAttributeNames"));
	json_out_open(&out, '{');
	json_out_field_string(&out, "#k", known->hash);
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	code = ask(seed, &seed->options->check, "PutItem", json_out_str(&out), &reply, &type,
		   &reason, err);
	if (code != OK || type.n == 0 || str_eq(type, STR("ConditionalCheckFailedException")))
		return code;
	return err_set(err, MSG_SEED_ITEM, STR_ARG(reason));
}

/* The items one by one, in their order: of a batch that holds a key twice. */
static enum code put_singly(struct seed *seed, const struct batch *batch, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < batch->n && code == OK; i++) {
		struct json_out out = json_out_in(seed->piece);
		struct seed_reply reply;

		begin_put(&out, batch->table, batch->items[i]);
		json_out_close(&out, '}');
		code = must(seed, &seed->options->write, "PutItem", batch->table,
			    json_out_str(&out), &reply, err);
	}
	return code;
}

static struct str batch_items(struct arena *arena, const struct batch *batch)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_name(&out, batch->table);
	json_out_open(&out, '[');
	for (size_t i = 0; i < batch->n; i++) {
		buf_printf(&out.buf, "%s{\"PutRequest\":{\"Item\":", i > 0 ? "," : "");
		buf_add_str(&out.buf, batch->items[i]);
		buf_add_lit(&out.buf, "}}");
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static struct str batch_body(struct arena *arena, struct str items)
{
	return str_printf(arena, "{\"RequestItems\":" STR_FMT "}", STR_ARG(items));
}

/* Sends what is left until nothing is. */
static enum code put_batch(struct seed *seed, const struct batch *batch, struct err *err)
{
	struct str items = batch_items(seed->piece, batch);
	long pause = PAUSE_MS;

	for (unsigned sends = 0; sends < SENDS_MAX; sends++) {
		struct seed_reply reply;
		struct str type, reason;
		enum code code = ask(seed, &seed->options->write, "BatchWriteItem",
				     batch_body(seed->piece, items), &reply, &type, &reason, err);

		if (code != OK)
			return code;
		if (type.n > 0 && sends == 0 && str_eq(type, STR("ValidationException")))
			return put_singly(seed, batch, err);
		if (type.n > 0 && reply.status < 500)
			return err_set(err, MSG_SEED_REFUSED, "BatchWriteItem",
				       STR_ARG(batch->table), STR_ARG(reason));
		if (type.n == 0) {
			items = json_text_find(reply.body, STR("UnprocessedItems"));
			if (!str_is_set(items) || str_eq(items, STR("{}")))
				return OK;
		}
		monotonic_sleep_ms(pause);
		pause = pause < 2000 ? pause * 2 : pause;
	}
	return err_set(err, MSG_SEED_UNPROCESSED);
}

static enum code flush(struct seed *seed, struct err *err)
{
	struct batch *batch = &seed->batch;
	enum code code = batch->n > 0 ? put_batch(seed, batch, err) : OK;

	if (code == OK)
		seed->counts.items += batch->n;
	say_progress(seed);
	batch->n = 0;
	batch->bytes = 0;
	arena_reset(batch->arena);
	return code == OK ? OK : seed_at(seed, 0, err);
}

static enum code add_to_batch(struct seed *seed, struct str table, struct str item, struct err *err)
{
	struct batch *batch = &seed->batch;

	if (batch->n == BATCH_ITEMS || batch->bytes + item.n > BATCH_BYTES ||
	    (batch->n > 0 && !str_eq(batch->table, table))) {
		enum code code = flush(seed, err);

		if (code != OK)
			return code;
	}
	if (batch->n == 0)
		batch->table = str_copy(batch->arena, table);
	batch->items[batch->n++] = str_copy(batch->arena, item);
	batch->bytes += item.n;
	return OK;
}

static enum code change_item(struct seed *seed, struct str table, struct str *item, struct err *err)
{
	const struct seed_options *options = seed->options;
	struct known *known;

	if (!options->change)
		return OK;
	enum code code = known_table(seed, table, &known, err);
	if (code != OK)
		return code;
	return options->change(options->change_context, seed->piece, table, known->keys, *item,
			       item, err);
}

static enum code judge_item(struct seed *seed, struct str table, struct str item, struct err *err)
{
	struct str twice = json_text_twice(seed->piece, item);

	if (str_is_set(twice))
		return err_set(err, MSG_SEED_ATTRIBUTE_TWICE, STR_ARG(twice));
	enum code code = change_item(seed, table, &item, err);
	if (code != OK)
		return code;
	return try_item(seed, table, item, err);
}

/* The first reading: a bad item is remembered where it is passed over. */
static enum code check_item(struct seed *seed, struct str table, struct str item, size_t line,
			    struct err *err)
{
	enum code code = judge_item(seed, table, item, err);

	if (code == OK)
		return OK;
	code = pass_over(seed, line, err);
	if (code != OK)
		return code;
	add_bad(seed);
	return OK;
}

/* The second one. */
static enum code write_item(struct seed *seed, struct str table, struct str item, struct err *err)
{
	if (seed->bad_next < seed->bad_count && seed->bad[seed->bad_next] == seed->ordinal) {
		seed->bad_next++;
		return OK;
	}
	enum code code = change_item(seed, table, &item, err);
	if (code != OK)
		return seed_at(seed, 0, err);
	return add_to_batch(seed, table, item, err);
}

enum code seed_item(struct seed *seed, struct str table, struct str item, size_t line,
		    struct err *err)
{
	enum code code = OK;

	seed->ordinal++;
	if (seed->is_writing)
		code = write_item(seed, table, item, err);
	else if (seed->problem_count == 0)
		code = check_item(seed, table, item, line, err);
	arena_reset(seed->piece);
	return code;
}

enum code seed_key_type(struct seed *seed, struct str table, struct str attribute, struct str *type,
			struct err *err)
{
	struct known *known;
	enum code code = known_table(seed, table, &known, err);

	*type = STR_ABSENT;
	for (const struct json *at = code == OK && known->types ? json_first(known->types) : NULL;
	     at; at = json_next(at)) {
		const struct json *name = json_member(at, "AttributeName"),
				  *kind = json_member(at, "AttributeType");

		if (name && kind && str_eq(json_string(seed->arena, name), attribute))
			*type = json_string(seed->arena, kind);
	}
	return code;
}

/* Its replicas in other regions; false: it cannot be reached any more. */
static bool delete_replicas(struct seed *seed, struct str name)
{
	struct err err = err_in(seed->piece);
	const struct json *table, *replicas;

	if (describe(seed, &seed->options->write, name, &table, &err) != OK)
		return false;
	replicas = json_text_get(table, "Replicas", JSON_ARRAY);
	for (const struct json *at = replicas ? json_first(replicas) : NULL; at;
	     at = json_next(at)) {
		struct str region = json_text_string(seed->piece, at, "RegionName");

		if (str_is_set(region) && !delete_table(seed, name, region))
			return false;
	}
	return true;
}

/* What the file has made until now goes away again, replicas first. */
static void take_back(struct seed *seed)
{
	for (const struct known *known = seed->tables; known; known = known->next) {
		if (!known->is_made)
			continue;
		seed->counts.tables--;
		if (!delete_replicas(seed, known->name) ||
		    !delete_table(seed, known->name, STR_ABSENT))
			return;
	}
}

/* What was read makes something, and all of it is carried out; else the reason. */
static enum code judge(struct seed *seed, struct seed_counts before, struct err *err)
{
	struct seed_counts now = seed->counts;
	bool is_nothing = seed->ordinal == 0 && now.tables == before.tables &&
			  now.tables_there == before.tables_there && now.bad == before.bad &&
			  now.warnings == before.warnings;

	if (is_nothing && seed->problem_count == 0)
		seed_warn(seed, (struct origin){NULL, 0}, STR(""),
			  STR("it makes neither a table nor an item"));
	if (seed->problem_count == 0)
		return OK;
	if (seed->problem_count > PROBLEMS_MAX)
		buf_printf(&seed->problems, "\n%s: and %zu more", seed->file->path,
			   seed->problem_count - PROBLEMS_MAX);
	return err_set(err, MSG_SEED_ITEM, STR_ARG(buf_str(&seed->problems)));
}

static void warn_twice(void *context, struct origin origin, struct str name)
{
	seed_warn(context, origin, name, STR("stands twice in its map: the last one counts"));
}

/* The first time, which writes nothing. */
static enum code read_first(struct seed *seed, struct err *err)
{
	struct seed_counts before = seed->counts;
	enum code code = seed->file->read(seed, seed->file, err);

	source_twice(seed->source, warn_twice, seed);
	if (code == OK)
		return judge(seed, before, err);
	if (seed->problem_count > 0)
		err_set(err, MSG_SEED_BOTH, STR_ARG(buf_str(&seed->problems)),
			STR_ARG(err->message));
	return code;
}

static enum code read_twice(struct seed *seed, struct err *err)
{
	enum code code = read_first(seed, err);
	if (code != OK) {
		take_back(seed);
		return code;
	}
	if (seed->options->is_trial) {
		seed->counts.items += seed->ordinal - seed->bad_count;
		return OK;
	}
	seed->is_writing = true;
	seed->ordinal = 0;
	seed->source = source_new(seed->arena);
	code = seed->file->read(seed, seed->file, err);
	if (code != OK)
		return code;
	return flush(seed, err);
}

enum code seed_read_within(struct seed *seed, const struct seed_file *file, struct err *err)
{
	const struct seed_file *outer = seed->file;

	seed->file = file;
	seed->is_within = true;
	enum code code = file->read(seed, file, err);
	seed->file = outer;
	seed->is_within = false;
	return code;
}

enum code seed_load(struct seed *seed, const struct seed_file *file, struct err *err)
{
	seed->file = file;
	seed->said_ms = monotonic_ms();
	seed->is_writing = false;
	seed->source = source_new(seed->arena);
	seed->problems = buf_in(seed->arena);
	seed->problem_count = 0;
	seed->tables = NULL;
	seed->bad = NULL;
	seed->bad_count = seed->bad_next = 0;
	seed->ordinal = 0;
	enum code code = read_twice(seed, err);
	struct str message = str_copy(err->arena, err->message);
	seed->tables = NULL;
	seed->batch.n = seed->batch.bytes = 0;
	arena_reset(seed->batch.arena);
	arena_reset(seed->piece);
	arena_reset(seed->arena);
	if (code != OK)
		err->message = message;
	return code;
}
