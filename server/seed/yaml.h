/*
 * yaml - YAML as JSON. The only door to libyaml.
 *
 * Scalars without quotes that look like JSON's numbers, true, false or null are these; all others are strings. Tags of CloudFormation are functions:
 * !Ref X is {"Ref": "X"}, !Sub X is {"Fn::Sub": "X"}, !GetAtt A.B is {"Fn::GetAtt": ["A", "B"]}. Aliases are copied, 16 MB of JSON at most.
 */
#ifndef DYNALITH_SERVER_SEED_YAML_H
#define DYNALITH_SERVER_SEED_YAML_H

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

/* The first document. ERR_VALIDATION with the line. */
enum code yaml_to_json(struct arena *arena, struct str text, struct str *json, struct err *err) WARN_UNUSED;

#endif
