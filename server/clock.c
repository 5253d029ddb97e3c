#include "server/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"

#define TIME_MAX_MS INT64_C(253402300799999) /* the end of the year 9999 */

#define REGION_MAX 63
#define ACCOUNT_SIZE 12

/* What a turn leaves behind. */
struct setting {
	bool is_frozen;
	int64_t ms; /* where it stands, or the distance from the system's clock */
};

/* The clock of one namespace. */
struct own {
	char account[ACCOUNT_SIZE + 1], region[REGION_MAX + 1];
	struct setting setting;
};

struct clock {
	bool is_shared;
	/* The default setting in one word, so that no reader sees half a turn: twice its ms, plus 1 where it is frozen. */
	atomic_llong state;
	atomic_size_t n;
	pthread_rwlock_t lock; /* of `own`; a turn holds it for writing */
	struct own *own;       /* by account and region */
};

struct clock *clock_new(bool is_shared)
{
	struct clock *clock = arena_checked(calloc(1, sizeof(*clock)));

	clock->is_shared = is_shared;
	pthread_rwlock_init(&clock->lock, NULL);
	return clock;
}

void clock_free(struct clock *clock)
{
	pthread_rwlock_destroy(&clock->lock);
	free(clock->own);
	free(clock);
}

static int64_t system_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct setting default_setting(const struct clock *clock)
{
	long long state = atomic_load(&clock->state);
	bool is_frozen = state & 1;

	return (struct setting){is_frozen, (state - is_frozen) / 2};
}

static int64_t now_of(struct setting setting, int64_t real_ms)
{
	return setting.is_frozen ? setting.ms : real_ms + setting.ms;
}

static struct setting moved_to(struct setting setting, int64_t now_ms, int64_t real_ms)
{
	return (struct setting){setting.is_frozen, setting.is_frozen ? now_ms : now_ms - real_ms};
}

/* Where the namespace's clock is or would be. The lock is held. */
static size_t position(const struct clock *clock, struct ns ns, bool *found)
{
	size_t low = 0, high = atomic_load(&clock->n);

	*found = false;
	while (low < high) {
		size_t at = low + (high - low) / 2;
		int order = str_cmp(str_of(clock->own[at].account), ns.account);

		if (order == 0)
			order = str_cmp(str_of(clock->own[at].region), ns.region);
		if (order == 0) {
			*found = true;
			return at;
		}
		if (order < 0)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/* The setting that the namespace goes by; whether it is its own. The lock is held. */
static struct setting setting_for(const struct clock *clock, const struct ns *ns, bool *is_own)
{
	size_t at = 0;

	*is_own = false;
	if (ns && !clock->is_shared)
		at = position(clock, *ns, is_own);
	return *is_own ? clock->own[at].setting : default_setting(clock);
}

/* Without the lock where no namespace has a clock of its own, which is nearly always. */
static struct setting read_setting(struct clock *clock, const struct ns *ns, bool *is_own)
{
	*is_own = false;
	if (atomic_load(&clock->n) == 0)
		return default_setting(clock);
	pthread_rwlock_rdlock(&clock->lock);
	struct setting setting = setting_for(clock, ns, is_own);
	pthread_rwlock_unlock(&clock->lock);
	return setting;
}

int64_t clock_now_ms(void *context, struct ns ns)
{
	bool is_own;
	struct setting setting = read_setting(context, &ns, &is_own);

	return now_of(setting, system_ms());
}

bool clock_tell(void *context, struct ns ns, int64_t *now_ms)
{
	*now_ms = clock_now_ms(context, ns);
	return true;
}

bool clock_tell_scope(void *context, struct ns ns, int64_t *now_ms)
{
	const struct clock_scope *scope = context;
	bool is_own;
	struct setting setting = read_setting(scope->clock, &ns, &is_own);

	*now_ms = now_of(setting, system_ms());
	if (scope->clock->is_shared)
		return true;
	return scope->ns ? str_eq(ns.account, scope->ns->account) && str_eq(ns.region, scope->ns->region) : !is_own;
}

static bool ms_of_seconds(double seconds, int64_t *ms)
{
	if (!(fabs(seconds) <= (double)TIME_MAX_MS / 1000))
		return false;
	*ms = (int64_t)llround(seconds * 1000);
	return true;
}

/* "2030-01-31", "2030-01-31T12:00:00Z" */
static bool read_time(struct arena *arena, const struct json *value, int64_t *ms)
{
	struct tm tm = {0};

	if (json_type(value) == JSON_NUMBER)
		return ms_of_seconds(json_number(value), ms);
	if (json_type(value) != JSON_STRING)
		return false;
	const char *text = json_c_string(arena, value);
	if (!text)
		return false;
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (end && *end == 'Z')
		end++;
	if (!end) {
		tm = (struct tm){0};
		end = strptime(text, "%Y-%m-%d", &tm);
	}
	if (!end || *end)
		return false;
	*ms = (int64_t)timegm(&tm) * 1000;
	return true;
}

static bool read_duration(struct arena *arena, const struct json *value, int64_t *ms)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"ms", 0.001}};
	char *end;

	if (json_type(value) == JSON_NUMBER)
		return ms_of_seconds(json_number(value), ms);
	if (json_type(value) != JSON_STRING)
		return false;
	const char *text = json_c_string(arena, value);
	if (!text)
		return false;
	double number = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (end != text && strcmp(end, units[i].name) == 0)
			return ms_of_seconds(number * units[i].seconds, ms);
	}
	return false;
}

