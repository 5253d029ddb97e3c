#include "server/tools/rollout_table.h"

#include <stdio.h>

#include "protocol/rollouts.h"
#include "server/command/help.h"

#define LEFT 14 /* columns of the days */

static void print_rollout_row(const struct rollout_row *row)
{
	printf("%s\n", row->name);
	help_wrap((size_t)printf("  since"), LEFT, row->began);
	help_wrap((size_t)printf("  what"), LEFT, row->what);
	for (size_t i = 0; i < ROLLOUT_SEEN_MAX && row->seen[i].day; i++) {
		const char *day = row->seen[i].day, *regions = row->seen[i].regions;
		const char *without = row->seen[i].is_without ? "  not yet:" : "";
		size_t at = (size_t)printf("  %s%s", day, without);

		help_wrap(at, LEFT, regions ? regions : "everywhere");
	}
	help_wrap((size_t)printf("  source"), LEFT, row->source);
}

int rollout_table_run(struct arena *arena, int argc, char **argv)
{
	(void)arena, (void)argv;
	if (argc > 2)
		return help_misuse("rollouts");
	for (enum rollout i = 0; i < ROLLOUT_COUNT; i++) {
		if (i > 0)
			printf("\n");
		print_rollout_row(rollout_row(i));
	}
	return 0;
}
