#include "server/clock.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "server/seed/json_text.h"
#include "storage/schema/ns_name.h"

#define SHOWN_MAX 64 /* bytes of a value that a refusal shows */
#define TIME_MAX_MS INT64_C(253402300799999) /* the end of the year 9999 */

int64_t clock_now_ms(void *context, struct ns ns)
{
	bool is_own;
	struct clocks_setting setting = clocks_get(context, &ns, &is_own);

	return clocks_now_of(setting, clocks_real_ms());
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
	struct clocks_setting setting = clocks_get(scope->clocks, &ns, &is_own);

	*now_ms = clocks_now_of(setting, clocks_real_ms());
	if (clocks_are_one(scope->clocks))
		return true;
	return scope->ns ? str_eq(ns.account, scope->ns->account) &&
				   str_eq(ns.region, scope->ns->region)
			 : !is_own;
}

static struct clocks_setting moved_to(struct clocks_setting setting, int64_t now_ms,
				      int64_t real_ms)
{
	return (struct clocks_setting){setting.is_frozen,
				       setting.is_frozen ? now_ms : now_ms - real_ms};
}

static bool ms_of_seconds(double seconds, int64_t *ms)
{
	if (!(fabs(seconds) <= (double)TIME_MAX_MS / 1000))
		return false;
	*ms = (int64_t)(seconds * 1000 + (seconds < 0 ? -0.5 : 0.5));
	return true;
}

/* "2030-01-31", "2030-01-31T12:00:00Z" */
static bool read_turn_time(struct arena *arena, const struct json *value, int64_t *ms)
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

static bool read_turn_member(struct arena *arena, struct str name, const struct json *value,
			     struct turn *turn)
{
	bool is_boolean = json_type(value) == JSON_BOOLEAN;

	if (str_eq(name, STR("set"))) {
		turn->is_set = true;
		return read_turn_time(arena, value, &turn->set_ms);
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

static enum code refuse_turn(struct str name, struct str value, struct err *err)
{
	bool is_long = value.n > SHOWN_MAX;

	if (!str_is_set(value)) /* its name is written with escapes */
		value = STR("?");
	return err_set(err, MSG_CLOCK_MEMBER, STR_ARG(name), (int)(is_long ? SHOWN_MAX : value.n),
		       value.p, is_long ? "..." : "");
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

		if (!read_turn_member(err->arena, name, member, turn))
			return refuse_turn(name, json_text_find(body, name), err);
	}
	return OK;
}

/* `base` is what a release goes back to. */
static struct clocks_setting turned_setting(struct clocks_setting setting,
					    struct clocks_setting base, const struct turn *turn,
					    int64_t real_ms)
{
	if (turn->is_release)
		setting = base;
	if (turn->is_set)
		setting = moved_to(setting, turn->set_ms, real_ms);
	setting.ms += turn->advance_ms;
	if (turn->is_freeze_given) {
		int64_t now_ms = clocks_now_of(setting, real_ms);

		setting.is_frozen = turn->is_freeze;
		setting = moved_to(setting, now_ms, real_ms);
	}
	return setting;
}

static bool changes_anything(const struct turn *turn)
{
	return turn->is_set || turn->is_advance || turn->is_freeze_given;
}

/* What a turn is of: a clocks_turn's context. */
struct turning {
	const struct turn *turn;
	bool is_default;
};

static enum code apply_turn(void *context, struct clocks_setting setting,
			    struct clocks_setting base, struct clocks_setting *next,
			    enum clocks_action *action, struct err *err)
{
	const struct turning *turning = context;
	int64_t real_ms = clocks_real_ms(), now_ms;

