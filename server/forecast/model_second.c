#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/forecast/model_internal.h"

#define SLACK 1e-9          /* what rounding may make of a sum, as a share */
#define ROUNDED 2           /* tokens that rounding may make too few */
#define SETTLED 1e-4        /* retries change by this share at most */
#define SETTLED_OF_ALL 1e-5 /* or by this share of all attempts of their flow */
#define LEVEL_SHARE 1e-3    /* of a second's tokens: a bucket that is used up each second */
#define HOT_SHARE 0.89      /* of a range's limit: nearly what heat.h splits it by */
#define SAMPLED_SHARE 0.8   /* its keys are sampled */
#define SAMPLES_A_SECOND 8  /* as heat.h takes them */
#define SAMPLED_SECONDS 8   /* so that all samples are of these */

bool model_second_has_due(const struct running *run)
{
	return run->due_until > run->tick;
}

int model_second_delay(int attempts)
{
	int delay = attempts < 3 ? 1 : 1 << (attempts - 2);

	return delay < 20 ? delay : 20; /* AWS SDKs: random below 2^n seconds, 20 at most */
}

static int64_t ms_of_second(const struct running *run)
{
	return START_MS + run->second * SECOND_MS;
}

/* The limiter of that kind for a link. */
static struct limiter *limiter_of(struct running *run, const struct flow_link *link, size_t kind)
{
	size_t first = run->dealt.gauge[link->gauge].first;

	return &run->dealt.limiter[kind == LIMIT_RANGE ? link->range : first + kind];
}

/* The retries of the second, of flows whose patterns have as many attempts. */
static void note_due(struct running *run)
{
	struct dealt *dealt = &run->dealt;
	bool has_due = run->tick <= run->due_until;

	for (size_t i = 0; i < dealt->n; i++)
		dealt->flow[i].all = 0;
	for (int a = 1; a < run->attempts && has_due; a++) {
		size_t slot = (size_t)(run->tick % model_second_delay(a));
		const double *due = &dealt->due[a][slot * dealt->n];

		memcpy(dealt->came[a], due, dealt->n * sizeof(*due));
		for (size_t i = 0; i < dealt->n; i++)
			dealt->flow[i].all += due[i];
	}
}

/* The attempts of the second, and what they want of each limit. */
static void note_attempts(struct running *run)
{
	struct dealt *dealt = &run->dealt;

	for (size_t i = 0; i < dealt->limiters; i++)
		dealt->limiter[i].want = 0;
	for (size_t i = 0; i < dealt->n; i++) {
		struct flow *flow = &dealt->flow[i];
		size_t n = run->plan->patterns[flow->pattern].n;

		flow->is_stopped = false;
		flow->until = 1;
		flow->fresh = (double)flow->weight * run->rates[flow->pattern];
		flow->all += flow->fresh;
		for (size_t d = 0; d < n; d++) {
			const struct flow_link *link = &dealt->link[flow->link + d];

			dealt->limiter[link->range].want += flow->all * link->tokens;
		}
	}
	for (size_t g = 0; g < run->table->n * METER_SIDES; g++) {
		const struct running_gauge *gauge = &dealt->gauge[g];
		struct limiter *first = &dealt->limiter[gauge->first];

		for (size_t r = 0; r < gauge->ranges; r++)
			first[LIMIT_WHOLE].want += first[LIMIT_RANGE + r].want;
		first[LIMIT_MOST].want = first[LIMIT_WHOLE].want;
	}
}

/* What the limits can give in the second: what is left, and what they get while it passes. Lists
 * those that are too short. */
static void note_rooms(struct running *run)
{
	struct dealt *dealt = &run->dealt;

	dealt->candidates = 0;
	for (size_t i = 0; i < dealt->limiters; i++) {
		struct limiter *of = &dealt->limiter[i];

		of->is_used_up = false;
		of->taken = of->want;
		of->room = of->bucket ? (double)(of->bucket->left + of->bucket->rate * BUCKET_UNIT)
				      : INFINITY;
		of->is_short = of->want > of->room + ROUNDED + of->want * SLACK;
		if (of->is_short)
			dealt->candidate[dealt->candidates++] = i;
		of->spent = of->at = 0;
		of->flows = of->want;
	}
}

/* The part of the second at which it is used up, if the flows that still take of it go on. Of two
 * limits that are used up together, both are. */
