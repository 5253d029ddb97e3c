/*
 * pull_work - a table of a pull before and after its items: its definition, and what is checked.
 */
#ifndef DYNALITH_SERVER_PULL_WORK_H
#define DYNALITH_SERVER_PULL_WORK_H

#include "server/pull/pull_ask.h"

/* Asks the source what the table is like. ERR_INTERNAL with one line for the user; all that it says
 * lies in the arena. */
enum code pull_work_describe(const struct pull *pull, struct arena *arena, struct pull_table *table,
			     struct err *err) WARN_UNUSED;

/* The same of the table as the file has it; no tags, no TTL. */
enum code pull_work_describe_file(const struct pull *pull, struct arena *arena,
				  struct pull_table *table, struct err *err) WARN_UNUSED;

/* Makes the table in the file, with its tags and TTL. ERR_VALIDATION: it
 * cannot be. */
enum code pull_work_prepare(const struct pull *pull, const struct pull_table *table,
			    struct err *err) WARN_UNUSED;

/* When its items are there (`read` of them). ERR_VALIDATION: the mask makes keys equal. */
enum code pull_work_check(const struct pull *pull, const struct pull_table *table,
			  struct err *err) WARN_UNUSED;

#endif