	*next = turned_setting(setting, base, turning->turn, real_ms);
	now_ms = clocks_now_of(*next, real_ms);
	if (now_ms < 0 || now_ms > TIME_MAX_MS)
		return err_set(err, MSG_CLOCK_RANGE);
	*action = CLOCKS_NOTHING;
	if (changes_anything(turning->turn))
		*action = CLOCKS_SET;
	else if (turning->turn->is_release)
		*action = turning->is_default ? CLOCKS_SET : CLOCKS_RELEASE;
	return OK;
}

enum code clock_turn(struct clocks *clocks, const struct ns *ns, struct str body, struct err *err)
{
	struct turn turn;
	enum code code = read_turn(body, &turn, err);

	if (code != OK)
		return code;
	if (clocks_are_one(clocks))
		ns = NULL;
	if (ns &&
	    (ns->account.n != NS_ACCOUNT_SIZE || ns->region.n == 0 || ns->region.n > NS_REGION_MAX))
		return err_set(err, MSG_CLOCK_NAMESPACE, STR_ARG(ns->account), STR_ARG(ns->region));
	struct turning turning = {&turn, ns == NULL};
	return clocks_change(clocks, ns, apply_turn, &turning, err);
}

/* Whether it stands still, and its milliseconds. */
struct str clock_save(struct clocks *clocks, struct ns ns, struct arena *arena)
{
	bool is_own;
	struct clocks_setting setting = clocks_get(clocks, &ns, &is_own);

	return is_own ? str_printf(arena, "%c%lld", setting.is_frozen ? 'f' : 'r',
				   (long long)setting.ms)
		      : STR("");
}

/* A clocks_turn: the context is the setting to go back to, NULL for none. */
static enum code restore(void *context, struct clocks_setting setting, struct clocks_setting base,
			 struct clocks_setting *next, enum clocks_action *action, struct err *err)
{
	const struct clocks_setting *saved = context;

	(void)setting, (void)err;
	*next = saved ? *saved : base;
	*action = saved ? CLOCKS_SET : CLOCKS_RELEASE;
	return OK;
}

enum code clock_restore(struct clocks *clocks, struct ns ns, struct str saved, struct err *err)
{
	struct clocks_setting setting = {.is_frozen = saved.n > 0 && saved.p[0] == 'f'};

	if (clocks_are_one(clocks))
		return OK;
	if (saved.n > 1)
		setting.ms =
			strtoll(str_printf(err->arena, STR_FMT, STR_ARG(saved)).p + 1, NULL, 10);
	return clocks_change(clocks, &ns, restore, saved.n > 1 ? &setting : NULL, err);
}

static void clock_add_time(struct json_out *out, struct arena *arena, struct clocks_setting setting)
{
	int64_t real_ms = clocks_real_ms(), now_ms = clocks_now_of(setting, real_ms);
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

struct listing {
	struct json_out *out;
	struct arena *arena;
};

static void add_namespace(void *context, struct ns ns, struct clocks_setting setting)
{
	struct listing *listing = context;

	json_out_open(listing->out, '{');
	json_out_field_string(listing->out, "account", ns.account);
	json_out_field_string(listing->out, "region", ns.region);
	clock_add_time(listing->out, listing->arena, setting);
	json_out_close(listing->out, '}');
}

struct str clock_describe(struct clocks *clocks, const struct ns *ns, struct arena *arena,
			  uint64_t expired)
{
	struct json_out out = json_out_in(arena);
	struct listing listing = {&out, arena};
	bool is_own;

	json_out_open(&out, '{');
	clock_add_time(&out, arena, clocks_get(clocks, ns, &is_own));
	if (ns && !clocks_are_one(clocks)) {
		json_out_field_string(&out, "account", ns->account);
		json_out_field_string(&out, "region", ns->region);
		json_out_field_boolean(&out, "own", is_own);
	} else {
		json_out_name(&out, STR("namespaces"));
		json_out_open(&out, '[');
		clocks_each(clocks, add_namespace, &listing);
		json_out_close(&out, ']');
	}
	json_out_field_integer(&out, "expired", (int64_t)expired);
	json_out_close(&out, '}');
	return json_out_str(&out);
}
