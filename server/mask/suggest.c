#include "server/mask/suggest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "protocol/wire/json_out.h"
#include "server/mask/kind.h"
#include "server/mask/proof.h"
#include "server/mask/rule.h"
#include "server/seed/json_text.h"

#define SPOTS_MOST 4096
#define MEMBERS_MOST 24 /* names of a map's members, beyond which they are data */
#define NAME_MOST 64    /* bytes of a name that is none of a value */
#define DIGITS_MOST 5   /* in a row, in such a name */
#define PARTS_MOST 16   /* of a composite key */
#define TEMPLATES_MOST 32
#define WORDS_MOST 256 /* of an enumeration */
#define HOLE "<fake>"

struct met_value {
	struct str text;
	uint32_t item;
	char type; /* 'S', 'N', 'B', or 'O' for others */
};

/* A path, and what stands there. */
struct spot {
	struct str table, names[RULE_DEPTH];
	size_t depth;
	uint64_t hash; /* of the path and the table */
	struct met_value *values;
	size_t n;
	bool is_key, is_collapsed;
	enum kind kind;
	const char *action;
	struct str templates[TEMPLATES_MOST];
	size_t template_count;
	char mark; /* between parts of a composite key */
};

struct suggest {
	struct arena *arena;
	struct str table;
	struct str *schema; /* names of tables, indexes and attributes */
	size_t schema_count;
	struct str *keys; /* attributes of keys, of the table under way */
	size_t key_count;
	struct spot *spots;
	size_t spot_count, beyond, table_count;
	uint32_t item;
};

struct suggest *suggest_new(void)
{
	struct suggest *suggest = arena_checked(calloc(1, sizeof(*suggest)));

	suggest->arena = arena_new(0);
	return suggest;
}

void suggest_free(struct suggest *suggest)
{
	if (!suggest)
		return;
	arena_free(suggest->arena);
	free(suggest);
}

static void add_schema(struct suggest *suggest, struct str name)
{
	suggest->schema = arena_room(suggest->arena, suggest->schema, suggest->schema_count,
				     sizeof(*suggest->schema));
	suggest->schema[suggest->schema_count++] = str_copy(suggest->arena, name);
}

static void add_key_names(struct suggest *suggest, const struct json *of)
{
	const struct json *keys = json_text_get(of, "KeySchema", JSON_ARRAY);

	for (const struct json *at = keys ? json_first(keys) : NULL; at; at = json_next(at)) {
		suggest->keys = arena_room(suggest->arena, suggest->keys, suggest->key_count,
					   sizeof(*suggest->keys));
		suggest->keys[suggest->key_count++] = str_copy(
			suggest->arena, json_text_string(suggest->arena, at, "AttributeName"));
	}
}

void suggest_table(struct suggest *suggest, struct str table, const struct json *description)
{
	static const char *const lists[] = {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"};

	suggest->table = str_copy(suggest->arena, table);
	suggest->table_count++;
	suggest->key_count = 0;
	add_schema(suggest, table);
	add_key_names(suggest, description);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct json *list = json_text_get(description, lists[i], JSON_ARRAY);

		for (const struct json *at = list ? json_first(list) : NULL; at;
		     at = json_next(at)) {
			add_key_names(suggest, at);
			add_schema(suggest, json_text_string(suggest->arena, at, "IndexName"));
		}
	}
}

void suggest_next_item(struct suggest *suggest)
{
	suggest->item++;
}

/* Names of maps' members may be data: an address, an identifier, a number. */
static bool is_data_name(struct str name)
{
	size_t digits = 0;

	for (size_t i = 0; i < name.n; i++) {
		digits = name.p[i] >= '0' && name.p[i] <= '9' ? digits + 1 : 0;
		if (digits > DIGITS_MOST)
			return true;
	}
	return name.n > NAME_MOST || name.n == 0 || kind_of_text(name) != KIND_NONE ||
	       memchr(name.p, '@', name.n);
}

static uint64_t spot_hash(const struct spot *spot)
{
	uint64_t hash = str_hash(spot->table, 0);

	for (size_t i = 0; i < spot->depth; i++)
		hash = str_hash(spot->names[i], hash);
	return hash;
}

static bool is_same_spot(const struct spot *a, const struct spot *b)
{
	if (a->hash != b->hash || a->depth != b->depth || !str_eq(a->table, b->table))
		return false;
	for (size_t i = 0; i < a->depth; i++) {
		if (!str_eq(a->names[i], b->names[i]))
			return false;
	}
	return true;
}

