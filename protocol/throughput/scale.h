/*
 * scale - auto scaling where throughput is enforced: the provisioned units of tables and indexes
 * follow what requests consume, by the minutes of the namespace's clock.
 *
 * The first request in a minute, whatever it asks for, looks at the tables that were used. So it
 * needs no thread, and a test that turns the clock sees what the minutes came to. Of several
 * servers each follows what it serves itself.
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_SCALE_H
#define DYNALITH_PROTOCOL_THROUGHPUT_SCALE_H

#include "protocol/handler.h"

/* For op_run, after throughput_begin. Where a minute of the namespace is over it changes the units
 * of its tables. A change that fails is left, and its alarm has to come again. */
void scale_begin(struct call *call);

#endif
