/*
 * parent - ends the server with the process that started it, also where that process is killed.
 *
 * The starter keeps the other end of the server's standard input open and writes nothing. The
 * kernel closes it with the process, on every system and in every language. The server's address is
 * the first line of its standard output, so that a starter can ask for any free port.
 */
#ifndef DYNALITH_SERVER_PARENT_H
#define DYNALITH_SERVER_PARENT_H

#include <stdbool.h>

#include "core/str.h"

/* Prints the address. When standard input ends, the process gets SIGTERM. False: there is no thread
 * for it. */
bool parent_watch(struct str url);

#endif
