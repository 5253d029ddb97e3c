#include "server/importers/dynamodb_local.h"

#include "protocol/wire/json_out.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"
#include "storage/store/sqlite/foreign_file.h"

/* The key under the empty name of SQLiteIndex. */
static void add_key(struct json_out *out, struct arena *arena, const struct json *info)
{
	const struct json *key =
		json_text_get(json_text_get(info, "SQLiteIndex", JSON_OBJECT), "", JSON_ARRAY);

	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	for (const struct json *part = key ? json_first(key) : NULL; part; part = json_next(part)) {
		const struct json *name =
			json_text_get(json_text_get(part, "DynamoDBAttribute", JSON_OBJECT),
				      "AttributeName", JSON_STRING);
		const struct json *type = json_text_get(part, "KeyType", JSON_STRING);

		if (!name || !type)
			continue;
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", json_string(arena, name));
		json_out_field_string(out, "KeyType", json_string(arena, type));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void copy(struct json_out *out, struct arena *arena, const struct json *from,
		 const char *name, const char *as)
{
	const struct json *found = json_text_get(from, name, JSON_ARRAY);

	if (!found || !json_first(found))
		return;
	json_out_name(out, str_of(as));
	json_text_write(out, arena, found);
}

static void add_stream(struct json_out *out, struct arena *arena, struct str info)
{
	struct err err = err_in(arena);
	const struct json *root, *view = NULL;

	if (str_is_set(info) && json_parse(arena, info, &root, &err) == OK)
		view = json_text_get(root, "StreamViewType", JSON_STRING);
	if (!view)
		return;
	json_out_name(out, STR("StreamSpecification"));
	json_out_open(out, '{');
	json_out_field_boolean(out, "StreamEnabled", true);
	json_out_field_string(out, "StreamViewType", json_string(arena, view));
	json_out_close(out, '}');
}

static struct str create_body(struct arena *arena, const struct foreign_table *table,
			      const struct json *info)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", table->name);
	copy(&out, arena, info, "Attributes", "AttributeDefinitions");
	add_key(&out, arena, info);
	copy(&out, arena, info, "GSIList", "GlobalSecondaryIndexes");
	copy(&out, arena, info, "LSIList", "LocalSecondaryIndexes");
	add_stream(&out, arena, table->stream_info);
	if (table->is_protected)
		json_out_field_boolean(&out, "DeletionProtectionEnabled", true);
	json_out_field_string(&out, "BillingMode",
			      table->is_on_demand ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
	if (!table->is_on_demand) {
		json_out_name(&out, STR("ProvisionedThroughput"));
		json_out_open(&out, '{');
		json_out_field_integer(&out, "ReadCapacityUnits", table->read_units);
		json_out_field_integer(&out, "WriteCapacityUnits", table->write_units);
		json_out_close(&out, '}');
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static size_t add_follow_ups(struct arena *arena, const struct foreign_table *table,
			     const struct json *info, struct seed_request *follow_up)
{
	const struct json *ttl = json_text_get(info, "TimeToLiveAttributeName", JSON_STRING);

	if (!ttl)
		return 0;
	*follow_up = (struct seed_request){
		.operation = "UpdateTimeToLive",
		.body = description_to_expire(arena, table->name, json_string(arena, ttl))};
	return 1;
}

struct reading {
	struct seed *seed;
	struct str table;
	struct err *err;
};

static enum code put(void *context, struct str item)
{
	struct reading *reading = context;

	return seed_item(reading->seed, reading->table, item, 0, reading->err);
}

static enum code read_table(struct seed *seed, struct foreign_file *file,
			    const struct foreign_table *table, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct reading reading = {seed, table->name, err};
	struct seed_request follow_up;
	const struct json *info;
	enum code code = json_parse(arena, table->info, &info, err);

	if (code != OK)
		return code;
	size_t n = add_follow_ups(arena, table, info, &follow_up);
	code = seed_table(seed, (struct origin){NULL, 0}, table->name,
			  create_body(arena, table, info), &follow_up, n, err);
	return code == OK ? foreign_file_items(file, table->name, put, &reading, err) : code;
}

enum code dynamodb_local_read(struct seed *seed, const struct seed_file *file, struct err *err)
{
	const struct foreign_table *tables;
	struct foreign_file *opened;
	size_t n;

	if (foreign_file_open(file->path, &opened, err) != OK)
		return err->code;
	enum code code = foreign_file_tables(opened, seed_arena(seed), &tables, &n, err);
	for (size_t i = 0; i < n && code == OK; i++)
		code = read_table(seed, opened, &tables[i], err);
	foreign_file_close(opened);
	return code;
}
