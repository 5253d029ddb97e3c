/*
 * template - tables of CloudFormation and SAM templates and of serverless.yml.
 *
 * Types AWS::DynamoDB::Table, AWS::DynamoDB::GlobalTable and AWS::Serverless::SimpleTable, also of
 * nested stacks whose template is a file beside this one. Other resources are passed over, and so
 * is one whose condition does not hold. A table without TableName is called by its logical id. What
 * of a table is not carried out is refused.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_TEMPLATE_H
#define DYNALITH_SERVER_IMPORTERS_TEMPLATE_H

#include "server/seed/seed.h"

bool template_is_in(const struct json *root);
enum code template_read(struct seed *seed, const struct json *root, struct err *err) WARN_UNUSED;

#endif
