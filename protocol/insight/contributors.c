#include "protocol/insight/contributors.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/capacity.h"
#include "core/image.h"
#include "core/key.h"
#include "protocol/tables/settings.h"
#include "storage/item_key.h"

#define KINDS 4 /* lists: accessed partitions and keys, throttled partitions and keys */
#define SHOWN_MAX 25 /* of a list. AWS: CloudWatch shows as many by default at most 500 */

struct contributor {
	char *key;        /* elements of a row key, without the hash */
	size_t n;
	double amount;    /* capacity units or events */
	double doubtful;  /* by how much that may be too high */
};

struct toplist {
	size_t n;
	struct contributor v[CONTRIBUTORS_MAX];
};

/* A table or an index. */
struct resource {
	uint64_t table;   /* number */
	uint64_t index;   /* number + 1; 0: the table */
	int64_t since_ms; /* of the insights that are counted */
	uint64_t touched;
	char *texts;      /* account NUL region NUL table NUL */
	struct toplist lists[KINDS];
};

struct contributors {
	pthread_mutex_t lock;
	uint64_t clock;   /* of `touched` */
	size_t n;
	struct resource *v[CONTRIBUTORS_RESOURCES_MAX];
};

/* The lists in AWS's words, in its order. */
static const struct {
	struct str rule;
	bool is_whole, is_throttled;
} kinds[KINDS] = {
	{STR_INIT("PKC"), false, false},
	{STR_INIT("SKC"), true, false},
	{STR_INIT("PKT"), false, true},
	{STR_INIT("SKT"), true, true},
};

struct contributors *contributors_new(void)
{
	struct contributors *contributors = arena_checked(calloc(1, sizeof(*contributors)));

	pthread_mutex_init(&contributors->lock, NULL);
	return contributors;
}

static void empty(struct resource *resource)
{
	for (size_t k = 0; k < KINDS; k++) {
		for (size_t i = 0; i < resource->lists[k].n; i++)
			free(resource->lists[k].v[i].key);
		resource->lists[k].n = 0;
	}
}

static void drop(struct resource *resource)
{
	empty(resource);
	free(resource->texts);
	free(resource);
}

void contributors_free(struct contributors *contributors)
{
	if (!contributors)
		return;
	for (size_t i = 0; i < contributors->n; i++)
		drop(contributors->v[i]);
	pthread_mutex_destroy(&contributors->lock);
	free(contributors);
}

static void add(struct toplist *list, struct str key, double amount)
{
	struct contributor *least = &list->v[0];

	for (size_t i = 0; i < list->n; i++) {
		if (str_eq((struct str){list->v[i].key, list->v[i].n}, key)) {
			list->v[i].amount += amount;
			return;
		}
		if (list->v[i].amount < least->amount)
			least = &list->v[i];
	}
	double before = 0;
	if (list->n < CONTRIBUTORS_MAX) {
		least = &list->v[list->n++];
	} else {
		before = least->amount;
		free(least->key);
	}
	*least = (struct contributor){arena_checked(malloc(key.n + 1)), key.n, before + amount,
				      before};
	memcpy(least->key, key.p, key.n);
}

static char *texts_of(const struct table_identity *table)
{
	char *texts = arena_checked(
		     calloc(1, table->account.n + table->region.n + table->name.n + 3)),
	     *at = texts;

	memcpy(at, table->account.p, table->account.n);
	memcpy(at += table->account.n + 1, table->region.p, table->region.n);
	memcpy(at + table->region.n + 1, table->name.p, table->name.n);
	return texts;
}

/* The figures of a table or index; begun again where its insights were enabled again. The lock is
 * held. */