static struct spot *find_spot(struct suggest *suggest, const struct spot *wanted)
{
	for (size_t i = 0; i < suggest->spot_count; i++) {
		if (is_same_spot(&suggest->spots[i], wanted))
			return &suggest->spots[i];
	}
	return NULL;
}

static bool is_key_name(const struct suggest *suggest, struct str name)
{
	for (size_t i = 0; i < suggest->key_count; i++) {
		if (str_eq(suggest->keys[i], name))
			return true;
	}
	return false;
}

static struct spot *add_spot(struct suggest *suggest, const struct spot *wanted)
{
	if (suggest->spot_count == SPOTS_MOST) {
		suggest->beyond++;
		return NULL;
	}
	suggest->spots = arena_room(suggest->arena, suggest->spots, suggest->spot_count,
				    sizeof(*suggest->spots));
	struct spot *spot = &suggest->spots[suggest->spot_count++];
	*spot = *wanted;
	for (size_t i = 0; i < spot->depth; i++)
		spot->names[i] = str_copy(suggest->arena, spot->names[i]);
	spot->is_key = spot->depth == 1 && is_key_name(suggest, spot->names[0]);
	if (!str_eq(spot->names[0], STR("*")))
		add_schema(suggest, spot->names[0]);
	return spot;
}

static void add_value(struct suggest *suggest, struct spot *spot, struct met_value value)
{
	spot->values = arena_room(suggest->arena, spot->values, spot->n, sizeof(*spot->values));
	spot->values[spot->n++] = value;
}

void suggest_met(void *context, const struct str *names, size_t depth, struct str type,
		 struct str text)
{
	struct suggest *suggest = context;
	struct spot wanted = {.table = suggest->table, .depth = depth}, *spot;

	for (size_t i = 0; i < depth; i++) {
		bool is_data = !str_eq(names[i], STR("[]")) && is_data_name(names[i]);

		wanted.names[i] = is_data ? STR("*") : names[i];
		wanted.is_collapsed = wanted.is_collapsed || is_data;
	}
	wanted.hash = spot_hash(&wanted);
	spot = find_spot(suggest, &wanted);
	spot = spot ? spot : add_spot(suggest, &wanted);
	if (spot)
		add_value(suggest, spot,
			  (struct met_value){str_copy(suggest->arena, text), suggest->item,
					     type.n == 1 ? type.p[0] : 'O'});
}

static bool has_prefix(const struct spot *spot, const struct spot *prefix, size_t depth)
{
	if (spot->depth <= depth || !str_eq(spot->table, prefix->table))
		return false;
	for (size_t i = 0; i < depth; i++) {
		if (!str_eq(spot->names[i], prefix->names[i]))
			return false;
	}
	return true;
}

/* In how many items the spot has a value. Values of an item stand together. */
static size_t spot_items(const struct spot *spot)
{
	size_t n = spot->n > 0;

	for (size_t i = 1; i < spot->n; i++)
		n += spot->values[i].item != spot->values[i - 1].item;
	return n;
}

/* Whether names of this map's members are data: there are many, or each stands in few of its items.
 */
static bool is_map_of_data(const struct suggest *suggest, const struct spot *of, size_t depth)
{
	struct str *names = NULL;
	size_t n = 0, sum = 0;
	char *seen = arena_calloc(suggest->arena, suggest->item + 1, 1);
	size_t items = 0;

	for (size_t i = 0; i < suggest->spot_count; i++) {
		const struct spot *spot = &suggest->spots[i];
		bool is_new = true;

		if (!has_prefix(spot, of, depth) || str_eq(spot->names[depth], STR("[]")))
			continue;
		for (size_t k = 0; k < n && is_new; k++)
			is_new = !str_eq(names[k], spot->names[depth]);
		if (is_new) {
			names = arena_room(suggest->arena, names, n, sizeof(*names));
			names[n++] = spot->names[depth];
			sum += spot_items(spot);
		}
		for (size_t k = 0; k < spot->n; k++) {
			items += !seen[spot->values[k].item];
			seen[spot->values[k].item] = 1;
		}
	}
	return n > MEMBERS_MOST || (n >= 3 && items >= 3 && sum * 4 <= n * items);
}

