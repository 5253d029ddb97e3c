/*
 * ops - the operations by their numbers, and the facts of ops.def that more than one feature reads.
 */
#ifndef DYNALITH_PROTOCOL_OPS_H
#define DYNALITH_PROTOCOL_OPS_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

/* OP_PutItem ...: all rows of ops.def, in its order. */
enum op_id {
#define OPERATION(service, name, ...) OP_##name,
#define ABSENT(service, name) OP_##name,
#include "protocol/ops.def"
	OP_COUNT
};

enum op_service {
#define SERVICE(id, ...) SERVICE_##id,
#define OPERATION(...)
#define ABSENT(...)
#include "protocol/ops.def"
	SERVICE_COUNT
};

/* The rest of a row of SERVICE. */
struct op_service_row {
	struct str prefix;       /* of X-Amz-Target, with its dot */
	struct str name;         /* "dynamodb" */
	struct str content_type; /* of answers */
};

/* What an operation has that a fault rule or a pattern can be about. */
enum op_subject {
	OF_TABLE = 1 << 0,
	OF_ITEM = 1 << 1, /* a key at least */
	OF_INDEX = 1 << 2,
	OF_PAGE = 1 << 3,
	OF_BATCH = 1 << 4,
	OF_TRANSACTION = 1 << 5,
	OF_RECORDS = 1 << 6,
};

/* "PutItem" */
struct str ops_name(enum op_id id);

/* Whether it exists here and not in AWS alone. */
bool ops_is_here(enum op_id id);

/* A set of enum op_subject. */
unsigned ops_subjects(enum op_id id);

/* Whether it reads or writes items. */
bool ops_is_of_items(enum op_id id);

/* Whether it changes nothing. PartiQL's operations may: they are none. */
bool ops_is_read(enum op_id id);

/* The operation of that name, of any service; false where there is none. */
bool ops_find(struct str name, enum op_id *id);

enum op_service ops_service(enum op_id id);
const struct op_service_row *ops_service_row(enum op_service service);

/* The service of an X-Amz-Target, and the operation's name behind its prefix; SERVICE_COUNT: of
 * none, and *name is not set. */
enum op_service ops_of_target(struct str target, struct str *name);

/* X-Amz-Target of an operation by its name; one that there is not is of DynamoDB. In the arena. */
struct str ops_target(struct arena *arena, struct str operation);

#endif
