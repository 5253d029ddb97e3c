#include "storage/uuid.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct str uuid_new(struct arena *arena)
{
	unsigned char b[16];

	if (getentropy(b, sizeof(b)) != 0)
		memset(b, 0, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
	return str_printf(arena,
			  "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			  b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			  b[12], b[13], b[14], b[15]);
}
