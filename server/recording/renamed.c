#include "server/recording/renamed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

#define KEPT 10000
#define SLOTS 16384

struct entry {
	struct str then, now; /* malloced, in one block at then.p; absent: there is none yet */
	size_t slot, next;    /* of the slot: places from 1; 0: none */
};

struct renamed {
	struct entry v[KEPT];
	size_t at;            /* where the next one goes: in the place of the oldest */
	size_t slots[SLOTS];
};

struct renamed *renamed_new(void)
{
	return arena_checked(calloc(1, sizeof(struct renamed)));
}

static void drop_renamed(struct renamed *renamed, struct entry *entry)
{
	size_t place = (size_t)(entry - renamed->v) + 1;

	if (!str_is_set(entry->then))
		return;
	for (size_t *at = &renamed->slots[entry->slot]; *at; at = &renamed->v[*at - 1].next) {
		if (*at == place) {
			*at = entry->next;
			break;
		}
	}
	free((char *)(uintptr_t)entry->then.p);
	*entry = (struct entry){.next = 0};
}

void renamed_free(struct renamed *renamed)
{
	for (size_t i = 0; i < KEPT; i++)
		free((char *)(uintptr_t)renamed->v[i].then.p);
	free(renamed);
}

static struct entry *find_renamed(const struct renamed *renamed, struct str then)
{
	for (size_t place = renamed->slots[str_hash(then, 0) % SLOTS]; place;
	     place = renamed->v[place - 1].next) {
		const struct entry *entry = &renamed->v[place - 1];

		if (str_eq(entry->then, then))
			return (struct entry *)(uintptr_t)entry;
	}
	return NULL;
}

static bool is_plain(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == '"' || text.p[i] == '\\')
			return false;
	}
	return true;
}

void renamed_add(struct renamed *renamed, struct str then, struct str now)
{
	struct entry *before = find_renamed(renamed, then);

	if (then.n == 0 || (str_eq(then, now) && !before) || !is_plain(then) || !is_plain(now))
		return;
	if (before)
		drop_renamed(renamed, before);
	struct entry *entry = &renamed->v[renamed->at];
	renamed->at = (renamed->at + 1) % KEPT;
	drop_renamed(renamed, entry);
	char *both = arena_checked(malloc(then.n + now.n));
	memcpy(both, then.p, then.n);
	if (now.n > 0)
		memcpy(both + then.n, now.p, now.n);
	*entry = (struct entry){.then = {both, then.n},
				.now = {both + then.n, now.n},
				.slot = str_hash(then, 0) % SLOTS};
	entry->next = renamed->slots[entry->slot];
	renamed->slots[entry->slot] = (size_t)(entry - renamed->v) + 1;
}

/* Where the string ends that begins behind `at`: its second quotation mark, or the end. */
static const char *end_of_string(const char *at, const char *end)
{
	while (at < end && *at != '"')
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	return at;
}

struct str renamed_apply(const struct renamed *renamed, struct arena *arena, struct str body)
{
	const char *end = body.p + body.n, *done = body.p,
		   *open = body.n ? memchr(body.p, '"', body.n) : NULL;
	struct buf out = buf_in(arena);

	while (open) {
		const char *close = end_of_string(open + 1, end);
		const struct entry *entry =
			find_renamed(renamed, (struct str){open + 1, (size_t)(close - open - 1)});

		if (entry) {
			buf_add(&out, done, (size_t)(open + 1 - done));
			buf_add_str(&out, entry->now);
			done = close;
		}
		open = close < end ? memchr(close + 1, '"', (size_t)(end - close - 1)) : NULL;
	}
	if (done == body.p)
		return body;
	buf_add(&out, done, (size_t)(end - done));
	return buf_str(&out);
}