/* What a request asks for. */
struct turn {
	bool is_release, is_set, is_advance, is_freeze_given, is_freeze;
	int64_t set_ms, advance_ms;
};

static bool read_member(struct arena *arena, struct str name, const struct json *value, struct turn *turn)
{
	bool is_boolean = json_type(value) == JSON_BOOLEAN;

	if (str_eq(name, STR("set"))) {
		turn->is_set = true;
		return read_time(arena, value, &turn->set_ms);
	}
	if (str_eq(name, STR("advance"))) {
		turn->is_advance = true;
		return read_duration(arena, value, &turn->advance_ms);
	}
	if (str_eq(name, STR("freeze")) && is_boolean) {
		turn->is_freeze_given = true;
		turn->is_freeze = json_boolean(value);
		return true;
	}
	turn->is_release = is_boolean && json_boolean(value);
	return str_eq(name, STR("release")) && is_boolean;
}

static enum code read_turn(struct str body, struct turn *turn, struct err *err)
{
	const struct json *root;

	*turn = (struct turn){0};
	if (body.n == 0)
		return OK;
	enum code code = json_parse(err->arena, body, &root, err);

	if (code == ERR_SERVICE_UNAVAILABLE)
		return code;
	if (code != OK || json_type(root) != JSON_OBJECT)
		return err_set(err, MSG_CLOCK_BODY);
	for (const struct json *member = json_first(root); member; member = json_next(member)) {
		struct str name = json_name(err->arena, member);

		if (!read_member(err->arena, name, member, turn))
			return err_set(err, MSG_CLOCK_MEMBER, STR_ARG(name));
	}
	return OK;
}

/* `base` is what a release goes back to. */
static struct setting turned(struct setting setting, struct setting base, const struct turn *turn, int64_t real_ms)
{
	if (turn->is_release)
		setting = base;
	if (turn->is_set)
		setting = moved_to(setting, turn->set_ms, real_ms);
	setting.ms += turn->advance_ms;
	if (turn->is_freeze_given) {
		int64_t now_ms = now_of(setting, real_ms);

		setting.is_frozen = turn->is_freeze;
		setting = moved_to(setting, now_ms, real_ms);
	}
	return setting;
}

static bool changes_anything(const struct turn *turn)
{
	return turn->is_set || turn->is_advance || turn->is_freeze_given;
}

/* Gives the namespace its own clock, or takes it away (`setting` NULL). The lock is held for writing. */
static enum code keep(struct clock *clock, struct ns ns, const struct setting *setting, struct err *err)
{
	size_t n = atomic_load(&clock->n);
	bool found;
	size_t at = position(clock, ns, &found);

	if (!setting) {
		if (found) {
			memmove(clock->own + at, clock->own + at + 1, (n - at - 1) * sizeof(*clock->own));
			atomic_store(&clock->n, n - 1);
		}
		return OK;
	}
	if (!found) {
		if (n == CLOCKS_MAX)
			return err_set(err, MSG_CLOCK_MANY, CLOCKS_MAX);
		clock->own = arena_checked(realloc(clock->own, (n + 1) * sizeof(*clock->own)));
		memmove(clock->own + at + 1, clock->own + at, (n - at) * sizeof(*clock->own));
		clock->own[at] = (struct own){0};
		memcpy(clock->own[at].account, ns.account.p, ns.account.n);
		memcpy(clock->own[at].region, ns.region.p, ns.region.n);
		atomic_store(&clock->n, n + 1);
	}
	clock->own[at].setting = *setting;
	return OK;
}

