#include "server/clock.h"

#include <time.h>

int64_t clock_now_ms(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