static struct resource *resource_of(struct contributors *contributors, const struct table *table,
				    const struct index *index, int64_t since_ms)
{
	uint64_t number = index ? index->number + 1 : 0;
	size_t oldest = 0, i = 0;

	for (; i < contributors->n; i++) {
		if (contributors->v[i]->table == table->identity.number &&
		    contributors->v[i]->index == number)
			break;
		if (contributors->v[i]->touched < contributors->v[oldest]->touched)
			oldest = i;
	}
	if (i == CONTRIBUTORS_RESOURCES_MAX) {
		i = oldest;
		drop(contributors->v[i]);
		contributors->v[i] = contributors->v[--contributors->n];
		i = contributors->n;
	}
	if (i == contributors->n) {
		contributors->v[contributors->n++] =
			arena_checked(calloc(1, sizeof(struct resource)));
		contributors->v[i]->texts = texts_of(&table->identity);
		contributors->v[i]->table = table->identity.number;
		contributors->v[i]->index = number;
	}
	if (contributors->v[i]->since_ms != since_ms)
		empty(contributors->v[i]);
	contributors->v[i]->since_ms = since_ms;
	contributors->v[i]->touched = ++contributors->clock;
	return contributors->v[i];
}

static const struct insights *insights_of(const struct table *table, const struct index *index)
{
	return index ? &index->settings->insights : &table->settings->insights;
}

static const struct key_schema *keys_of(const struct table *table, const struct index *index)
{
	return index ? &index->keys : &table->keys;
}

/* The first elements of a row key; absent where it has not so many. */
static struct str elements(struct arena *arena, const struct key_schema *keys, unsigned n,
			   struct str row_key)
{
	struct str begin, rest;

	if (!str_is_set(row_key) || row_key.n <= KEY_HASH_SIZE)
		return STR_ABSENT;
	begin = rest = (struct str){row_key.p + KEY_HASH_SIZE, row_key.n - KEY_HASH_SIZE};
	for (unsigned i = 0; i < n; i++) {
		if (rest.n == 0)
			return STR_ABSENT;
		(void)key_read(arena, keys->attributes[i].type, &rest);
	}
	return (struct str){begin.p, begin.n - rest.n};
}

/* What is counted: a row of a table or index, or a partition. */
struct touch {
	const struct table *table;
	const struct index *index;
	struct str row_key;
	double amount;
	bool is_throttled;
};

static void count(struct contributors *contributors, struct arena *arena, const struct touch *touch)
{
	const struct insights *insights = insights_of(touch->table, touch->index);
	const struct key_schema *keys = keys_of(touch->table, touch->index);

	if (!insights->is_enabled || (insights->is_throttled_only && !touch->is_throttled))
		return;
	struct resource *resource =
		resource_of(contributors, touch->table, touch->index, insights->since_ms);
	for (size_t k = 0; k < KINDS; k++) {
		bool is_meant = kinds[k].is_throttled == touch->is_throttled &&
				(!kinds[k].is_whole || keys->range_count > 0);
		struct str key = is_meant ? elements(arena, keys,
						     kinds[k].is_whole ? key_schema_count(keys)
								       : keys->hash_count,
						     touch->row_key)
					  : STR_ABSENT;

		if (str_is_set(key))
			add(&resource->lists[k], key, touch->amount);
	}
}

/* The row of an item in an index, before or after a write. */
static struct str row_in(const struct call *call, const struct access *access,
			 const struct index *index)
{
	struct str image = str_is_set(access->after) ? access->after : access->before;
	struct value item;

	if (!str_is_set(image) || !image_decode(call->arena, image, &item))
		return STR_ABSENT;
	return item_key_in_index(call->arena, access->table, index, &item);
}

/* Units of an access by itself, by which the call's units are shared out. */
static double weight_of(const struct access *access)
{
	if (access->kind < ACCESS_PUT)
		return capacity_read(access->bytes, access->how & ACCESS_CONSISTENT
							    ? READ_CONSISTENT
							    : READ_EVENTUAL);
	return capacity_write(str_is_set(access->before) ? image_item_size(access->before) : 0,
			      str_is_set(access->after) ? image_item_size(access->after) : 0,
			      false);
}

