#include "protocol/insight/partition.h"

#include <stdio.h>

#include "core/key.h"
#include "protocol/insight/mask.h"

static void label(struct partition *partition, const struct access *access)
{
	const struct key_schema *keys = access->index ? &access->index->keys : &access->table->keys;
	struct arena *arena = arena_new(0);
	struct str rest = {access->row_key.p + KEY_HASH_SIZE, access->row_key.n - KEY_HASH_SIZE};
	struct value value = key_read(arena, keys->attributes[0].type, &rest);
	struct mask mask = mask_of(&value);

	if (mask.is_whole)
		snprintf(partition->label, sizeof(partition->label), STR_FMT, STR_ARG(mask.prefix));
	else
		snprintf(partition->label, sizeof(partition->label), STR_FMT "(%04x)", STR_ARG(mask.prefix), (unsigned)(partition->id >> 16 & 0xFFFF));
	arena_free(arena);
}

static struct partition *find(struct partitions *partitions, uint64_t id, const struct access *access)
{
	struct partition *least = &partitions->v[0];

	for (size_t i = 0; i < partitions->n; i++) {
		if (partitions->v[i].id == id)
			return &partitions->v[i];
		if (partitions->v[i].requests < least->requests)
			least = &partitions->v[i];
	}
	if (partitions->n < PARTITIONS_MAX) {
		least = &partitions->v[partitions->n++];
		*least = (struct partition){.id = id};
	} else {
		*least = (struct partition){.id = id, .requests = least->requests, .doubtful = least->requests};
	}
	least->index = access->index;
	label(least, access);
	return least;
}

void partition_note(struct partitions *partitions, const struct access *access, struct units units, int64_t second)
{
	if (access->row_key.n <= KEY_HASH_SIZE)
		return;
	uint64_t id = str_be(access->row_key.p, KEY_HASH_SIZE) | (uint64_t)(access->index ? access->index->number + 1 : 0) << 32;
	struct partition *partition = find(partitions, id, access);

	if (partition->second != second) {
		partition->second = second;
		partition->second_read = partition->second_write = 0;
	}
	partition->requests++;
	partition->read += units.read;
	partition->write += units.write;
	partition->second_read += units.read;
	partition->second_write += units.write;
	if (partition->second_read > partition->peak_read)
		partition->peak_read = partition->second_read;
	if (partition->second_write > partition->peak_write)
		partition->peak_write = partition->second_write;
	partition->items += str_is_set(access->after) - str_is_set(access->before);
	partitions->requests++;
	partitions->units += units.read + units.write;
}
