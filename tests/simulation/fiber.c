#include "tests/simulation/fiber.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/simulation/random.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_ASAN 1
#endif
#endif
#ifdef IS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_SIZE (256 * 1024) /* AddressSanitizer goes over all of it at each switch */
#define FIBERS_MAX 4096
#define WORD_BITS 64
#define NS_PER_S INT64_C(1000000000)

struct fiber {
	ucontext_t context;
	char *stack;
	void (*run)(void *context);
	void *argument;
	bool is_used, is_done, is_due; /* is_due: woken by the time */
	bool is_thread;                /* of pthread_create: kept until it is joined */
	unsigned held;
	void *fake;                              /* AddressSanitizer's */
};

/* What each switch looks at stands in arrays of its own: there may be thousands of fibers. */
static struct {
	struct fiber fibers[FIBERS_MAX];
	size_t top;                             /* no fiber from here on was ever used */
	uint64_t ready[FIBERS_MAX / WORD_BITS]; /* a bit each */
	const void *what[FIBERS_MAX];           /* each waits for; NULL: it does not wait */
	int64_t until_ns[FIBERS_MAX];
	int64_t due_ns;                         /* no fiber is due before */
	ucontext_t outside;
	void *outside_fake;
	const void *outside_stack;
	size_t outside_size;
	struct fiber *self;
	struct random random;
	int64_t now_ns;
	uint32_t switching;
	uint64_t switches;
} world;

static void fail(const char *what)
{
	fprintf(stderr, "fiber: %s\n", what);
	abort();
}

void fiber_reset(int64_t now_ns, uint64_t seed)
{
	if (fiber_count() > 0)
		fail("some are left");
	world.now_ns = now_ns;
	world.due_ns = FIBER_NEVER;
	world.random = (struct random){seed};
	world.switches = 0;
	world.switching = 0;
}

static void set_ready(size_t i, bool is_ready)
{
	const uint64_t bit = UINT64_C(1) << i % WORD_BITS;

	world.ready[i / WORD_BITS] =
		is_ready ? world.ready[i / WORD_BITS] | bit : world.ready[i / WORD_BITS] & ~bit;
}

struct fiber *fiber_self(void)
{
	return world.self;
}

/* From a fiber to the scheduler; a fiber that is done never comes back. */
static void leave(struct fiber *fiber)
{
#ifdef IS_ASAN
	__sanitizer_start_switch_fiber(fiber->is_done ? NULL : &fiber->fake, world.outside_stack,
				       world.outside_size);
#endif
	world.self = NULL;
	swapcontext(&fiber->context, &world.outside);
#ifdef IS_ASAN
	__sanitizer_finish_switch_fiber(fiber->fake, &world.outside_stack, &world.outside_size);
#endif
}

static void enter(struct fiber *fiber)
{
	world.self = fiber;
	world.switches++;
#ifdef IS_ASAN
	__sanitizer_start_switch_fiber(&world.outside_fake, fiber->stack, STACK_SIZE);
#endif
	swapcontext(&world.outside, &fiber->context);
#ifdef IS_ASAN
	__sanitizer_finish_switch_fiber(world.outside_fake, NULL, NULL);
#endif
}

static void begin(void)
{
	struct fiber *fiber = world.self;

#ifdef IS_ASAN
	__sanitizer_finish_switch_fiber(NULL, &world.outside_stack, &world.outside_size);
#endif
	fiber->run(fiber->argument);
	fiber->is_done = true;
	set_ready((size_t)(fiber - world.fibers), false);
	fiber_wake(fiber);
	if (!fiber->is_thread)
		fiber->is_used = false;
	leave(fiber);
}

struct fiber *fiber_start(void (*run)(void *context), void *context)
{
	struct fiber *fiber = world.fibers;

	while (fiber < world.fibers + FIBERS_MAX && fiber->is_used)
		fiber++;
	if (fiber == world.fibers + FIBERS_MAX)
		fail("too many");
	char *stack = fiber->stack;
	*fiber = (struct fiber){.stack = stack, .run = run, .argument = context, .is_used = true};
	size_t i = (size_t)(fiber - world.fibers);
	world.top = i >= world.top ? i + 1 : world.top;
	world.what[i] = NULL;
	world.until_ns[i] = FIBER_NEVER;
	set_ready(i, true);
	if (!stack) {
		fiber->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		if (fiber->stack == MAP_FAILED || mprotect(fiber->stack, 4096, PROT_NONE) != 0)
			fail("no memory");
	}
#ifdef IS_ASAN
	/* what an earlier fiber left on it */
	__asan_unpoison_memory_region(fiber->stack + 4096, STACK_SIZE - 4096);
#endif
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = STACK_SIZE;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, begin, 0);
	return fiber;
}