/* Moves the values of a spot to the other of the same path. */
static void merge_spot(struct suggest *suggest, size_t at)
{
	struct spot *spot = &suggest->spots[at];

	for (size_t i = 0; i < at; i++) {
		struct spot *to = &suggest->spots[i];

		if (!is_same_spot(to, spot))
			continue;
		for (size_t k = 0; k < spot->n; k++)
			add_value(suggest, to, spot->values[k]);
		spot->depth = 0; /* it is no more */
		return;
	}
}

static void collapse_map(struct suggest *suggest, struct spot of, size_t depth)
{
	for (size_t i = 0; i < suggest->spot_count; i++) {
		struct spot *spot = &suggest->spots[i];

		if (!has_prefix(spot, &of, depth) || str_eq(spot->names[depth], STR("[]")))
			continue;
		spot->names[depth] = STR("*");
		spot->is_collapsed = true;
		spot->hash = spot_hash(spot);
		merge_spot(suggest, i);
	}
}

static void collapse_maps(struct suggest *suggest)
{
	for (size_t depth = 1; depth < RULE_DEPTH; depth++) {
		for (size_t i = 0; i < suggest->spot_count; i++) {
			const struct spot *spot = &suggest->spots[i];

			if (spot->depth > depth && !str_eq(spot->names[depth], STR("[]")) &&
			    !str_eq(spot->names[depth], STR("*")) &&
			    is_map_of_data(suggest, spot, depth))
				collapse_map(suggest, *spot, depth);
		}
	}
}

/* What the path says: its last name that says something. */
static enum kind kind_of_path(const struct spot *spot)
{
	for (size_t i = spot->depth; i-- > 0;) {
		enum kind kind = kind_of_name(spot->names[i]);

		/* a member's own name says more than that of what it stands in */
		if (kind != KIND_NONE && (i + 1 == spot->depth || kind != KIND_PLAIN))
			return kind;
	}
	return KIND_NONE;
}

static size_t spot_count_of(const struct spot *spot, char type)
{
	size_t n = 0;

	for (size_t i = 0; i < spot->n; i++)
		n += spot->values[i].type == type;
	return n;
}

/* What the values say, where four of five say it; *some: where one does. */
static enum kind kind_of_values(const struct spot *spot, enum kind *some)
{
	size_t counts[KIND_COUNT] = {0}, best = KIND_NONE;

	for (size_t i = 0; i < spot->n; i++) {
		if (spot->values[i].type == 'S')
			counts[kind_of_text(spot->values[i].text)]++;
		else if (spot->values[i].type == 'B')
			counts[KIND_BYTES]++;
	}
	*some = KIND_NONE;
	for (size_t i = KIND_NONE + 1; i < KIND_COUNT; i++) {
		if (counts[i] > 0)
			*some = (enum kind)i;
		best = counts[i] * 5 >= spot->n * 4 ? i : best;
	}
	return (enum kind)best;
}

/* A few words, as of a status. */
static bool is_enumeration(const struct spot *spot)
{
	struct str distinct[WORDS_MOST];
	size_t n = 0, most = spot->n / 4 > 12 ? spot->n / 4 : 12;

	for (size_t i = 0; i < spot->n; i++) {
		struct str text = spot->values[i].text;
		bool is_new = spot->values[i].type == 'S';

		for (size_t k = 0; k < n && is_new; k++)
			is_new = !str_eq(distinct[k], text);
		if (is_new && (n == most || n == WORDS_MOST || text.n > 40))
			return false;
		if (is_new)
			distinct[n++] = text;
	}
	return true;
}

static bool are_moments(const struct spot *spot)
{
	for (size_t i = 0; i < spot->n; i++) {
		const struct met_value *value = &spot->values[i];

		if (value->type == 'S'   ? kind_of_text(value->text) != KIND_MOMENT
		    : value->type == 'N' ? !kind_is_moment(value->text)
					 : value->type != 'O')
			return false;
	}
	return true;
}

static bool is_strong(enum kind kind)
{
	return kind == KIND_MAIL || kind == KIND_IBAN || kind == KIND_NETWORK ||
	       kind == KIND_LINK || kind == KIND_TEXT || kind == KIND_BYTES || kind == KIND_MOMENT;
}

static enum kind decide_kind(const struct spot *spot)
{
	enum kind some, values = kind_of_values(spot, &some), name = kind_of_path(spot);

