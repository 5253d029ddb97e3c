/*
 * throughput - endpoints that enforce the throughput of a namespace's tables and show what is left
 * of it: protocol/throughput.
 */
#ifndef DYNALITH_SERVER_CONTROL_THROUGHPUT_H
#define DYNALITH_SERVER_CONTROL_THROUGHPUT_H

#include "server/control/control.h"

/* PUT throughput: the settings in place of those there are; all buckets begin again. Answers as GET
 * does. */
enum code throughput_put(const struct control_call *call, struct str *answer,
			 struct err *err) WARN_UNUSED;

/* GET throughput: the settings, and the tables that were used since. */
enum code throughput_show(const struct control_call *call, struct str *answer,
			  struct err *err) WARN_UNUSED;

/* DELETE throughput: the settings are the server's. */
enum code throughput_delete(const struct control_call *call, struct str *answer,
			    struct err *err) WARN_UNUSED;

#endif
