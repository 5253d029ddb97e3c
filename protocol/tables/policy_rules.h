/*
 * policy_rules - resource-based policies: the resource of one, the rules for its document, and the
 * form in which it is kept.
 *
 * They are kept and shown here; with --iam, protocol/iam decides by them.
 */
#ifndef DYNALITH_PROTOCOL_POLICY_RULES_H
#define DYNALITH_PROTOCOL_POLICY_RULES_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

#define POLICY_BYTES_MAX 20480 /* white space counts. AWS: API Reference, PutResourcePolicy */

/*
 * The table of a ResourceArn, which names a table or its stream (*is_stream). The call holds the
 * reference until it ends. ERR_RESOURCE_NOT_FOUND where either is absent.
 */
enum code policy_rules_table(struct call *call, struct str arn, struct table **table,
			     bool *is_stream, struct err *err) WARN_UNUSED;

struct policy_terms {
	bool is_stream;    /* it is a stream's, not a table's */
	bool may_lock_out; /* it may deny its own change to everyone */
};

/*
 * Checks the document and gives its canonical form (in the arena): no white space, members in a
 * fixed order, lists of one as the one, accounts as the ARNs of their roots. Two documents with one
 * form are the same policy.
 */
enum code policy_rules_document(struct arena *arena, struct str text,
				const struct policy_terms *terms, struct str *canonical,
				struct err *err) WARN_UNUSED;

/* Whether the table's or its stream's policy has the revision that a request expects ("NO_POLICY":
 * that there is none; absent: any). */
enum code policy_rules_revision(const struct table *table, bool is_stream, struct str expected,
				struct err *err) WARN_UNUSED;

/* Publishes the policy's new text, or its deletion, under a new revision. */
enum code policy_rules_change(struct call *call, struct table *table, bool is_stream,
			      struct str text, int64_t *revision, struct err *err) WARN_UNUSED;

static inline struct policy policy_rules_of(const struct table *table, bool is_stream)
{
	struct policy policy = is_stream ? table->settings->stream_policy : table->settings->policy;

	if (str_is_set(policy.text) &&
	    policy.revision == 0) /* kept since before there were revisions */
		policy.revision = table->identity.created_ms;
	return policy;
}

#endif
