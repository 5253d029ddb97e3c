/*
 * imports - what imports refused, for those who look in CloudWatch at AWS.
 */
#ifndef DYNALITH_SERVER_CONTROL_IMPORTS_H
#define DYNALITH_SERVER_CONTROL_IMPORTS_H

#include "server/control/control.h"

/* GET imports/ID: an array of the records that the import refused. ERR_RESOURCE_NOT_FOUND where
 * there is no such import. */
enum code imports_show(const struct control_call *call, struct str *answer,
		       struct err *err) WARN_UNUSED;

#endif
