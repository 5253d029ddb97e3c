/* clock - the time that everything depending on time is given. */
#ifndef DYNALITH_SERVER_CLOCK_H
#define DYNALITH_SERVER_CLOCK_H

#include <stdint.h>

/* Unix time in milliseconds. `context` is for clocks that tests turn; NULL for the real one. */
int64_t clock_now_ms(void *context);

#endif
