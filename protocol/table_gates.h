/*
 * table_gates - the checks of an item operation that need its table, in AWS's order.
 *
 * The gates of op.c come first, then what the operation finds wrong with the request alone, then
 * these. Each order is a row of table_gates.c: the first gate that refuses decides the answer.
 */
#ifndef DYNALITH_PROTOCOL_TABLE_GATES_H
#define DYNALITH_PROTOCOL_TABLE_GATES_H

#include "protocol/expressions.h"
#include "storage/read.h"

enum table_order {
	ORDER_NAMED,   /* of each table that a batch or transaction names, before its items */
	ORDER_READ,    /* GetItem */
	ORDER_WRITE,   /* PutItem, UpdateItem, DeleteItem */
	ORDER_CHANGE,  /* an action of TransactWriteItems, behind ORDER_NAMED */
	ORDER_QUERY,
	ORDER_SCAN,
	ORDER_SCAN_NEWER, /* where AWS's newer layer checks it; its select is set before */
	ORDER_COUNT,
};

/* What a Query or Scan says of its page. */
struct page_request {
	struct str index_name;           /* or absent */
	struct opt_bool consistent;
	const struct value *start_key;   /* or NULL */
	int select;                      /* 0: not given */
	bool has_attributes_to_get, has_query_filter;
};

/* On its way through the gates. The parts that the order's gates see must be there. */
struct table_passage {
	struct call *call;
	struct str name;                      /* of the table: a name or an ARN */
	const struct expressions *expressions;
	struct table *table;                  /* out */
	struct read_item *read;               /* READ */
	struct write *write;                  /* WRITE, CHANGE */
	struct read_page *page; /* QUERY, SCAN: its table, index, start and select are set */
	struct key_condition *keys;           /* QUERY: out */
	const struct page_request *request;   /* QUERY, SCAN */
};

enum code table_gates_pass(enum table_order order, struct table_passage *passage,
			   struct err *err) WARN_UNUSED;

#endif
