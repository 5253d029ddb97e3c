/*
 * workers - requests to libdynalith by as many threads as cores, without HTTP and without a load
 * generator, for tests/bench/cores.
 *
 *     workers LIBRARY memory|disk PATH WORKLOAD THREADS SECONDS
 *
 * Each thread has a core of its own and sends one request after the other. Prints one JSON line:
 * requests, CPU of a request in microseconds, and requests a second. That rate is the median of
 * short windows, of those in which the threads hardly waited for a core, by the scheduler's own
 * account, or 0 where there were fewer than WINDOWS_LEAST. Ends with status 1 where a request
 * fails.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "server/library/dynalith.h"

#define THREADS_MAX 64
#define WINDOW_NS 2000000
#define WINDOWS_MAX 20000
#define ITEMS 20000
#define WAIT_MOST 20 /* one of so many nanoseconds, each thread */
#define WINDOWS_LEAST 5
#define UNSAID_S 0.05 /* at the end: whoever waits has not said so yet */

static const char table[] =
	"{\"TableName\":\"bench\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{"
	"\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},"
	"{\"AttributeName\":\"GSI1PK\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
	"\"PK\",\"KeyType\":\"HASH\"}],"
	"\"GlobalSecondaryIndexes\":[{\"IndexName\":\"GSI1\",\"Projection\":{\"ProjectionType\":"
	"\"ALL\"},\"KeySchema\":["
	"{\"AttributeName\":\"GSI1PK\",\"KeyType\":\"HASH\"}]}]}";

struct thread {
	_Alignas(128) atomic_ulong count;
	atomic_int id; /* 0 before it runs */
	unsigned number;
	double cpu_s;
};

struct window {
	double seconds, rate;
	bool is_spoilt;
};

static struct thread threads[THREADS_MAX];
static struct dynalith *instance;
static bool is_get;
static atomic_bool is_over;
static char filler[400];

static struct {
	struct dynalith *(*open)(const char *, dynalith_log *, void *);
	struct dynalith_answer *(*call)(struct dynalith *, const char *, const void *, size_t);
	void (*free)(struct dynalith_answer *);
	void (*close)(struct dynalith *);
	const char *(*error)(void);
} library;

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void call(const char *operation, const char *body, size_t n)
{
	struct dynalith_answer *answer = library.call(instance, operation, body, n);

	if (!answer || answer->status != 200) {
		fprintf(stderr, "workers: %s: %.*s\n", operation,
			answer ? (int)answer->body_size : 0, answer ? answer->body : "");
		exit(1);
	}
	library.free(answer);
}

static void put(unsigned long id)
{
	char body[1024];
	int n = snprintf(
		body, sizeof(body),
		"{\"TableName\":\"bench\",\"Item\":{\"PK\":{\"S\":\"CUSTOMER#%010lu\"},\"GSI1PK\":{"
		"\"S\":\"STATUS#%010lu\"},\"total\":{\"N\":\"%lu\"},"
		"\"note\":{\"S\":\"%s\"},\"tags\":{\"SS\":[\"alpha\",\"beta\",\"gamma\"]}}}",
		id, id, id, filler);

	call("PutItem", body, (size_t)n);
}

static void get(unsigned long id)
{
	char body[256];
	int n = snprintf(body, sizeof(body),
			 "{\"TableName\":\"bench\",\"Key\":{\"PK\":{\"S\":\"CUSTOMER#%010lu\"}}}",
			 id);

	call("GetItem", body, (size_t)n);
}

static void *run(void *context)
{
	struct thread *thread = context;
	unsigned long i = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(thread->number, &set);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	atomic_store(&thread->id, (int)syscall(SYS_gettid));
	double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	for (; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
		if (is_get)
			get((i * 7919 + thread->number * 104729) % ITEMS);
		else
			put((thread->number + 1) * 100000000ul + i);
		atomic_store_explicit(&thread->count, i + 1, memory_order_relaxed);
	}
	thread->cpu_s = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Nanoseconds that the thread could have run so far, and had no core. The scheduler adds a wait at
 * its end. */
static unsigned long waited(const struct thread *thread)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", atomic_load(&thread->id));
	FILE *file = fopen(path, "r");
	const char *second = file && fgets(text, sizeof(text), file) ? strchr(text, ' ') : NULL;
	unsigned long ns = second ? strtoul(second, NULL, 10) : 0;

	if (file)
		fclose(file);
	return ns;
}

static bool all_run(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (atomic_load(&threads[i].id) == 0)
			return false;
	}
	return true;
}

