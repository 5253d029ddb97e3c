/*
 * ion_out - attribute values as Amazon Ion's text, as DynamoDB exports them.
 *
 * AWS: Developer Guide, "DynamoDB table export output format", Amazon Ion: a number is a decimal in
 * its shortest form (103., 1.5, 6d2), a set a list annotated with $dynamodb_SS, $dynamodb_NS or
 * $dynamodb_BS.
 */
#ifndef DYNALITH_PROTOCOL_ION_OUT_H
#define DYNALITH_PROTOCOL_ION_OUT_H

#include "core/buf.h"
#include "core/value.h"

void ion_out_value(struct buf *out, const struct value *value);
/* A field's name: bare where it is an identifier, else quoted. */
void ion_out_name(struct buf *out, struct str name);

#endif