/* Whether the access is one of the table (no index) or index, and of which of its rows. */
static bool is_of(const struct call *call, const struct access *access, const struct table *table,
		  const struct index *index, struct str *row_key)
{
	bool is_read = access->kind < ACCESS_PUT;

	if (access->table != table || (is_read && access->index != index))
		return false;
	*row_key = !is_read && index ? row_in(call, access, index) : access->row_key;
	return !index || is_read || str_is_set(*row_key);
}

/* Shares out what the call consumed of a table or index among its accesses. */
static void count_units(struct contributors *contributors, const struct call *call,
			const struct table *table, const struct index *index, struct units units)
{
	const struct accesses *accesses = access_list(call);
	struct touch *touches = ARENA_ARRAY(call->arena, struct touch, accesses->n);
	double sum = 0;
	size_t n = 0;

	if (!insights_of(table, index)->is_enabled)
		return;
	for (size_t i = 0; i < accesses->n; i++) {
		struct str row_key;

		if (!is_of(call, &accesses->v[i], table, index, &row_key))
			continue;
		touches[n] =
			(struct touch){table, index, row_key, weight_of(&accesses->v[i]), false};
		sum += touches[n++].amount;
	}
	for (size_t i = 0; i < n; i++) {
		touches[i].amount *= (units.read + units.write) / sum;
		if (touches[i].amount > 0)
			count(contributors, call->arena, &touches[i]);
	}
}

/* Whether a table of the call has Contributor Insights, so that the others need no lock. */
static bool is_counted(const struct call *call)
{
	bool is_counted = access_list(call)->throttled_count > 0;

	for (size_t i = 0; i < call->charges.n && !is_counted; i++)
		is_counted = call->charges.v[i].table->settings->counts_keys;
	return is_counted;
}

void contributors_fold(struct contributors *contributors, const struct call *call)
{
	const struct accesses *accesses = access_list(call);

	if (!contributors || !is_counted(call))
		return;
	pthread_mutex_lock(&contributors->lock);
	for (size_t i = 0; i < call->charges.n; i++) {
		const struct cost *cost = &call->charges.v[i];

		if (!cost->table->settings->counts_keys)
			continue;
		count_units(contributors, call, cost->table, NULL, cost->base);
		for (size_t k = 0; k < cost->table->indexes.n; k++) {
			if (!cost->table->indexes.v[k].is_local)
				count_units(contributors, call, cost->table,
					    &cost->table->indexes.v[k], cost->index[k]);
		}
	}
	for (size_t i = 0; i < accesses->throttled_count; i++) {
		const struct access_throttled *one = &accesses->throttled[i];
		const struct touch touch = {one->table, one->index, one->row_key, 1, true};

		count(contributors, call->arena, &touch);
	}
	pthread_mutex_unlock(&contributors->lock);
}

static int by_amount(const void *a, const void *b)
{
	double x = ((const struct contributor *)a)->amount,
	       y = ((const struct contributor *)b)->amount;

	return (x < y) - (x > y);
}

static void show_key(struct json_out *out, struct arena *arena, const struct key_schema *keys,
		     unsigned n, struct str key)
{
	json_out_name(out, STR("key"));
	json_out_open(out, '{');
	for (unsigned i = 0; i < n; i++) {
		struct value value = key_read(arena, keys->attributes[i].type, &key);

		json_out_name(out, keys->attributes[i].name);
		json_out_value(out, &value);
	}
	json_out_close(out, '}');
}

