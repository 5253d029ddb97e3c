/*
 * mask - rules that say what becomes of the attributes of items, and items by these rules.
 *
 *     {"rules": [{"path": "email", "action": "fake"},
 *                {"path": "PK", "action": "template", "template": "USER#<fake>"},
 *                {"path": "total", "action": "keep", "when": {"type": "Order*"}}]}
 *
 * A path is names between dots: "a.b" a member of a map, "a[]" elements of a list or set, "*" any
 * name; ["a.b", "c"] where names have dots. It covers what lies below it. The longest path decides,
 * then one without "*", then a rule with "when". A string that holds a JSON object or array is
 * looked into where a path goes on below it. "when": attributes of the item and what they must be;
 * "*" stands for anything. "table": the rule is for that table only.
 */
#ifndef DYNALITH_SERVER_MASK_H
#define DYNALITH_SERVER_MASK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "protocol/wire/json.h"
#include "server/mask/fake.h"
#include "server/seed/source.h"

struct mask;

/* A path of which no rule speaks, or whose value its rule cannot take. */
struct mask_unknown {
	struct str table, path;
	uint64_t count;
};

struct mask_options {
	const struct faker *faker;   /* outlives it */
	bool is_lenient;             /* what no rule names is kept */
	const struct source *source; /* of the rules, for errors; or NULL */
	/* Called with each value that is not kept, as it was, and what it became; or NULL. */
	void (*seen)(void *context, struct str before, struct str after);
	/*
	 * Called with each value that no rule names, in place of counting it, also with those in
	 * strings of JSON; or NULL. `names`: its path, as in struct rule_path. `type`: S, N, B,
	 * BOOL or NULL; `text`: what it is, bytes of B; of BOOL and NULL nothing.
	 */
	void (*met)(void *context, const struct str *names, size_t depth, struct str type,
		    struct str text);
	void *context;
};

/* Reads the rules. ERR_VALIDATION names the rule and what is wrong. `root` NULL: no rules. */
enum code mask_new(const struct json *root, const struct mask_options *options, struct mask **out,
		   struct err *err) WARN_UNUSED;
void mask_free(struct mask *mask); /* NULL is allowed */

/* An item in DynamoDB's JSON as it becomes, in the arena. `table`: whose it is. What is unknown is
 * counted, and left out. */
struct str mask_item(struct mask *mask, struct arena *arena, struct str table, struct str item);

/* Whether what becomes of one of these attributes depends on another attribute of the item, by
 * "when". */
bool mask_depends(const struct mask *mask, struct str table, const struct str *names, size_t n);

/* The unknown paths so far, in the order in which they were met. */
const struct mask_unknown *mask_unknowns(const struct mask *mask, size_t *n);
/* From now on there are none. */
void mask_forget_unknowns(struct mask *mask);

/* The first rule from *at on that matched nothing, as its path; *at is behind it then. False: there
 * is none. */
bool mask_unused(const struct mask *mask, size_t *at, struct str *path);

#endif