static unsigned long sent(unsigned n)
{
	unsigned long all = 0;

	for (unsigned i = 0; i < n; i++)
		all += atomic_load(&threads[i].count);
	return all;
}

/* A wait that ended in window `at` began that much earlier: the windows between do not count. */
static void spoil(struct window *windows, unsigned at, double waited_s)
{
	for (unsigned i = at + 1; i-- > 0 && waited_s * WAIT_MOST > windows[i].seconds;
	     waited_s -= windows[i].seconds)
		windows[i].is_spoilt = true;
}

static unsigned observe(struct window *windows, unsigned n, double seconds)
{
	unsigned long waits[THREADS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		waits[i] = waited(&threads[i]);
	for (double end = seconds_of(CLOCK_MONOTONIC) + seconds;
	     count < WINDOWS_MAX && seconds_of(CLOCK_MONOTONIC) < end; count++) {
		unsigned long before = sent(n);
		double start = seconds_of(CLOCK_MONOTONIC);

		nanosleep(&(struct timespec){0, WINDOW_NS}, NULL);
		unsigned long made = sent(n) - before;
		windows[count] = (struct window){.seconds = seconds_of(CLOCK_MONOTONIC) - start};
		windows[count].rate = (double)made / windows[count].seconds;
		for (unsigned i = 0; i < n; i++) {
			unsigned long now = waited(&threads[i]);

			spoil(windows, count, (double)(now - waits[i]) / 1e9);
			waits[i] = now;
		}
	}
	return count;
}

static void measure(unsigned n, double seconds)
{
	static struct window windows[WINDOWS_MAX];
	static double rates[WINDOWS_MAX];
	pthread_t ids[THREADS_MAX];
	unsigned fair = 0;
	double cpu_s = 0;

	for (unsigned i = 0; i < n; i++) {
		threads[i].number = i;
		if (pthread_create(&ids[i], NULL, run, &threads[i]) != 0)
			exit(1);
	}
	while (!all_run(n))
		nanosleep(&(struct timespec){0, WINDOW_NS}, NULL);
	unsigned count = observe(windows, n, seconds);
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < n; i++) {
		pthread_join(ids[i], NULL);
		spoil(windows, count - 1, UNSAID_S);
		cpu_s += threads[i].cpu_s;
	}
	for (unsigned i = 0; i < count; i++) {
		if (!windows[i].is_spoilt)
			rates[fair++] = windows[i].rate;
	}
	qsort(rates, fair, sizeof(*rates), by_value);
	printf("{\"requests\":%lu,\"cpu_us\":%.3f,\"windows\":%u,\"rate\":%.0f}\n", sent(n),
	       cpu_s * 1e6 / (double)sent(n), fair, fair < WINDOWS_LEAST ? 0 : rates[fair / 2]);
}

static void *symbol(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	if (!found) {
		fprintf(stderr, "workers: %s\n", dlerror());
		exit(2);
	}
	return found;
}

static void load_library(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle) {
		fprintf(stderr, "workers: %s\n", dlerror());
		exit(2);
	}
	*(void **)&library.open = symbol(handle, "dynalith_open");
	*(void **)&library.call = symbol(handle, "dynalith_call");
	*(void **)&library.free = symbol(handle, "dynalith_free");
	*(void **)&library.close = symbol(handle, "dynalith_close");
	*(void **)&library.error = symbol(handle, "dynalith_error");
}

int main(int argc, char **argv)
{
	char options[512];
	unsigned long n = argc == 7 ? strtoul(argv[5], NULL, 10) : 0;

	if (n < 1 || n > THREADS_MAX) {
		fprintf(stderr,
			"workers LIBRARY memory|disk PATH GetItem|PutItem THREADS SECONDS\n");
		return 2;
	}
	load_library(argv[1]);
	is_get = strcmp(argv[4], "GetItem") == 0;
	memset(filler, 'x', sizeof(filler) - 1);
	if (strcmp(argv[2], "disk") == 0)
		snprintf(options, sizeof(options), "{\"threads\":%lu,\"db_path\":\"%s\"}", n,
			 argv[3]);
	else
		snprintf(options, sizeof(options), "{\"threads\":%lu}", n);
	instance = library.open(options, NULL, NULL);
	if (!instance) {
		fprintf(stderr, "workers: %s\n", library.error());
		return 1;
	}
	call("CreateTable", table, sizeof(table) - 1);
	for (unsigned long i = 0; i < ITEMS; i++)
		put(i);
	measure((unsigned)n, strtod(argv[6], NULL));
	library.close(instance);
	return 0;
}
