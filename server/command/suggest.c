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

/* Letters to be changed, added or left out (Levenshtein); both names are short. */
static size_t distance(struct str a, struct str b)
{
	size_t row[NAME_MAX_SIZE + 1];

	for (size_t k = 0; k <= b.n; k++)
		row[k] = k;
	for (size_t i = 0; i < a.n; i++) {
		size_t before = row[0]; /* of the row above, one to the left */

		row[0] = i + 1;
		for (size_t k = 0; k < b.n; k++) {
			size_t above = row[k + 1];

			row[k + 1] = least(least(above, row[k]) + 1, before + (a.p[i] != b.p[k]));
			before = above;
		}
	}
	return row[b.n];
}

void suggest_offer(struct suggestion *suggestion, const char *name)
{
	struct str typed = behind(suggestion->typed, suggestion->prefix_size),
		   offered = behind(str_of(name), suggestion->prefix_size);

	if (typed.n > NAME_MAX_SIZE || offered.n > NAME_MAX_SIZE)
		return;
	size_t n = distance(typed, offered);
	if (n <= typed.n / 2 && (!suggestion->nearest || n < suggestion->distance)) {
		suggestion->nearest = name;
		suggestion->distance = n;
	}
}
