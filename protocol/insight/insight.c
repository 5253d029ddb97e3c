#include "protocol/insight/insight_internal.h"

#include <stdlib.h>

#include "core/image.h"
#include "core/key.h"
#include "core/number.h"
#include "storage/monotonic.h"

#define BURST_MIN 10
#define TIMED_ALL 256 /* calls of a pattern whose latency is measured; then each TIMED_EACH-th */
#define TIMED_EACH 8
#define TTL_MILLISECONDS                                                                           \
	100000000000.0 /* seconds of the year 5138: a larger number means milliseconds */

static void clear_tables(struct insight *insight)
{
	for (size_t i = 0; i < insight->table_count; i++) {
		struct seen_table *seen = insight->tables[i];

		for (size_t k = 0; k < INDEXES_MAX; k++) {
			for (size_t u = 0; u < seen->indexes[k].used_count; u++)
				free((char *)(uintptr_t)seen->indexes[k].used[u].p);
		}
		table_unref(seen->table);
		free(seen->indexes);
		free(seen);
	}
	insight->table_count = 0;
}

static void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->texts);
	free(pattern->example);
	free(pattern);
}

static void forget_known(struct insight *insight)
{
	for (size_t i = 0; i < insight->known_count; i++)
		free(insight->known[i]);
	insight->known_count = 0;
}

static void clear(struct insight *insight)
{
	for (size_t i = 0; i < insight->slot_count; i++) {
		pattern_free(insight->slots[i]);
		insight->slots[i] = NULL;
	}
	pattern_free(insight->rest);
	insight->rest = NULL;
	for (size_t i = 0; i < insight->callers.n; i++)
		free((char *)(uintptr_t)insight->callers.v[i].name.p);
	clear_tables(insight);
	if (insight->known_count > TABLES_MAX / 2) /* most are gone, as those of tests */
		forget_known(insight);
	insight->n = insight->callers.n = insight->entity_count = 0;
	insight->newest = NULL;
	insight->callers.last = NULL;
	insight->all = (struct pattern_flow){0};
	insight->timeline = (struct timeline){0};
	memset(insight->runs, 0, sizeof(insight->runs));
	memset(insight->recent, 0, sizeof(insight->recent));
	memset(insight->left, 0, sizeof(insight->left));
}

struct insight *insight_new(size_t patterns_max, bool has_examples)
{
	struct insight *insight = arena_checked(calloc(1, sizeof(*insight)));

	pthread_mutex_init(&insight->lock, NULL);
	insight->patterns_max = patterns_max;
	insight->has_examples = has_examples;
	for (insight->slot_count = 64; insight->slot_count < patterns_max * 2;)
		insight->slot_count *= 2;
	insight->slots = arena_checked(calloc(insight->slot_count, sizeof(*insight->slots)));
	insight->tables = arena_checked(calloc(TABLES_MAX, sizeof(struct seen_table *)));
	insight->known = arena_checked(calloc(TABLES_MAX, sizeof(struct known_table *)));
	insight->entities = arena_checked(calloc(ENTITIES_MAX, sizeof(*insight->entities)));
	return insight;
}

void insight_free(struct insight *insight)
{
	if (!insight)
		return;
	clear(insight);
	forget_known(insight);
	pthread_mutex_destroy(&insight->lock);
	free(insight->slots);
	free(insight->tables);
	free(insight->known);
	free(insight->entities);
	free(insight);
}

void insight_clear(struct insight *insight)
{
	pthread_mutex_lock(&insight->lock);
	clear(insight);
	pthread_mutex_unlock(&insight->lock);
}

void insight_each(struct insight *insight, void (*visit)(void *context, struct pattern *pattern),
		  void *context)
{
	for (struct pattern *pattern = insight->newest; pattern; pattern = pattern->next)
		visit(context, pattern);
	if (insight->rest)
		visit(context, insight->rest);
}