static double used_up_at(const struct limiter *of)
{
	double left = of->room - of->spent;

	if (left <= ROUNDED)
		return of->at;
	return of->flows > of->want * SLACK ? of->at + left / of->flows : INFINITY;
}

static void add_blame(struct running *run, const struct flow *flow, double until)
{
	struct dealt *dealt = &run->dealt;

	if (until > flow->since)
		dealt->blame[dealt->blames++] = (struct blame){
			.link = flow->blamed_link,
			.limit = limiter_of(run, &dealt->link[flow->blamed_link], flow->blamed_kind)
					 ->limit,
			.n = flow->all * (until - flow->since)};
}

/* From then on the flow takes nothing. */
static void stop_flow(struct running *run, struct flow *flow, double time)
{
	size_t n = run->plan->patterns[flow->pattern].n;

	flow->is_stopped = true;
	flow->until = time;
	for (size_t d = 0; d < n; d++) {
		const struct flow_link *link = &run->dealt.link[flow->link + d];

		for (size_t kind = 0; kind < LIMIT_KINDS; kind++) {
			struct limiter *of = limiter_of(run, link, kind);

			if (!of->is_short)
				continue;
			of->spent += of->flows * (time - of->at);
			of->at = time;
			of->flows -= flow->all * link->tokens;
		}
	}
}

/* Stops the flows of a limit that is used up. Of two that refuse a flow, the one that is asked
 * first is to blame: see meter_refuses(). */
static void use_up(struct running *run, size_t at, double time)
{
	struct dealt *dealt = &run->dealt;
	struct limiter *of = &dealt->limiter[at];

	of->is_used_up = true;
	for (size_t i = of->first; i < of->first + of->n; i++) {
		size_t place = dealt->by_range[i];
		const struct flow_link *link = &dealt->link[place];
		struct flow *flow = &dealt->flow[link->flow];
		size_t kind = at - dealt->gauge[link->gauge].first;

		kind = kind < LIMIT_RANGE ? kind : LIMIT_RANGE;
		if (flow->is_stopped && place * LIMIT_KINDS + kind >=
						flow->blamed_link * LIMIT_KINDS + flow->blamed_kind)
			continue;
		if (flow->is_stopped)
			add_blame(run, flow, time);
		else
			stop_flow(run, flow, time);
		flow->since = time;
		flow->blamed_link = place;
		flow->blamed_kind = kind;
	}
}

/* Attempts come evenly in the second. A limit that is used up refuses those that come after. */
static void use_up_limits(struct running *run)
{
	struct dealt *dealt = &run->dealt;
	double time = 0;

	for (;;) {
		double first = INFINITY;
		size_t at = 0;

		for (size_t i = 0; i < dealt->candidates; i++) {
			const struct limiter *of = &dealt->limiter[dealt->candidate[i]];
			double then = of->is_used_up ? INFINITY : used_up_at(of);

			if (then < first) {
				first = then;
				at = dealt->candidate[i];
			}
		}
		if (first >= 1)
			return;
		time = first > time ? first : time;
		use_up(run, at, time);
	}
}

/* Without what flows that were stopped do not take. */
static void note_taken(struct running *run)
{
	struct dealt *dealt = &run->dealt;

	for (size_t i = 0; i < dealt->links; i++) {
		const struct flow_link *link = &dealt->link[i];
		const struct flow *flow = &dealt->flow[link->flow];

		if (flow->is_stopped)
			dealt->limiter[link->range].taken -=
				flow->all * (1 - flow->until) * link->tokens;
	}
	for (size_t g = 0; g < run->table->n * METER_SIDES; g++) {
		const struct running_gauge *gauge = &dealt->gauge[g];
		struct limiter *first = &dealt->limiter[gauge->first];

		first[LIMIT_WHOLE].taken = 0;
		for (size_t r = 0; r < gauge->ranges; r++)
			first[LIMIT_WHOLE].taken += first[LIMIT_RANGE + r].taken;
		first[LIMIT_MOST].taken = first[LIMIT_WHOLE].taken;
	}
}

/* The hash of one of a flow's keys: another one each time, each as often. */
static uint32_t place_of_link(const struct running *run, size_t at, uint32_t turn)
{
	const struct dealt *dealt = &run->dealt;
	const struct flow *flow = &dealt->flow[dealt->link[at].flow];
	uint64_t cell = (uint64_t)flow->weight * (turn * 2654435769u) >> 32;
	const uint16_t *cells = &dealt->cells[flow->pattern * CELLS + flow->first];

	return run->spreads[flow->pattern][at - flow->link].place[cells[cell]];
}

