/*
 * messages - texts about rules that are no rules, and AWS's texts of the errors that only a fault
 * gives. Source of AWS's: Developer Guide, "Error handling with DynamoDB" and "Diagnosing
 * throttling"; API Reference, TransactWriteItems and the errors' own pages; messages that users
 * quote in the issues of their projects.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_MESSAGES_H
#define DYNALITH_PROTOCOL_FAULTS_MESSAGES_H

#include "core/err.h"

#define RULE "Rule %zu: "

#define MSG_FAULT_BODY                                                                             \
	ERR_VALIDATION, "%s",                                                                      \
		"Faults want a JSON object with a list of rules, such as {\"rules\": "             \
		"[{\"operation\": \"PutItem\", \"error\": \"InternalServerError\"}]}"
#define MSG_FAULT_MANY ERR_VALIDATION, "There are %zu rules; a namespace has %d at most"
#define MSG_FAULT_NAMESPACES                                                                       \
	ERR_LIMIT_EXCEEDED, "%d namespaces have fault rules already; clear some with DELETE"
#define MSG_FAULT_NAMESPACE                                                                        \
	ERR_VALIDATION, "Fault rules belong to an account of 12 digits and a region of 1 to 63 "   \
			"characters, not to account '" STR_FMT "' and region '" STR_FMT "'"
#define MSG_FAULT_RULE ERR_VALIDATION, RULE "a rule is a JSON object"
#define MSG_FAULT_UNKNOWN ERR_VALIDATION, RULE "there is no '" STR_FMT "'; a rule takes " STR_FMT
#define MSG_FAULT_MEMBER ERR_VALIDATION, RULE "'%s' wants %s"
#define MSG_FAULT_TWICE ERR_VALIDATION, RULE "'%s' stands twice"
#define MSG_FAULT_OPERATION ERR_VALIDATION, RULE "there is no operation '" STR_FMT "'"
#define MSG_FAULT_ABSENT                                                                           \
	ERR_VALIDATION, RULE "the operation '" STR_FMT                                             \
			     "' is not supported here, so the rule can never match"
#define MSG_FAULT_ERROR                                                                            \
	ERR_VALIDATION, RULE "there is no error '" STR_FMT                                         \
			     "' of the API, or it is the begin of several names"
#define MSG_FAULT_ERROR_CANCEL                                                                     \
	ERR_VALIDATION, RULE                                                                       \
		"a transaction is canceled by 'cancel', which names the reasons of its members"
#define MSG_FAULT_MESSAGE ERR_VALIDATION, RULE "the message of '" STR_FMT "' is always AWS's own"
#define MSG_FAULT_REASON                                                                           \
	ERR_VALIDATION,                                                                            \
		RULE "'" STR_FMT "' is no reason of throttling; there are "                        \
				 "ProvisionedThroughputExceeded, KeyRangeThroughputExceeded, "     \
		     "MaxOnDemandThroughputExceeded and AccountLimitExceeded, also with "          \
		     "TableRead, TableWrite, IndexRead or IndexWrite before them"
#define MSG_FAULT_REASON_OF                                                                        \
	ERR_VALIDATION, RULE "only errors of throttling have a 'reason'; '" STR_FMT "' has none"
#define MSG_FAULT_CANCEL_CODE                                                                      \
	ERR_VALIDATION, RULE "'" STR_FMT "' is no reason for which a transaction is canceled"
#define MSG_FAULT_NO_EFFECT ERR_VALIDATION, RULE "it says nothing that it does: " STR_FMT
#define MSG_FAULT_TWO_EFFECTS                                                                      \
	ERR_VALIDATION,                                                                            \
		RULE "it does two things, '%s' and '%s'; only 'latency' may stand beside another"
#define MSG_FAULT_TWO_FIRES ERR_VALIDATION, RULE "'%s' and '%s' exclude each other"
#define MSG_FAULT_LONE ERR_VALIDATION, RULE "'%s' means nothing without %s"
#define MSG_FAULT_CONDITION ERR_VALIDATION, RULE STR_FMT
#define MSG_FAULT_NEVER                                                                            \
	ERR_VALIDATION,                                                                            \
		RULE "it can never match: '%s' concerns %s, and none is among its operations"
#define MSG_FAULT_DELIVER                                                                          \
	ERR_VALIDATION,                                                                            \
		RULE "it can never match: what a trigger delivers is of a 'table' and has no '%s'"
#define MSG_FAULT_SHADOWED                                                                         \
	ERR_VALIDATION, RULE "it can never match: rule %zu always fires before it"

/* What members want. */
#define FAULT_WANTS_OPERATIONS "the name of an operation, or a list of some"
#define FAULT_WANTS_NAME "a name of 3 to 255 letters, digits, '_', '-' and '.'"
#define FAULT_WANTS_KEY                                                                            \
	"a text, a number, {\"prefix\": text} or an attribute value such as {\"S\": \"a\"} of "    \
	"type S, N or B"
