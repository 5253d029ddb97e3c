/*
 * arn - an Amazon Resource Name taken apart: arn:partition:service:region:account:resource.
 */
#ifndef DYNALITH_PROTOCOL_ARN_H
#define DYNALITH_PROTOCOL_ARN_H

#include "core/str.h"

struct arn {
	struct str partition, service, region, account,
		resource; /* slices; empty where the text ends before them */
};

/* The text begins with "arn:"; nothing else is checked. */
struct arn arn_split(struct str text);

/* The name in the resource "table/NAME/...", and the part behind it, which may be empty. */
struct str arn_table_part(struct str resource, struct str *name);

#endif
