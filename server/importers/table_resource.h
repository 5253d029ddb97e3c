/*
 * table_resource - a table of a template, its functions resolved, made by the API: CreateTable and
 * what follows.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_TABLE_RESOURCE_H
#define DYNALITH_SERVER_IMPORTERS_TABLE_RESOURCE_H

#include "server/seed/seed.h"

enum table_kind { TABLE_NONE, TABLE_PLAIN, TABLE_GLOBAL, TABLE_SIMPLE };

struct table_resource {
	enum table_kind kind;
	struct str name; /* its logical id, used where the properties have no TableName */
	struct str path; /* of its properties, for messages */
	struct str region, account;    /* where it is made */
	const struct json *properties; /* in the seed's source; NULL: none */
	struct origin origin;
	const struct seed_request
		*scaling; /* requests of Application Auto Scaling that follow it */
	size_t scaling_count;
};

/* By the Type of a resource. */
enum table_kind table_resource_kind(struct str type);

/* Refuses by seed_refuse() what it does not carry out. */
enum code table_resource_make(struct seed *seed, const struct table_resource *resource,
			      struct err *err) WARN_UNUSED;

#endif
