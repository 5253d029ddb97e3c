#include "server/clock.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/json.h"
#include "protocol/json_out.h"
#include "server/messages.h"

#define TIME_MAX_MS INT64_C(253402300799999) /* the end of the year 9999 */

/* A state taken apart. */
struct setting {
	bool is_frozen;
	int64_t ms; /* where it stands, or the distance from the system's clock */
};

static int64_t system_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct setting setting_of(long long state)
{
	bool is_frozen = state & 1;

	return (struct setting){is_frozen, (state - is_frozen) / 2};
}

static long long state_of(struct setting setting)
{
	return setting.ms * 2 + setting.is_frozen;
}

static int64_t now_of(struct setting setting, int64_t real_ms)
{
	return setting.is_frozen ? setting.ms : real_ms + setting.ms;
}

static struct setting moved_to(struct setting setting, int64_t now_ms, int64_t real_ms)
{
	return (struct setting){setting.is_frozen, setting.is_frozen ? now_ms : now_ms - real_ms};
}

int64_t clock_now_ms(void *context)
{
	struct clock *clock = context;

	return now_of(setting_of(atomic_load(&clock->state)), system_ms());
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
	bool is_release, is_set, is_freeze_given, is_freeze;
	int64_t set_ms, advance_ms;
};

static bool read_member(struct arena *arena, struct str name, const struct json *value, struct turn *turn)
{
	bool is_boolean = json_type(value) == JSON_BOOLEAN;

	if (str_eq(name, STR("set"))) {
		turn->is_set = true;
		return read_time(arena, value, &turn->set_ms);
	}
	if (str_eq(name, STR("advance")))
		return read_duration(arena, value, &turn->advance_ms);
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

static struct setting turned(struct setting setting, const struct turn *turn, int64_t real_ms)
{
	if (turn->is_release)
		setting = (struct setting){false, 0};
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

enum code clock_turn(struct clock *clock, struct str body, struct err *err)
{
	long long state = atomic_load(&clock->state);
	struct setting next;
	struct turn turn;
	enum code code = read_turn(body, &turn, err);

	if (code != OK)
		return code;
	do {
		int64_t real_ms = system_ms(), now_ms;

		next = turned(setting_of(state), &turn, real_ms);
		now_ms = now_of(next, real_ms);
		if (now_ms < 0 || now_ms > TIME_MAX_MS)
			return err_set(err, MSG_CLOCK_RANGE);
	} while (!atomic_compare_exchange_weak(&clock->state, &state, state_of(next)));
	return OK;
}

struct str clock_describe(struct clock *clock, struct arena *arena, uint64_t expired)
{
	struct setting setting = setting_of(atomic_load(&clock->state));
	int64_t real_ms = system_ms(), now_ms = now_of(setting, real_ms);
	struct json_out out = json_out_in(arena);
	time_t seconds = (time_t)(now_ms / 1000);
	char iso[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S", &tm);
	json_out_open(&out, '{');
	json_out_name(&out, STR("now"));
	json_out_time_ms(&out, now_ms);
	json_out_field_string(&out, "iso", str_printf(arena, "%s.%03dZ", iso, (int)(now_ms % 1000)));
	json_out_field_boolean(&out, "frozen", setting.is_frozen);
	json_out_name(&out, STR("offset"));
	json_out_units(&out, (double)(now_ms - real_ms) / 1000);
	json_out_field_integer(&out, "expired", (int64_t)expired);
	json_out_close(&out, '}');
	return json_out_str(&out);
}