/* Takes the tokens in so many parts, of keys that have as many of the parts as of the tokens. */
static void take_sampled(struct running *run, const struct running_gauge *gauge,
			 const struct limiter *of, int64_t tokens, int64_t seconds, int64_t parts)
{
	const struct dealt *dealt = &run->dealt;
	/* of the time alone: those of seconds at once are as of each by itself */
	uint32_t turn = (uint32_t)((run->second + seconds) * SAMPLES_A_SECOND - parts);
	size_t range = (size_t)(of - &dealt->limiter[gauge->first + LIMIT_RANGE]), i = of->first;
	double sum = 0;

	for (int64_t part = 0; part < parts && tokens > 0; part++) {
		double wanted = of->taken * ((double)(part % SAMPLES_A_SECOND) + 0.5) /
				(double)(parts < SAMPLES_A_SECOND ? parts : SAMPLES_A_SECOND);

		if (part % SAMPLES_A_SECOND == 0) {
			i = of->first;
			sum = 0;
		}

		for (; i < of->first + of->n; i++) {
			const struct flow_link *link = &dealt->link[dealt->by_range[i]];
			const struct flow *flow = &dealt->flow[link->flow];
			double more = flow->all * flow->until * link->tokens;

			if (sum + more >= wanted)
				break;
			sum += more;
		}
		size_t at = i < of->first + of->n ? i : of->first + of->n - 1;
		meter_take_steadily(gauge->meter, range,
				    place_of_link(run, dealt->by_range[at], turn + (uint32_t)part),
				    tokens * (part + 1) / parts - tokens * part / parts, seconds,
				    ms_of_second(run));
	}
}

/* What the second takes, so many times. */
static void take_seconds(struct running *run, int64_t seconds)
{
	struct dealt *dealt = &run->dealt;

	for (size_t g = 0; g < run->table->n * METER_SIDES; g++) {
		const struct running_gauge *gauge = &dealt->gauge[g];

		for (size_t r = 0; r < gauge->ranges; r++) {
			struct limiter *of = &dealt->limiter[gauge->first + LIMIT_RANGE + r];
			double exact = of->taken * (double)seconds + of->rest;
			int64_t tokens = llround(exact), last = tokens,
				sampled = seconds < SAMPLED_SECONDS ? seconds : SAMPLED_SECONDS;
			bool is_sampled =
				of->taken >= SAMPLED_SHARE * BUCKET_UNIT * (double)of->bucket->rate;

			if (of->taken <= 0)
				continue;
			of->rest = exact - (double)tokens;
			if (is_sampled) {
				last = tokens / seconds * sampled;
				take_sampled(run, gauge, of, tokens - last, seconds, 1);
			}
			take_sampled(run, gauge, of, last, seconds,
				     is_sampled ? sampled * SAMPLES_A_SECOND : 1);
		}
	}
}

/* What the second has counted, so many times. */
static void count_seconds(struct running *run, double seconds)
{
	struct dealt *dealt = &run->dealt;

	for (size_t i = 0; i < dealt->blames; i++) {
		const struct blame *blame = &dealt->blame[i];

		dealt->refused[blame->link][blame->limit] += blame->n * seconds;
	}
	for (size_t i = 0; i < run->plan->pattern_count && dealt->blames > 0; i++) {
		const struct model_tally *one = &run->second_tallies[i];
		struct model_tally *all = &run->tallies[i];

		all->throttled += one->throttled * seconds;
		all->failed += one->failed * seconds;
		all->waited_s += one->waited_s * seconds;
	}
}

/* Counts what was refused. */
static void note_refused(struct running *run)
{
	struct dealt *dealt = &run->dealt;
	bool has_due = run->tick <= run->due_until;

	memset(run->second_tallies, 0, run->plan->pattern_count * sizeof(*run->second_tallies));
	for (size_t i = 0; i < dealt->n; i++) {
		const struct flow *flow = &dealt->flow[i];
		struct model_tally *tally = &run->second_tallies[flow->pattern];
		int last = run->plan->patterns[flow->pattern].attempts - 1;
		double share = 1 - flow->until, again = flow->fresh * share;

		if (!flow->is_stopped)
			continue;
		add_blame(run, flow, 1);
		tally->throttled += flow->all * share;
		for (int a = 1; a <= last && (has_due || a == 1); a++) {
			tally->waited_s += again * model_second_delay(a);
			again = has_due ? dealt->came[a][i] * share : 0;
		}
		tally->failed += again;
	}
}

