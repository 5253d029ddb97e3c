/*
 * plan - tables of Terraform, OpenTofu and Pulumi: what "terraform show -json" or "tofu show -json"
 * prints of a plan or a state, a file terraform.tfstate of version 4, what "pulumi stack export"
 * prints.
 *
 * Resources aws_dynamodb_table and aws_dynamodb_table_item, of all modules; Pulumi's of the same
 * provider. HCL is not read: its own tool evaluates it.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_PLAN_H
#define DYNALITH_SERVER_IMPORTERS_PLAN_H

#include "server/seed/seed.h"

bool plan_is_in(const struct json *root);
enum code plan_read(struct seed *seed, const struct json *root, struct err *err) WARN_UNUSED;

#endif
