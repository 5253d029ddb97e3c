/*
 * exit_status - what the status of each command, and of the server, says: EXIT_DONE, EXIT_FAILED,
 * EXIT_MISUSE, EXIT_FOUND and others, see exit_status.def.
 */
#ifndef DYNALITH_SERVER_EXIT_STATUS_H
#define DYNALITH_SERVER_EXIT_STATUS_H

enum exit_status {
#define EXIT_STATUS(name, number, help) EXIT_##name = number,
#include "server/command/exit_status.def"
#undef EXIT_STATUS
};

#endif
