/*
 * messages - texts about policies and who may do what. Those of MalformedPolicyDocument are in
 * moto's tests, which were compared with CreatePolicy, and in issues that quote AWS;
 * MSG_IAM_NO_PRINCIPAL was not seen there. Those of refusals are in the IAM User Guide,
 * "Troubleshoot access denied error messages", and, of DynamoDB with its tables and indexes, in
 * logs of its users.
 */
#ifndef DYNALITH_PROTOCOL_IAM_MESSAGES_H
#define DYNALITH_PROTOCOL_IAM_MESSAGES_H

#define MSG_IAM_SYNTAX ERR_VALIDATION, "MalformedPolicyDocument: Syntax errors in policy."
#define MSG_IAM_NO_ACTIONS                                                                         \
	ERR_VALIDATION, "MalformedPolicyDocument: Policy statement must contain actions."
#define MSG_IAM_NO_RESOURCES                                                                       \
	ERR_VALIDATION, "MalformedPolicyDocument: Policy statement must contain resources."
#define MSG_IAM_NO_PRINCIPAL                                                                       \
	ERR_VALIDATION, "MalformedPolicyDocument: Missing required field Principal"
#define MSG_IAM_VENDOR                                                                             \
	ERR_VALIDATION, "MalformedPolicyDocument: Actions/Conditions must be prefaced by a "       \
			"vendor, e.g., iam, sdb, ec2, etc."
#define MSG_IAM_COLONS                                                                             \
	ERR_VALIDATION, "MalformedPolicyDocument: Actions/Condition can contain only one colon."
#define MSG_IAM_VENDOR_NAME                                                                        \
	ERR_VALIDATION, "MalformedPolicyDocument: Vendor " STR_FMT " is not valid"
#define MSG_IAM_LEGACY ERR_VALIDATION, "MalformedPolicyDocument: The policy failed legacy parsing"
#define MSG_IAM_PARTITION                                                                          \
	ERR_VALIDATION, "MalformedPolicyDocument: Partition \"" STR_FMT                            \
			"\" is not valid for resource \"arn:" STR_FMT ":" STR_FMT ":" STR_FMT      \
			":" STR_FMT ":" STR_FMT "\"."
#define MSG_IAM_RESOURCE_VENDOR                                                                    \
	ERR_VALIDATION, "MalformedPolicyDocument: Resource vendor must be fully qualified and "    \
			"cannot contain regexes."
#define MSG_IAM_RESOURCE                                                                           \
	ERR_VALIDATION,                                                                            \
		"MalformedPolicyDocument: Resource " STR_FMT " must be in ARN format or \"*\"."
#define MSG_IAM_PRINCIPAL                                                                          \
	ERR_VALIDATION, "MalformedPolicyDocument: Policy document should not specify a principal."
#define MSG_IAM_SIDS                                                                               \
	ERR_VALIDATION,                                                                            \
		"MalformedPolicyDocument: Statement IDs (SID) in a single policy must be unique."
#define MSG_IAM_SID \
	ERR_VALIDATION, "MalformedPolicyDocument: Statement IDs (SID) must be alpha-numeric. " \
			"Check that your input satisfies the regular expression [0-9A-Za-z]*"
#define MSG_IAM_TOO_LARGE ERR_VALIDATION, "LimitExceeded: Cannot exceed quota for PolicySize: %d"
#define MSG_IAM_TOO_MANY ERR_VALIDATION, "policies: at most %d statements in all"

#define MSG_IAM_DENIED                                                                             \
	ERR_ACCESS_DENIED, "User: " STR_FMT " is not authorized to perform: " STR_FMT              \
			   " on resource: " STR_FMT " " STR_FMT
#define IAM_BECAUSE_IMPLICIT "because no %s allows the " STR_FMT " action"
#define IAM_BECAUSE_EXPLICIT "with an explicit deny in %s %s"

#define MSG_IAM_BODY                                                                               \
	ERR_VALIDATION, "policies: a JSON object is expected, with the member \"principals\", an " \
			"array of objects"
#define MSG_IAM_PRINCIPAL_MEMBER ERR_VALIDATION, "policies: principal %zu: %s"
#define MSG_IAM_OF ERR_VALIDATION, STR_FMT " (principal %zu, \"%s\")"
#define IAM_WANTS_ARN                                                                              \
	"\"arn\" is an ARN of a user, a role, a role's session, a federated user or an account's " \
	"root"
#define IAM_WANTS_KEY "\"access_key\" is a text that no other principal has"
#define IAM_WANTS_TEXTS                                                                            \
	"\"tags\" and \"variables\" are objects of texts, \"variables\" of texts and arrays of "   \
	"texts"
#define IAM_WANTS_POLICIES                                                                         \
	"\"identity\" is a policy or an array of policies, \"boundary\" and \"session\" are "      \
	"policies"
#define IAM_WANTS_KNOWN                                                                            \
	"a member that is none of access_key, arn, identity, boundary, session, tags, variables"
#define MSG_IAM_FILE "policies: cannot read %s"

#endif
