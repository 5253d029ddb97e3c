/*
 * plan - tables of Terraform: what "terraform show -json" prints of a plan or of a state.
 *
 * Resources aws_dynamodb_table and aws_dynamodb_table_item, of all modules.
 */
#ifndef DYNALITH_SERVER_SEED_PLAN_H
#define DYNALITH_SERVER_SEED_PLAN_H

#include "server/seed/seed.h"

bool plan_is_in(const struct json *root);
enum code plan_read(struct seed *seed, const struct json *root, struct err *err) WARN_UNUSED;

#endif
