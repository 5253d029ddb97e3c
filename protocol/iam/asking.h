/*
 * asking - the questions of a request while they are made: words in the arena, tables, one question
 * with its condition keys.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ASKING_H
#define DYNALITH_PROTOCOL_IAM_ASKING_H

#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/iam/principals.h"
#include "protocol/ops.h"
#include "protocol/wire/shapes.h"

struct iam_words {
	size_t n;
	struct str *v;
};

/* A resource's policy from its text, which is kept; NULL where there is none. */
typedef const struct iam_policy *iam_policy_of(void *context, struct arena *arena, struct str text);

struct iam_asked {
	size_t n;
	struct iam_question *v;
	struct err unread; /* of the first expression that cannot be read; code OK: all can be */
	size_t statement_count; /* of BatchExecuteStatement; those that do not parse ask nothing */
	size_t held_count;
	struct table **held; /* what the questions point into */
};

struct iam_request {
	struct call *call;
	enum op_id operation;
	const struct shape
		*shape;       /* the operation looks at no member of the request that it has not */
	const void *input;    /* as shape_bind made it */
	const struct iam_principal *principal;
	iam_policy_of *policy_of;
	void *context;
};

struct iam_asking {
	const struct iam_request *request;
	const char *own; /* of the operation's row in ops.def; or NULL */
	struct arena *arena;
	size_t statement; /* see iam_question */
	struct iam_asked asked;
};

/* What one question is made of. What is absent, or has no values, is no key of it. */
struct iam_matter {
	struct str action;          /* without "dynamodb:", its service */
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
void iam_words_of_projection(struct arena *arena, struct iam_words *words,
			     const struct projection *projection);

/* A member of the request's body that the operation knows; NULL where there is none. */
const struct json *iam_asking_member(const struct iam_asking *asking, const char *name);

/* NULL: there is no such table. */
struct table *iam_asking_table(struct iam_asking *asking, struct str name_or_arn);
/* Of the table or its index; NULL: there is none. */
const struct key_schema *iam_asking_keys(const struct table *table, struct str index);
/* Adds the values of the partition key in an item or a key, or that a condition compares it with.
 */
void iam_asking_lead(struct iam_asking *asking, struct iam_words *words,
		     const struct key_schema *keys, const struct value *item);
void iam_asking_lead_by(struct iam_asking *asking, struct iam_words *words,
			const struct key_schema *keys, const struct node *condition);

void iam_asking_add(struct iam_asking *asking, const struct iam_matter *matter);

/* The condition keys of a principal and of the time, for what is no request of the API. */
struct iam_context iam_asking_context(struct arena *arena, const struct iam_principal *principal,
				      struct ns ns, int64_t now_ms);

#endif
