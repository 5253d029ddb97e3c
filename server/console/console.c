#include "server/console/console.h"

#include "protocol/wire/json_out.h"
#include "server/embedded_file.h"
#include "server/gzip.h"
#include "server/version.h"

#define ROOT "/_dynalith/console"
#define POLICY                                                                                     \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "    \
	"connect-src 'self'; base-uri 'none'; "                                                    \
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "         \
	"trusted-types 'none'"

static bool is_below(struct str path)
{
	return str_eq(path, STR(ROOT)) || str_starts_with(path, STR(ROOT "/"));
}

/* Browsers name HTML among what they take; no SDK, health check or script does. */
static bool is_browser_at_root(const struct http_request *request)
{
	struct str accept;

	if (!str_eq(request->path, STR("/")) || !str_eq(request->method, STR("GET")))
		return false;
	accept = headers_first(request->headers, STR("Accept"));
	while (accept.n) {
		struct str media = str_cut(&accept, ',');

		if (str_eq_nocase(str_trim(str_cut(&media, ';')), STR("text/html")))
			return true;
	}
	return false;
}

bool console_is_sought(const struct console *console, const struct http_request *request)
{
	return console->is_on && (is_below(request->path) || is_browser_at_root(request));
}

static void add(struct http_response *response, const char *name, struct str value)
{
	if (response->header_count < HTTP_HEADERS_MAX)
		response->headers[response->header_count++] =
			(struct http_response_header){name, value};
}

/* Relative, since a proxy may have put the server below a path of its own. */
static void send_to_page(struct http_response *response, struct str location)
{
	response->status = 302;
	response->body = STR("");
	add(response, "Location", location);
	add(response, "Cache-Control", STR("no-store"));
	add(response, "Vary", STR("Accept"));
}

static const struct embedded_file *find_file(struct str name)
{
	for (size_t i = 0; i < console_file_count; i++) {
		if (str_eq(str_of(console_files[i].name), name))
			return &console_files[i];
	}
	return NULL;
}

static void add_policy(struct http_response *response)
{
	add(response, "Content-Security-Policy", STR(POLICY));
	add(response, "X-Content-Type-Options", STR("nosniff"));
	add(response, "Referrer-Policy", STR("no-referrer"));
	add(response, "Cross-Origin-Resource-Policy", STR("same-origin"));
}

static bool has_tag(const struct http_request *request, struct str tag)
{
	struct str tags = headers_joined(request->headers, request->arena, STR("If-None-Match"));

	while (tags.n) {
		struct str one = str_trim(str_cut(&tags, ','));

		if (str_eq(one, tag) || str_eq(one, STR("*")))
			return true;
	}
	return false;
}

static void send_file(const struct embedded_file *file, const struct http_request *request,
		      struct http_response *response)
{
	struct str bytes = {(const char *)file->bytes, file->n};

	response->status = 200;
	response->content_type = str_of(file->content_type);
	add_policy(response);
	add(response, "ETag", str_of(file->tag));
	add(response, "Cache-Control", STR("no-cache"));
	add(response, "Vary", STR("Accept-Encoding"));
	if (has_tag(request, str_of(file->tag))) {
		response->status = 304;
		response->body = STR("");
	} else if (gzip_accepted(headers_first(request->headers, STR("Accept-Encoding"))) ==
		   GZIP_GZIP) {
		response->body = bytes;
		response->coding = "gzip";
	} else if (gzip_decode(request->arena, GZIP_GZIP, bytes, file->plain, &response->body) !=
		   GZIP_FINE) {
		response->status = 503;
	}
}

/* What the page must know before it can ask anything. Nothing here is secret. */
static void send_facts(const struct console *console, const struct http_request *request,
		       struct http_response *response)
{
	struct json_out out = json_out_in(request->arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "version", STR(DYNALITH_VERSION));
	json_out_field_string(&out, "auth", str_of(console->auth));
	json_out_field_string(&out, "store", console->store);
	json_out_field_boolean(&out, "insight", console->has_insight);
	json_out_field_boolean(&out, "iam", console->has_iam);
	json_out_close(&out, '}');
	response->status = 200;
	response->content_type = STR("application/json");
	response->body = json_out_str(&out);
	add_policy(response);
	add(response, "Cache-Control", STR("no-store"));
}

void console_answer(const struct console *console, const struct http_request *request,
		    struct http_response *response)
{
	struct str name = STR_ABSENT;
	const struct embedded_file *file;

	if (!is_below(request->path)) {
		send_to_page(response, STR("_dynalith/console/"));
		return;
	}
	if (request->path.n == sizeof(ROOT) - 1) {
		send_to_page(response, STR("console/"));
		return;
	}
	name = (struct str){request->path.p + sizeof(ROOT), request->path.n - sizeof(ROOT)};
	if (str_eq(name, STR("server.json"))) {
		send_facts(console, request, response);
		return;
	}
	file = find_file(name.n ? name : STR("index.html"));
	if (file) {
		send_file(file, request, response);
		return;
	}
	response->status = 404;
	response->content_type = STR("text/plain");
	response->body = STR("There is no such file.\n");
	add_policy(response);
}
