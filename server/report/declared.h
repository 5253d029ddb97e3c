/*
 * declared - the access patterns that a project says it has, and whether a pattern that was seen is
 * one of them.
 *
 * A file that gate_patterns() wrote has patterns with all their members, and a pattern must be the
 * same in each. The same list in YAML is made by hand: a pattern must be the same in the members
 * that an entry has, of which "operation" and "table" are the least; "..." stands for the sign of
 * what is masked; "name" and "description" are for people. A model of NoSQL Workbench declares by
 * its facets: the sample rows of a facet, or where it has none those of its table, have the shapes
 * of keys by which items are read and written, in the table and in its indexes. It declares no
 * Scan.
 *
 * Sources: Developer Guide, "Viewing data access patterns" (NoSQL Workbench): every facet
 * corresponds to a different access pattern; models that it exports.
 */
#ifndef DYNALITH_SERVER_REPORT_DECLARED_H
#define DYNALITH_SERVER_REPORT_DECLARED_H

#include "core/err.h"
#include "server/report/view.h"

/* The members by which a pattern is the same in every run. */
extern const char *const declared_members[];
extern const size_t declared_member_count;

struct declared;

/* The file's text. ERR_VALIDATION with one line: it is none of the three, or an entry is not right.
 */
enum code declared_read(const struct view *view, struct str text, struct declared **out,
			struct err *err) WARN_UNUSED;

bool declared_has(const struct view *view, const struct declared *declared,
		  const struct json *pattern);

/* A line for each entry that no pattern of the view is; of a model, for each shape of its tables.
 */
void declared_each_unseen(const struct view *view, const struct declared *declared,
			  void (*tell)(void *context, struct str line), void *context);

#endif
