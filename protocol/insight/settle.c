#include "protocol/insight/settle.h"

#include <stdlib.h>

#define MORE "\xE2\x80\xA6\""
#define MEMBERS " + "

/* The tables that a pattern is of, by their names. */
static bool is_of_table(const struct pattern *pattern, const struct seen_table *seen)
{
	struct str names = pattern->parts[OUTLINE_TABLE], own = seen->table->identity.name;

	return str_eq(names, own) ||
	       (str_contains(names, STR(MEMBERS)) && str_contains(names, own));
}

static bool may_show(const struct insight *insight, const struct pattern *pattern,
		     struct str prefix)
{
	for (size_t i = 0; i < insight->table_count; i++) {
		const struct seen_table *seen = insight->tables[i];

		if (is_of_table(pattern, seen) && prefixes_show(seen->prefixes, prefix))
			return true;
	}
	return false;
}

/* A key as outline.h marks it, with quotes or "?". */
static struct str render(const struct insight *insight, const struct pattern *pattern,
			 struct arena *arena, bool shows_all)
{
	struct buf buf = buf_in(arena);
	struct str rest = pattern->parts[OUTLINE_KEY];

	while (rest.n > 0) {
		const char *mark = memchr(rest.p, OUTLINE_PREFIX, rest.n);
		struct str before = {rest.p, mark ? (size_t)(mark - rest.p) : rest.n};

		buf_add_str(&buf, before);
		if (!mark)
			break;
		rest = (struct str){mark + 1, rest.n - before.n - 1};
		struct str prefix = {rest.p, 0};
		while (prefix.n < rest.n && rest.p[prefix.n] != OUTLINE_WHOLE &&
		       rest.p[prefix.n] != OUTLINE_MORE)
			prefix.n++;
		bool is_whole = prefix.n < rest.n && rest.p[prefix.n] == OUTLINE_WHOLE;
		if (shows_all || may_show(insight, pattern, prefix))
			buf_printf(&buf, "\"" STR_FMT "%s", STR_ARG(prefix),
				   is_whole ? "\"" : MORE);
		else
			buf_add_byte(&buf, '?');
		size_t end = prefix.n < rest.n ? prefix.n + 1 : prefix.n;
		rest = (struct str){rest.p + end, rest.n - end};
	}
	return buf_str(&buf);
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Of several members: each text once, in one order. */
static struct str in_order(struct arena *arena, struct str text)
{
	struct str members[100], rest = text;
	struct buf buf = buf_in(arena);
	size_t n = 0;

	while (n < 100) {
		const char *plus = rest.n ? memmem(rest.p, rest.n, MEMBERS, strlen(MEMBERS)) : NULL;

		members[n++] = (struct str){rest.p, plus ? (size_t)(plus - rest.p) : rest.n};
		if (!plus)
			break;
		rest = (struct str){plus + strlen(MEMBERS),
				    rest.n - (size_t)(plus - rest.p) - strlen(MEMBERS)};
	}
	if (n == 1)
		return text;
	qsort(members, n, sizeof(members[0]), by_text);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !str_eq(members[i], members[i - 1]))
			buf_printf(&buf, "%s" STR_FMT, i > 0 ? MEMBERS : "", STR_ARG(members[i]));
	}
	return buf_str(&buf);
}

static uint64_t hash_of_texts(const struct pattern *pattern)
{
	uint64_t hash = str_hash(str_of(pattern->operation), 0);

	for (size_t i = 0; i < OUTLINE_PARTS; i++)
		hash = str_hash(pattern->parts[i], hash + i + 1);
	return hash;
}

struct settling {
	struct insight *from, *to;
	struct arena *arena;
	struct pattern **last; /* where the next one goes */
	bool shows_all;
};

static struct pattern *find_settled(const struct insight *insight, uint64_t hash)
{
	struct pattern *pattern = insight->newest;

	while (pattern && pattern->hash != hash)
		pattern = pattern->next;
	return pattern;
}

static void settle_pattern(void *context, struct pattern *pattern)
{
	struct settling *settling = context;
	struct pattern *own = ARENA_NEW(settling->arena, struct pattern);

	*own = *pattern;
	own->next = NULL;
	for (size_t i = 0; i < OUTLINE_PARTS; i++) {
		struct str text = i == OUTLINE_KEY ? render(settling->from, pattern,
							    settling->arena, settling->shows_all)
						   : pattern->parts[i];

		own->parts[i] = text.n ? in_order(settling->arena, text) : text;
	}
	own->hash = hash_of_texts(own);
	if (pattern == settling->from->rest) {
		settling->to->rest = own;
		return;
	}
	struct pattern *same = find_settled(settling->to, own->hash);
	if (same) {
		insight_merge(same, own);
	} else {
		*settling->last = own;
		settling->last = &own->next;
		settling->to->n++;
	}
	pattern->settled = same ? same : own;
}

static void show_labels(struct seen_table *seen, bool shows_all)
{
	for (size_t i = 0; i < seen->partitions.n; i++) {
		struct partition *partition = &seen->partitions.v[i];

		partition->is_shown =
			shows_all || prefixes_show(seen->prefixes, str_of(partition->prefix));
	}
}

struct insight *settle(struct insight *insight, struct arena *arena, bool shows_all)
{
	struct insight *to = ARENA_NEW(arena, struct insight);
	struct settling settling = {insight, to, arena, &to->newest, shows_all};

	*to = *insight;
	to->n = 0;
	to->newest = to->rest = NULL;
	insight_each(insight, settle_pattern, &settling);
	to->entities = ARENA_ARRAY(arena, struct entity, insight->entity_count + 1);
	for (size_t i = 0; i < insight->entity_count; i++) {
		const struct entity *entity = &insight->entities[i];

		to->entities[i] = *entity;
		to->entities[i].blind = entity->blind ? entity->blind->settled : NULL;
		to->entities[i].guarded = entity->guarded ? entity->guarded->settled : NULL;
	}
	for (size_t i = 0; i < insight->table_count; i++)
		show_labels(insight->tables[i], shows_all);
	return to;
}
