#include "server/framing.h"

#include <string.h>
#include <strings.h>

#define RECORD 80 /* bytes that libmicrohttpd keeps of a header line, or a cookie, beside its text */

/* Whether the name is the wanted one, in small letters; libmicrohttpd 0.9.75 adds a line that was folded to the name of its header. */
static bool is_name(struct str name, struct str wanted, bool *is_bad)
{
	if ((name.p[0] | 0x20) != wanted.p[0] || name.n < wanted.n || strncasecmp(name.p, wanted.p, wanted.n) != 0)
		return false;
	*is_bad = *is_bad || name.n > wanted.n;
	return true;
}

/* Lines that libmicrohttpd accepts, and that other servers read as two lines, or as the header without the space. */
static bool is_doubtful(const char *name, size_t name_n, const char *value, size_t value_n)
{
	return name_n == 0 || name[name_n - 1] == '\t' || memchr(name, ' ', name_n) || memchr(name, '\r', name_n) || memchr(value, '\r', value_n);
}

/* A host has no other characters, and stands in answers. */
static bool is_visible(const char *value, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (value[i] <= ' ' || value[i] > '~')
			return false;
	}
	return true;
}

/* Whether only browsers send a header of that name. */
static bool is_browsers(struct str name)
{
	static const struct str fetch = STR_INIT("Sec-Fetch-");

	if (name.n == 6)
		return strcasecmp(name.p, "Origin") == 0;
	return name.n > fetch.n && (name.p[0] | 0x20) == 's' && strncasecmp(name.p, fetch.p, fetch.n) == 0;
}

/*
 * libmicrohttpd 0.9.75 writes NULs over the ends of lines, and takes each text up to its first NUL. A NUL that was sent in a line makes its end longer than
 * the others. Whether the next line, or what ends the head, begins where the line ended.
 */
static bool is_line_whole(struct framing *framing, const char *next, unsigned ends)
{
	uintptr_t gap = (uintptr_t)next - (uintptr_t)framing->end;

	if (framing->line_end == 0)
		framing->line_end = gap / ends;
	return gap == framing->line_end * ends && (framing->line_end == 1 || framing->line_end == 2);
}

/* Whether a space, and no more, parts the request line's parts, so that no NUL cut one of them short. */
static bool is_request_line_whole(const char *method, const char *uri, const char *uri_end, const char *version)
{
	const char *end = method + strlen(method) + 1;

	while (end < uri && *end == ' ')
		end++;
	return end == uri && uri_end + 1 == version;
}

struct framing framing_begin(const char *method, const char *uri, const char *uri_end, const char *version)
{
	return (struct framing){.end = version + strlen(version), .is_bad = !is_request_line_whole(method, uri, uri_end, version)};
}

void framing_add(struct framing *framing, struct str name, const char *value, size_t value_n)
{
	framing->records += RECORD;
	framing->is_bad = framing->is_bad || !value || !is_line_whole(framing, name.p, 1);
	framing->end = value + (value ? value_n : 0);
	if (!value || is_doubtful(name.p, name.n, value, value_n)) {
		framing->is_bad = true;
	} else if (is_name(name, STR("content-length"), &framing->is_bad)) {
		framing->lengths++;
		framing->length = value;
		framing->is_bad = framing->is_bad || value_n == 0 || strspn(value, "0123456789") != value_n;
	} else if (is_name(name, STR("transfer-encoding"), &framing->is_bad)) {
		framing->encodings++;
		framing->is_bad = framing->is_bad || strcasecmp(value, "chunked") != 0;
	} else if (name.n == 4 && strcasecmp(name.p, "Host") == 0) {
		framing->hosts++;
		framing->is_bad = framing->is_bad || !is_visible(value, value_n);
	} else if (name.n == 6 && strcasecmp(name.p, "Cookie") == 0) { /* libmicrohttpd takes a copy apart */
		framing->records += value_n;
		for (size_t i = 0; i < value_n; i++)
			framing->records += value[i] == ';' ? RECORD : 0;
	} else if (is_browsers(name)) {
		framing->is_from_browser = true;
	} else if (name.n == 18 && strcasecmp(name.p, "x-dynalith-explain") == 0) {
		framing->is_explained = strcmp(value, "0") != 0;
	}
}

/* RFC 9112, 6.1: HTTP/1.0 knows no Transfer-Encoding; 3.2: HTTP/1.1 wants one Host. */
bool framing_is_good(struct framing *framing, const char *end, bool is_1_1)
{
	return is_line_whole(framing, end, 2) && !framing->is_bad && framing->lengths + framing->encodings <= 1 &&
	       (framing->encodings == 0 || is_1_1) && framing->hosts <= 1 && (framing->hosts == 1 || !is_1_1);
}
