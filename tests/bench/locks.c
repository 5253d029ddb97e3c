/*
 * locks - counts what a server does under the locks of pthread, for tests/bench/cores.
 *
 *     LOCKS=FILE LD_PRELOAD=build/release/tests/bench/locks.so dynalith ...
 *
 * FILE is mapped, and can be read at any moment: a head, then for each thread the places that took
 * locks. A place is a lock, the address that the call came from, and the kind of call: how often,
 * how often another thread had it, nanoseconds that it was held and waited for. A hold beyond
 * LONG_NS counts apart, since the thread was not running for part of it. A hold within another one
 * that keeps all others out is nested, since nobody waits for the inner lock alone. Holds include
 * one look at the clock, which the head's `look_ns` says.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 128
#define PLACES_MAX 512 /* of a thread; a power of two */
#define HELD_MAX 32
#define LONG_NS 2000000
#define LOOKS 10000

enum kind { KIND_MUTEX, KIND_SHARED, KIND_EXCLUSIVE };

struct place {
	uint64_t lock, caller, kind, count, contended, held_ns, waited_ns, long_count, long_ns,
		nested;
};

struct slab {
	struct place places[PLACES_MAX];
};

struct head {
	uint64_t base, look_ns;
	_Atomic uint64_t threads;
};

struct held {
	const void *lock;
	struct place *place;
	uint64_t since_ns;
	bool is_nested;
};

static struct {
	struct head *head;
	struct slab *slabs;
	int (*mutex_lock)(pthread_mutex_t *);
	int (*mutex_trylock)(pthread_mutex_t *);
	int (*mutex_unlock)(pthread_mutex_t *);
	int (*read_lock)(pthread_rwlock_t *);
	int (*try_read_lock)(pthread_rwlock_t *);
	int (*write_lock)(pthread_rwlock_t *);
	int (*try_write_lock)(pthread_rwlock_t *);
	int (*rwlock_unlock)(pthread_rwlock_t *);
	int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
	int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
} real;

static __thread struct slab *slab __attribute__((tls_model("initial-exec")));
static __thread struct held held[HELD_MAX] __attribute__((tls_model("initial-exec")));
static __thread unsigned held_count __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *find(const char *name, const char *version)
{
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	return found ? found : dlsym(RTLD_NEXT, name);
}

static void find_all(void)
{
	if (real.rwlock_unlock)
		return;
	real.mutex_lock = find("pthread_mutex_lock", NULL);
	real.mutex_trylock = find("pthread_mutex_trylock", NULL);
	real.mutex_unlock = find("pthread_mutex_unlock", NULL);
	real.read_lock = find("pthread_rwlock_rdlock", NULL);
	real.try_read_lock = find("pthread_rwlock_tryrdlock", NULL);
	real.write_lock = find("pthread_rwlock_wrlock", NULL);
	real.try_write_lock = find("pthread_rwlock_trywrlock", NULL);
	real.cond_wait =
		find("pthread_cond_wait",
		     "GLIBC_2.3.2"); /* without a version an older one is found on x86-64 */
	real.cond_timedwait = find("pthread_cond_timedwait", "GLIBC_2.3.2");
	real.rwlock_unlock = find("pthread_rwlock_unlock", NULL);
}

