/*
 * replication - /_dynalith/replication: how the replicas of an account's global tables follow each
 * other. docs/global-tables.md.
 */
#ifndef DYNALITH_SERVER_REPLICATION_H
#define DYNALITH_SERVER_REPLICATION_H

#include "server/control/control.h"

control_handler replication_show, replication_put, replication_delete;

#endif
