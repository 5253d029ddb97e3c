#include "server/command/suggest.h"

#define NAME_MAX_SIZE 64 /* longer names are near to none */

static struct str behind(struct str name, size_t prefix_size)
{
	size_t n = name.n < prefix_size ? name.n : prefix_size;

	return (struct str){name.p + n, name.n - n};
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to be changed, added, left out or swapped with the next one (optimal string alignment);
 * both names are short. */
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][NAME_MAX_SIZE + 1];

	for (size_t k = 0; k <= b.n; k++)
		rows[0][k] = k;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			bool is_swap = i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] &&
				       a.p[i - 2] == b.p[k - 1];

			row[k] = least(least(above[k], row[k - 1]) + 1,
				       above[k - 1] + (a.p[i - 1] != b.p[k - 1]));
			if (is_swap)
				row[k] = least(row[k], second[k - 2] + 1);
		}
	}
	return rows[a.n % 3][b.n];
}

void suggest_offer(struct suggestion *suggestion, const char *name)
{
	struct str typed = behind(suggestion->typed, suggestion->prefix_size),
		   offered = behind(str_of(name), suggestion->prefix_size);

	if (typed.n > NAME_MAX_SIZE || offered.n > NAME_MAX_SIZE)
		return;
	size_t n = distance(typed, offered);
	if (n <= (typed.n + 1) / 3 && (!suggestion->nearest || n < suggestion->distance)) {
		suggestion->nearest = name;
		suggestion->distance = n;
	}
}
