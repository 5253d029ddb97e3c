/*
 * origin - which pages of browsers may call.
 *
 * A browser sends a page's requests to any address, also to its user's loopback, and servers carry
 * out even those whose answer the page may not read. So a browser's request is refused before
 * anything is done, unless its origin may call. Other clients are not checked.
 *
 * A request is a browser's when it carries Origin or Sec-Fetch-* (W3C: Fetch Metadata Request
 * Headers). Two things are known of clients besides: Node.js' own fetch sends "Sec-Fetch-Mode:
 * cors" alone, which no browser does; and a browser sends no such header with a GET that a page of
 * a name makes to that name by plain HTTP, but always Accept-Language. A page whose name was turned
 * to loopback (DNS rebinding) can make such a GET.
 */
#ifndef DYNALITH_SERVER_ORIGIN_H
#define DYNALITH_SERVER_ORIGIN_H

#include <stdbool.h>

#include "core/str.h"

/* The headers that say where a request comes from; absent where missing. */
struct origin_signs {
	struct str origin;
	struct str site, mode, dest, user; /* Sec-Fetch-... */
	struct str host;
	struct str language; /* Accept-Language */
	bool is_get;         /* or HEAD */
};

/*
 * Whether the origin is one of the list, whose entries commas separate: an origin, "loopback" for
 * those of this machine with any port, "*" for all. For our own pages "*" is "loopback".
 */
bool origin_is_listed(const char *list, bool is_own_page, struct str origin);

/* Whether the server may carry out the request. A page of the server's own address may always call,
 * since nobody else can have such a page. */
bool origin_may_call(const char *list, bool is_own_page, const struct origin_signs *signs);

/* Whether the page that sent the request is of the server's own origin, by what the browser says.
 * Only a browser's requests have these headers. */
bool origin_is_own_page(const struct origin_signs *signs);

#endif
