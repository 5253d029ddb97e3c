/*
 * messages - texts of errors about signatures and HTTP; see core/err.h for how they are raised.
 * Source: recorded answers of AWS.
 */
#ifndef DYNALITH_SERVER_MESSAGES_H
#define DYNALITH_SERVER_MESSAGES_H

#include "core/err.h"

#define MSG_AUTH_BOTH                                                                              \
	ERR_INVALID_SIGNATURE, "%s",                                                               \
		"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as "     \
		"HTTP header."
#define MSG_AUTH_INCOMPLETE ERR_INCOMPLETE_SIGNATURE, STR_FMT "Authorization=" STR_FMT
#define MSG_AUTH_INCOMPLETE_QUERY                                                                  \
	ERR_INCOMPLETE_SIGNATURE, STR_FMT "Re-examine the query-string parameters."
#define MSG_AUTH_SCOPE                                                                             \
	ERR_INCOMPLETE_SIGNATURE, "Credential must have exactly 5 slash-delimited elements, e.g. " \
				  "keyid/date/region/service/term, got '" STR_FMT "'"
#define MSG_AUTH_PAIR                                                                              \
	ERR_INCOMPLETE_SIGNATURE, "'" STR_FMT "' not a valid key=value pair (missing equal-sign) " \
					      "in Authorization header: '" STR_FMT "'."
#define MSG_AUTH_ALGORITHM                                                                         \
	ERR_INCOMPLETE_SIGNATURE,                                                                  \
		"Unsupported AWS 'algorithm': '" STR_FMT "' (only AWS4-HMAC-SHA256 for now). "
/* Mistakes in a scope; all that apply are joined. */
#define MSG_AUTH_SCOPE_WRONG ERR_INVALID_SIGNATURE, STR_FMT
#define AUTH_SCOPE_SERVICE "Credential should be scoped to correct service: '" STR_FMT "'. "
#define AUTH_SCOPE_TERMINATOR                                                                      \
	"Credential should be scoped with a valid terminator: 'aws4_request', not '" STR_FMT "'. "
#define AUTH_SCOPE_DATE                                                                            \
	"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "     \
	"HTTP: '" STR_FMT "' != '" STR_FMT "', from '" STR_FMT "'."
#define MSG_AUTH_DATE_FORMAT                                                                       \
	ERR_INCOMPLETE_SIGNATURE, "Date must be in ISO-8601 'basic format'. Got '" STR_FMT         \
				  "'. See http://en.wikipedia.org/wiki/ISO_8601"
#define MSG_AUTH_EXPIRES_FORMAT ERR_INVALID_SIGNATURE, "%s", "X-Amz-Expires should be a number"
#define MSG_AUTH_EXPIRES_NEGATIVE ERR_INVALID_SIGNATURE, "%s", "X-Amz-Expires must be non-negative"
#define MSG_AUTH_EXPIRES_LONG                                                                      \
	ERR_INVALID_SIGNATURE, "%s",                                                               \
		"X-Amz-Expires must be less than a week (in seconds); that is, the given "         \
		"X-Amz-Expires must be less than 604800 seconds"
#define MSG_AUTH_EXPIRED                                                                           \
	ERR_INVALID_SIGNATURE, "Signature expired: " STR_FMT " is now earlier than " STR_FMT       \
			       " (" STR_FMT " - %s.)"
#define MSG_AUTH_EARLY                                                                             \
	ERR_INVALID_SIGNATURE, "Signature not yet current: " STR_FMT                               \
			       " is still later than " STR_FMT " (" STR_FMT " + 15 min.)"
#define MSG_AUTH_HEADERS                                                                           \
	ERR_INVALID_SIGNATURE, "%s",                                                               \
		"'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
#define MSG_AUTH_HEADER_UNSIGNED                                                                   \
	ERR_INVALID_SIGNATURE, "'" STR_FMT "' must be a 'SignedHeader' in the AWS Authorization."
#define MSG_AUTH_CONTROL                                                                           \
	ERR_ACCESS_DENIED,                                                                         \
		"The access key '" STR_FMT "' may change nothing below /_dynalith/: its entry of " \
					   "credentials has \"control\": false"
