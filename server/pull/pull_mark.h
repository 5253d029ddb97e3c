/*
 * pull_mark - how far each segment of a table was read: items of a table of its own in the file,
 * sealed by the secret, since their keys are those of the source.
 */
#ifndef DYNALITH_SERVER_PULL_MARK_H
#define DYNALITH_SERVER_PULL_MARK_H

#include "server/pull/pull_ask.h"

struct pull_mark {
	struct str key;        /* LastEvaluatedKey as it stands; empty: at its start */
	size_t segment, total; /* of so many */
	uint64_t items;
	bool is_done;
};

/* Makes the table of marks where it is missing. */
enum code pull_marks_prepare(const struct pull *pull, struct arena *arena,
			     struct err *err) WARN_UNUSED;

/*
 * The mark of a segment, as an earlier pull left it; its total may be another than was asked for.
 * Where there is none it is written, before the first item is. ERR_INTERNAL: it is that of another
 * mask or secret.
 */
enum code pull_mark_find(const struct pull *pull, struct arena *arena, struct str table,
			 size_t segment, size_t total, struct pull_mark *mark,
			 struct err *err) WARN_UNUSED;
enum code pull_mark_save(const struct pull *pull, struct arena *arena, struct str table,
			 const struct pull_mark *mark, struct err *err) WARN_UNUSED;

/* When all tables are whole. */
enum code pull_marks_remove(const struct pull *pull, struct err *err) WARN_UNUSED;

#endif