void fiber_set_switching(uint32_t n)
{
	world.switching = n;
}

void fiber_hold(void)
{
	if (world.self)
		world.self->held++;
}

void fiber_release(void)
{
	if (world.self)
		world.self->held--;
}

void fiber_yield(void)
{
	if (world.self && world.self->held == 0 && world.switching > 0 &&
	    random_draw(&world.random, world.switching) == 0)
		leave(world.self);
}

bool fiber_wait(const void *what, int64_t until_ns)
{
	struct fiber *self = world.self;

	if (!self)
		fail("there is nobody to wait for");
	size_t i = (size_t)(self - world.fibers);
	world.what[i] = what;
	world.until_ns[i] = until_ns;
	world.due_ns = until_ns < world.due_ns ? until_ns : world.due_ns;
	self->is_due = false;
	set_ready(i, false);
	leave(self);
	return !self->is_due;
}

static void wake(size_t i, bool is_due)
{
	world.fibers[i].is_due = is_due;
	world.what[i] = NULL;
	world.until_ns[i] = FIBER_NEVER;
	set_ready(i, true);
}

void fiber_wake(const void *what)
{
	for (size_t i = 0; i < world.top; i++) {
		if (world.what[i] == what)
			wake(i, false);
	}
}

int64_t fiber_next_due(void)
{
	int64_t due_ns = FIBER_NEVER;

	for (size_t i = 0; i < world.top; i++)
		due_ns = world.until_ns[i] < due_ns ? world.until_ns[i] : due_ns;
	world.due_ns = due_ns;
	return due_ns;
}

static void wake_due(void)
{
	for (size_t i = 0; i < world.top; i++) {
		if (world.until_ns[i] <= world.now_ns)
			wake(i, true);
	}
	fiber_next_due();
}

/* The k-th of those that are ready, by their places. */
static struct fiber *ready_at(uint32_t k)
{
	size_t word = 0;
	uint32_t n;

	for (; (n = (uint32_t)__builtin_popcountll(world.ready[word])) <= k; word++)
		k -= n;
	uint64_t bits = world.ready[word];
	for (; k > 0; k--)
		bits &= bits - 1;
	return &world.fibers[word * WORD_BITS + (size_t)__builtin_ctzll(bits)];
}

bool fiber_run_one(void)
{
	uint32_t n = 0;

	if (world.due_ns <= world.now_ns)
		wake_due();
	for (size_t word = 0; word * WORD_BITS < world.top; word++)
		n += (uint32_t)__builtin_popcountll(world.ready[word]);
	if (n > 0)
		enter(ready_at(n == 1 ? 0 : random_draw(&world.random, n)));
	return n > 0;
}

int64_t fiber_now_ns(void)
{
	return world.now_ns;
}

void fiber_advance(int64_t ns)
{
	world.now_ns += ns;
}

unsigned fiber_count(void)
{
	unsigned n = 0;

	for (struct fiber *fiber = world.fibers; fiber < world.fibers + FIBERS_MAX; fiber++)
		n += fiber->is_used && !fiber->is_done;
	return n;
}

uint64_t fiber_switches(void)
{
	return world.switches;
}

/*
 * The calls of libpthread. A mutex and a lock of readers and writers keep their state in their own
 * memory, which is zero when they are made, by whichever means. Outside of all fibers nobody waits:
 * what is taken there is free.
 */
struct lock {
	int32_t writer; /* 1: held by a writer, or a mutex at all */
	int32_t readers;
	int32_t waiting_writers;
	int32_t waiting;
};

_Static_assert(sizeof(struct lock) <= sizeof(pthread_mutex_t) &&
		       sizeof(struct lock) <= sizeof(pthread_rwlock_t),
	       "a lock's room");