static const struct caller *find_caller(struct insight *insight, struct str shown)
{
	uint64_t hash = str_hash(shown, 1);

	for (size_t i = 0; i < insight->callers.n; i++) {
		if (insight->callers.v[i].hash == hash)
			return &insight->callers.v[i];
	}
	if (insight->callers.n == CALLERS_MAX)
		return &insight->callers.v[CALLERS_MAX - 1];
	struct caller *caller = &insight->callers.v[insight->callers.n++];
	caller->hash = hash;
	caller->name =
		(struct str){arena_checked(strndup(shown.n ? shown.p : "", shown.n)), shown.n};
	return caller;
}

/* Mostly that of the request before. */
static const struct caller *caller_of(struct insight *insight, struct str name)
{
	struct str shown = {name.p, name.n < 200 ? name.n : 200};
	struct callers *callers = &insight->callers;

	if (!callers->last || !str_eq(callers->last->name, shown))
		callers->last = find_caller(insight, shown);
	return callers->last;
}

static void put_in(struct insight *insight, struct pattern **slot, struct pattern *pattern)
{
	*slot = pattern;
	pattern->next = insight->newest;
	insight->newest = pattern;
	insight->n++;
}

/* An order of members that does not depend on that of the request; members that are alike count
 * once. */
static uint64_t hash_of(const struct access *accesses, size_t n, const char *operation)
{
	uint64_t hash = str_hash(str_of(operation), 0), sum = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		struct outline outline = {.hash = 0};

		outline_access(&outline, &accesses[i]);
		if (outline.hash == last)
			continue;
		last = outline.hash;
		bool is_new = true;
		for (size_t k = 0; k < i && is_new && i < 100; k++) {
			struct outline other = {.hash = 0};

			if (accesses[k].kind != accesses[i].kind ||
			    accesses[k].table != accesses[i].table)
				continue;
			outline_access(&other, &accesses[k]);
			is_new = other.hash != outline.hash;
		}
		sum += is_new ? outline.hash : 0;
	}
	return hash ^ (sum * 0x9e3779b97f4a7c15u) ^ sum >> 32;
}

/* The same for the same request again, and cheap; members that are alike count once where they
 * follow each other. Never 0. */
static uint64_t key_of(const struct access *accesses, size_t n, size_t number)
{
	uint64_t key = number + 1, last = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t one = outline_key(0, &accesses[i]);

		if (one != last || i == 0)
			key = (key ^ one) * 0x9e3779b97f4a7c15u;
		last = one;
	}
	return key ? key : 1;
}

/* The pattern's hash. The lock is held; but not while the hash of a shape is made that was not seen
 * lately. */
static uint64_t look_up(struct insight *insight, uint64_t key, const struct accesses *accesses,
			const char *operation)
{
	struct shape_seen *seen = &insight->shapes[key % SHAPES];

	if (seen->key == key)
		return seen->hash;
	pthread_mutex_unlock(&insight->lock);
	uint64_t hash = hash_of(accesses->v, accesses->n, operation);
	pthread_mutex_lock(&insight->lock);
	*seen = (struct shape_seen){key, hash};
	return hash;
}

static struct pattern **slot_of(struct insight *insight, uint64_t hash)
{
	size_t at = hash & (insight->slot_count - 1);

	while (insight->slots[at] && insight->slots[at]->hash != hash)
		at = (at + 1) & (insight->slot_count - 1);
	return &insight->slots[at];
}

static unsigned traits_of(const struct access *accesses, size_t n, enum op_id operation)
{
	static const unsigned kinds[ACCESS_KINDS] = {
		[ACCESS_GET] = PATTERN_GET,
		[ACCESS_QUERY] = PATTERN_QUERY,
		[ACCESS_SCAN] = PATTERN_SCAN,
		[ACCESS_PUT] = PATTERN_WRITE,
		[ACCESS_UPDATE] = PATTERN_WRITE | PATTERN_UPDATE,
		[ACCESS_DELETE] = PATTERN_WRITE,
		[ACCESS_CHECK] = PATTERN_WRITE,
	};
	unsigned traits = n == 1 ? PATTERN_SINGLE : 0;

	for (size_t i = 0; i < n; i++) {
		const struct access *access = &accesses[i];

		traits |= kinds[access->kind];
		traits |= access->how & ACCESS_CONSISTENT ? PATTERN_CONSISTENT : 0u;
		if (access->kind <= ACCESS_SCAN &&
		    access->condition) /* a search takes the nearest of all, whatever its condition
					*/
			traits |= PATTERN_FILTER |
				  (access->condition->kind == NODE_EQ ? PATTERN_EQUALITY : 0u);
	}
	if (n == 1 && accesses[0].kind >= ACCESS_PUT && (ops_subjects(operation) & OF_TRANSACTION))
		traits |= PATTERN_ONE;
	return traits;
}