	if (spot_count_of(spot, 'O') == spot->n)
		return KIND_PLAIN;
	if (name == KIND_PLAIN && some != KIND_NONE)
		return values != KIND_NONE ? values : KIND_MIXED;
	if (name == KIND_PLAIN && !is_enumeration(spot))
		return KIND_MIXED;
	if (name == KIND_MOMENT && !are_moments(spot))
		return values != KIND_NONE && values != KIND_MOMENT ? values : KIND_NONE;
	if (name == KIND_NONE || is_strong(values))
		return values;
	return name;
}

static const char *decide_action(const struct spot *spot)
{
	const struct kind_row *row = kind_row(spot->kind);
	size_t numbers = spot_count_of(spot, 'N'), others = spot_count_of(spot, 'O');
	const char *action = numbers == 0                  ? row->text
			     : numbers + others == spot->n ? row->number
							   : "fake";

	if (numbers > 0 && strcmp(row->text, row->number) == 0)
		action = row->text;
	if (strcmp(action, "shift") == 0 && !are_moments(spot))
		action = "fake";
	/* keys that are redacted, rounded or kept would be equal, or tell */
	if (spot->is_key && (strcmp(action, "redact") == 0 || strcmp(action, "bucket") == 0))
		action = "fake";
	return action;
}

static bool is_equal_word(void *wanted, struct str word)
{
	return str_eq(*(const struct str *)wanted, word);
}

/* Neither of the schema nor of kinds.def: it may be a value. */
static bool is_foreign_word(void *context, struct str word)
{
	const struct suggest *suggest = context;

	if (kind_is_tag(word))
		return false;
	for (size_t i = 0; i < suggest->schema_count; i++) {
		if (kind_words(suggest->schema[i], is_equal_word, &word))
			return false;
	}
	return true;
}

