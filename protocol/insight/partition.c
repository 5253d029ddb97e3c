#include "protocol/insight/partition.h"

#include "core/key.h"
#include "protocol/insight/mask.h"

static void set_prefix(struct partition *partition, const struct access *access,
		       struct arena *arena)
{
	const struct key_schema *keys = access->index ? &access->index->keys : &access->table->keys;
	struct str rest = {access->row_key.p + KEY_HASH_SIZE, access->row_key.n - KEY_HASH_SIZE};
	struct value value = key_read(arena, keys->attributes[0].type, &rest);
	struct mask mask = mask_of(&value);

	memset(partition->prefix, 0, sizeof(partition->prefix));
	memcpy(partition->prefix, mask.prefix.p, mask.prefix.n); /* at most 33 bytes */
	partition->is_whole = mask.is_whole;
}

struct str partition_label(struct arena *arena, const struct partition *partition)
{
	if (partition->is_shown && partition->is_whole)
		return str_of(partition->prefix);
	return str_printf(arena, "%s(%04x)", partition->is_shown ? partition->prefix : "",
			  (unsigned)(partition->id >> 16 & 0xffff));
}

static unsigned char *head_of(struct partitions *partitions, uint64_t id)
{
	return &partitions->heads[(id ^ id >> 29) % PARTITION_LISTS];
}

static struct partition *look_up(struct partitions *partitions, uint64_t id)
{
	for (unsigned place = *head_of(partitions, id); place > 0;
	     place = partitions->next[place - 1]) {
		if (partitions->v[place - 1].id == id)
			return &partitions->v[place - 1];
	}
	return NULL;
}

static void link_in(struct partitions *partitions, const struct partition *partition)
{
	size_t place = (size_t)(partition - partitions->v);
	unsigned char *head = head_of(partitions, partition->id);

	partitions->next[place] = *head;
	*head = (unsigned char)(place + 1);
}

static void link_out(struct partitions *partitions, const struct partition *partition)
{
	size_t place = (size_t)(partition - partitions->v);
	unsigned char *link = head_of(partitions, partition->id);

	while (*link != place + 1)
		link = &partitions->next[*link - 1];
	*link = partitions->next[place];
}

/* Whether another partition that is not here takes a place: one of eight, in no order that requests
 * could have. */
static bool is_turn(struct partitions *partitions)
{
	return ++partitions->missed * 0x9e3779b97f4a7c15u >> 61 == 0;
}

static struct partition *least_of(struct partitions *partitions)
{
	struct partition *least = &partitions->v[0];

	for (size_t i = 1; i < partitions->n; i++) {
		if (partitions->v[i].requests < least->requests)
			least = &partitions->v[i];
	}
	return least;
}

/* NULL where it has no place. */
static struct partition *find(struct partitions *partitions, uint64_t id,
			      const struct access *access, struct arena *arena)
{
	struct partition *found = look_up(partitions, id);

	if (found)
		return found;
	if (partitions->n < PARTITIONS_MAX) {
		found = &partitions->v[partitions->n++];
		*found = (struct partition){.id = id};
	} else if (is_turn(partitions)) {
		found = least_of(partitions);
		link_out(partitions, found);
		*found = (struct partition){
			.id = id, .requests = found->requests, .doubtful = found->requests};
	} else {
		return NULL;
	}
	link_in(partitions, found);
	found->index = access->index;
	set_prefix(found, access, arena);
	return found;
}

void partition_note(struct partitions *partitions, const struct access *access,
		    const struct partition_cost *cost, struct arena *arena)
{
	struct units units = cost->units;

	if (access->row_key.n <= KEY_HASH_SIZE)
		return;
	uint64_t id = str_be(access->row_key.p, KEY_HASH_SIZE) |
		      (uint64_t)(access->index ? access->index->number + 1 : 0) << 32;
	struct partition *partition = find(partitions, id, access, arena);

	partitions->requests++;
	partitions->units += units.read + units.write;
	partitions->series.units[cost->bucket] += (float)(units.read + units.write);
	if (!partition)
		return;
	if (partition->second != cost->second) {
		partition->second = cost->second;
		partition->second_read = partition->second_write = 0;
	}
	partition->requests++;
	partition->read += units.read;
	partition->write += units.write;
	partition->series.units[cost->bucket] += (float)(units.read + units.write);
	partition->second_read += units.read;
	partition->second_write += units.write;
	if (partition->second_read > partition->peak_read)
		partition->peak_read = partition->second_read;
	if (partition->second_write > partition->peak_write)
		partition->peak_write = partition->second_write;
	partition->items += str_is_set(access->after) - str_is_set(access->before);
}

/* Of the buckets from `first` that are one window. */
static double window_units(const struct series *series, unsigned first, unsigned width, unsigned n)
{
	double units = 0;

	for (unsigned i = first; i < n && i < first + width; i++)
		units += (double)series->units[i];
	return units;
}

/* The window with the most that is not in yet; `n` where there is none. */
static unsigned busiest(const struct series *series, const struct partition_busy *busy,
			unsigned width, unsigned n, double *units)
{
	unsigned found = n;

	*units = 0;
	for (unsigned first = 0; first < n; first += width) {
		double own = window_units(series, first, width, n);

		if (!busy->is_in[first] && own > *units) {
			*units = own;
			found = first;
		}
	}
	return found;
}

void partition_find_busy(const struct partitions *partitions, const struct timeline *timeline,
			 double least, struct partition_busy *busy)
{
	unsigned n = timeline->width_ms > 0 ? timeline->at + 1 : 0;
	int64_t per_window = n > 0 ? (BUSY_MS + timeline->width_ms - 1) / timeline->width_ms : 1;
	unsigned width = per_window < SERIES_BUCKETS ? (unsigned)per_window : SERIES_BUCKETS;
	double most, next = 0;

	*busy = (struct partition_busy){.of_ms = timeline->width_ms * n};
	for (unsigned first = busiest(&partitions->series, busy, width, n, &most); first < n;
	     first = busiest(&partitions->series, busy, width, n, &next)) {
		double own = window_units(&partitions->series, first, width, n);

		if (own < most / 2 && busy->units >= least)
			break;
		for (unsigned i = first; i < n && i < first + width;
		     i++, busy->ms += timeline->width_ms)
			busy->is_in[i] = true;
		busy->units += own;
	}
}

double partition_busy_units(const struct partition *partition, const struct partition_busy *busy)
{
	double units = 0;

	for (unsigned i = 0; i < SERIES_BUCKETS; i++)
		units += busy->is_in[i] ? (double)partition->series.units[i] : 0;
	return units;
}
