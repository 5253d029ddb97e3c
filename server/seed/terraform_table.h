/*
 * terraform_table - a table of Terraform, the resource aws_dynamodb_table, as the requests that
 * make it.
 */
#ifndef DYNALITH_SERVER_SEED_TERRAFORM_TABLE_H
#define DYNALITH_SERVER_SEED_TERRAFORM_TABLE_H

#include "server/seed/seed.h"
#include "server/seed/source.h"

#define TERRAFORM_FOLLOW_UPS_MAX 64 /* requests behind CreateTable */

/* A resource that is read. */
struct terraform_resource {
	struct seed *seed;
	struct source *source;
	struct arena *arena;
	struct str address; /* for messages */
};

/* A string that is set: Terraform's null and "" are none. */
struct str terraform_text(const struct terraform_resource *of, const struct json *from,
			  const char *name);
bool terraform_is_on(const struct terraform_resource *of, const struct json *from,
		     const char *name);
/* The first block of a list of blocks, or the only one. */
const struct json *terraform_block(const struct terraform_resource *of, const struct json *from,
				   const char *name);
/* Marks as used all that a provider writes where nothing is set. */
void terraform_pass_over_unset(const struct terraform_resource *of, const struct json *value,
			       unsigned depth);

/* CreateTable's body. */
struct str terraform_table_body(const struct terraform_resource *of, const struct json *table,
				struct str name);
/* Adds the requests that follow it to the `n` that there are, TERRAFORM_FOLLOW_UPS_MAX at most; how
 * many there are then. */
size_t terraform_table_follow_ups(const struct terraform_resource *of, const struct json *table,
				  struct str name, struct seed_request *follow_ups, size_t n);
/* ImportTable's members of a block import_table. */
struct str terraform_table_import(const struct terraform_resource *of, const struct json *import);
/* What of the table no request carries out is refused. */
void terraform_table_refuse_unused(const struct terraform_resource *of, const struct json *values);

#endif
