/*
 * fault_effect - the errors that a rule gives, in AWS's words.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_EFFECT_H
#define DYNALITH_PROTOCOL_FAULTS_EFFECT_H

#include "protocol/faults/fault_rule.h"
#include "storage/schema/schema.h"

/* What a request is about, for texts and reasons. */
struct fault_about {
	struct str table, index; /* absent: none */
	struct ns ns;            /* of the table */
	bool is_write, is_of_items;
};

/* Fills *err with the effect's error and returns its code. */
enum code fault_effect_error(const struct fault_effect *effect, const struct fault_about *about,
			     struct err *err);

#endif
