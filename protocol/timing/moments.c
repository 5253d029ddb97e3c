#include "protocol/timing/internal.h"

#include <stdlib.h>
#include <time.h>

#define KEPT_ALWAYS (-1)

static const struct {
	struct str name;
	int64_t ms, kept_ms;
} rows[TIMING_COUNT] = {
#define TIMING(id, ms, kept_ms, what, meanwhile, sources) {STR_INIT(#id), ms, kept_ms},
#include "protocol/timing/timing.def"
#undef TIMING
};

int64_t timing_ms(enum timing what)
{
	return rows[what].ms;
}

int64_t timing_lasts(const struct call *call, enum timing what)
{
	return timing_is_on(call) ? rows[what].ms
				  : catalog_options(call->service->catalog)->transient_status_ms;
}

enum timing timing_row(const struct moment *moment)
{
	unsigned what = 0;

	while (what < TIMING_COUNT && !str_eq(rows[what].name, moment->what))
		what++;
	return (enum timing)what;
}

/* Whether the moment is still needed beside a new one of `what` and `subject`. */
static bool is_kept(const struct table *table, const struct moment *moment, int64_t now_ms,
		    enum timing what, struct str subject)
{
	enum timing own = timing_row(moment);

	if (own == TIMING_COUNT)
		return false;
	if (rows[own].kept_ms == KEPT_ALWAYS) /* not for an index that is gone */
		return (own != what || !str_eq(moment->subject, subject)) &&
		       (moment->subject.n == 0 || table_index(table, moment->subject));
	return now_ms < moment->at_ms + rows[own].kept_ms;
}

void timing_add(const struct call *call, struct table *next, enum timing what, struct str subject,
		const struct str *before, size_t before_count)
{
	struct moment *moments;
	size_t n = 0;

	if (!timing_is_on(call))
		return;
	moments = ARENA_ARRAY(next->arena, struct moment, next->settings->moment_count + 1);
	for (size_t i = 0; i < next->settings->moment_count; i++) {
		if (is_kept(next, &next->settings->moments[i], call->now_ms, what, subject))
			moments[n++] = next->settings->moments[i];
	}
	moments[n] = (struct moment){
		rows[what].name, str_copy(next->arena, str_is_set(subject) ? subject : STR("")),
		call->now_ms, before_count, ARENA_ARRAY(next->arena, struct str, before_count)};
	for (size_t i = 0; i < before_count; i++)
		moments[n].before[i] = str_copy(next->arena, before[i]);
	next->settings->moments = moments;
	next->settings->moment_count = n + 1;
}

const struct moment *timing_last(const struct table *table, enum timing what, struct str subject)
{
	for (size_t i = table->settings->moment_count; i-- > 0;) {
		const struct moment *moment = &table->settings->moments[i];

		if (str_eq(moment->what, rows[what].name) &&
		    (!str_is_set(subject) || str_eq(moment->subject, subject)))
			return moment;
	}
	return NULL;
}

bool timing_within(const struct call *call, const struct moment *moment, enum timing what)
{
	return moment->at_ms <= call->now_ms && call->now_ms < moment->at_ms + rows[what].ms;
}

const struct moment *timing_running(const struct call *call, const struct table *table,
				    enum timing what, struct str subject)
{
	const struct moment *moment = timing_last(table, what, subject);

	return moment && timing_within(call, moment, what) ? moment : NULL;
}

struct str timing_iso(struct arena *arena, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	return str_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
			  tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
			  (int)(ms % 1000));
}

struct str timing_prose(struct arena *arena, int64_t ms)
{
	static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
					   "Thursday", "Friday", "Saturday"};
	static const char *const months[] = {"January",   "February", "March",    "April",
					     "May",       "June",     "July",     "August",
					     "September", "October",  "November", "December"};
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	return str_printf(arena, "%s, %s %d, %d at %d:%02d:%02d %s Coordinated Universal Time",
			  days[tm.tm_wday], months[tm.tm_mon], tm.tm_mday, tm.tm_year + 1900,
			  tm.tm_hour % 12 ? tm.tm_hour % 12 : 12, tm.tm_min, tm.tm_sec,
			  tm.tm_hour < 12 ? "AM" : "PM");
}

struct str timing_number(struct arena *arena, int64_t number)
{
	return str_printf(arena, "%lld", (long long)number);
}

int64_t timing_number_of(const struct moment *moment, size_t i)
{
	return i < moment->before_count ? strtoll(moment->before[i].p, NULL, 10) : 0;
}