#define FAULT_WANTS_TEXT "a text that is not empty"
#define FAULT_WANTS_NAMES "an object of texts, such as {\"#n\": \"name\"}"
#define FAULT_WANTS_VALUES "an object of attribute values, such as {\":v\": {\"S\": \"a\"}}"
#define FAULT_WANTS_STATE                                                                          \
	"INACCESSIBLE_ENCRYPTION_CREDENTIALS, ARCHIVING, ARCHIVED or REGION_DISABLED"
#define FAULT_WANTS_COUNT "a whole number from 1 on"
#define FAULT_WANTS_PROBABILITY "a number above 0, 1 at most"
#define FAULT_WANTS_SEED "a whole number from 0 on"
#define FAULT_WANTS_PER "\"rule\" or \"key\""
#define FAULT_WANTS_ERROR                                                                          \
	"the name of an error, or {\"name\": ..., \"message\": ..., \"reason\": ...}"
#define FAULT_WANTS_CANCEL                                                                         \
	"a reason, or {\"reason\": ..., \"message\": ..., \"members\": [0, ...]} with places "     \
	"from 0 to 99"
#define FAULT_WANTS_UNPROCESSED "a number of members from 1 on, or \"matching\" for all that match"
#define FAULT_WANTS_PAGE "a number of rows from 0 on"
#define FAULT_WANTS_LATENCY                                                                        \
	"milliseconds up to 300000, {\"uniform\": [from, to]} or {\"exponential\": mean}"
#define FAULT_WANTS_CLOSE "\"before\" or \"after\" the work"
#define FAULT_WANTS_HOLD "milliseconds from 1 to 300000"
#define FAULT_WANTS_CRC "\"wrong\""
#define FAULT_WANTS_DELIVER "\"twice\" or \"reversed\""
#define FAULT_WANTS_TRICKLE "{\"bytes\": N, \"ms\": N} with N from 1 to 60000"

/* For the log alone: what clients see of these errors is AWS's. */
#define FAULT_PROBLEM "a fault rule asks for it"

/* AWS's texts. */
#define FAULT_TEXT_SUBSCRIBER                                                                      \
	"Subscriber limit exceeded: There is a limit of 500 tables that can be in a transitional " \
	"state."
/* AWS: API Reference, ReplicatedWriteConflictException. */
#define FAULT_TEXT_REPLICATED                                                                      \
	"The request was rejected because one or more items in the request are being modified by " \
	"a request in another Region."
/* AWS: as users report it, without what follows: the service's own words and a request's number. */
#define MSG_FAULT_KEY_DENIED                                                                       \
	ERR_ACCESS_DENIED, "KMS key access denied error: "                                         \
			   "com.amazonaws.services.kms.model.AWSKMSException: The ciphertext "     \
			   "refers to a customer master key that does not exist, does not exist "  \
			   "in this region, or you are not allowed to access."
#define MSG_FAULT_ARCHIVE                                                                          \
	ERR_RESOURCE_IN_USE,                                                                       \
		"Attempt to change a resource which is still in use: Table is %s: " STR_FMT
#define FAULT_TEXT_IN_USE "Attempt to change a resource which is still in use"
#define FAULT_TEXT_DUPLICATE "Duplicate primary key exists in table"
#define FAULT_TEXT_MISMATCH                                                                        \
	"The request uses the same client token as a previous, but non-identical request. Do not " \
	"reuse a client token with different requests, unless "                                    \
	"the requests are identical"

#endif