static void show_list(struct json_out *out, struct arena *arena, const struct key_schema *keys,
		      size_t kind, struct toplist *list)
{
	json_out_open(out, '{');
	json_out_field_string(out, "rule", kinds[kind].rule);
	json_out_name(out, STR("contributors"));
	json_out_open(out, '[');
	if (list->n > 0)
		qsort(list->v, list->n, sizeof(list->v[0]), by_amount);
	for (size_t i = 0; i < list->n && i < SHOWN_MAX; i++) {
		json_out_open(out, '{');
		show_key(out, arena, keys,
			 kinds[kind].is_whole ? key_schema_count(keys) : keys->hash_count,
			 (struct str){list->v[i].key, list->v[i].n});
		json_out_name(out, kinds[kind].is_throttled ? STR("throttled") : STR("units"));
		json_out_double(out, list->v[i].amount);
		if (list->v[i].doubtful > 0) {
			json_out_name(out, STR("too_high_by_at_most"));
			json_out_double(out, list->v[i].doubtful);
		}
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static void show(struct json_out *out, struct arena *arena, const struct table *table,
		 struct resource *resource)
{
	const struct index *index = NULL;

	for (size_t i = 0; i < table->indexes.n && resource->index; i++) {
		if (table->indexes.v[i].number + 1 == resource->index)
			index = &table->indexes.v[i];
	}
	const struct insights *insights = insights_of(table, index);
	const struct key_schema *keys = keys_of(table, index);
	if ((resource->index && !index) || !insights->is_enabled ||
	    insights->since_ms != resource->since_ms)
		return; /* its figures are gone by now */
	json_out_open(out, '{');
	json_out_field_string(out, "TableName", table->identity.name);
	if (index)
		json_out_field_string(out, "IndexName", index->name);
	json_out_field_string(out, "ContributorInsightsMode",
			      insights->is_throttled_only ? STR("THROTTLED_KEYS")
							  : STR("ACCESSED_AND_THROTTLED_KEYS"));
	json_out_name(out, STR("rules"));
	json_out_open(out, '[');
	for (size_t k = 0; k < KINDS; k++) {
		if ((!kinds[k].is_whole || keys->range_count > 0) &&
		    (kinds[k].is_throttled || !insights->is_throttled_only))
			show_list(out, arena, keys, k, &resource->lists[k]);
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
}

/* The names of the namespace's tables that have figures; those that are gone are passed over later.
 */
static struct str *names_of(struct contributors *contributors, struct ns ns, struct arena *arena,
			    size_t *n)
{
	struct str *names = ARENA_ARRAY(arena, struct str, contributors->n);

	for (size_t i = 0; i < contributors->n; i++) {
		const char *account = contributors->v[i]->texts,
			   *region = account + strlen(account) + 1,
			   *name = region + strlen(region) + 1;
		bool is_listed =
			!str_eq(str_of(account), ns.account) || !str_eq(str_of(region), ns.region);

		for (size_t k = 0; k < *n; k++)
			is_listed = is_listed || str_eq(names[k], str_of(name));
		if (!is_listed)
			names[(*n)++] = str_copy(arena, str_of(name));
	}
	return names;
}

enum code contributors_describe(const struct service *service, struct ns ns, struct arena *arena,
				struct str *answer, struct err *err)
{
	struct contributors *contributors = service->contributors;
	int64_t now_ms = service->now_ms(service->clock_context, ns);
	struct json_out out = json_out_in(arena);
	enum code code = OK;
	size_t n = 0;

	pthread_mutex_lock(&contributors->lock);
	struct str *names = names_of(contributors, ns, arena, &n);
	pthread_mutex_unlock(&contributors->lock);
	json_out_open(&out, '{');
	json_out_name(&out, STR("resources"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < n && code == OK; i++) {
		struct table *table;

		code = catalog_get_current(service->catalog, ns, names[i], now_ms, &table, err);
		if (code == ERR_RESOURCE_NOT_FOUND)
			code = OK;
		else if (code == OK) {
			pthread_mutex_lock(&contributors->lock);
			for (size_t k = 0; k < contributors->n; k++) {
				if (contributors->v[k]->table == table->identity.number)
					show(&out, arena, table, contributors->v[k]);
			}
			pthread_mutex_unlock(&contributors->lock);
			table_unref(table);
		}
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	return RESULT(code, answer, json_out_str(&out));
}
