/*
 * pattern - texts of policies with wildcards and variables, and what fits them.
 *
 * '*' stands for any text, '?' for one character. ${key} stands for the value that the request has
 * for a condition key, ${key, 'text'} for the text where it has none; ${*}, ${?} and ${$} are these
 * characters themselves. Characters of a variable's value are never wildcards. AWS: IAM User Guide,
 * "IAM JSON policy elements: Variables and tags" and "Resource".
 */
#ifndef DYNALITH_PROTOCOL_IAM_PATTERN_H
#define DYNALITH_PROTOCOL_IAM_PATTERN_H

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

/* What a request has for a condition key. Names are compared without regard to case. */
struct iam_key {
	struct str name;
	size_t n;
	const struct str *values;
	bool is_many; /* a key of several values, as dynamodb:LeadingKeys */
};

struct iam_context {
	size_t n;
	const struct iam_key *keys;
};

/* NULL: the request has no such key. */
const struct iam_key *iam_context_find(const struct iam_context *context, struct str name);

struct iam_part {
	struct str text; /* literal; with IAM_ANY and IAM_ONE for wildcards */
	struct str variable; /* or absent */
	struct str otherwise; /* the variable's text where there is no value; or absent */
};

struct iam_pattern {
	struct str source; /* as it stands in the policy */
	struct str text;   /* where there is no variable */
	size_t n;          /* else its parts */
	const struct iam_part *parts;
};

/* Wildcards within patterns: bytes that no text in UTF-8 has. */
#define IAM_ANY ((char)0xFF)
#define IAM_ONE ((char)0xFE)

enum iam_pattern_form {
	IAM_LITERAL = 0,
	IAM_WILD = 1,      /* '*' and '?' are wildcards */
	IAM_VARIABLES = 2, /* ${...} is a variable */
};

/* `forms` joins them. */
struct iam_pattern iam_pattern_read(struct arena *arena, struct str source, unsigned forms);

/* The pattern with the values of its variables. False: one has no value, or several, and no other
 * text. */
bool iam_pattern_fill(const struct iam_pattern *pattern, const struct iam_context *context,
		      struct arena *arena, struct str *text);

/*
 * Whether the text fits a filled pattern. The work is linear in both, for any number of IAM_ANY;
 * only a piece with IAM_ONE behind an IAM_ANY is tried at each place. It counts in the arena's
 * time. False where the arena is over: the caller looks, and uses no such result.
 */
bool iam_pattern_fits(struct arena *arena, struct str pattern, struct str text, bool ignores_case);

/*
 * The same for ARNs: each of the six parts for itself, so that '*' between two colons does not
 * reach beyond them. The last part of a pattern of fewer stands for all that is left. AWS: IAM User
 * Guide, "Condition operators", ARN.
 */
bool iam_pattern_fits_arn(struct arena *arena, struct str pattern, struct str arn);

#endif
