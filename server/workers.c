#include "server/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "server/connections.h"

#define WORKER_BITS 6 /* of a place; the others are its era */
#define WORKER_OF(place) ((place) & ((1u << WORKER_BITS) - 1))
#define ERA_OF(place) ((place) >> WORKER_BITS)
#define ERA_MAX (UINT32_MAX >> WORKER_BITS)
#define PAUSE_NS 100000

_Static_assert(WORKERS_MAX <= 1 << WORKER_BITS, "a place has room for each worker");

struct worker {
	_Alignas(64) atomic_int placed; /* connections that it got in this era and still has; not exact, since an era begins beside other threads */
	_Atomic uint64_t judged_ns;     /* when its last window ended */
	_Atomic uint64_t turn_ns;       /* the mean of the turns with several requests; 0: these took less than half of that window */
};

static struct {
	unsigned most;
	bool (*start)(unsigned worker); /* or NULL */
	struct platform_core_times (*core_times)(void);
	pthread_mutex_t mutex;          /* of what follows */
	unsigned started;
	atomic_uint serving;
	atomic_uint era;              /* 1 to ERA_MAX, then 1 again */
	_Atomic uint64_t changed_ns;  /* when the era began */
	_Atomic uint64_t calm_since_ns; /* 0: it is not calm */
	_Atomic uint64_t stuck_until_ns; /* until then all serve */
	atomic_bool is_frozen;        /* written under the mutex */
	_Atomic uint64_t moves;
	atomic_uint moving;           /* connections between workers_next() and workers_moved() */
	struct worker v[WORKERS_MAX];
} all = {.most = 1, .mutex = PTHREAD_MUTEX_INITIALIZER, .serving = 1, .era = 1};

/* By socket: 0 for nobody's, else the era and the worker. */
static atomic_uint places[CONNECTIONS_FILES_MAX];

/* The thread's. */
static _Thread_local struct {
	bool is_worker;
	unsigned index;
	int events;
	unsigned turns;  /* with several requests, in this window */
	uint64_t begin_ns;
	uint64_t requests_ns, longest_ns; /* what the requests of this turn took, and the longest of them */
	unsigned brief;    /* how many long requests it may hand on */
	uint64_t since_ns; /* the window's begin */
	uint64_t crowded_ns; /* what these turns took */
	struct {
		uint64_t ns; /* when it looked at the cores; 0: never */
		struct platform_core_times times;
		bool is_spare, is_tight; /* another worker would get a core; one less would be enough */
	} look;
} own;

void workers_begin(unsigned most, bool (*start)(unsigned worker), struct platform_core_times (*core_times)(void))
{
	all.most = most < 1 ? 1 : most > WORKERS_MAX ? WORKERS_MAX : most;
	all.start = start;
	all.core_times = core_times;
	all.started = start ? 1 : all.most;
	atomic_store(&all.serving, all.started);
	atomic_store(&all.calm_since_ns, 0);
	atomic_store(&all.stuck_until_ns, 0);
	atomic_store(&all.changed_ns, 0);
	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		atomic_store(&all.v[i].placed, 0);
		atomic_store(&all.v[i].judged_ns, 0);
		atomic_store(&all.v[i].turn_ns, 0);
	}
	atomic_store(&all.is_frozen, false);
}

void workers_freeze(void)
{
	const struct timespec pause = {0, PAUSE_NS};

	pthread_mutex_lock(&all.mutex);
	atomic_store(&all.is_frozen, true);
	pthread_mutex_unlock(&all.mutex);
	while (atomic_load(&all.moving) > 0)
		nanosleep(&pause, NULL);
}

unsigned workers_serving(void)
{
	return atomic_load_explicit(&all.serving, memory_order_acquire); /* they have been started */
}

uint64_t workers_moves(void)
{
	return atomic_load_explicit(&all.moves, memory_order_relaxed);
}

static unsigned era_now(void)
{
	return atomic_load_explicit(&all.era, memory_order_relaxed);
}

/* Which has got fewest; `first` where it is one of several. */
static unsigned emptiest(unsigned first)
{
	unsigned serving = workers_serving(), best = first < serving ? first : 0;

	for (unsigned i = 0; i < serving; i++) {
		if (atomic_load_explicit(&all.v[i].placed, memory_order_relaxed) < atomic_load_explicit(&all.v[best].placed, memory_order_relaxed))
			best = i;
	}
	return best;
}

