#include "core/crc32.h"

#include <pthread.h>
#include <string.h>

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
		tables[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++) {
		for (int k = 1; k < 8; k++)
			tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
	}
}

/* Eight bytes a step, each by its own table. */
uint32_t crc32_of(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint32_t c = 0xFFFFFFFFu;

	pthread_once(&tables_once, make_tables);
	for (; n >= 8; n -= 8, p += 8) {
		uint32_t a = c ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);

		c = tables[7][a & 255] ^ tables[6][a >> 8 & 255] ^ tables[5][a >> 16 & 255] ^ tables[4][a >> 24] ^
		    tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^ tables[0][p[7]];
	}
	for (; n > 0; n--, p++)
		c = c >> 8 ^ tables[0][(c ^ *p) & 255];
	return c ^ 0xFFFFFFFFu;
}
