/*
 * pull_ask - operations of a pull: at the source, where it tries again what may pass, and in the
 * file.
 */
#ifndef DYNALITH_SERVER_PULL_ASK_H
#define DYNALITH_SERVER_PULL_ASK_H

#include "core/err.h"
#include "protocol/wire/json.h"
#include "server/client/elsewhere.h"
#include "server/mask/mask.h"
#include "server/mask/rule.h"
#include "server/mask/hashes.h"
#include "server/seed/local.h"

struct pull {
	struct elsewhere *source; /* NULL: `from` is */
	struct seed_target from;  /* a store that this process has open, with its namespace */
	/* Other keys for the source, where its token is too old. False: there are none. */
	bool (*renew)(void *context);
	void *context;
	struct str region;
	struct seed_target target; /* the file; set by the caller, with its region */
	const char *part;          /* the file's name while it is not whole */
	struct mask *mask;
	const struct faker *faker;
	/* Of the rules and all else that says which items become what; choice: but for the exports
	 * that they are read from. */
	struct str fingerprint, choice;
	double max_units;            /* read units a second; 0: by the table */
	size_t segments;             /* of a Scan, each asked by a thread */
	struct rule_condition *only; /* items must be like all of them */
	size_t only_count;
	double sample; /* the part of the partitions that is chosen; 1: all */
	struct pull_follow *follows;
	size_t follow_count;
	struct pull_table *tables;
	size_t table_count;
	struct hashes *followed; /* partitions: TABLE, a zero, the key */
};

/* An attribute of a chosen item is a partition key of that table, with these texts around it. */
struct pull_follow {
	struct str attribute, table, before, behind;
};

struct pull_table {
	struct str name;
	const struct json *description; /* what DescribeTable shows */
	struct str tags, expiry;        /* what ListTagsOfResource and DescribeTimeToLive show */
	double items, bytes;            /* as the description has them: AWS's are hours old */
	double max_units;
	uint64_t read;              /* items, by pull_pages() */
	struct str partition, type; /* the partition key: its name, and S, N or B */
};

/* Asks the source, again where it throttles, fails, or wants other keys. ERR_INTERNAL with one line
 * for the user. */
enum code pull_ask(const struct pull *pull, struct arena *arena, struct str table,
		   const char *operation, struct str body, struct str *answer,
		   struct err *err) WARN_UNUSED;

/* The same without other keys, for a thread: *is_expired says that they are wanted. */
enum code pull_ask_once(const struct pull *pull, struct arena *arena, struct str table,
			const char *operation, struct str body, struct str *answer,
			bool *is_expired, struct err *err) WARN_UNUSED;

/* Carries an operation out in the file. ERR_VALIDATION: it refuses. */
enum code pull_ask_file(const struct pull *pull, struct arena *arena, struct str table,
			const char *operation, struct str body, struct str *answer,
			struct err *err) WARN_UNUSED;

/* The table's ARN in the file. */
struct str pull_ask_arn(const struct pull *pull, struct arena *arena, struct str table);

/* Whether the file has the table. */
bool pull_ask_has_table(const struct pull *pull, struct arena *arena, struct str table);

#endif