#define MSG_AUTH_ALL                                                                               \
	ERR_ACCESS_DENIED, "The access key '" STR_FMT "' belongs to one account, " STR_FMT         \
			   ", and this concerns others; \"control\": true in its entry of "        \
			   "credentials allows it"
#define MSG_AUTH_MISMATCH                                                                          \
	ERR_INVALID_SIGNATURE, "The request signature we calculated does not match the signature " \
			       "you provided. Check your AWS Secret "                              \
			       "Access Key and signing method. Consult the service documentation " \
			       "for details.\n\nThe Canonical String "                             \
			       "for this request should have been\n'" STR_FMT                      \
			       "'\n\nThe String-to-Sign should have been\n'" STR_FMT "'\n"
#define MSG_CLOCK_BODY                                                                             \
	ERR_VALIDATION, "%s", "The clock wants a JSON object, such as {\"advance\": \"30d\"}"
#define MSG_CLOCK_MEMBER                                                                           \
	ERR_VALIDATION, "Not understood: \"" STR_FMT "\": " STR_FMT "%s"                           \
			". The clock takes \"release\": true, \"set\": seconds or "                \
			"\"2030-01-31T12:00:00Z\", \"advance\": seconds or a number with ms, s, "  \
			"m, h or d (\"30d\"), \"freeze\": true or false"
#define MSG_CLOCK_NAMESPACE                                                                        \
	ERR_VALIDATION, "A clock belongs to an account of 12 digits and a region of 1 to 63 "      \
			"characters, not to account '" STR_FMT "' and region '" STR_FMT "'"
#define MSG_CLOCK_RANGE ERR_VALIDATION, "%s", "The clock runs from 1970 to 9999"
#define MSG_ROTATE_TABLE                                                                           \
	ERR_VALIDATION, "%s", "the query must name a table: /_dynalith/streams/rotate?table=NAME"
#define MSG_QUERY_PARAMETER                                                                        \
	ERR_VALIDATION, "There is no parameter '" STR_FMT "' here; the query takes " STR_FMT
#define MSG_QUERY_PAIR                                                                             \
	ERR_VALIDATION, "'" STR_FMT "' is no parameter; the query takes pairs NAME=VALUE"
#define MSG_QUERY_ALL ERR_VALIDATION, "%s", "'all' wants true or false"
#define MSG_EVENTS_BODIES ERR_VALIDATION, "%s", "'bodies' wants masked, open or none"
#define MSG_EVENTS_PAST ERR_VALIDATION, "'past' wants a number of requests from 0 to %d"
#define MSG_CONSOLE_OFF                                                                            \
	ERR_VALIDATION, "%s", "This server shows no events: it was started with --console off"
#define MSG_EVENTS_WATCHERS                                                                        \
	ERR_VALIDATION, "%d others watch the requests already, which is the most"
#define MSG_IAM_OFF                                                                                \
	ERR_VALIDATION, "%s",                                                                      \
		"This server judges nobody by policies: start it with --iam report or --iam "      \
		"enforce"
#define MSG_INSIGHT_OFF                                                                            \
	ERR_VALIDATION, "%s", "This server counts no access patterns: start it with --insight on"
#define MSG_FORECASTS_WORD                                                                         \
	ERR_VALIDATION,                                                                            \
		"\"%s\" is out of its range: \"scale\" is a number from 1e-9 to 1e9, \"days\" a "  \
		"whole number from 1 to 3660, \"growth\" a percentage such as \"3%%/day\", "       \
		"\"seed\" a whole number, \"keys\" uniform, zipf or hot, and a number of keys "    \
		"behind a colon"
#define MSG_FORECASTS_KEYS                                                                         \
	ERR_VALIDATION, "%s",                                                                      \
		"\"keys\" is for what the server has seen: the patterns of a plan have their own"
#define MSG_FORECASTS_BUSY                                                                         \
	ERR_SERVICE_UNAVAILABLE, "%s",                                                             \
		"The server makes another forecast, and one at a time: ask again in some seconds"
#define MSG_FORECASTS_LATE                                                                         \
	ERR_VALIDATION, "%s",                                                                      \
		"This forecast takes more CPU time than --request-cpu-ms allows a request: ask "   \
		"for fewer days, or give its plan to `dynalith forecast`"
