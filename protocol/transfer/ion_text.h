/*
 * ion_text - reading Amazon Ion's text as attribute values, from bytes that come in pieces.
 *
 * AWS: Developer Guide, "Amazon S3 import formats for DynamoDB": string is S; decimal, float and
 * int N; blob B; bool BOOL; null NULL; struct M; list L; a list annotated with $dynamodb_SS,
 * $dynamodb_NS or $dynamodb_BS a set. Other types have no DynamoDB type. The grammar is Ion 1.0's
 * (amazon-ion/ion-docs, "Ion 1.0 Specification").
 */
#ifndef DYNALITH_PROTOCOL_ION_TEXT_H
#define DYNALITH_PROTOCOL_ION_TEXT_H

#include "core/arena.h"
#include "core/err.h"
#include "core/value.h"

enum ion_result {
	ION_VALUE,
	ION_MORE,   /* the bytes end within a value: nothing was taken */
	ION_END,
	ION_BROKEN, /* no Ion: nothing behind it can be read */
};

/*
 * The next value at the top of *rest, which is cut. Version markers are passed over, and so are
 * brackets and commas between values: AWS shows items within a list. The last bytes must end with
 * white space, by which a number or a word ends. With ION_VALUE, *value_err is OK or what the value
 * has that DynamoDB does not take. With ION_BROKEN, *err says why.
 */
enum ion_result ion_text_next(struct arena *arena, struct str *rest, bool is_last,
			      struct value *out, struct err *value_err, struct err *err);

/* What both readers share: a number's value from its text; a set from its elements. False:
 * *value_err says why. */
bool ion_text_number(struct arena *arena, struct str text, struct value *out,
		     struct err *value_err);
bool ion_text_set(struct str annotation, struct value *list, struct err *value_err);

/* A struct of these members; one whose field stands twice is wrong by *value_err. */
void ion_text_struct(struct member *members, size_t n, struct value *out, struct err *value_err);

#define ION_TOO_LARGE "a value that takes too much memory"
#define ION_DEPTH_MAX 64 /* of containers; DynamoDB takes fewer */

#endif
