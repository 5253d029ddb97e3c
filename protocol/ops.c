#include "protocol/ops.h"

/* Columns `work` of ops.def. */
enum { READS_READ = 1, READS_SEARCH = 1, READS_WRITE = 0, READS_ITEMS = 0, READS_SCHEMA = 0 };

static const struct {
	struct str name;
	enum op_service service;
	bool is_here, is_read;
	unsigned subjects;
} facts[OP_COUNT] = {
#define OPERATION(service, name, prefix, input, surface, work, subjects, asks, own)                \
	{STR_INIT(#name), SERVICE_##service, true, READS_##work, subjects},
#define ABSENT(service, name) {STR_INIT(#name), SERVICE_##service, false, false, OF_TABLE},
#include "protocol/ops.def"
};

static const struct op_service_row services[SERVICE_COUNT] = {
#define SERVICE(id, prefix, name, type) {STR_INIT(prefix), STR_INIT(name), STR_INIT(type)},
#define OPERATION(...)
#define ABSENT(...)
#include "protocol/ops.def"
};

enum op_service ops_service(enum op_id id)
{
	return facts[id].service;
}

const struct op_service_row *ops_service_row(enum op_service service)
{
	return &services[service];
}

enum op_service ops_of_target(struct str target, struct str *name)
{
	for (size_t i = 0; i < SERVICE_COUNT; i++) {
		struct str prefix = services[i].prefix;

		if (!str_starts_with(target, prefix))
			continue;
		*name = (struct str){target.p + prefix.n, target.n - prefix.n};
		return (enum op_service)i;
	}
	return SERVICE_COUNT;
}

struct str ops_target(struct arena *arena, struct str operation)
{
	enum op_id id;
	enum op_service service = ops_find(operation, &id) ? facts[id].service : SERVICE_DYNAMODB;

	return str_printf(arena, STR_FMT STR_FMT, STR_ARG(services[service].prefix),
			  STR_ARG(operation));
}

struct str ops_name(enum op_id id)
{
	return facts[id].name;
}

bool ops_is_here(enum op_id id)
{
	return facts[id].is_here;
}

unsigned ops_subjects(enum op_id id)
{
	return facts[id].subjects;
}

bool ops_is_of_items(enum op_id id)
{
	return facts[id].subjects & (OF_ITEM | OF_INDEX);
}

bool ops_is_read(enum op_id id)
{
	return facts[id].is_read;
}

bool ops_find(struct str name, enum op_id *id)
{
	for (size_t i = 0; i < OP_COUNT; i++) {
		if (str_eq(facts[i].name, name)) {
			*id = (enum op_id)i;
			return true;
		}
	}
	return false;
}