/* In answers that take a setting all the same. */
#define WARNING_NO_TABLE                                                                           \
	"there is no table '" STR_FMT "' in account " STR_FMT ", region " STR_FMT " yet"
#define WARNING_NO_INDEX "the table '" STR_FMT "' has no index '" STR_FMT "' yet"
#define WARNING_NO_ACTION                                                                          \
	"no request asks for the action '" STR_FMT                                                 \
	"': it fits none of DynamoDB's, or is judged by the actions of its members"
#define WARNING_NO_KEY "no request has the condition key '" STR_FMT "'"
#define MSG_EXPLAIN_KEY                                                                            \
	ERR_ACCESS_DENIED, "%s",                                                                   \
		"'access_key' concerns all accounts: it wants a key with \"control\": true"
#define MSG_EXPLAIN_BODY                                                                           \
	ERR_VALIDATION, "%s",                                                                      \
		"The body must be {\"operation\": \"Query\", \"request\": {...}}, with any "       \
		"operation that reads or writes items, and its request"
#define MSG_EXPLAIN_OPERATION                                                                      \
	ERR_VALIDATION, "There is no operation '" STR_FMT "' that reads or writes items"
#define MSG_EXPLAIN_INPUT ERR_VALIDATION, "%s: no JSON object"
#define MSG_EXPLAIN_POLICIES ERR_VALIDATION, "%s: " STR_FMT
#define MSG_TABLES_NAME ERR_VALIDATION, STR_FMT
#define MSG_REPORT_FILE ERR_VALIDATION, "%s: %s"
#define MSG_RECORDING_FILE ERR_VALIDATION, "%s: %s"
#define MSG_RECORDING_HEAD                                                                         \
	ERR_VALIDATION, "%s: no recording: its first line must be {\"dynalith_recording\": 1, "    \
			"...}, as --record writes it"
#define MSG_RECORDING_LINE ERR_VALIDATION, "%s:%zu: no line of a recording: %s"
#define MSG_RECORDING_UNSENT ERR_INTERNAL, "line %zu, " STR_FMT ": no answer: %s"
#define MSG_RECORDING_MASKED                                                                       \
	ERR_VALIDATION, "%s was recorded with --record-values masked: its values are not there, "  \
			"so it cannot be sent"
#define MSG_PRICES                                                                                 \
	ERR_VALIDATION, "%s: no prices: a JSON object in the form of docs/prices.json was "        \
			"expected"
#define MSG_REPORT_PRICES                                                                          \
	ERR_VALIDATION, "%s: no prices: a JSON object with the numbers "                           \
			"read_request_units_million, write_request_units_million, "                \
			"read_capacity_unit_hour and write_capacity_unit_hour was expected"
#define MSG_REPORT_NONE                                                                            \
	ERR_VALIDATION, "%s",                                                                      \
		"no access patterns: the answer of GET /_dynalith/insight was expected"
#define MSG_REPORT_NO_VALUES                                                                       \
	ERR_VALIDATION, "%s", "--show-values: no request was kept with its values; start the "     \
			      "server with --show-values"
#define MSG_REPORT_YAML ERR_VALIDATION, "line %zu: " STR_FMT
#define MSG_REPORT_REVIEWED                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		"new-pattern wants --patterns FILE: one that --write made, a list \"patterns\" "   \
		"in YAML, or a model of NoSQL Workbench"
#define MSG_REPORT_ENTRY                                                                           \
	ERR_VALIDATION, "entry %zu of \"patterns\" lacks \"operation\" or \"table\""
#define MSG_REPORT_MEMBER                                                                          \
	ERR_VALIDATION, "entry %zu of \"patterns\": " STR_FMT                                      \
			" is no text, or none of name, description, operation, kind, table, "      \
			"index, key, filter, "                                                     \
			"projection, update, condition and how"
#define MSG_REPORT_MODEL                                                                           \
	ERR_VALIDATION, "%s",                                                                      \
		"the model declares no access pattern: its facets and tables have no sample rows"
#define MSG_REPORT_RULE                                                                            \
	ERR_VALIDATION, "there is no rule '%s'; there are " STR_FMT                                \
			"discard>SHARE, units>N/pattern, units>N/call and new-pattern"