/* Texts of all members: a part that is the same in several stands once. */
static void describe(struct pattern *pattern, const struct access *accesses, size_t n)
{
	struct arena *arena = arena_new(0);
	struct str parts[OUTLINE_PARTS] = {{NULL, 0}};
	size_t size = 0;

	for (size_t i = 0; i < n && i < 100; i++) {
		struct buf texts[OUTLINE_PARTS];
		struct outline outline = {.texts = texts, .is_marked = true};

		for (size_t p = 0; p < OUTLINE_PARTS; p++)
			texts[p] = buf_in(arena);
		outline_access(&outline, &accesses[i]);
		for (size_t p = 0; p < OUTLINE_PARTS; p++) {
			struct str text = str_trim(buf_str(&texts[p]));

			if (text.n == 0 || str_contains(parts[p].p ? parts[p] : STR(""), text))
				continue;
			parts[p] = parts[p].n ? str_printf(arena, STR_FMT " + " STR_FMT,
							   STR_ARG(parts[p]), STR_ARG(text))
					      : text;
		}
	}
	for (size_t p = 0; p < OUTLINE_PARTS; p++)
		size += parts[p].n;
	pattern->texts = arena_checked(malloc(size + 1));
	size = 0;
	for (size_t p = 0; p < OUTLINE_PARTS; p++) {
		if (parts[p].n > 0)
			memcpy(pattern->texts + size, parts[p].p, parts[p].n);
		pattern->parts[p] = (struct str){pattern->texts + size, parts[p].n};
		size += parts[p].n;
	}
	arena_free(arena);
}

/* The figures of indexes that another snapshot of the table has too. */
static void take_over_indexes(struct seen_table *seen, const struct table *next)
{
	struct seen_index *indexes = arena_checked(calloc(INDEXES_MAX, sizeof(*indexes)));
	const struct table_indexes *had = &seen->table->indexes;

	for (size_t i = 0; i < had->n; i++) {
		const struct index *now = table_index(next, had->v[i].name);

		if (now)
			indexes[now - next->indexes.v] = seen->indexes[i];
		for (size_t u = 0; u < seen->indexes[i].used_count && !now; u++)
			free((char *)(uintptr_t)seen->indexes[i].used[u].p);
	}
	free(seen->indexes);
	seen->indexes = indexes;
	for (size_t i = 0; i < seen->partitions.n; i++) { /* by names of the new snapshot */
		struct partition *partition = &seen->partitions.v[i];

		partition->index =
			partition->index ? table_index(next, partition->index->name) : NULL;
	}
}

static struct prefixes *known_of(struct insight *insight, uint64_t number)
{
	for (size_t i = 0; i < insight->known_count; i++) {
		if (insight->known[i]->number == number)
			return &insight->known[i]->prefixes;
	}
	if (insight->known_count == TABLES_MAX)
		return NULL;
	struct known_table *known = insight->known[insight->known_count++] =
		arena_checked(calloc(1, sizeof(*known)));
	known->number = number;
	return &known->prefixes;
}

static struct seen_table *table_of(struct insight *insight, const struct table *table)
{
	struct seen_table *seen = NULL;

	for (size_t i = 0; i < insight->table_count && !seen; i++) {
		if (insight->tables[i]->table->identity.number == table->identity.number)
			seen = insight->tables[i];
	}
	if (!seen && insight->table_count == TABLES_MAX)
		return NULL;
	if (!seen) {
		seen = insight->tables[insight->table_count++] =
			arena_checked(calloc(1, sizeof(*seen)));
		seen->indexes = arena_checked(calloc(INDEXES_MAX, sizeof(*seen->indexes)));
		seen->prefixes = known_of(insight, table->identity.number);
	}
	if (seen->table != table) {
		if (seen->table)
			take_over_indexes(seen, table);
		table_unref(seen->table);
		seen->table = table_ref((struct table *)(uintptr_t)table);
	}
	return seen;
}

