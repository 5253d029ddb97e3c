#include "server/origin.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define ADDRESS_MAX 64 /* longer hosts are names */

static const struct str schemes[] = {STR_INIT("http://"), STR_INIT("https://")};

#define SCHEMES (sizeof(schemes) / sizeof(schemes[0]))

/* The host of HOST, HOST:PORT or [IPV6]:PORT; absent where it is none of these. */
static struct str host_of(struct str authority)
{
	bool is_ipv6 = str_starts_with(authority, STR("["));
	const char *end =
		authority.n ? memchr(authority.p, is_ipv6 ? ']' : ':', authority.n) : NULL;
	size_t n = end ? (size_t)(end - authority.p) + is_ipv6 : authority.n;

	if (n == 0 || (is_ipv6 && !end))
		return STR_ABSENT;
	for (size_t i = n; i < authority.n; i++) {
		if (i == n ? authority.p[i] != ':' : authority.p[i] < '0' || authority.p[i] > '9')
			return STR_ABSENT;
	}
	return (struct str){authority.p, n};
}

/* Whether the host is an address and no name; then also whether it is one of this machine alone. */
static bool is_address(struct str host, bool *is_loopback)
{
	bool is_ipv6 = str_starts_with(host, STR("["));
	char text[ADDRESS_MAX];
	struct in6_addr six;
	struct in_addr four;

	if (!str_is_set(host) || host.n >= sizeof(text))
		return false;
	size_t n = host.n - (is_ipv6 ? 2 : 0);
	memcpy(text, host.p + is_ipv6, n);
	text[n] = '\0';
	if (!is_ipv6) {
		*is_loopback = inet_pton(AF_INET, text, &four) == 1 &&
			       ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
		return inet_pton(AF_INET, text, &four) == 1;
	}
	if (inet_pton(AF_INET6, text, &six) != 1)
		return false;
	*is_loopback = IN6_IS_ADDR_LOOPBACK(&six) ||
		       (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == IN_LOOPBACKNET);
	return true;
}

/* RFC 6761, 6.3: names below localhost are this machine, whatever name servers answer. */
static bool is_localhost(struct str host)
{
	static const struct str name = STR_INIT("localhost");
	size_t more = host.n > name.n ? host.n - name.n : 0;
	struct str end = {host.p + more, host.n - more};

	return str_is_set(host) && str_eq_nocase(end, name) &&
	       (more == 0 || host.p[more - 1] == '.');
}

static bool is_loopback(struct str authority)
{
	struct str host = host_of(authority);
	bool is_own = false;

	return is_localhost(host) || (is_address(host, &is_own) && is_own);
}

/* Whether only this machine can have a page at that host, whatever name servers answer. */
static bool is_fixed(struct str authority)
{
	struct str host = host_of(authority);
	bool is_own;

	return is_localhost(host) || is_address(host, &is_own);
}

/* The part behind http:// or https://; absent for other origins, such as "null". */
static struct str authority_of(struct str origin)
{
	for (size_t i = 0; i < SCHEMES; i++) {
		if (str_starts_with(origin, schemes[i]))
			return (struct str){origin.p + schemes[i].n, origin.n - schemes[i].n};
	}
	return STR_ABSENT;
}

static bool has_entry(const char *list, struct str wanted)
{
	struct str rest = str_of(list);

	while (rest.n && wanted.n) {
		if (str_eq(str_trim(str_cut(&rest, ',')), wanted))
			return true;
	}
	return false;
}

static bool allows_all(const char *list, bool is_own_page)
{
	return !is_own_page && has_entry(list, STR("*"));
}

static bool allows_loopback(const char *list)
{
	return has_entry(list, STR("loopback")) || has_entry(list, STR("*"));
}

bool origin_is_listed(const char *list, bool is_own_page, struct str origin)
{
	if (!str_is_set(origin))
		return false;
	return allows_all(list, is_own_page) || has_entry(list, origin) ||
	       (is_loopback(authority_of(origin)) && allows_loopback(list));
}

/* Whether an entry is a page of the host to which the request went. */
static bool is_host_listed(const char *list, struct str host)
{
	struct str rest = str_of(list);

	while (rest.n && host.n) {
		if (str_eq_nocase(authority_of(str_trim(str_cut(&rest, ','))), host))
			return true;
	}
	return false;
}

/* A page that makes a request to its own host. */
static bool may_call_own_host(const char *list, struct str host)
{
	return is_fixed(host) || is_host_listed(list, host);
}

static bool has_origin_that_may(const char *list, bool is_own_page,
				const struct origin_signs *signs)
{
	bool is_same = signs->host.n && str_eq_nocase(authority_of(signs->origin), signs->host);

	return origin_is_listed(list, is_own_page, signs->origin) ||
	       (is_same && is_fixed(signs->host));
}

/* By Sec-Fetch-Site; without it the request counts as one to the page's own host. */
static bool has_site_that_may(const char *list, const struct origin_signs *signs)
{
	if (str_eq(signs->site, STR("none")) && signs->is_get) /* of the user, not of a page */
		return true;
	if (str_eq(signs->site, STR("same-site"))) /* the same host, or one below the same name */
		return is_loopback(signs->host) && allows_loopback(list);
	if (str_is_set(signs->site) && !str_eq(signs->site, STR("same-origin")) &&
	    !str_eq(signs->site, STR("none")))
		return false;
	return may_call_own_host(list, signs->host);
}

static bool is_node(const struct origin_signs *signs)
{
	return str_eq(signs->mode, STR("cors")) && !str_is_set(signs->site) &&
	       !str_is_set(signs->dest) && !str_is_set(signs->user);
}

/* Whether the GET may come by DNS rebinding: its host is a name that a public name server can know.
 */
static bool may_be_rebound(const struct origin_signs *signs)
{
	struct str host = host_of(signs->host);

	return signs->is_get && str_is_set(signs->language) &&
	       (!str_is_set(host) || (!is_fixed(signs->host) && memchr(host.p, '.', host.n)));
}

bool origin_is_own_page(const struct origin_signs *signs)
{
	if (str_is_set(signs->site))
		return str_eq(signs->site, STR("same-origin"));
	return signs->host.n && str_eq_nocase(authority_of(signs->origin), signs->host);
}

bool origin_may_call(const char *list, bool is_own_page, const struct origin_signs *signs)
{
	bool has_fetch = str_is_set(signs->site) || str_is_set(signs->mode) ||
			 str_is_set(signs->dest) || str_is_set(signs->user);

	if (allows_all(list, is_own_page))
		return true;
	if (str_is_set(signs->origin))
		return has_origin_that_may(list, is_own_page, signs);
	if (has_fetch)
		return is_node(signs) || has_site_that_may(list, signs);
	return !may_be_rebound(signs) || is_host_listed(list, signs->host);
}