#define MSG_COPY_FULL                                                                              \
	ERR_INTERNAL, STR_FMT " has tables; --replace makes it a copy of the source, and deletes " \
			      "what the source lacks"
#define MSG_COPY_SPACES ERR_INTERNAL, "the source has more than %d accounts and regions with tables"
#define MSG_REPORT_FORM ERR_INTERNAL, "%s: the extension is none of " REPORT_EXTENSIONS
#define MSG_OPTION_FAILED ERR_INTERNAL, "%s: " STR_FMT
#define MSG_NO_THREAD ERR_INTERNAL, "%s", "cannot start a thread"
#define MSG_NO_LISTENING ERR_INTERNAL, "cannot listen on %s:%ld: %s"
#define MSG_COPY_UNFINISHED                                                                        \
	ERR_INTERNAL, STR_FMT " is a copy that was not finished; run dynalith copy again"
#define MSG_REPLICATION_LAG                                                                        \
	ERR_VALIDATION, "\"lag_ms\" must be a number of milliseconds from 0 to %d"
#define MSG_REPLICATION_PAIR                                                                       \
	ERR_VALIDATION, "%s",                                                                      \
		"\"partitions\" must be an array of pairs of two different regions, such as "      \
		"[[\"us-east-1\", \"eu-west-1\"]]"
#define MSG_REPLICATION_CUTS ERR_VALIDATION, "\"partitions\" can have %d pairs at most"
#define MSG_CONTROL_NAMESPACE                                                                      \
	ERR_VALIDATION, "A namespace is an account of 12 digits and a region of 1 to 63 letters, " \
			"digits and hyphens, not account '" STR_FMT "' and region '" STR_FMT "'"
#define MSG_CONTROL_NAME                                                                           \
	ERR_VALIDATION, "A name has 1 to %d letters, digits, '.', '_' and '-', unlike '" STR_FMT "'"
#define MSG_CONTROL_BODY ERR_VALIDATION, "The body must be a JSON object with " STR_FMT ", or empty"
#define MSG_CONTROL_MEMBER                                                                         \
	ERR_VALIDATION, "There is no member \"" STR_FMT "\" here; a body takes " STR_FMT
#define MSG_CONTROL_TYPE ERR_VALIDATION, "\"%s\" must be %s"
#define MSG_CONTROL_STRINGS ERR_VALIDATION, "\"%s\" must be an array of strings"
#define MSG_CONTROL_INTEGER ERR_VALIDATION, "\"%s\" must be a whole number from 0 to %lld"
#define MSG_LAG_NOTHING                                                                            \
	ERR_VALIDATION, "%s",                                                                      \
		"Nothing would lag: give a \"lag\" or an \"index_lag\" of the namespace or of "    \
		"one of \"tables\"; DELETE takes the lag away"
#define MSG_LAG_TABLE                                                                              \
	ERR_VALIDATION, "\"tables\" maps names of tables to objects; '" STR_FMT                    \
			"' is no name of a table, or has no object"
#define MSG_LAG_TWICE ERR_VALIDATION, "\"tables\" has '" STR_FMT "' twice"
#define MSG_CONFLICTS ERR_VALIDATION, "%s", "\"conflicts\" must be \"none\" or \"real\""
#define MSG_CONTROL_MISSING ERR_VALIDATION, "The body lacks \"%s\""
#define MSG_CLONE_NOBODY                                                                           \
	ERR_VALIDATION, "%s", "\"to\" names no account: there is nothing to clone to"
#define MSG_CLONE_TWICE                                                                            \
	ERR_VALIDATION, "Account " STR_FMT                                                         \
			" is named twice: \"to\" has other accounts than \"from\", each once"
#define MSG_CLONE_SHARED                                                                           \
	ERR_VALIDATION, "%s", "With --shared-db all accounts are one: there is nothing to clone to"
#define MSG_RESET_KEEP ERR_VALIDATION, "%s", "\"keep\" can only be \"tables\""
#define MSG_CHECK_BODY                                                                             \
	ERR_VALIDATION, "%s",                                                                      \
		"The check wants {} or {\"cursor\": ...} with the cursor of the answer before"
