/*
 * pull_onto - the changes of incremental exports onto a data file that was pulled before. They are
 * written to a copy, which takes its place when all are there.
 */
#ifndef DYNALITH_SERVER_PULL_ONTO_H
#define DYNALITH_SERVER_PULL_ONTO_H

#include "server/mask/proof.h"
#include "server/pull/pull_export.h"

struct pull_onto {
	struct pull *pull; /* its target is set meanwhile */
	struct pull_table *table;
	struct pull_export *exports; /* all incremental */
	struct proof *proof;
	const char *file;
	bool (*is_agreed)(const void *context); /* asked when all is known, before it begins */
	const void *context;
};

/*
 * *agreed: what is_agreed() said; false with OK: nothing was done. ERR_VALIDATION and ERR_INTERNAL:
 * the file is as it was.
 */
enum code pull_onto_run(const struct pull_onto *onto, bool *agreed, struct err *err) WARN_UNUSED;

#endif