static struct seen_index *index_of(struct seen_table *seen, const struct index *index)
{
	const struct index *first = seen->table->indexes.v;

	return index && first && index >= first && index < first + seen->table->indexes.n
		       ? &seen->indexes[index - first]
		       : NULL;
}

static bool use_path(void *context, const struct path *path)
{
	struct seen_index *index = context;
	struct str name = path->steps[0].name;

	for (size_t i = 0; i < index->used_count; i++) {
		if (str_eq(index->used[i], name))
			return true;
	}
	if (index->used_count == USED_MAX) {
		index->is_used_more = true;
		return true;
	}
	index->used[index->used_count++] =
		(struct str){arena_checked(strndup(name.p, name.n)), name.n};
	return true;
}

/* Which attributes of an index a new pattern wants. */
static void note_used(struct insight *insight, const struct access *access)
{
	struct seen_table *seen = table_of(insight, access->table);
	struct seen_index *index = seen ? index_of(seen, access->index) : NULL;

	if (!index)
		return;
	for (size_t i = 0; access->projection && i < access->projection->n; i++)
		use_path(index, access->projection->paths[i]);
	if (access->condition)
		node_walk_paths(access->condition, use_path, index);
}

/* Conditions that only ask whether there is an item protect its creation, not its changes. */
static bool looks_at_item(const struct node *condition)
{
	if (condition->kind == NODE_AND || condition->kind == NODE_OR)
		return looks_at_item(condition->args[0]) || looks_at_item(condition->args[1]);
	return condition->kind != NODE_ATTRIBUTE_NOT_EXISTS &&
	       condition->kind != NODE_ATTRIBUTE_EXISTS;
}

/* A put of a new item loses nothing. */
static bool overwrites(const struct access *access)
{
	return access->kind == ACCESS_PUT && !access->condition && str_is_set(access->before);
}

/* Who writes a kind of items without looking, and who counts on nobody doing so. */
static void note_entity(struct insight *insight, const struct pattern *pattern,
			const struct access *access)
{
	bool is_blind = overwrites(access);
	bool is_guarded = access->kind != ACCESS_CHECK && access->condition &&
			  looks_at_item(access->condition);
	struct access bare = {.kind = ACCESS_PUT, .table = access->table, .item = access->item};
	struct outline outline = {.hash = 0};
	size_t i = 0;

	if (!is_blind && !is_guarded)
		return;
	outline_access(&outline, &bare);
	while (i < insight->entity_count && insight->entities[i].hash != outline.hash)
		i++;
	if (i == ENTITIES_MAX)
		return;
	struct entity *entity = &insight->entities[i];
	if (i == insight->entity_count)
		*entity = (struct entity){.hash = outline.hash};
	insight->entity_count += i == insight->entity_count;
	if (is_blind)
		entity->blind = pattern;
	else
		entity->guarded = pattern;
}

static void merge_errors(struct pattern *into, const struct pattern *from)
{
	for (size_t i = 0; i < ERRORS_MAX && from->errors[i].n > 0; i++) {
		size_t at = 0;

		while (at < ERRORS_MAX - 1 && into->errors[at].n > 0 &&
		       into->errors[at].code != from->errors[i].code)
			at++;
		if (into->errors[at].n == 0)
			into->errors[at].code = from->errors[i].code;
		into->errors[at].n += from->errors[i].n;
	}
}

void insight_merge(struct pattern *into, const struct pattern *from)
{
	struct pattern_flow *a = &into->flow;
	const struct pattern_flow *b = &from->flow;

	a->calls += b->calls;
	a->members += b->members;
	a->continued += b->continued;
	a->more += b->more;
	a->scanned += b->scanned;
	a->returned += b->returned;
	a->bytes += b->bytes;
	a->read += b->read;
	a->write += b->write;
	series_merge(&into->series, &from->series);
	sketch_merge(&into->units, &from->units);
	sketch_merge(&into->latency, &from->latency);
	sketch_merge(&into->sizes, &from->sizes);
	merge_errors(into, from);
	a->consistent += b->consistent;
	a->needed += b->needed;
	a->burst = b->burst > a->burst ? b->burst : a->burst;
	a->in_bursts += b->in_bursts;
	if (from->first.caller && from->first.ms < into->first.ms)
		into->first = from->first;
	if (from->last.ms >= into->last.ms)
		into->last = from->last;
	into->folded += from->folded;
}