static void put(int fd, unsigned worker)
{
	atomic_store_explicit(&places[fd], era_now() << WORKER_BITS | worker, memory_order_relaxed);
	atomic_fetch_add_explicit(&all.v[worker].placed, 1, memory_order_relaxed);
}

unsigned workers_place(int fd)
{
	unsigned worker = emptiest(0);

	put(fd, worker);
	return worker;
}

static bool is_placed(int fd, unsigned *place)
{
	*place = fd >= 0 && fd < CONNECTIONS_FILES_MAX ? atomic_load_explicit(&places[fd], memory_order_relaxed) : 0;
	return *place != 0;
}

void workers_forget(int fd)
{
	unsigned place;

	if (!is_placed(fd, &place))
		return;
	atomic_store_explicit(&places[fd], 0, memory_order_relaxed);
	if (ERA_OF(place) == era_now())
		atomic_fetch_sub_explicit(&all.v[WORKER_OF(place)].placed, 1, memory_order_relaxed);
}

int workers_next(int fd)
{
	unsigned place;

	if (!is_placed(fd, &place))
		return -1;
	own.is_worker = true;
	own.index = WORKER_OF(place);
	if (ERA_OF(place) == era_now())
		return -1;
	atomic_fetch_add(&all.moving, 1); /* before the look at is_frozen */
	unsigned worker = atomic_load(&all.is_frozen) ? own.index : emptiest(own.index);
	if (worker != own.index)
		return (int)worker;
	put(fd, worker);
	atomic_fetch_sub(&all.moving, 1);
	return -1;
}

void workers_put(int from, int to, unsigned worker)
{
	if (to < 0) {
		put(from, own.index);
		return;
	}
	put(to, worker);
	atomic_fetch_add_explicit(&all.moves, 1, memory_order_relaxed);
}

void workers_moved(void)
{
	atomic_fetch_sub(&all.moving, 1);
}

/* The mutex is held. */
static void begin_era(unsigned serving, uint64_t now_ns)
{
	atomic_store_explicit(&all.serving, serving, memory_order_release);
	atomic_store_explicit(&all.changed_ns, now_ns, memory_order_relaxed);
	for (unsigned i = 0; i < all.most; i++)
		atomic_store_explicit(&all.v[i].placed, 0, memory_order_relaxed);
	atomic_store(&all.era, era_now() == ERA_MAX ? 1 : era_now() + 1);
}

/* An era begins with so many workers, or as many as there can be, unless another thread has begun one meanwhile. */
static void change(unsigned serving, unsigned wanted, uint64_t now_ns)
{
	atomic_store_explicit(&all.calm_since_ns, 0, memory_order_relaxed);
	if (pthread_mutex_trylock(&all.mutex) != 0)
		return;
	bool may_change = serving == workers_serving() && !atomic_load(&all.is_frozen);
	while (may_change && all.started < wanted && all.start(all.started))
		all.started++;
	if (wanted > all.started)
		wanted = all.started;
	if (may_change && wanted != serving)
		begin_era(wanted, now_ns);
	pthread_mutex_unlock(&all.mutex);
}

/* The longest turns of those that serve. A worker that has ended no window for a while has no such turns. */
static uint64_t longest_turn(unsigned serving, uint64_t now_ns)
{
	uint64_t longest = 0;

	for (unsigned i = 0; i < serving; i++) {
		uint64_t turn = atomic_load_explicit(&all.v[i].turn_ns, memory_order_relaxed);

		if (turn > longest && now_ns - atomic_load_explicit(&all.v[i].judged_ns, memory_order_relaxed) < (uint64_t)5 * WORKERS_WINDOW_NS)
			longest = turn;
	}
	return longest;
}

/* How the cores were used since the thread's last look. What was before the era does not count, nor a look that is long ago. */
static void look_at_cores(unsigned serving, uint64_t now_ns)
{
	uint64_t took = now_ns - own.look.ns;
	bool is_first = own.look.ns < atomic_load_explicit(&all.changed_ns, memory_order_relaxed) || took >= (uint64_t)5 * WORKERS_LOOK_ONE_NS;

	if (!is_first && took < (serving > 1 ? WORKERS_LOOK_NS : WORKERS_LOOK_ONE_NS))
		return;
	struct platform_core_times times = all.core_times();
	uint64_t idle = times.idle_ns - own.look.times.idle_ns, waited = times.waited_ns - own.look.times.waited_ns;
	own.look.is_spare = times.idle_ns == 0 || (!is_first && (idle * 5 >= took * 3 || waited * 4 >= took));
	own.look.is_tight = times.idle_ns != 0 && !is_first && idle * 10 < took * 3 && waited * 5 < took * 2;
	own.look.times = times;
	own.look.ns = now_ns;
}

