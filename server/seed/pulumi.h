/*
 * pulumi - resources of Pulumi's state as Terraform has them: its provider of AWS is made of
 * Terraform's.
 */
#ifndef DYNALITH_SERVER_SEED_PULUMI_H
#define DYNALITH_SERVER_SEED_PULUMI_H

#include "server/seed/seed.h"

/* Terraform's type of one of Pulumi's; absent: another one. */
struct str pulumi_terraform_type(struct str type);

/* A resource's outputs with Terraform's names, in the arena of the file, each where it stood there.
 * Refuses secrets, at `address`. */
enum code pulumi_rename(struct seed *seed, const struct json *outputs, struct str address,
			const struct json **out, struct err *err) WARN_UNUSED;

#endif
