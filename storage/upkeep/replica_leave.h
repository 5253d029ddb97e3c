/*
 * replica_leave - makes a replica a table of one region again, with its items and settings.
 *
 * UpdateTable marks the table (table_group.is_leaving). It leaves in a transaction that finds no
 * change waiting for it or from it; all records of the group change in the same one. With two
 * replicas both become tables of one region. AWS: Developer Guide, "Disassociating a global table
 * replica".
 */
#ifndef DYNALITH_STORAGE_REPLICA_LEAVE_H
#define DYNALITH_STORAGE_REPLICA_LEAVE_H

#include "storage/catalog/catalog.h"

/*
 * By the clock of the table's region. *is_waiting: changes wait in queues, so it is still a
 * replica. ERR_CONFLICT or ERR_TABLE_MOVED: somebody changed the group or wrote meanwhile; try
 * again.
 */
enum code replica_leave(struct catalog *catalog, struct table *table, int64_t now_ms,
			bool *is_waiting, struct err *err) WARN_UNUSED;

#endif
