/*
 * pull_work - one table of a pull: its definition, its items page by page, what is checked then.
 */
#ifndef DYNALITH_SERVER_PULL_WORK_H
#define DYNALITH_SERVER_PULL_WORK_H

#include "core/err.h"
#include "protocol/wire/json.h"
#include "server/client/elsewhere.h"
#include "server/mask/mask.h"
#include "server/seed/local.h"

struct pull {
	struct elsewhere *source;
	/* Other keys for the source, where its token is too old. False: there are none. */
	bool (*renew)(void *context);
	void *context;
	struct str region;
	struct seed_target target; /* the file; set by the caller, with its region */
	const char *part;          /* the file's name while it is not whole */
	struct mask *mask;
	const struct faker *faker;
	struct str fingerprint; /* of the rules */
	double max_units;       /* read units a second; 0: by the table */
};

struct pull_table {
	struct str name;
	const struct json *description; /* what DescribeTable shows */
	struct str tags, expiry;        /* what ListTagsOfResource and DescribeTimeToLive show */
	double items, bytes;            /* as the description has them: AWS's are hours old */
	double max_units;
	uint64_t read; /* items, by pull_work_items() */
};

/* Asks the source what the table is like. ERR_INTERNAL with one line for the user; all that it says
 * lies in the arena. */
enum code pull_work_describe(const struct pull *pull, struct arena *arena, struct pull_table *table,
			     struct err *err) WARN_UNUSED;

/* Asks for a sample: at most PULL_SAMPLE items, from all over the table; `each` gets them one by
 * one. ERR_INTERNAL: the source failed. */
#define PULL_SAMPLE 1024
enum code pull_work_sample(const struct pull *pull, const struct pull_table *table,
			   void (*each)(void *context, struct arena *arena, struct str item),
			   void *context, struct err *err) WARN_UNUSED;

/*
 * Makes the table in the file where it is missing, and puts its masked items there, from where an
 * earlier pull stopped. ERR_INTERNAL: the source failed, and a later pull can go on.
 * ERR_VALIDATION: the mask or the table must change; mask_unknowns() says what has no rule.
 */
enum code pull_work_items(const struct pull *pull, struct pull_table *table,
			  struct err *err) WARN_UNUSED;

/* When all tables are whole: removes the marks of how far they were read. */
enum code pull_work_finish(const struct pull *pull, struct err *err) WARN_UNUSED;

#endif
