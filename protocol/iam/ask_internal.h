/*
 * ask_internal - what the parts of ask share: the questions so far, and words in the arena.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ASK_INTERNAL_H
#define DYNALITH_PROTOCOL_IAM_ASK_INTERNAL_H

#include "protocol/expressions.h"
#include "protocol/iam/ask.h"

struct iam_words {
	size_t n;
	struct str *v;
};

struct iam_asking {
	const struct iam_request *request;
	struct arena *arena;
	size_t statement; /* see iam_question */
	struct iam_asked asked;
};

/* What one question is made of. What is absent, or has no values, is no key of it. */
struct iam_matter {
	struct str action;          /* without "dynamodb:" */
	struct str table;           /* a name or an ARN; absent: `resource` stands as it is */
	struct str index;           /* or absent */
	struct str resource;
	struct iam_words leading, attributes, tag_keys;
	struct iam_context tags;    /* of the request: aws:RequestTag/x */
	struct str select, return_values, capacity, enclosing, full_scan;
	bool is_of_data;            /* LeadingKeys and Attributes are keys of it, even empty */
};

void iam_words_add(struct arena *arena, struct iam_words *words, struct str word);
void iam_words_of_item(struct arena *arena, struct iam_words *words, const struct value *item);
void iam_words_of_node(struct arena *arena, struct iam_words *words, const struct node *node);
void iam_words_of_update(struct arena *arena, struct iam_words *words, const struct update *update);
void iam_words_of_projection(struct arena *arena, struct iam_words *words, const struct projection *projection);

/* A member of the request's body that the operation knows; NULL where there is none. */
const struct json *iam_asking_member(const struct iam_asking *asking, const char *name);

/* NULL: there is no such table. */
struct table *iam_asking_table(struct iam_asking *asking, struct str name_or_arn);
/* Of the table or its index; NULL: there is none. */
const struct key_schema *iam_asking_keys(const struct table *table, struct str index);
/* Adds the values of the partition key in an item or a key, or that a condition compares it with. */
void iam_asking_lead(struct iam_asking *asking, struct iam_words *words, const struct key_schema *keys, const struct value *item);
void iam_asking_lead_by(struct iam_asking *asking, struct iam_words *words, const struct key_schema *keys, const struct node *condition);

void iam_asking_add(struct iam_asking *asking, const struct iam_matter *matter);

/* ask_item, ask_statement and ask_control: false where the operation is none of theirs. */
bool iam_ask_items(struct iam_asking *asking);
bool iam_ask_statements(struct iam_asking *asking);
void iam_ask_control(struct iam_asking *asking);

#endif