static bool is_entity(const struct insight *insight, const struct pattern *pattern)
{
	for (size_t i = 0; i < insight->entity_count; i++) {
		if (insight->entities[i].blind == pattern ||
		    insight->entities[i].guarded == pattern)
			return true;
	}
	return false;
}

/* Makes the rarer half of the patterns one, so that this is done seldom. What is known of lost
 * updates stays. */
static void fold_rare(struct insight *insight)
{
	struct pattern **old = insight->slots;
	struct sketch *calls = arena_checked(calloc(1, sizeof(*calls)));

	for (size_t i = 0; i < insight->slot_count; i++) {
		if (old[i])
			sketch_add(calls, old[i]->flow.calls);
	}
	uint64_t limit = sketch_quantile(calls, 0.5);
	free(calls);
	if (!insight->rest) {
		insight->rest = arena_checked(calloc(1, sizeof(*insight->rest)));
		insight->rest->operation = "(rare)";
		insight->rest->first = (struct seen_at){&insight->callers.v[0], 0};
	}
	insight->slots = arena_checked(calloc(insight->slot_count, sizeof(*insight->slots)));
	insight->n = 0;
	insight->newest = NULL;
	for (size_t i = 0; i < insight->slot_count; i++) {
		if (!old[i])
			continue;
		if (old[i]->flow.calls > limit + limit / 8 || is_entity(insight, old[i])) {
			put_in(insight, slot_of(insight, old[i]->hash), old[i]);
			continue;
		}
		insight_merge(insight->rest, old[i]);
		insight->rest->folded++;
		pattern_free(old[i]);
	}
	free(old);
}

static struct pattern *add_pattern(struct insight *insight, uint64_t hash, const struct call *call,
				   const struct insight_request *request)
{
	const struct accesses *accesses = access_list(call);
	struct pattern *pattern = arena_checked(calloc(1, sizeof(*pattern)));

	if (insight->n >= insight->patterns_max)
		fold_rare(insight);
	pattern->hash = hash;
	pattern->operation = ops_name(request->number).p;
	pattern->traits = traits_of(accesses->v, accesses->n, request->number);
	describe(pattern, accesses->v, accesses->n);
	if (accesses->n > 0) {
		pattern->columns =
			accesses->v[0].projection ? (unsigned)accesses->v[0].projection->n : 0;
		pattern->changes = accesses->v[0].update ? (unsigned)accesses->v[0].update->n : 0;
	}
	for (size_t i = 0; i < accesses->n; i++) {
		note_used(insight, &accesses->v[i]);
		note_entity(insight, pattern, &accesses->v[i]);
	}
	if (insight->has_examples)
		pattern->example = arena_checked(
			strndup(request->body.p, request->body.n < 4096 ? request->body.n : 4096));
	if (insight->n <
	    insight->patterns_max) { /* else all that are there are kept for a reason */
		put_in(insight, slot_of(insight, hash), pattern);
		return pattern;
	}
	insight_merge(insight->rest, pattern);
	insight->rest->folded++;
	pattern_free(pattern);
	return insight->rest;
}

static void note_error(struct pattern *pattern, enum code code)
{
	for (size_t i = 0; i < ERRORS_MAX; i++) {
		if (pattern->errors[i].n > 0 && pattern->errors[i].code != code)
			continue;
		pattern->errors[i].code = code;
		pattern->errors[i].n++;
		return;
	}
}

static uint64_t name_of_partition(const struct access *access)
{
	return str_be(access->row_key.p, KEY_HASH_SIZE) +
	       access->table->identity.number * 0x9e3779b97f4a7c15u + 1;
}

static bool is_recent(const struct insight *insight, uint64_t name)
{
	return insight->recent[name % RECENT] == name;
}

