/*
 * rollout_table - the command `dynalith rollouts`: the rows of protocol/rollouts.def in words.
 */
#ifndef DYNALITH_SERVER_ROLLOUT_TABLE_H
#define DYNALITH_SERVER_ROLLOUT_TABLE_H

#include "core/arena.h"

int rollout_table_run(struct arena *arena, int argc, char **argv);

#endif