#define MSG_BACKUP_QUERY                                                                           \
	ERR_VALIDATION, "%s",                                                                      \
		"There is no such backup: /_dynalith/backup begins one, ?id=ID goes on, "          \
		"?id=ID&at=BYTES reads it when it is whole"
#define MSG_BACKUP_BUSY ERR_RESOURCE_IN_USE, "%s", "Another backup is under way"
#define MSG_BACKUP_DATABASE                                                                        \
	ERR_REQUEST, "%s",                                                                         \
		"This kind of store makes no copies of itself: back it up by its own tools"
#define MSG_REMOTE ERR_INTERNAL, STR_FMT ": " STR_FMT
#define MSG_MCP_MISSING ERR_VALIDATION, "the argument '%s' is missing"
#define MSG_MCP_UNKNOWN ERR_VALIDATION, "there is no argument '" STR_FMT "' of %s"
#define MSG_MCP_TYPE ERR_VALIDATION, "the argument '%s' must be %s"
#define MSG_MCP_CONDITION ERR_VALIDATION, "%s", "query wants key, condition or both"
#define MSG_MCP_ALONE                                                                              \
	ERR_VALIDATION, "%s",                                                                      \
		"time_to_live stands alone beside table: nothing was changed. Call update_table "  \
		"once more for the rest"
#define MSG_MCP_READ                                                                               \
	ERR_VALIDATION, "%s",                                                                      \
		"the statement must begin with SELECT; put_item, update_item and delete_item "     \
		"write, with --allow-writes"
#define MSG_MCP_WRITES                                                                             \
	ERR_VALIDATION, "%s changes data or the clock: the user must start dynalith mcp with "     \
			"--allow-writes"
#define MSG_MCP_LONG                                                                               \
	ERR_VALIDATION, "the answer has %zu bytes, and %zu are the most: ask for fewer "           \
			"attributes by projection, or for a smaller part"
#define MSG_MCP_NO_RESOURCE ERR_RESOURCE_NOT_FOUND, "%s", "there is no such resource"
#define MSG_MCP_SERVER ERR_INTERNAL, "no answer from the server: %s"
#define MSG_MCP_REFUSED ERR_VALIDATION, STR_FMT ": " STR_FMT
#define MSG_ORIGIN                                                                                 \
	ERR_ORIGIN_DENIED,                                                                         \
		"Pages of the origin '" STR_FMT "' may not call this server from a browser; the "  \
						"option --cors names those that may"
#define MSG_ORIGIN_UNKNOWN                                                                         \
	ERR_ORIGIN_DENIED, "Pages of other sites may not call host '" STR_FMT                      \
			   "' from a browser; the option --cors names the origins that may"
#define MSG_HTTP_FRAMING                                                                           \
	ERR_SERIALIZATION, "%s",                                                                   \
		"The length or the host of the request is not told, or told in two ways"
#define MSG_BODY_ENCODING                                                                          \
	ERR_INTERNAL, "%s", "The request body is not what its Content-Encoding says"
#define MSG_HTTP_HEAD                                                                              \
	ERR_SERIALIZATION, "%s",                                                                   \
		"The head of the request is larger than the server takes: 16 KB with all header "  \
		"lines"
/* The bodies of whole answers; see refusal.h. */
#define TLS_REFUSAL                                                                                \
	"{\"__type\":\"com.amazon.coral.service#SerializationException\",\"Message\":\"This port " \
	"speaks TLS; the endpoint begins with https://\"}"
#define FULL_REFUSAL                                                                               \
	"{\"__type\":\"com.amazon.coral.service#ServiceUnavailable\",\"Message\":\"The request "   \
	"has failed due to a temporary failure of the server.\"}"

/* Of the health page: the reason as metrics have it, and its text. */
#define FORM_HEALTH_STORE                                                                          \
	"{\"status\":\"unavailable\",\"reason\":\"%s\",\"message\":\"The database cannot be "      \
	"used: %s\"}"
#define MSG_NO_POSTGRESQL                                                                          \
	ERR_INTERNAL, "%s",                                                                        \
		"this build has no store in PostgreSQL: the header of libpq was not there"