/* Sends what was refused again, later: in the place of what came now. */
static void note_retries(struct running *run)
{
	struct dealt *dealt = &run->dealt;
	bool has_due = run->tick <= run->due_until;

	for (int a = 1; a < run->attempts; a++) {
		size_t slot = (size_t)(run->tick % model_second_delay(a));
		double *due = &dealt->due[a][slot * dealt->n], sum = 0;

		for (size_t i = 0; i < dealt->n; i++) {
			const struct flow *flow = &dealt->flow[i];
			double before = a == 1 ? flow->fresh : has_due ? dealt->came[a - 1][i] : 0;

			due[i] = a < run->plan->patterns[flow->pattern].attempts
					 ? before * (1 - flow->until)
					 : 0;
			sum += due[i];
		}
		if (sum > 0 && run->tick + model_second_delay(a) > run->due_until)
			run->due_until = run->tick + model_second_delay(a);
	}
}

void model_second_run(struct running *run)
{
	run->tick++;
	run->dealt.blames = 0;
	note_due(run);
	note_attempts(run);
	note_rooms(run);
	if (run->dealt.candidates > 0) {
		use_up_limits(run);
		note_taken(run);
		note_refused(run);
	}
	if (run->dealt.candidates > 0 || run->tick <= run->due_until)
		note_retries(run);
	take_seconds(run, 1);
	count_seconds(run, 1);
}

/* Whether as many retries of the flow are due in each second as came in this one. */
static bool flow_is_settled(const struct running *run, size_t i)
{
	const struct dealt *dealt = &run->dealt;
	const struct flow *flow = &dealt->flow[i];
	bool has_come = flow->all > flow->fresh;

	for (int a = 1; a < run->plan->patterns[flow->pattern].attempts; a++) {
		double before = a == 1     ? flow->fresh
				: has_come ? dealt->came[a - 1][i]
					   : 0,
		       came = has_come ? dealt->came[a][i] : 0, again = before * (1 - flow->until),
		       off = again * SETTLED + flow->all * SETTLED_OF_ALL;

		if (fabs(came - again) > off)
			return false;
		for (size_t s = 0; s < (size_t)model_second_delay(a); s++) {
			if (fabs(dealt->due[a][s * dealt->n + i] - again) > off)
				return false;
		}
	}
	return true;
}

/* Whether the next second asks for the same, and limits that were used up will be so again. */
static bool second_is_settled(const struct running *run)
{
	const struct dealt *dealt = &run->dealt;

	for (size_t i = 0; i < dealt->candidates; i++) {
		const struct limiter *of = &dealt->limiter[dealt->candidate[i]];
		double each = (double)of->bucket->rate * BUCKET_UNIT;

		if (of->is_used_up && fabs(of->room - each) > each * LEVEL_SHARE + 1)
			return false;
	}
	if (dealt->candidates == 0 && run->tick > run->due_until)
		return true;
	for (size_t i = 0; i < dealt->n; i++) {
		if (!flow_is_settled(run, i))
			return false;
	}
	return true;
}

/* Seconds until a bucket that loses more than it gets might be used up. */
static int64_t seconds_of_limit(const struct limiter *of)
{
	if (of->is_used_up || !of->bucket)
		return HOUR_SECONDS;
	double each = (double)of->bucket->rate * BUCKET_UNIT, lost = of->taken - each;
	if (lost <= each * SLACK)
		return HOUR_SECONDS;
	double seconds = floor((of->room - each) / lost) - 1;
	return seconds < HOUR_SECONDS ? (int64_t)seconds : HOUR_SECONDS;
}

/* Until a peak on demand counts: the next second that is run may have more. */
static int64_t seconds_of_gauge(const struct running *run, const struct meter_gauge *gauge)
{
	int64_t end_ms = peak_period_end(&gauge->peak);

	if (!gauge->is_on_demand || end_ms == 0)
		return HOUR_SECONDS;
	return (end_ms - ms_of_second(run)) / SECOND_MS - 1;
}

