#include "protocol/tables/arn.h"

#include <string.h>

/* The part up to the next ':', cut off `rest`. */
static struct str next_part(struct str *rest)
{
	const char *colon = rest->n ? memchr(rest->p, ':', rest->n) : NULL;
	struct str part = {rest->p, colon ? (size_t)(colon - rest->p) : rest->n};

	rest->p += part.n + (colon != NULL);
	rest->n -= part.n + (colon != NULL);
	return part;
}

struct arn arn_split(struct str text)
{
	struct arn arn;

	(void)next_part(&text);
	arn.partition = next_part(&text);
	arn.service = next_part(&text);
	arn.region = next_part(&text);
	arn.account = next_part(&text);
	arn.resource = text;
	return arn;
}

struct str arn_table_part(struct str resource, struct str *name)
{
	struct str rest = {resource.p + 6, resource.n - 6};
	const char *slash = rest.n ? memchr(rest.p, '/', rest.n) : NULL;

	*name = (struct str){rest.p, slash ? (size_t)(slash - rest.p) : rest.n};
	return (struct str){rest.p + name->n + (slash != NULL), rest.n - name->n - (slash != NULL)};
}
