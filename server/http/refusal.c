#include "server/http/refusal.h"

#include <stdio.h>

#include "core/crc32.h"

struct str refusal_write(char text[REFUSAL_MOST], const char *status, struct str line,
			 struct str body)
{
	int n = snprintf(text, REFUSAL_MOST,
			 "HTTP/1.1 %s\r\n" STR_FMT
			 "\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: "
			 "%zu\r\nx-amz-crc32: %u\r\n\r\n" STR_FMT,
			 status, STR_ARG(line), body.n, crc32_of(body.p, body.n), STR_ARG(body));

	return (struct str){text, (size_t)n};
}