static void judge_calm(unsigned serving, uint64_t now_ns)
{
	uint64_t since = atomic_load_explicit(&all.calm_since_ns, memory_order_relaxed), turn = longest_turn(serving, now_ns);

	if (now_ns < atomic_load_explicit(&all.stuck_until_ns, memory_order_relaxed))
		return;
	bool is_calm = turn * serving / (serving - 1) < WORKERS_CALM_NS;
	if ((is_calm && since > 0 && now_ns - since >= WORKERS_CALM_FOR_NS) || (own.look.is_tight && turn < WORKERS_CROWDED_NS))
		change(serving, serving - 1, now_ns);
	else if (!is_calm || since == 0)
		atomic_store_explicit(&all.calm_since_ns, is_calm ? now_ns : 0, memory_order_relaxed);
}

/* A window of the thread ends. */
static void judge(uint64_t now_ns)
{
	unsigned serving = workers_serving();
	uint64_t mean = own.turns > 0 ? own.crowded_ns / own.turns : 0;
	bool is_crowded = own.crowded_ns * 2 >= now_ns - own.since_ns;

	atomic_store_explicit(&all.v[own.index].turn_ns, is_crowded ? mean : 0, memory_order_relaxed);
	atomic_store_explicit(&all.v[own.index].judged_ns, now_ns, memory_order_relaxed);
	/* not what was before the era */
	if (own.index < serving && own.since_ns >= atomic_load_explicit(&all.changed_ns, memory_order_relaxed)) {
		bool may_join = is_crowded && mean > WORKERS_CROWDED_NS && serving < all.most;

		if (may_join || serving > 1)
			look_at_cores(serving, now_ns);
		if (may_join && (own.look.is_spare || mean > WORKERS_CROWDED_TIGHT_NS))
			change(serving, serving + 1, now_ns);
		else if (serving > 1)
			judge_calm(serving, now_ns);
	}
	own.since_ns = now_ns;
	own.crowded_ns = 0;
	own.turns = 0;
}

void workers_begin_turn(int events, uint64_t now_ns)
{
	own.events = events;
	own.begin_ns = now_ns;
	own.requests_ns = own.longest_ns = 0;
	if (own.since_ns == 0)
		own.since_ns = now_ns;
}

void workers_took(uint64_t request_ns, bool is_brief)
{
	own.requests_ns += request_ns;
	if (request_ns > own.longest_ns)
		own.longest_ns = request_ns;
	if (is_brief)
		own.brief = own.brief + WORKERS_HANDED_ON < WORKERS_HANDED_ON_MAX ? own.brief + WORKERS_HANDED_ON : WORKERS_HANDED_ON_MAX;
}

bool workers_hand_on(void)
{
	if (own.brief == 0)
		return false;
	own.brief--;
	return true;
}

/* What the turn took without all requests but the longest. */
static uint64_t stuck_for(uint64_t turn_ns)
{
	uint64_t others_ns = own.requests_ns - own.longest_ns;

	return turn_ns > others_ns ? turn_ns - others_ns : 0;
}

/* Where two threads are stuck at once, the earlier end may win. */
static void serve_all(uint64_t stuck_ns, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + (stuck_ns < WORKERS_STUCK_FOR_NS / WORKERS_STUCK_TIMES ? stuck_ns * WORKERS_STUCK_TIMES : WORKERS_STUCK_FOR_NS);

	if (until_ns > atomic_load_explicit(&all.stuck_until_ns, memory_order_relaxed))
		atomic_store_explicit(&all.stuck_until_ns, until_ns, memory_order_relaxed);
	change(workers_serving(), all.most, now_ns);
}

void workers_end_turn(uint64_t now_ns, uint64_t locked_ns)
{
	uint64_t took = now_ns - own.begin_ns;

	if (!own.is_worker || !all.start)
		return;
	if (own.events > 1) {
		own.crowded_ns += took > locked_ns ? took - locked_ns : 0;
		own.turns++;
	}
	own.events = 0;
	uint64_t stuck_ns = stuck_for(took);
	if (stuck_ns > WORKERS_STUCK_NS)
		serve_all(stuck_ns, now_ns);
	if (now_ns - own.since_ns >= WORKERS_WINDOW_NS)
		judge(now_ns);
}
