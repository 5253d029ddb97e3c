/*
 * policies - endpoints that set and show the policies by which --iam judges, and what it has seen:
 * protocol/iam.
 */
#ifndef DYNALITH_SERVER_CONTROL_POLICIES_H
#define DYNALITH_SERVER_CONTROL_POLICIES_H

#include "server/control/control.h"

/* PUT policies: a document in place of the one there is, for all servers on the store. Answers as
 * GET does. */
enum code policies_replace(const struct control_call *call, struct str *answer,
			   struct err *err) WARN_UNUSED;

/* GET policies: the document that counts. */
enum code policies_show(const struct control_call *call, struct str *answer,
			struct err *err) WARN_UNUSED;

/* DELETE policies: the store has none; those of --policies count. */
enum code policies_remove(const struct control_call *call, struct str *answer,
			  struct err *err) WARN_UNUSED;

/* GET iam: the least policies of those who called, and statements that nothing used. */
enum code policies_report(const struct control_call *call, struct str *answer,
			  struct err *err) WARN_UNUSED;

#endif
