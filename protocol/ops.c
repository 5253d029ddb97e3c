#include "protocol/ops.h"

/* Columns `work` of ops.def. */
enum { READS_READ = 1, READS_SEARCH = 1, READS_WRITE = 0, READS_ITEMS = 0, READS_SCHEMA = 0 };

static const struct {
	struct str name;
	bool is_here, is_read;
	unsigned subjects;
} facts[OP_COUNT] = {
#define OPERATION(service, name, prefix, input, surface, work, subjects, asks, own) \
	{STR_INIT(#name), true, READS_##work, subjects},
#define ABSENT(service, name) {STR_INIT(#name), false, false, OF_TABLE},
#include "protocol/ops.def"
};

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
