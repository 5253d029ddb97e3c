/*
 * import_rules - what ImportTable takes, and the table that it makes.
 */
#ifndef DYNALITH_PROTOCOL_IMPORT_RULES_H
#define DYNALITH_PROTOCOL_IMPORT_RULES_H

#include "protocol/transfer/records.h"
#include "protocol/transfer/transfer.h"

enum code import_rules_check(const struct import_table_input *input, struct err *err) WARN_UNUSED;

/* The table that the parameters describe, as CreateTable would make it; a reference for the caller,
 * or NULL. */
enum code import_rules_table(struct ns ns, const struct table_creation_parameters *parameters,
			     struct table **table, struct err *err) WARN_UNUSED;

/* How the import's files are read. */
struct records_form import_rules_form(struct arena *arena, const struct import_table_input *input);

#endif
