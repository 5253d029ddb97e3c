/*
 * report - for each principal the least policy by which it could have done what it did, and the
 * statements that no decision used.
 *
 * A condition on leading keys lists those that were used. Where they share a beginning that names
 * more than their kind - two parts, each with a separator behind it, as "TENANT#a#" - that
 * beginning and "*" stand for them. Where there are more than are kept and no such beginning, there
 * is no condition.
 */
#ifndef DYNALITH_PROTOCOL_IAM_REPORT_H
#define DYNALITH_PROTOCOL_IAM_REPORT_H

#include "protocol/iam/principals.h"
#include "protocol/iam/uses.h"

/* JSON; docs/iam.md has its members. */
struct str iam_report(struct arena *arena, struct iam_uses *uses,
		      const struct iam_principals *principals, bool is_enforced);

#endif
