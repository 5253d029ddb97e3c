#include "storage/store/retry.h"

#include <stdint.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PAUSE_NS 100000u
#define LAST_PAUSE_NS 50000000u

bool retry_again(struct retry *retry, enum code code)
{
	uint64_t most = FIRST_PAUSE_NS;
	struct timespec pause = {0, 0};

	if (code != ERR_CONFLICT || ++retry->runs >= RETRY_MAX)
		return false;
	if (!retry->seed && getentropy(&retry->seed, sizeof(retry->seed)) != 0)
		retry->seed = (unsigned long long)(uintptr_t)retry;
	for (unsigned i = 1; i < retry->runs && most < LAST_PAUSE_NS; i++)
		most *= 2;
	retry->seed = retry->seed * 6364136223846793005ull + 1442695040888963407ull;
	pause = (struct timespec){
		0, (long)((retry->seed >> 33) % (most < LAST_PAUSE_NS ? most : LAST_PAUSE_NS))};
	nanosleep(&pause, NULL);
	return true;
}

enum code retry_code(enum code code, struct err *err)
{
	return code == ERR_CONFLICT ? err_default(err, ERR_STORE_UNAVAILABLE) : code;
}
