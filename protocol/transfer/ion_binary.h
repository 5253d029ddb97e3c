/*
 * ion_binary - reading Amazon Ion's binary form as attribute values, from bytes that come in
 * pieces. Types become DynamoDB's as in ion_text.h.
 *
 * The form is Ion 1.0's (amazon-ion/ion-docs, "Ion 1.0 Binary Encoding"). Symbol tables that import
 * shared ones are not read.
 */
#ifndef DYNALITH_PROTOCOL_ION_BINARY_H
#define DYNALITH_PROTOCOL_ION_BINARY_H

#include "protocol/transfer/ion_text.h"

#define ION_SYMBOLS_BYTES_MAX                                                                      \
	((size_t)64 << 20) /* of all tables of a stream, as they lie in memory: ours */

/* The symbols that the stream has defined so far, behind the system's nine. */
struct ion_symbols {
	struct arena *arena; /* lives as long as the stream is read */
	struct str *v;
	size_t n;
};

/* Whether a stream begins as binary Ion does; needs its first four bytes. */
bool ion_binary_is(struct str bytes);

/* As ion_text_next. */
enum ion_result ion_binary_next(struct arena *arena, struct ion_symbols *symbols, struct str *rest,
				bool is_last, struct value *out, struct err *value_err,
				struct err *err);

#endif
