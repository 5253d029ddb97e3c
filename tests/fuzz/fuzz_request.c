/* A whole request against a store in memory: the first line is the operation, the rest the body. */
#include <stdint.h>
#include <stdlib.h>

#include "protocol/op.h"
#include "storage/sqlite/sqlite_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t now(void *context)
{
	(void)context;
	return 1700000000000;
}

static enum code let_in(void *context, struct ns *ns, struct err *err)
{
	(void)context, (void)err;
	*ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	return OK;
}

static struct arena *arena;
static struct service service = {.now_ms = now};

/* `op` is a name, or with a point in it a whole target. */
static void call(struct str op, struct str body)
{
	bool is_target = str_contains(op, STR("."));
	struct op_request request = {
		.arena = arena, .target = str_printf(arena, "%s" STR_FMT, is_target ? "" : "DynamoDB_20120810.", STR_ARG(op)), .body = body,
		.authenticate = let_in,
	};
	struct op_response response;

	op_run(&service, &request, &response);
	if (response.code != OK && response.status >= 500)
		abort(); /* no input may look like our own failure */
}

static void set_up(void)
{
	struct sqlite_store_options options = {.readers = 1, .cache_bytes = 1 << 20};
	struct catalog_options catalog_options = {.vector_memory_bytes = 1 << 20};
	struct err err;
	struct store *store;

	arena = arena_new(1 << 22);
	err = err_in(arena);
	if (sqlite_store_open(&options, &store, &err) != OK || catalog_open(store, &catalog_options, &service.catalog, &err) != OK)
		abort();
	call(STR("CreateTable"),
	     STR("{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":"
		 "\"S\"},{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"},{\"AttributeName\":\"g\",\"AttributeType\":\"S\"}],\"KeySchema\":[{"
		 "\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],\"GlobalSecondaryIndexes\":[{"
		 "\"IndexName\":\"gsi\",\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":"
		 "\"KEYS_ONLY\"}}],\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}}"));
	call(STR("CreateTable"),
	     STR("{\"TableName\":\"vec\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":"
		 "\"S\"},{\"AttributeName\":\"tenant\",\"AttributeType\":\"S\"},{\"AttributeName\":\"category\",\"AttributeType\":\"S\"}],"
		 "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],\"VectorIndexes\":[{\"IndexName\":\"cosine\","
		 "\"VectorAttribute\":{\"AttributeName\":\"embedding\"},\"Dimensions\":3,\"DistanceFunction\":\"COSINE\",\"Projection\":{"
		 "\"ProjectionType\":\"ALL\"}},{\"IndexName\":\"schema\",\"VectorAttribute\":{\"AttributeName\":\"embedding\"},\"Dimensions\":3,"
		 "\"DistanceFunction\":\"EUCLIDEAN\",\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"},\"SearchSchema\":[{\"AttributeName\":"
		 "\"tenant\",\"SearchSchemaElementType\":\"HASH\"},{\"AttributeName\":\"category\",\"SearchSchemaElementType\":"
		 "\"INLINE_FILTER\"}]}]}"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;

	if (!end)
		return 0;
	if (!arena)
		set_up();
	arena_reset(arena);
	call((struct str){(const char *)data, (size_t)(end - data)},
	     (struct str){(const char *)end + 1, size - (size_t)(end - data) - 1});
	return 0;
}
