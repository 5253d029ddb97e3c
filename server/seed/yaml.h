/*
 * yaml - YAML as JSON. The only door to libyaml.
 *
 * Scalars without quotes that look like JSON's numbers, true, false or null are these; all others
 * are strings. The tags !!str, !!int, !!float, !!bool, !!null, !!seq and !!map say it instead, and
 * a value that is not of that type is an error. Tags of CloudFormation are functions: !Ref X is
 * {"Ref": "X"}, !Sub X is {"Fn::Sub": "X"}, !GetAtt A.B is {"Fn::GetAtt": ["A", "B"]}. Other tags
 * are errors. A key that stands twice in its map does so in the JSON. Aliases are copied, 16 MB of
 * JSON at most. The key << merges a map, or maps in the order of a list: a map's own keys win, then
 * those of the first.
 */
#ifndef DYNALITH_SERVER_SEED_YAML_H
#define DYNALITH_SERVER_SEED_YAML_H

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

/* The line, from 1 on, of each value of the JSON in its order: a container before what it holds. */
struct yaml_lines {
	size_t *v, n;
	size_t problem; /* the line of an error */
};

/* The only document. ERR_VALIDATION: lines->problem says where. */
enum code yaml_to_json(struct arena *arena, struct str text, struct str *json,
		       struct yaml_lines *lines, struct err *err) WARN_UNUSED;

#endif
