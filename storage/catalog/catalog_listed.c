#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"

void catalog_listed_add(struct size_keeping *sizes, struct table *table)
{
	pthread_mutex_lock(&sizes->lock);
	sizes->listed =
		arena_checked(realloc(sizes->listed, (sizes->n + 1) * sizeof(struct table *)));
	sizes->listed[sizes->n++] = table_ref(table);
	pthread_mutex_unlock(&sizes->lock);
}

void catalog_listed_remove(struct size_keeping *sizes, const struct tally *tally)
{
	for (size_t i = 0; i < sizes->n; i++) {
		if (sizes->listed[i]->tally != tally)
			continue;
		table_unref(sizes->listed[i]);
		sizes->listed[i--] = sizes->listed[--sizes->n];
	}
}

void catalog_listed_adopt(struct size_keeping *sizes, struct table *next)
{
	pthread_mutex_lock(&sizes->lock);
	for (size_t i = 0; i < sizes->n; i++) {
		if (sizes->listed[i]->identity.number == next->identity.number) {
			table_adopt(next, sizes->listed[i]);
			break;
		}
	}
	pthread_mutex_unlock(&sizes->lock);
}

void catalog_listed_free(struct size_keeping *sizes)
{
	for (size_t i = 0; i < sizes->n; i++)
		table_unref(sizes->listed[i]);
	free(sizes->listed);
}
