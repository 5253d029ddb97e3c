/*
 * model - what the tables must hold: a naive picture of them, and what an operation does to it.
 *
 * A version of the model is one flat struct, so that copies are cheap: the machine keeps one per
 * commit, and judges each answer by the version that the operation's transaction saw.
 */
#ifndef DYNALITH_SIMULATION_MODEL_H
#define DYNALITH_SIMULATION_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define TABLES 3
#define KEYS 24          /* that items of a table can have */
#define SORTS 4          /* sort keys per partition, where there are any */
#define ACTIONS_MAX 12
#define TOKENS 6
#define TOKEN_LIFE_MS (10 * 60 * 1000)
#define NO_NUMBER INT32_MIN
#define LOG_MAX 8192     /* records of streams that the machine holds per table */

enum model_index { INDEX_LOCAL, INDEX_GLOBAL, INDEX_LATE, INDEX_NEAR, INDEX_COUNT };

struct item {
	bool is_there;
	int8_t g, l, v; /* attributes; -1: absent */
	uint8_t pad;    /* how long a text it carries: PAD_LENGTHS */
	int32_t n;      /* or NO_NUMBER */
	int64_t u;      /* written by this operation; 0: absent */
	int64_t t;      /* Unix seconds; 0: absent */
};

struct model_table {
	bool exists, has_ttl, has_stream;
	bool has[INDEX_COUNT];
	bool is_tagged;
	uint32_t made;        /* by which of the tables that this one was */
	uint32_t stream_made; /* the same of its streams */
	uint64_t number;      /* of its keyspaces */
	uint32_t log_begin, log_end; /* its stream's records, in the machine's log of the table */
	struct item items[KEYS];
};

struct model_token {
	uint64_t fingerprint;
	int64_t expires_ms; /* 0: not known */
};

struct view {
	struct model_table tables[TABLES];
	struct model_token tokens[TOKENS];
	uint32_t made;
};

/* A record of a stream. */
struct change {
	uint8_t key;
	bool is_expiry;
	struct item old, new;
	int64_t at_ms;
};

enum test_condition { IF_ALWAYS, IF_ABSENT, IF_PRESENT, IF_N_LESS, IF_G_IS, IF_U_IS, CONDITION_COUNT };
enum action_kind { ACT_PUT, ACT_UPDATE, ACT_DELETE, ACT_CHECK };
enum returns { RETURN_NONE, RETURN_OLD, RETURN_NEW };
enum assign { LEAVE, SET, TAKE, ADD };

struct action {
	enum action_kind kind;
	uint8_t table, key;
	enum test_condition condition;
	int64_t operand;               /* of the condition */
	struct item item;              /* PUT: the item; UPDATE: what SET writes */
	enum assign n, g, l, t, v, pad; /* UPDATE */
};

enum op_kind {
	OP_PUT,
	OP_UPDATE,
	OP_DELETE,
	OP_BATCH_WRITE,
	OP_TRANSACT_WRITE,
	OP_INSERT_STATEMENT,
	OP_UPDATE_STATEMENT,
	OP_DELETE_STATEMENT,
	OP_GET,
	OP_BATCH_GET,
	OP_TRANSACT_GET,
	OP_SELECT_STATEMENT,
	OP_QUERY,
	OP_SCAN,
	OP_SEARCH,
	OP_CREATE_TABLE,
	OP_DELETE_TABLE,
	OP_UPDATE_INDEX,
	OP_UPDATE_STREAM,
	OP_UPDATE_TTL,
	OP_TAG,
	OP_DESCRIBE,
	OP_LIST_TABLES,
	OP_LIST_TAGS,
	OP_REPLAY,
	OP_CHECK,
	OP_ROTATE,
	OP_ROUND,
	OP_KIND_COUNT
};

enum outcome {
	DONE,
	CONDITION_FAILED,
	TRANSACTION_CANCELED,
	TOKEN_MISMATCH,
	NO_TABLE,
	TABLE_THERE,
	DUPLICATE_ITEM,
	REFUSED,
	OUTCOME_COUNT
};

struct op {
	enum op_kind kind;
	unsigned n; /* actions; of reads, keys */
	struct action actions[ACTIONS_MAX];
	uint8_t table;
	enum returns returns;
	int token;      /* or -1 */
	bool is_on;     /* of what is turned on or off: index, stream, TTL, tag */
	int index;      /* of a query, scan or update; -1: the table */
	int partition;  /* of a query: pk or g */
	int low, high;  /* bounds of its sort key; low > high: none */
	int start;      /* key it begins behind, or -1 */
	unsigned limit; /* 0: none */
	bool is_reverse, is_count, is_consistent;
	struct model_table shape; /* of a table to be created */
	int64_t now_ms; /* when it began */
};

struct expected {
	enum outcome outcome;
	enum outcome reasons[ACTIONS_MAX]; /* of a cancelled transaction */
	bool was_done;                     /* a token that is known */
	struct item old[ACTIONS_MAX], new[ACTIONS_MAX];
};

bool model_has_sort(unsigned table);

/* What the operation does to `before`; the result goes to *after, which may be NULL. */
void model_evaluate(const struct op *op, const struct view *before, struct expected *expected,
		    struct view *after);

/* Whether an item is in an index. */
bool model_is_in(const struct model_table *table, enum model_index index, const struct item *item);

bool model_same(const struct item *a, const struct item *b);

/* What is equal in requests with the same token. */
uint64_t model_fingerprint(const struct op *op);

#endif
