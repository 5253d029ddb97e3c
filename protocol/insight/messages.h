/*
 * messages - what an explanation says of a request. Formats of str_printf.
 */
#ifndef DYNALITH_PROTOCOL_INSIGHT_MESSAGES_H
#define DYNALITH_PROTOCOL_INSIGHT_MESSAGES_H

#define EXPLAIN_SCAN                                                                               \
	"A Scan reads all items of the %s, page after page. A filter removes items that were "     \
	"read and paid for."
#define EXPLAIN_STATEMENT                                                                          \
	"The WHERE clause does not fix the partition key " STR_FMT                                 \
	" by = or IN in each of its alternatives, so the statement reads all items of the %s."

#define EXPLAIN_BETTER_ITEM "The filter has the whole primary key: read the one item."
#define EXPLAIN_BETTER_TABLE                                                                       \
	"The filter has the table's partition key: a Query reads that partition only."
#define EXPLAIN_BETTER_INDEX                                                                       \
	"The filter has the partition key of this index: a Query reads what matches, and no more."
#define EXPLAIN_BETTER_SORT                                                                        \
	"The filter is about the sort key here: in the key condition it saves what is read now "   \
	"and removed."
#define EXPLAIN_BETTER_NEW                                                                         \
	"No key has this attribute: an index with it as partition key would let a Query read "     \
	"what matches, and no more."

#endif