/* dynalith pull */
#define MSG_PULL_REMOTE ERR_INTERNAL, STR_FMT ": " STR_FMT ": " STR_FMT "; run it again to go on"
#define MSG_PULL_DENIED                                                                            \
	ERR_INTERNAL, STR_FMT ": the credentials lack the right dynamodb:%s: " STR_FMT
#define MSG_PULL_NO_PROFILE                                                                        \
	ERR_INTERNAL, "there is no profile " STR_FMT " in ~/.aws/config and ~/.aws/credentials"
#define MSG_PULL_NO_KEYS                                                                           \
	ERR_INTERNAL, "no credentials: the profile " STR_FMT " has no keys, nor has the "          \
		      "environment; those of containers and instances are not read"
#define MSG_PULL_PROCESS                                                                           \
	ERR_INTERNAL, "profile " STR_FMT ": " STR_FMT ": it ended with status %d"
#define MSG_PULL_PRINTED ERR_INTERNAL, "profile " STR_FMT ": " STR_FMT ": it printed no keys"
#define MSG_PULL_EXPORT ERR_INTERNAL, "the export " STR_FMT ": " STR_FMT
#define PULL_AUTHORITIES "no authorities are known that sign AWS's certificates: --tls-ca FILE"
#define MSG_PULL_AUTHORITIES ERR_VALIDATION, "%s", PULL_AUTHORITIES
#define MSG_PULL_GZIP ERR_VALIDATION, "it is no gzip, or ends within it"
#define MSG_PULL_PLACE ERR_VALIDATION, "--export %s: wanted a folder, or s3://BUCKET/KEY"
#define MSG_PULL_FULL_LATER                                                                        \
	ERR_VALIDATION, "%s is a full export: it must come first, behind it incremental ones"
#define MSG_PULL_GAP                                                                               \
	ERR_VALIDATION, "%s begins at " STR_FMT ", behind " STR_FMT                                \
			", where the data ends: an export between them is missing"
#define MSG_PULL_ORDER                                                                             \
	ERR_VALIDATION, "%s ends at " STR_FMT ", before " STR_FMT                                  \
			", where the data ends: give exports in their order"
#define MSG_PULL_OTHER_TABLE                                                                       \
	ERR_VALIDATION, "%s is an export of the table " STR_FMT ", not of " STR_FMT
#define MSG_PULL_OTHER_ID                                                                          \
	ERR_VALIDATION, "%s is of another table that was called " STR_FMT                          \
			", before or behind: its TableId differs"
#define MSG_PULL_NO_BASE                                                                           \
	ERR_VALIDATION, "%s has changes only: --to must name a data file that was pulled before"
#define MSG_PULL_NOT_PULLED                                                                        \
	ERR_VALIDATION,                                                                            \
		"%s has no table " STR_FMT " in " STR_FMT                                          \
		" that was pulled with DYNALITH_MASK_SECRET set: no changes can be applied to it"
#define MSG_PULL_BASE_OTHER                                                                        \
	ERR_VALIDATION, STR_FMT ": it was pulled with another secret, mask or choice of items"
#define MSG_PULL_WHEN                                                                              \
	ERR_VALIDATION,                                                                            \
		"%s has no old images (NEW_IMAGE), and a rule for the key has a \"when\" on "      \
		"another attribute: export NEW_AND_OLD_IMAGES"
#define MSG_PULL_KEY                                                                               \
	ERR_VALIDATION, STR_FMT ": the mask leaves out an attribute of the key, or it is missing"
#define MSG_PULL_FOLLOW ERR_VALIDATION, "--follow names the table " STR_FMT ", and no --table does"
#define MSG_PULL_HERE ERR_VALIDATION, STR_FMT ": the masked items cannot be written: " STR_FMT
#define MSG_PULL_EQUAL                                                                             \
	ERR_VALIDATION, STR_FMT ": the mask makes keys equal: %llu items were read, %llu differ"
#define MSG_PULL_UNKNOWN                                                                           \
	ERR_VALIDATION, "the mask has no rule that can take these; add rules, or --unknown keep"
#define MSG_PULL_OTHER                                                                             \
	ERR_INTERNAL, "%s is left of a pull with another mask or secret: remove it to start over"

#endif