static void take(struct lock *lock, bool is_writer)
{
	fiber_yield();
	while (is_writer ? lock->writer || lock->readers > 0
			 : lock->writer || lock->waiting_writers > 0) {
		lock->waiting_writers += is_writer;
		lock->waiting++;
		fiber_wait(lock, FIBER_NEVER);
		lock->waiting--;
		lock->waiting_writers -= is_writer;
	}
	if (is_writer)
		lock->writer = 1;
	else
		lock->readers++;
}

static void give(struct lock *lock)
{
	if (!lock->writer && lock->readers <= 0)
		fail("a lock that nobody holds is given back");
	if (lock->writer)
		lock->writer = 0;
	else
		lock->readers--;
	if (lock->waiting > 0)
		fiber_wake(lock);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	(void)attributes;
	memset(mutex, 0, sizeof(*mutex));
	return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	struct lock *lock = (struct lock *)mutex;

	if (lock->writer)
		fail("a mutex is destroyed that is held");
	return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	take((struct lock *)mutex, true);
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	give((struct lock *)mutex);
	return 0;
}

int __wrap_pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes);
int __wrap_pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
	(void)attributes;
	memset(lock, 0, sizeof(*lock));
	return 0;
}

int __wrap_pthread_rwlock_destroy(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	struct lock *own = (struct lock *)lock;

	if (own->writer || own->readers)
		fail("a lock is destroyed that is held");
	return 0;
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	take((struct lock *)lock, false);
	return 0;
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	take((struct lock *)lock, true);
	return 0;
}

int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	struct lock *own = (struct lock *)lock;

	if (own->writer || own->readers > 0)
		return EBUSY;
	own->writer = 1;
	return 0;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	give((struct lock *)lock);
	return 0;
}

int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes);
int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
	(void)attributes;
	memset(cond, 0, sizeof(*cond));
	return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond);
int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
	(void)cond;
	return 0;
}

/* All clocks show one time, so `until` needs none named. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	int64_t until_ns = until->tv_sec > FIBER_NEVER / NS_PER_S - 1
				   ? FIBER_NEVER
				   : until->tv_sec * NS_PER_S + until->tv_nsec;

	give((struct lock *)mutex);
	bool is_woken = fiber_wait(cond, until_ns);
	take((struct lock *)mutex, true);
	return is_woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	give((struct lock *)mutex);
	fiber_wait(cond, FIBER_NEVER);
	take((struct lock *)mutex, true);
	return 0;
}

/* A signal wakes all: whoever waits looks again, as it must in any case. */
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	fiber_wake(cond);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	fiber_wake(cond);
	return 0;
}

struct thread {
	void *(*run)(void *);
	void *argument;
};

static void run_thread(void *context)
{
	struct thread thread = *(struct thread *)context;

	free(context);
	thread.run(thread.argument);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument)
{
	struct thread *start = malloc(sizeof(*start));

	(void)attributes;
	if (!start)
		fail("no memory");
	*start = (struct thread){run, argument};
	struct fiber *fiber = fiber_start(run_thread, start);
	fiber->is_thread = true;
	*thread = (pthread_t)(fiber - world.fibers);
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	struct fiber *fiber = &world.fibers[thread];

	(void)result;
	while (!fiber->is_done)
		fiber_wait(fiber, FIBER_NEVER);
	fiber->is_used = false;
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){world.now_ns / NS_PER_S, world.now_ns % NS_PER_S};
	return 0;
}

time_t __wrap_time(time_t *out);
time_t __wrap_time(time_t *out)
{
	time_t now = world.now_ns / NS_PER_S;

	if (out)
		*out = now;
	return now;
}

static void sleep_ns(int64_t ns)
{
	const char here = 0;

	if (world.self)
		fiber_wait(&here, world.now_ns + ns);
}

int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)left;
	sleep_ns(wanted->tv_sec * NS_PER_S + wanted->tv_nsec);
	return 0;
}

int __wrap_usleep(useconds_t us);
int __wrap_usleep(useconds_t us)
{
	sleep_ns((int64_t)us * 1000);
	return 0;
}

int __wrap_getentropy(void *bytes, size_t n);
int __wrap_getentropy(void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((unsigned char *)bytes)[i] = (unsigned char)random_draw(&world.random, 256);
	return 0;
}
