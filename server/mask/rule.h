/*
 * rule - one rule of a mask: its path, its action, the items that it is for.
 */
#ifndef DYNALITH_SERVER_MASK_RULE_H
#define DYNALITH_SERVER_MASK_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "protocol/wire/json.h"
#include "server/mask/fake.h"

#define RULE_DEPTH 32 /* names of a path, of a rule and of an item */

enum action {
	ACTION_KEEP,
	ACTION_DROP,
	ACTION_REDACT,
	ACTION_HASH,
	ACTION_FAKE,
	ACTION_TEMPLATE,
	ACTION_BUCKET,
	ACTION_SHIFT,
	ACTION_COUNT
};

/* What an attribute of the item must be like: "*" stands for anything. */
struct rule_condition {
	struct str name, pattern;
};

struct rule {
	struct str shown; /* the path as it was written */
	struct str names[RULE_DEPTH];
	size_t depth, wild_count; /* of them "*" */
	enum action action;
	struct str table; /* absent: any */
	struct str *templates;
	size_t template_count;
	int64_t size; /* of a bucket; days of a shift */
	struct rule_condition *conditions;
	size_t condition_count;
	uint64_t hits;
};

/* Where a value stands. */
struct rule_path {
	struct str names[RULE_DEPTH]; /* of an element: "[]" */
	size_t depth;
};

/* ERR_VALIDATION: what is wrong. */
enum code rule_read(struct arena *arena, const struct json *root, struct rule *rule,
		    struct err *err) WARN_UNUSED;

/* Whether the rule is for the values at the path. */
bool rule_covers(const struct rule *rule, const struct rule_path *path);
/* Whether it is for something that lies below the path. */
bool rule_goes_below(const struct rule *rule, const struct rule_path *path);

/* The text of an item's attribute: a string, a number, bytes in base64. False: it has none. */
bool rule_text_of(struct arena *arena, struct str item, struct str attribute, struct str *text);
/* Whether the item has that attribute, and it is like the pattern. */
bool rule_condition_holds(struct arena *arena, struct str item,
			  const struct rule_condition *condition);

/*
 * The text of a string ('S'), a number ('N') or bytes ('B') by the rule. Not of ACTION_KEEP and
 * ACTION_DROP. False: the rule cannot take it. `seen`: as in mask.h, for the parts that change.
 */
struct rule_change {
	const struct faker *faker;
	void (*seen)(void *context, struct str before, struct str after);
	void *context;
};
bool rule_apply(const struct rule *rule, const struct rule_change *change, struct arena *arena,
		char type, struct str text, struct str *out);

#endif