/* Whether a range may be split when its minute is over. */
static bool may_be_split(const struct running *run)
{
	const struct dealt *dealt = &run->dealt;

	for (size_t g = 0; g < run->table->n * METER_SIDES; g++) {
		const struct running_gauge *gauge = &dealt->gauge[g];
		const struct limiter *range = &dealt->limiter[gauge->first + LIMIT_RANGE];

		for (size_t r = 0; r < gauge->ranges; r++) {
			if (!range[r].is_one_key &&
			    range[r].taken >=
				    HOT_SHARE * BUCKET_UNIT * (double)range[r].bucket->rate)
				return true;
		}
	}
	return false;
}

/* Until the minute is over after which auto scaling has another rate. */
static int64_t seconds_of_scaling(const struct running *run, size_t part, enum meter_side side)
{
	const struct running_part *of = &run->parts[part];
	const struct follow_rule *rule = &run->table->parts[part].scaling[side];
	const struct running_gauge *gauge = &run->dealt.gauge[part * METER_SIDES + side];
	struct follow follow = of->scaling[side];
	int64_t rate = of->grants.sides[side].rate, minute = run->second / MINUTE_SECONDS,
		left = MINUTE_SECONDS - 1 - run->second % MINUTE_SECONDS, seconds = left;
	double each = run->dealt.limiter[gauge->first + LIMIT_WHOLE].taken,
	       used = (double)(gauge->meter->consumed - of->consumed[side]) + each * (double)left;

	if (rule->most == 0)
		return HOUR_SECONDS;
	while (seconds < HOUR_SECONDS &&
	       follow_minute(&follow, rule, rate, used / BUCKET_UNIT / MINUTE_SECONDS, minute++) ==
		       rate) {
		used = each * MINUTE_SECONDS;
		seconds += MINUTE_SECONDS;
	}
	return seconds;
}

/* How many seconds will go as the one that was run. */
static int64_t seconds_alike(const struct running *run)
{
	const struct dealt *dealt = &run->dealt;
	int64_t whole = may_be_split(run) ? MINUTE_SECONDS : HOUR_SECONDS,
		seconds = whole - 1 - run->second % whole;

	for (size_t i = 0; i < dealt->limiters && seconds > 0; i++) {
		int64_t most = seconds_of_limit(&dealt->limiter[i]);

		seconds = most < seconds ? most : seconds;
	}
	for (size_t g = 0; g < run->table->n * METER_SIDES && seconds > 0; g++) {
		int64_t most = seconds_of_gauge(run, dealt->gauge[g].meter);

		seconds = most < seconds ? most : seconds;
		most = run->has_scaling ? seconds_of_scaling(run, g / METER_SIDES,
							     (enum meter_side)(g % METER_SIDES))
					: HOUR_SECONDS;
		seconds = most < seconds ? most : seconds;
	}
	return seconds > 0 && second_is_settled(run) ? seconds : 0;
}

void model_second_leap(struct running *run)
{
	int64_t seconds = run->plan->is_thorough ? 0 : seconds_alike(run);
	bool is_changed = false;

	while (seconds > 0 && !is_changed) {
		int64_t left = MINUTE_SECONDS - 1 - run->second % MINUTE_SECONDS,
			some = !run->has_scaling ? seconds
			       : left == 0       ? MINUTE_SECONDS
						 : left;

		some = some < seconds ? some : seconds;
		run->second++;
		take_seconds(run, some);
		count_seconds(run, (double)some);
		run->second += some - 1;
		seconds -= some;
		if (run->second % MINUTE_SECONDS == MINUTE_SECONDS - 1)
			is_changed = model_second_end_minute(run);
	}
}

bool model_second_end_minute(struct running *run)
{
	bool is_changed = false;

	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			const struct follow_rule *rule = &run->table->parts[p].scaling[side];
			int64_t *rate = &part->grants.sides[side].rate, before = *rate,
				consumed = part->meter.sides[side].consumed;
			double used = (double)(consumed - part->consumed[side]) / BUCKET_UNIT /
				      MINUTE_SECONDS;

			part->consumed[side] = consumed;
			if (rule->most > 0)
				*rate = follow_minute(&part->scaling[side], rule, *rate, used,
						      run->second / MINUTE_SECONDS);
			if (*rate > part->hour_rate[side])
				part->hour_rate[side] = *rate;
			is_changed = is_changed || *rate != before;
		}
	}
	return is_changed;
}