/* The lock is held for writing. */
static enum code apply(struct clock *clock, const struct ns *ns, const struct turn *turn, struct err *err)
{
	static const struct setting system = {false, 0};
	bool is_own;
	int64_t real_ms = system_ms();
	struct setting setting = setting_for(clock, ns, &is_own);
	struct setting next = turned(setting, ns ? default_setting(clock) : system, turn, real_ms);
	int64_t now_ms = now_of(next, real_ms);

	if (now_ms < 0 || now_ms > TIME_MAX_MS)
		return err_set(err, MSG_CLOCK_RANGE);
	if (!ns) {
		atomic_store(&clock->state, next.ms * 2 + next.is_frozen);
		return OK;
	}
	if (changes_anything(turn))
		return keep(clock, *ns, &next, err);
	return turn->is_release ? keep(clock, *ns, NULL, err) : OK;
}

enum code clock_turn(struct clock *clock, const struct ns *ns, struct str body, struct err *err)
{
	struct turn turn;
	enum code code = read_turn(body, &turn, err);

	if (code != OK)
		return code;
	if (clock->is_shared)
		ns = NULL;
	if (ns && (ns->account.n != ACCOUNT_SIZE || ns->region.n == 0 || ns->region.n > REGION_MAX))
		return err_set(err, MSG_CLOCK_NAMESPACE, STR_ARG(ns->account), STR_ARG(ns->region));
	pthread_rwlock_wrlock(&clock->lock);
	code = apply(clock, ns, &turn, err);
	pthread_rwlock_unlock(&clock->lock);
	return code;
}

/* Whether it stands still, and its milliseconds. */
struct str clock_save(struct clock *clock, struct ns ns, struct arena *arena)
{
	bool is_own;
	struct setting setting = read_setting(clock, &ns, &is_own);

	return is_own ? str_printf(arena, "%c%lld", setting.is_frozen ? 'f' : 'r', (long long)setting.ms) : STR("");
}

enum code clock_restore(struct clock *clock, struct ns ns, struct str saved, struct err *err)
{
	struct setting setting = {.is_frozen = saved.n > 0 && saved.p[0] == 'f'};

	if (clock->is_shared)
		return OK;
	if (saved.n > 1)
		setting.ms = strtoll(str_printf(err->arena, STR_FMT, STR_ARG(saved)).p + 1, NULL, 10);
	pthread_rwlock_wrlock(&clock->lock);
	enum code code = keep(clock, ns, saved.n > 1 ? &setting : NULL, err);
	pthread_rwlock_unlock(&clock->lock);
	return code;
}

static void add_time(struct json_out *out, struct arena *arena, struct setting setting)
{
	int64_t real_ms = system_ms(), now_ms = now_of(setting, real_ms);
	time_t seconds = (time_t)(now_ms / 1000);
	char iso[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S", &tm);
	json_out_name(out, STR("now"));
	json_out_time_ms(out, now_ms);
	json_out_field_string(out, "iso", str_printf(arena, "%s.%03dZ", iso, (int)(now_ms % 1000)));
	json_out_field_boolean(out, "frozen", setting.is_frozen);
	json_out_name(out, STR("offset"));
	json_out_units(out, (double)(now_ms - real_ms) / 1000);
}

static void add_namespaces(struct json_out *out, struct clock *clock, struct arena *arena)
{
	json_out_name(out, STR("namespaces"));
	json_out_open(out, '[');
	pthread_rwlock_rdlock(&clock->lock);
	for (size_t i = 0; i < atomic_load(&clock->n); i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "account", str_of(clock->own[i].account));
		json_out_field_string(out, "region", str_of(clock->own[i].region));
		add_time(out, arena, clock->own[i].setting);
		json_out_close(out, '}');
	}
	pthread_rwlock_unlock(&clock->lock);
	json_out_close(out, ']');
}

struct str clock_describe(struct clock *clock, const struct ns *ns, struct arena *arena, uint64_t expired)
{
	struct json_out out = json_out_in(arena);
	bool is_own;

	json_out_open(&out, '{');
	add_time(&out, arena, read_setting(clock, ns, &is_own));
	if (ns && !clock->is_shared) {
		json_out_field_string(&out, "account", ns->account);
		json_out_field_string(&out, "region", ns->region);
		json_out_field_boolean(&out, "own", is_own);
	} else {
		add_namespaces(&out, clock, arena);
	}
	json_out_field_integer(&out, "expired", (int64_t)expired);
	json_out_close(&out, '}');
	return json_out_str(&out);
}
