/* request - operations of the model as requests of the API, and items back from JSON. */
#ifndef DYNALITH_SIMULATION_REQUEST_H
#define DYNALITH_SIMULATION_REQUEST_H

#include "core/arena.h"
#include "core/str.h"
#include "protocol/wire/json.h"
#include "tests/simulation/model.h"

extern const char *const request_tables[TABLES];
extern const char *const request_indexes[INDEX_COUNT];

/* "PutItem"; of what is more than one request, what it is. */
const char *request_name(enum op_kind kind, bool is_on);

/* The body; absent where it is no single request. */
struct str request_body(struct arena *arena, const struct op *op);

/* The item's row key in its table, by the same functions that the server goes by. */
struct str request_row_key(struct arena *arena, unsigned table, unsigned key);

/* Reads an item, or what of it an index of the model projects; *key is which it is. False: it is
 * none that was ever written. */
bool request_read_item(struct arena *arena, unsigned table, const struct json *json,
		       struct item *item, unsigned *key);

/* Bytes by DynamoDB's rules. */
uint64_t request_item_size(unsigned table, unsigned key, const struct item *item,
			   bool has_vector_index);

#endif
