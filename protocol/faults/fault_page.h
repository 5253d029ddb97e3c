/*
 * fault_page - an empty page with a LastEvaluatedKey, as AWS gives where a filter lets nothing
 * through, without leaving a row out.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_PAGE_H
#define DYNALITH_PROTOCOL_FAULTS_PAGE_H

#include "protocol/handler.h"
#include "storage/read.h"

/*
 * Fills page->found with no rows and a LastEvaluatedKey that lies before the first row of the page:
 * what goes on behind it gets all rows. It is none that the client has given, since paginators take
 * that for a loop. Where there is no row, or no key could be found, *is_empty is false and nothing
 * was read.
 */
enum code fault_page_empty(struct call *call, struct read_page *page, bool *is_empty,
			   struct err *err) WARN_UNUSED;

#endif
