/*
 * apply - "dynalith apply FILE...", which fills a server that runs, and --init, which fills this
 * one before it listens.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_APPLY_H
#define DYNALITH_SERVER_IMPORTERS_APPLY_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/err.h"
#include "protocol/service.h"
#include "server/seed/seed.h"

/* Carries it out; the process's exit status: 0 when all is there, 1 where a file was refused or a
 * line passed over, 2 for another command line. */
int apply_run(struct arena *arena, int argc, char **argv);

/* Loads a file, or the files of a folder in the order of their names, into the service's default
 * namespace. ERR_VALIDATION with where and why. */
enum code apply_init(struct service *service, const char *path, struct err *err) WARN_UNUSED;

/* The same by a target that carries operations out elsewhere. */
enum code apply_to(struct seed_target target, const char *path, struct err *err) WARN_UNUSED;

#endif