/* Whether a consistent read was of something written lately: then it has a use. */
static void note_consistency(struct insight *insight, struct pattern *pattern,
			     const struct access *access)
{
	if (access->kind >= ACCESS_PUT && access->row_key.n > KEY_HASH_SIZE) {
		uint64_t row = access_row(access->table, access->row_key),
			 partition = name_of_partition(access);

		insight->recent[row % RECENT] = row;
		insight->recent[partition % RECENT] = partition;
		if (str_is_set(access->after) || str_is_set(access->before))
			insight->left[row % RECENT] = insight->left[row % RECENT] == row
							      ? 0
							      : insight->left[row % RECENT];
	} else if (access->how & ACCESS_CONSISTENT) {
		bool is_keyed = access->row_key.n > KEY_HASH_SIZE;

		pattern->flow.consistent++;
		pattern->flow.needed +=
			!is_keyed ||
			is_recent(insight, access->kind == ACCESS_GET
						   ? access_row(access->table, access->row_key)
						   : name_of_partition(access));
	}
}

static void note_ttl(struct seen_table *seen, const struct access *access)
{
	if (!access->table->ttl.is_enabled || access->kind != ACCESS_PUT || !access->item)
		return;
	const struct value *value = value_member(access->item, access->table->ttl.attribute);
	if (!value)
		return;
	if (value->type != TYPE_N) {
		seen->ttl_wrong++;
		return;
	}
	seen->ttl_milliseconds += number_to_double(value_str(value)) > TTL_MILLISECONDS;
}

static void note_sizes(struct pattern *pattern, const struct access *access)
{
	if (access->kind >= ACCESS_PUT) {
		size_t before = str_is_set(access->before) ? image_item_size(access->before) : 0;
		size_t after = str_is_set(access->after) ? image_item_size(access->after) : 0;

		if (before + after > 0)
			sketch_add(&pattern->sizes, before > after ? before : after);
	} else if (access->scanned > 0) {
		sketch_add(&pattern->sizes, access->bytes / access->scanned);
	}
}

static void note_access(struct insight *insight, struct pattern *pattern,
			const struct access *access, const struct partition_cost *share,
			struct arena *arena)
{
	struct seen_table *seen = table_of(insight, access->table);
	struct pattern_flow *flow = &pattern->flow;

	flow->members++;
	flow->scanned += access->scanned;
	flow->returned += access->returned;
	flow->bytes += access->bytes;
	flow->continued += (access->how & ACCESS_CONTINUED) != 0;
	flow->more += (access->how & ACCESS_MORE) != 0;
	note_sizes(pattern, access);
	note_consistency(insight, pattern, access);
	if (!seen)
		return;
	struct seen_index *index = index_of(seen, access->index);
	if (index) {
		index->reads++;
		index->whole_reads += (access->how & ACCESS_WHOLE) != 0;
	}
	note_ttl(seen, access);
	if (seen->prefixes)
		prefixes_note(seen->prefixes, access);
	partition_note(&seen->partitions, access, share, arena);
}

/* Whether the run has not had the row lately. */
static bool is_new_row(struct run_of *run, const struct accesses *accesses)
{
	const struct access *access = accesses->n == 1 ? accesses->v : NULL;

	if (!access || access->row_key.n == 0)
		return true;
	uint64_t row = access_row(access->table, access->row_key);
	for (size_t i = 0; i < RUN_ROWS; i++) {
		if (run->rows[i] == row)
			return false;
	}
	run->rows[run->n % RUN_ROWS] = row;
	return true;
}

/* Gets of one pattern by one caller, of different items, with nothing else between them. */
static void note_run(struct insight *insight, struct pattern *pattern, const struct caller *caller,
		     const struct accesses *accesses)
{
	struct run_of *run = &insight->runs[caller->hash % RUNS];

	if (run->caller != caller->hash || run->pattern != pattern->hash)
		*run = (struct run_of){.caller = caller->hash, .pattern = pattern->hash};
	if (!is_new_row(run, accesses))
		return;
	run->n++;
	if ((pattern->traits & (PATTERN_GET | PATTERN_SINGLE)) != (PATTERN_GET | PATTERN_SINGLE))
		return;
	pattern->flow.burst = run->n > pattern->flow.burst ? run->n : pattern->flow.burst;
	pattern->flow.in_bursts += run->n == BURST_MIN ? BURST_MIN : run->n > BURST_MIN;
}

