/*
 * messages - texts of errors about masks; see core/err.h for how they are raised.
 */
#ifndef DYNALITH_SERVER_MASK_MESSAGES_H
#define DYNALITH_SERVER_MASK_MESSAGES_H

#define MSG_MASK_RULES                                                                             \
	ERR_VALIDATION, "%s%swanted {\"rules\": [{\"path\": PATH, \"action\": ACTION}, ...]}"
#define MSG_MASK_RULE ERR_VALIDATION, "rule %zu: " STR_FMT
#define MSG_MASK_PLACE ERR_VALIDATION, "%s:%zu: rule %zu: " STR_FMT
#define MSG_MASK_PATH ERR_VALIDATION, "\"path\" is no path of 1 to %d names"
#define MSG_MASK_ACTION                                                                            \
	ERR_VALIDATION,                                                                            \
		"\"action\" is not one of keep, drop, redact, hash, fake, template, bucket, shift"
#define MSG_MASK_SIZE                                                                              \
	ERR_VALIDATION, "bucket wants \"size\", shift wants \"days\": an integer above 0"
#define MSG_MASK_TEMPLATE                                                                          \
	ERR_VALIDATION, "\"template\" \"" STR_FMT "\": wanted text with <keep>, <redact>, <hash> " \
			"or <fake>, and text between two of them"
#define MSG_MASK_WHEN ERR_VALIDATION, "\"when\" is not {ATTRIBUTE: PATTERN}"
#define MSG_MASK_EQUAL                                                                             \
	ERR_VALIDATION, "the mask makes keys of the table " STR_FMT " equal that are not"
#define MSG_MASK_UNKNOWN                                                                           \
	ERR_VALIDATION,                                                                            \
		"the mask has no rule that can take " STR_FMT "; add rules, or --unknown keep"
#define MSG_MASK_FOUND                                                                             \
	ERR_VALIDATION, "%zu originals of masked values stand in attributes that the mask keeps: " \
			"mask these too"

#endif
