/*
 * policy - policies in IAM's JSON, read once into a form that does not change.
 *
 * The shelf protocol/iam/ decides about requests by policies: pattern, policy and condition are the
 * language; decide is the order in which policies count; principals are those that policies are
 * bound to; ask says what a request of DynamoDB asks for; uses and report note what was used; iam
 * is what the operations see of it. It does not know where policies are kept.
 *
 * AWS: IAM User Guide, "IAM JSON policy elements reference".
 */
#ifndef DYNALITH_PROTOCOL_IAM_POLICY_H
#define DYNALITH_PROTOCOL_IAM_POLICY_H

#include "protocol/iam/pattern.h"
#include "protocol/wire/json.h"

struct iam_operator;

enum iam_quantifier { IAM_SINGLE, IAM_FOR_ALL, IAM_FOR_ANY };

struct iam_patterns {
	size_t n;
	const struct iam_pattern *v;
};

/* One key of one operator of a Condition. */
struct iam_test {
	const struct iam_operator *operator;
	enum iam_quantifier quantifier;
	bool is_if_exists;
	struct str key;
	struct iam_patterns values;
};

struct iam_statement {
	struct str sid; /* or absent */
	unsigned number; /* among all that were read into one set: for counts of uses */
	bool is_deny, is_not_action, is_not_resource, is_not_principal;
	bool has_principal; /* else it is not asked for one */
	struct iam_patterns actions, resources,
		principals; /* principals: ARNs, accounts, "*"; those of other kinds than "AWS" are
			       left out */
	size_t test_count;
	const struct iam_test *tests;
};

struct iam_policy {
	struct str name; /* how reports name it */
	size_t n;
	const struct iam_statement *statements;
};

enum iam_policy_kind {
	IAM_OF_IDENTITY, /* identity policies, boundaries, session policies: no principal stands in
			    them */
	IAM_OF_RESOURCE,
};

/* By name, with its quantifier and IfExists already taken off; NULL: there is none. condition.h
 * evaluates it. */
const struct iam_operator *iam_operator_find(struct str name);
unsigned iam_operator_forms(const struct iam_operator *operator);
/* Whether a scalar is of the type that it compares. Variables are, but as dates. */
bool iam_operator_takes(struct arena *arena, const struct iam_operator *operator,
			const struct json * value);

/* Takes ForAllValues:, ForAnyValue: and IfExists off: fills the test's first three members. False:
 * there is no such operator. */
bool iam_operator_read(struct str name, struct iam_test *test);

/* A scalar as the text that conditions compare; false for null, lists and objects. */
bool iam_scalar(struct arena *arena, const struct json *value, struct str *text);

#define IAM_STATEMENTS_MAX 10000 /* of all policies together: ours */
/* Of the texts in one policy of an identity. AWS: IAM User Guide, "IAM and AWS STS quotas": 10,240
 * characters for a role's inline policies, the largest. */
#define IAM_POLICY_CHARACTERS_MAX 10240

/*
 * Reads a document into the arena. *number is that of its first statement, and afterwards of the
 * next policy's. ERR_VALIDATION with the text of AWS's MalformedPolicyDocument.
 */
enum code iam_policy_read(struct arena *arena, const struct json *document,
			  enum iam_policy_kind kind, unsigned *number, struct iam_policy *out,
			  struct err *err) WARN_UNUSED;

#endif