static void note_costs(struct insight *insight, const struct call *call)
{
	for (size_t i = 0; i < call->charges.n; i++) {
		const struct cost *cost = &call->charges.v[i];
		struct seen_table *seen = table_of(insight, cost->table);

		if (!seen)
			continue;
		seen->base += cost->base.write;
		for (size_t k = 0; k < cost->table->indexes.n; k++)
			seen->indexes[k].written += cost->index[k].write;
	}
}

/* Members of a batch that the server left undone: the client has to send them again. */
static void note_left(struct insight *insight, const struct accesses *accesses)
{
	for (size_t i = 0; i < accesses->left_count; i++)
		insight->left[accesses->left[i] % RECENT] = accesses->left[i];
}

static void halve_pattern(void *context, struct pattern *pattern)
{
	series_halve(&pattern->series, *(unsigned *)context);
}

static void move_on(struct insight *insight, int64_t ms)
{
	unsigned times = series_move(&insight->timeline, ms);

	if (times == 0)
		return;
	insight_each(insight, halve_pattern, &times);
	for (size_t i = 0; i < insight->table_count; i++) {
		struct partitions *partitions = &insight->tables[i]->partitions;

		series_halve(&partitions->series, times);
		for (size_t k = 0; k < partitions->n; k++)
			series_halve(&partitions->v[k].series, times);
	}
}

void insight_fold(struct insight *insight, const struct call *call,
		  const struct insight_request *request)
{
	const struct accesses *accesses = access_list(call);

	if (accesses->n == 0 &&
	    accesses->left_count == 0) /* refused before anything was looked for */
		return;
	uint64_t key = key_of(accesses->v, accesses->n, request->number);
	double n = (double)accesses->n;
	struct partition_cost share = {
		.units = {request->consumed.read / n, request->consumed.write / n},
		.second = (int64_t)(request->began_ns / 1000000000u),
	};
	int64_t ms = (int64_t)(request->began_ns / 1000000u);

	pthread_mutex_lock(&insight->lock);
	uint64_t hash = look_up(insight, key, accesses, ops_name(request->number).p);
	if (series_has_passed(&insight->timeline, ms))
		move_on(insight, ms);
	share.bucket = insight->timeline.at;
	const struct caller *caller = caller_of(insight, request->caller);
	struct pattern *pattern = *slot_of(insight, hash);
	if (!pattern)
		pattern = add_pattern(insight, hash, call, request);
	struct seen_at now = {caller, call->now_ms};
	if (pattern->flow.calls++ == 0)
		pattern->first = now;
	pattern->last = now;
	pattern->flow.read += request->consumed.read;
	pattern->flow.write += request->consumed.write;
	pattern->series.units[share.bucket] +=
		(float)(request->consumed.read + request->consumed.write);
	insight->all.calls++;
	insight->all.read += request->consumed.read;
	insight->all.write += request->consumed.write;
	sketch_add(&pattern->units,
		   (uint64_t)((request->consumed.read + request->consumed.write) * 2));
	if (pattern->flow.calls <= TIMED_ALL ||
	    pattern->flow.calls % TIMED_EACH == 0) /* the clock is a fifth of what counting costs */
		sketch_add(&pattern->latency, (monotonic_ns() - request->began_ns) / 1000);
	if (request->code != OK)
		note_error(pattern, request->code);
	for (size_t i = 0; i < accesses->n; i++)
		note_access(insight, pattern, &accesses->v[i], &share, call->arena);
	for (size_t i = 0; i < accesses->n && !(pattern->traits & PATTERN_BLIND); i++) {
		if (overwrites(&accesses->v[i])) {
			note_entity(insight, pattern, &accesses->v[i]);
			pattern->traits |= PATTERN_SINGLE & pattern->traits ? PATTERN_BLIND : 0u;
		}
	}
	note_run(insight, pattern, caller, accesses);
	if (request->code == OK && request->consumed.write > 0)
		note_costs(insight, call);
	note_left(insight, accesses);
	pthread_mutex_unlock(&insight->lock);
}
