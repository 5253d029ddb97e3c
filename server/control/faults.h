/*
 * faults - endpoints that set, show and clear the fault rules of a namespace: protocol/faults.
 */
#ifndef DYNALITH_SERVER_CONTROL_FAULTS_H
#define DYNALITH_SERVER_CONTROL_FAULTS_H

#include "server/control/control.h"

/* PUT faults: {"rules": [...]} in place of the rules there are. Answers as GET does. */
enum code faults_put(const struct control_call *call, struct str *answer,
		     struct err *err) WARN_UNUSED;

/* GET faults: the rules, with how often each matched and fired. */
enum code faults_show(const struct control_call *call, struct str *answer,
		      struct err *err) WARN_UNUSED;

/* DELETE faults: no rules. */
enum code faults_delete(const struct control_call *call, struct str *answer,
			struct err *err) WARN_UNUSED;

#endif