/* Whether a part of a composite key may stand in the mask: all its words are such. */
static bool is_tag(struct suggest *suggest, struct str part)
{
	bool has_letter = false;

	for (size_t i = 0; i < part.n; i++) {
		char c = part.p[i];

		if ((c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-')
			return false;
		has_letter = has_letter || (c != '_' && c != '-');
	}
	return has_letter && part.n <= NAME_MOST && !kind_words(part, is_foreign_word, suggest);
}

static size_t cut_parts(struct str text, char mark, struct str parts[PARTS_MOST])
{
	size_t n = 0;

	while (n + 1 < PARTS_MOST && memchr(text.p, mark, text.n)) {
		parts[n++] = str_cut(&text, mark);
	}
	parts[n++] = text;
	return n;
}

/* What cuts the values of a spot into parts; 0: they are whole. */
static char spot_mark(struct suggest *suggest, const struct spot *spot)
{
	static const char marks[] = "#|:/";
	struct str parts[PARTS_MOST];

	for (const char *mark = marks; *mark; mark++) {
		size_t texts = 0, cut = 0, tagged = 0;

		for (size_t i = 0; i < spot->n; i++) {
			struct str text = spot->values[i].text;

			if (spot->values[i].type != 'S')
				return 0;
			texts++;
			if (text.n == 0 || !memchr(text.p, *mark, text.n))
				continue;
			cut++;
			cut_parts(text, *mark, parts);
			tagged += is_tag(suggest, parts[0]);
		}
		if (mark < marks + 2 ? cut * 5 >= texts && cut > 0
				     : tagged * 5 >= texts * 4 && cut > 0)
			return *mark;
	}
	return 0;
}

static struct str template_of(struct suggest *suggest, struct str text, char mark)
{
	struct str parts[PARTS_MOST];
	size_t n = cut_parts(text, mark, parts);
	struct buf out = buf_in(suggest->arena);

	for (size_t i = 0; i < n; i++) {
		bool is_plain = parts[i].n == 0 || is_tag(suggest, parts[i]);

		if (i > 0)
			buf_add_byte(&out, mark);
		if (is_plain)
			buf_add_str(&out, parts[i]);
		else
			buf_add_lit(&out, HOLE);
	}
	return buf_str(&out);
}

static size_t template_count_byte(struct str text, char wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == wanted;
	return n;
}

/* Of more parts first, then of more words: the first that fits a value counts. */
static bool goes_before(struct str a, struct str b, char mark)
{
	size_t parts_a = template_count_byte(a, mark), parts_b = template_count_byte(b, mark);
	size_t holes_a = template_count_byte(a, '<'), holes_b = template_count_byte(b, '<');

	if (parts_a != parts_b)
		return parts_a > parts_b;
	return holes_a != holes_b ? holes_a < holes_b : str_cmp(a, b) < 0;
}

static bool add_template(struct spot *spot, struct str template, char mark)
{
	size_t at = 0;

	for (size_t i = 0; i < spot->template_count; i++) {
		if (str_eq(spot->templates[i], template))
			return true;
	}
	if (spot->template_count == TEMPLATES_MOST)
		return false;
	while (at < spot->template_count && goes_before(spot->templates[at], template, mark))
		at++;
	memmove(spot->templates + at + 1, spot->templates + at,
		(spot->template_count - at) * sizeof(*spot->templates));
	spot->templates[at] = template;
	spot->template_count++;
	return true;
}

/* Composite keys, and others that are put together alike. */
static void decide_templates(struct suggest *suggest, struct spot *spot)
{
	bool has_words = false, may_have = spot->is_key || spot->kind == KIND_NONE ||
					   spot->kind == KIND_ID || spot->kind == KIND_NAME ||
					   spot->kind == KIND_MIXED;
	char mark = may_have ? spot_mark(suggest, spot) : 0;

	spot->mark = mark;
	for (size_t i = 0; i < spot->n && mark; i++) {
		if (!add_template(spot, template_of(suggest, spot->values[i].text, mark), mark)) {
			spot->template_count = 0; /* a shape of its own each */
			return;
		}
	}
	for (size_t i = 0; i < spot->template_count; i++)
		has_words = has_words || !str_eq(spot->templates[i], STR(HOLE));
	if (has_words && spot->kind != KIND_MIXED)
		spot->kind = KIND_ID;
	else if (!has_words)
		spot->template_count = 0;
}

static bool is_masked(const struct spot *spot)
{
	return strcmp(spot->action, "keep") != 0;
}

static void see_masked(struct suggest *suggest, struct proof *proof, const struct spot *spot)
{
	struct str parts[PARTS_MOST];

	for (size_t i = 0; i < spot->n; i++) {
		size_t n = 1;

		parts[0] = spot->values[i].text;
		if (spot->template_count > 0)
			n = cut_parts(parts[0], spot->mark, parts);
		for (size_t k = 0; k < n; k++) {
			if (spot->template_count == 0 || !is_tag(suggest, parts[k]))
				proof_saw(proof, parts[k], STR(""));
		}
	}
}

/* Whether values of masked spots, which the proof has, stand in those of this one. */
static bool tells(struct proof *proof, const struct spot *spot)
{
	for (size_t i = 0; i < spot->n; i++) {
		if (proof_is_in(proof, spot->values[i].text))
			return true;
	}
	return false;
}

/* A kept value in which a masked one stands would fail the pull. A round for each time that others
 * are masked for it. */
static void mask_what_tells(struct suggest *suggest)
{
	struct proof *proof = proof_new();
	size_t seen = 0;
	bool *is_seen = ARENA_ARRAY(suggest->arena, bool, suggest->spot_count);

	for (size_t before = SIZE_MAX; before != seen;) {
		before = seen;
		for (size_t i = 0; i < suggest->spot_count; i++) {
			struct spot *spot = &suggest->spots[i];

			if (spot->depth == 0 || is_seen[i] || !is_masked(spot))
				continue;
			see_masked(suggest, proof, spot);
			is_seen[i] = true;
			seen++;
		}
		for (size_t i = 0; i < suggest->spot_count && before != seen; i++) {
			struct spot *spot = &suggest->spots[i];

			if (spot->depth == 0 || is_masked(spot) || !tells(proof, spot))
				continue;
			spot->kind = KIND_MIXED;
			spot->action = "fake";
		}
	}
	proof_free(proof);
}

static int order_spots(const void *a, const void *b)
{
	const struct spot *left = a, *right = b;
	int order = str_cmp(left->table, right->table);

	for (size_t i = 0; order == 0 && i < left->depth && i < right->depth; i++)
		order = str_cmp(left->names[i], right->names[i]);
	return order != 0 ? order : (int)left->depth - (int)right->depth;
}

static void decide_all(struct suggest *suggest)
{
	size_t n = 0;

	collapse_maps(suggest);
	for (size_t i = 0; i < suggest->spot_count; i++) {
		if (suggest->spots[i].depth > 0)
			suggest->spots[n++] = suggest->spots[i];
	}
	suggest->spot_count = n;
	if (n > 0)
		qsort(suggest->spots, n, sizeof(*suggest->spots), order_spots);
	for (size_t i = 0; i < n; i++) {
		struct spot *spot = &suggest->spots[i];

		spot->kind = decide_kind(spot);
		decide_templates(suggest, spot);
		spot->action = spot->template_count > 0 ? "template" : decide_action(spot);
	}
	mask_what_tells(suggest);
}

/* Names as a path: "a.b[]". */
static struct str spot_path(const struct spot *spot, struct arena *arena)
{
	struct buf path = buf_in(arena);

	for (size_t i = 0; i < spot->depth; i++)
		buf_printf(&path, "%s" STR_FMT,
			   i > 0 && !str_eq(spot->names[i], STR("[]")) ? "." : "",
			   STR_ARG(spot->names[i]));
	return buf_str(&path);
}

static void write_path(struct json_out *out, const struct spot *spot, struct arena *arena)
{
	bool has_dots = false;

	for (size_t i = 0; i < spot->depth; i++)
		has_dots = has_dots || memchr(spot->names[i].p, '.', spot->names[i].n);
	json_out_name(out, STR("path"));
	if (!has_dots) {
		json_out_string(out, spot_path(spot, arena));
		return;
	}
	json_out_open(out, '[');
	for (size_t i = 0; i < spot->depth; i++) {
		struct buf name = buf_in(arena);

		buf_add_str(&name, spot->names[i]);
		while (i + 1 < spot->depth && str_eq(spot->names[i + 1], STR("[]"))) {
			buf_add_lit(&name, "[]");
			i++;
		}
		json_out_string(out, buf_str(&name));
	}
	json_out_close(out, ']');
}

static const char *unsure_reason(const struct spot *spot)
{
	if (spot->is_collapsed)
		return "names of members look like values, and a mask does not hide names";
	return kind_row(spot->kind)->is_sure ? NULL : kind_row(spot->kind)->shown;
}

static struct str rule_text(const struct suggest *suggest, const struct spot *spot,
			    struct arena *arena)
{
	struct json_out out = json_out_in(arena);
	const char *reason = unsure_reason(spot);

	json_out_open(&out, '{');
	write_path(&out, spot, arena);
	if (suggest->table_count > 1)
		json_out_field_string(&out, "table", spot->table);
	json_out_field_string(&out, "action", str_of(spot->action));
	if (spot->template_count > 0) {
		json_out_name(&out, STR("template"));
		json_out_open(&out, '[');
		for (size_t i = 0; i < spot->template_count; i++)
			json_out_string(&out, spot->templates[i]);
		json_out_close(&out, ']');
	}
	if (strcmp(spot->action, "shift") == 0)
		json_out_field_integer(&out, "days", 365);
	if (strcmp(spot->action, "bucket") == 0)
		json_out_field_integer(&out, "size", 1);
	json_out_field_string(&out, "comment",
			      str_printf(arena, "%s%s", reason ? "unsure: " : "",
					 reason ? reason : kind_row(spot->kind)->shown));
	json_out_close(&out, '}');
	return json_out_str(&out);
}

struct str suggest_write(struct suggest *suggest, struct arena *arena)
{
	struct buf out = buf_in(arena);

	decide_all(suggest);
	buf_add_lit(&out, "{\"rules\": [");
	for (size_t i = 0; i < suggest->spot_count; i++) {
		buf_printf(&out, "%s\n  ", i > 0 ? "," : "");
		buf_add_str(&out, rule_text(suggest, &suggest->spots[i], arena));
	}
	buf_add_lit(&out, "\n]}\n");
	return buf_str(&out);
}

bool suggest_unsure(const struct suggest *suggest, size_t *at, struct arena *arena,
		    struct str *path, const char **reason)
{
	while (*at < suggest->spot_count) {
		const struct spot *spot = &suggest->spots[(*at)++];

		*reason = unsure_reason(spot);
		if (*reason) {
			*path = str_printf(arena, STR_FMT ": " STR_FMT, STR_ARG(spot->table),
					   STR_ARG(spot_path(spot, arena)));
			return true;
		}
	}
	if (*at > suggest->spot_count || suggest->beyond == 0)
		return false;
	++*at;
	*path = STR("all tables");
	*reason = "there are more than 4096 paths; the others have no rule";
	return true;
}
