#include "protocol/rollouts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "protocol/handler.h"
#include "protocol/ns_map.h"
#include "protocol/wire/messages.h"

#define USUAL STR("us-east-1")
#define REGIONS_MAX 64

static const struct rollout_row rows[ROLLOUT_COUNT] = {
#define ROLLOUT(id, began, what, source, seen) [ROLLOUT_##id] = {#id, began, what, source, {seen}},
#define SEEN(day, regions) {day, regions, false},
#define NOT_YET(day, regions) {day, regions, true},
#define EVERYWHERE(day) {day, NULL, false},
#define LAYER(operation, rollout, before, after)
#include "protocol/rollouts.def"
};

/* By operation. */
static const struct layer {
	bool is_set;
	enum rollout rollout;
	enum surface before, after;
} layers[OP_COUNT] = {
#define ROLLOUT(id, began, what, source, seen)
#define SEEN(day, regions)
#define NOT_YET(day, regions)
#define EVERYWHERE(day)
#define LAYER(operation, rollout, before, after) \
	[OP_##operation] = {true, ROLLOUT_##rollout, SURFACE_##before, SURFACE_##after},
#include "protocol/rollouts.def"
};

/* The regions that rows name, us-east-1 first, with what is in force by now: filled once. */
static struct {
	struct str name;
	rollout_set set;
} regions[REGIONS_MAX];
static size_t region_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A namespace's own. */
struct setting {
	atomic_uint refs;
	bool is_fixed;
	rollout_set set;
	size_t as_n;
	char as[]; /* what was set */
};

struct rollouts {
	bool is_fixed;
	rollout_set set;
	const char *as;
	atomic_bool is_noted; /* that a region is not known */
	struct ns_map own;    /* struct setting */
};

static void *ref(void *value)
{
	struct setting *setting = value;

	atomic_fetch_add(&setting->refs, 1);
	return setting;
}

static void unref(void *value)
{
	struct setting *setting = value;

	if (setting && atomic_fetch_sub(&setting->refs, 1) == 1)
		free(setting);
}

const struct rollout_row *rollout_row(enum rollout rollout)
{
	return &rows[rollout];
}

static bool has_word(const char *words, struct str word)
{
	struct str rest = str_of(words);

	while (rest.n > 0) {
		if (str_eq(str_cut(&rest, ' '), word))
			return true;
	}
	return false;
}

/* Days in their form are in the order of their bytes. */
static bool has_by(const struct rollout_row *row, struct str region, struct str day)
{
	for (size_t i = 0; i < ROLLOUT_SEEN_MAX && row->seen[i].day; i++) {
		const char *named = row->seen[i].regions;

		if (row->seen[i].is_without || (named && !has_word(named, region)))
			continue;
		if (!str_is_set(day) || str_cmp(str_of(row->seen[i].day), day) <= 0)
			return true;
	}
	return false;
}

bool rollouts_know(struct str region)
{
	for (size_t i = 0; i < ROLLOUT_COUNT; i++) {
		for (size_t j = 0; j < ROLLOUT_SEEN_MAX && rows[i].seen[j].day; j++) {
			if (rows[i].seen[j].regions && has_word(rows[i].seen[j].regions, region))
				return true;
		}
	}
	return false;
}

rollout_set rollouts_in(struct str region, struct str day)
{
	rollout_set set = 0;

	if (!rollouts_know(region))
		region = USUAL;
	for (unsigned i = 0; i < ROLLOUT_COUNT; i++) {
		if (has_by(&rows[i], region, day))
			set |= 1u << i;
	}
	return set;
}

static void add_region(struct str name)
{
	for (size_t i = 0; i < region_count; i++) {
		if (str_eq(regions[i].name, name))
			return;
	}
	if (region_count == REGIONS_MAX) /* one more is slower to find, and no more */
		return;
	regions[region_count].name = name;
	regions[region_count++].set = rollouts_in(name, STR_ABSENT);
}

static void add_regions(const char *names)
{
	struct str rest = str_of(names);

	while (rest.n > 0)
		add_region(str_cut(&rest, ' '));
}

static void fill(void)
{
	add_region(USUAL);
	for (size_t i = 0; i < ROLLOUT_COUNT; i++) {
		for (size_t j = 0; j < ROLLOUT_SEEN_MAX && rows[i].seen[j].day; j++)
			add_regions(rows[i].seen[j].regions);
	}
}

/* By the newest day. Whether the region is known. */
static bool find_newest(struct str region, rollout_set *set)
{
	pthread_once(&once, fill);
	for (size_t i = 0; i < region_count; i++) {
		if (str_eq(regions[i].name, region)) {
			*set = regions[i].set;
			return true;
		}
	}
	*set = regions[0].set;
	return false;
}

/* "2026-10-08": whether the form is a day's. */
static bool is_day(struct str text)
{
	static const char form[] = "dddd-dd-dd";

	if (text.n != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (form[i] == '-' ? text.p[i] != '-' : text.p[i] < '0' || text.p[i] > '9')
			return false;
	}
	return true;
}

enum code rollouts_read(struct str text, bool *is_fixed, rollout_set *set, struct err *err)
{
	struct str rest = text, region = str_cut(&rest, '@');
	bool is_none = str_eq(text, STR("none")), is_next = str_eq(text, STR("next"));
	bool has_day = region.n < text.n;

	if (!is_none && !is_next && !rollouts_know(region))
		return err_set(err, MSG_AS_REGION, STR_ARG(region));
	if (has_day && !is_day(rest))
		return err_set(err, MSG_AS_DAY, STR_ARG(rest));
	*is_fixed = !is_none;
	*set = is_next ? ROLLOUTS_ALL : 0;
	if (!is_none && !is_next)
		*set = rollouts_in(region, has_day ? rest : STR_ABSENT);
	return OK;
}

struct rollouts *rollouts_new(const char *as, bool is_shared)
{
	struct rollouts *rollouts = arena_checked(calloc(1, sizeof(*rollouts)));
	struct arena *arena = arena_new(1024);
	struct err err = err_in(arena);

	rollouts->as = as;
	(void)(rollouts_read(str_of(as), &rollouts->is_fixed, &rollouts->set, &err) == OK);
	arena_free(arena);
	ns_map_init(&rollouts->own, is_shared, ref, unref);
	return rollouts;
}

void rollouts_free(struct rollouts *rollouts)
{
	if (!rollouts)
		return;
	ns_map_free(&rollouts->own);
	free(rollouts);
}

enum code rollouts_set(struct rollouts *rollouts, struct ns ns, struct str as, struct err *err)
{
	bool is_fixed;
	rollout_set set;
	enum code code = rollouts_read(as, &is_fixed, &set, err);

	if (code != OK)
		return code;
	if (!ns_map_takes(&rollouts->own, ns))
		return err_set(err, MSG_AS_NAMESPACE, STR_ARG(ns.account), STR_ARG(ns.region));
	struct setting *setting = arena_checked(malloc(sizeof(*setting) + as.n));

	*setting = (struct setting){.refs = 1, .is_fixed = is_fixed, .set = set, .as_n = as.n};
	memcpy(setting->as, as.p, as.n);
	if (ns_map_put(&rollouts->own, ns, setting, ROLLOUT_NAMESPACES_MAX))
		return OK;
	unref(setting);
	return err_set(err, MSG_AS_NAMESPACES, ROLLOUT_NAMESPACES_MAX);
}

void rollouts_clear(struct rollouts *rollouts, struct ns ns)
{
	ns_map_clear(&rollouts->own, &ns);
}

struct str rollouts_as(struct rollouts *rollouts, struct ns ns, struct arena *arena)
{
	struct setting *setting = ns_map_find(&rollouts->own, ns);
	struct str as = setting ? (struct str){setting->as, setting->as_n} : str_of(rollouts->as);

	as = str_copy(arena, as);
	unref(setting);
	return as;
}

/* Whether a setting fixes the namespace's, its own or --as. */
static bool find_fixed(struct rollouts *rollouts, struct ns ns, rollout_set *set)
{
	struct setting *setting =
		ns_map_count(&rollouts->own) > 0 ? ns_map_find(&rollouts->own, ns) : NULL;
	bool is_fixed = setting ? setting->is_fixed : rollouts->is_fixed;

	*set = setting ? setting->set : rollouts->set;
	unref(setting);
	return is_fixed;
}

rollout_set rollouts_of(struct rollouts *rollouts, struct ns ns)
{
	rollout_set set;

	if (!rollouts || !find_fixed(rollouts, ns, &set))
		(void)find_newest(ns.region, &set);
	return set;
}

static rollout_set of_call(const struct call *call)
{
	const struct service *service = call->service;
	struct rollouts *rollouts = service->rollouts;
	rollout_set set;

	if (rollouts && find_fixed(rollouts, call->ns, &set))
		return set;
	bool is_known = find_newest(call->ns.region, &set);
	if (!is_known && rollouts && service->note && !atomic_exchange(&rollouts->is_noted, true)) {
		struct str region = call->ns.region;
		struct str line = str_printf(call->arena, NOTE_REGION_UNKNOWN, STR_ARG(region));

		service->note(service->note_context, line);
	}
	return set;
}

bool rollout_has(const struct call *call, enum rollout rollout)
{
	return of_call(call) >> rollout & 1;
}

enum surface rollout_surface(const struct call *call, enum op_id id, enum surface usual)
{
	const struct layer *layer = &layers[id];

	if (!layer->is_set)
		return usual;
	return rollout_has(call, layer->rollout) ? layer->after : layer->before;
}