/* The first module is the program. */
static int note_base(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

static struct place *place_of(const void *lock, const void *caller, enum kind kind)
{
	if (!real.head)
		return NULL;
	if (!slab) {
		uint64_t n = atomic_fetch_add(&real.head->threads, 1);

		slab = &real.slabs[n < THREADS_MAX ? n : THREADS_MAX - 1]; /* the rest share one,
									      roughly counted */
	}
	uint64_t hash = ((uintptr_t)lock * 31 + (uintptr_t)caller) * 0x9E3779B97F4A7C15u >> 32;
	for (unsigned i = 0; i < PLACES_MAX; i++) {
		struct place *place = &slab->places[(hash + i) % PLACES_MAX];

		if (place->lock == 0)
			*place = (struct place){
				.lock = (uintptr_t)lock, .caller = (uintptr_t)caller, .kind = kind};
		if (place->lock == (uintptr_t)lock && place->caller == (uintptr_t)caller)
			return place;
	}
	return NULL;
}

static void begin_hold(const void *lock, struct place *place, uint64_t now)
{
	bool is_nested = false;

	if (!place || held_count == HELD_MAX)
		return;
	for (unsigned i = 0; i < held_count; i++)
		is_nested = is_nested || held[i].place->kind != KIND_SHARED;
	place->nested += is_nested;
	held[held_count++] = (struct held){lock, place, now, is_nested};
}

static void end_hold(const void *lock)
{
	uint64_t now = now_ns();

	for (unsigned i = held_count; i-- > 0;) {
		if (held[i].lock != lock)
			continue;
		uint64_t ns = now - held[i].since_ns;

		if (ns > LONG_NS) {
			held[i].place->long_count++;
			held[i].place->long_ns += ns;
		} else if (!held[i].is_nested) {
			held[i].place->held_ns += ns;
		}
		memmove(&held[i], &held[i + 1], (--held_count - i) * sizeof(*held));
		return;
	}
}

/* After a lock was tried: waits where another has it. */
#define TAKE(lock, caller, kind, has_it, wait) \
	do { \
		struct place *place = place_of(lock, caller, kind); \
		uint64_t now = now_ns(); \
		if (!(has_it)) { \
			result = (wait); \
			uint64_t later = now_ns(); \
			if (place) { \
				place->contended++; \
				place->waited_ns += later - now; \
			} \
			now = later; \
		} \
		if (place) \
			place->count++; \
		begin_hold(lock, place, now); \
	} while (0)

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	find_all();
	int result = real.mutex_trylock(lock);
	TAKE(lock, __builtin_return_address(0), KIND_MUTEX, result == 0, real.mutex_lock(lock));
	return result;
}

int pthread_mutex_trylock(pthread_mutex_t *lock)
{
	find_all();
	int result = real.mutex_trylock(lock);
	if (result == 0)
		TAKE(lock, __builtin_return_address(0), KIND_MUTEX, true, 0);
	return result;
}

int pthread_mutex_unlock(pthread_mutex_t *lock)
{
	find_all();
	end_hold(lock);
	return real.mutex_unlock(lock);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	find_all();
	int result = real.try_read_lock(lock);
	TAKE(lock, __builtin_return_address(0), KIND_SHARED, result == 0, real.read_lock(lock));
	return result;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	find_all();
	int result = real.try_read_lock(lock);
	if (result == 0)
		TAKE(lock, __builtin_return_address(0), KIND_SHARED, true, 0);
	return result;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	find_all();
	int result = real.try_write_lock(lock);
	TAKE(lock, __builtin_return_address(0), KIND_EXCLUSIVE, result == 0, real.write_lock(lock));
	return result;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	find_all();
	int result = real.try_write_lock(lock);
	if (result == 0)
		TAKE(lock, __builtin_return_address(0), KIND_EXCLUSIVE, true, 0);
	return result;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	find_all();
	end_hold(lock);
	return real.rwlock_unlock(lock);
}

/* Sleeping is not holding. */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	find_all();
	end_hold(lock);
	int result = real.cond_wait(cond, lock);
	TAKE(lock, __builtin_return_address(0), KIND_MUTEX, true, 0);
	return result;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
			   const struct timespec *until)
{
	find_all();
	end_hold(lock);
	int result = real.cond_timedwait(cond, lock, until);
	TAKE(lock, __builtin_return_address(0), KIND_MUTEX, true, 0);
	return result;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("LOCKS");
	size_t size = sizeof(struct head) + THREADS_MAX * sizeof(struct slab);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	find_all();
	if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
		return;
	struct head *head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (head == MAP_FAILED)
		return;
	dl_iterate_phdr(note_base, &head->base);
	uint64_t start = now_ns();
	for (unsigned i = 0; i < LOOKS; i++)
		(void)now_ns();
	head->look_ns = (now_ns() - start) / LOOKS;
	real.slabs = (struct slab *)(head + 1);
	real.head = head;
}
