#include "server/http/framing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct counts {
	unsigned lengths, encodings, hosts;
	bool is_bad;
};

static bool begins(struct str name, struct str with)
{
	return name.n >= with.n && str_eq_nocase((struct str){name.p, with.n}, with);
}

/* Whether the name is the wanted one. libmicrohttpd 0.9.75 adds a line that was folded to the name
 * of its header: then the name is longer. */
static bool is_name(struct str name, struct str wanted, struct counts *counts)
{
	if (!begins(name, wanted))
		return false;
	counts->is_bad |= name.n > wanted.n;
	return true;
}

/* Lines that libmicrohttpd accepts, and that other servers read as two lines, or as the header
 * without the space. */
static bool is_doubtful(struct str name, struct str value)
{
	return name.n == 0 || !str_is_set(value) || name.p[name.n - 1] == '\t' ||
	       memchr(name.p, ' ', name.n) || memchr(name.p, '\r', name.n) ||
	       memchr(value.p, '\r', value.n);
}

/* A host has no other characters, and stands in answers. */
static bool is_visible(struct str value)
{
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] <= ' ' || value.p[i] > '~')
			return false;
	}
	return true;
}

static void read_length(struct str value, struct framing *framing, struct counts *counts)
{
	counts->lengths++;
	counts->is_bad |= value.n == 0 || strspn(value.p, "0123456789") != value.n;
	framing->length =
		strtoull(value.p, NULL, 10); /* beyond the largest number it is that one */
}

static void judge_header(struct str name, struct str value, struct framing *framing,
			 struct counts *counts)
{
	if (is_doubtful(name, value)) {
		counts->is_bad = true;
	} else if (is_name(name, STR("Content-Length"), counts)) {
		read_length(value, framing, counts);
	} else if (is_name(name, STR("Transfer-Encoding"), counts)) {
		counts->encodings++;
		counts->is_bad |= !str_eq_nocase(value, STR("chunked"));
	} else if (str_eq_nocase(name, STR("Host"))) {
		counts->hosts++;
		counts->is_bad |= !is_visible(value);
	} else if (str_eq_nocase(name, STR("Origin")) ||
		   begins(name, STR("Sec-Fetch-"))) { /* only browsers send these */
		framing->is_from_browser = true;
	} else if (str_eq_nocase(name, STR("x-dynalith-explain"))) {
		framing->is_explained = !str_eq(value, STR("0"));
	}
}

/* RFC 9112, 6.1: HTTP/1.0 knows no Transfer-Encoding; 3.2: HTTP/1.1 wants one Host, and a target
 * without spaces. */
struct framing framing_of(struct str target, const char *version, const struct headers *headers)
{
	struct framing framing = {0};
	struct counts counts = {0};
	bool is_1_1 = strcmp(version, "HTTP/1.1") == 0;

	for (size_t i = 0; i < headers->n; i++)
		judge_header(headers->v[i].name, headers->v[i].value, &framing, &counts);
	framing.has_body = framing.length > 0 || counts.encodings > 0;
	framing.is_good = !counts.is_bad && target.n > 0 && !memchr(target.p, ' ', target.n) &&
			  counts.lengths + counts.encodings <= 1 &&
			  (counts.encodings == 0 || is_1_1) && counts.hosts <= 1 &&
			  (counts.hosts == 1 || !is_1_1);
	return framing;
}
