#include "server/seed/yaml.h"

#include <string.h>
#include <yaml.h>

#include "core/seen.h"
#include "protocol/wire/json_out.h"
#include "server/seed/messages.h"

#define DEPTH_MAX 100
#define JSON_MAX (16u << 20)
#define NODES_MAX 1000000

/* The node's tag without its mark where it is one of CloudFormation's, else NULL. */
static const char *function_tag(const yaml_node_t *node)
{
	const char *tag = (const char *)node->tag;

	return tag && tag[0] == '!' && tag[1] != '\0' && tag[1] != '!' ? tag + 1 : NULL;
}

/* JSON's own grammar of numbers, and whether that fits one. */
static bool is_number(struct str s)
{
	size_t i = s.n > 0 && s.p[0] == '-';
	size_t digits = i;

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	if (i == digits || (s.p[digits] == '0' && i - digits > 1))
		return false;
	if (i < s.n && s.p[i] == '.') {
		size_t fraction = ++i;

		while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
			i++;
		if (i == fraction)
			return false;
	}
	return i == s.n;
}

static void add_scalar(struct json_out *out, const yaml_node_t *node)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"},
				 *const truths[] = {"true", "True", "TRUE"},
				 *const falsehoods[] = {"false", "False", "FALSE"};
	struct str s = {(const char *)node->data.scalar.value, node->data.scalar.length};
	bool is_plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !function_tag(node);

	for (size_t i = 0; is_plain && i < sizeof(nulls) / sizeof(nulls[0]); i++) {
		if (str_eq(s, str_of(nulls[i]))) {
			json_out_null(out);
			return;
		}
	}
	for (size_t i = 0; is_plain && i < 3; i++) {
		bool is_true = str_eq(s, str_of(truths[i]));

		if (is_true || str_eq(s, str_of(falsehoods[i]))) {
			json_out_boolean(out, is_true);
			return;
		}
	}
	if (is_plain && is_number(s)) {
		if (out->needs_comma)
			buf_add_byte(&out->buf, ',');
		buf_add_str(&out->buf, s);
		out->needs_comma = true;
	} else {
		json_out_string(out, s);
	}
}

struct reading {
	struct arena *arena;
	yaml_document_t *document;
	struct json_out out;
	struct yaml_lines *lines;
	size_t nodes;
	size_t key_line;     /* of the value that follows; 0: it is no member's */
	size_t problem_line; /* 0: none */
	const char *problem;
};

static void add_node(struct reading *reading, const yaml_node_t *node, unsigned depth);

/* Of the value that is written next: a member's is that of its key. */
static void note_line(struct reading *reading, const yaml_node_t *node)
{
	struct yaml_lines *lines = reading->lines;
	size_t line = reading->key_line ? reading->key_line : node->start_mark.line + 1;

	reading->key_line = 0;
	lines->v = arena_room(reading->arena, lines->v, lines->n, sizeof(*lines->v));
	lines->v[lines->n++] = line;
}

static void stop_at(struct reading *reading, const yaml_node_t *node, const char *problem)
{
	if (reading->problem_line)
		return;
	reading->problem_line = node->start_mark.line + 1;
	reading->problem = problem;
}

static struct str key_of(struct reading *reading, const yaml_node_pair_t *pair)
{
	const yaml_node_t *key = yaml_document_get_node(reading->document, pair->key);

	if (key->type == YAML_SCALAR_NODE)
		return (struct str){(const char *)key->data.scalar.value, key->data.scalar.length};
	stop_at(reading, key, "a key that is no text");
	return STR("");
}

static bool is_merge(struct reading *reading, const yaml_node_pair_t *pair)
{
	const yaml_node_t *key = yaml_document_get_node(reading->document, pair->key);

	return key->type == YAML_SCALAR_NODE && key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       str_eq(key_of(reading, pair), STR("<<"));
}

/* A map's pairs as they are written, merged ones behind its own. */
struct pairs {
	const yaml_node_pair_t **v;
	size_t n;
};

static void merge(struct reading *reading, const yaml_node_t *node, struct pairs *pairs,
		  unsigned depth);

static void merge_from(struct reading *reading, const yaml_node_t *from, struct pairs *pairs,
		       unsigned depth)
{
	if (from->type == YAML_MAPPING_NODE) {
		merge(reading, from, pairs, depth + 1);
		return;
	}
	if (from->type != YAML_SEQUENCE_NODE) {
		stop_at(reading, from, "<< wants a map, or a list of maps");
		return;
	}
	for (const yaml_node_item_t *item = from->data.sequence.items.start;
	     item < from->data.sequence.items.top; item++) {
		const yaml_node_t *one = yaml_document_get_node(reading->document, *item);

		if (one->type == YAML_MAPPING_NODE)
			merge(reading, one, pairs, depth + 1);
		else
			stop_at(reading, one, "<< wants a map, or a list of maps");
	}
}

static void merge(struct reading *reading, const yaml_node_t *node, struct pairs *pairs,
		  unsigned depth)
{
	const yaml_node_pair_t *start = node->data.mapping.pairs.start,
			       *top = node->data.mapping.pairs.top;

	if (depth > DEPTH_MAX || pairs->n > NODES_MAX)
		stop_at(reading, node, "merged too often");
	for (const yaml_node_pair_t *pair = start; pair < top && !reading->problem_line; pair++) {
		if (is_merge(reading, pair))
			continue;
		pairs->v = arena_room(reading->arena, pairs->v, pairs->n, sizeof(*pairs->v));
		pairs->v[pairs->n++] = pair;
	}
	for (const yaml_node_pair_t *pair = start; pair < top && !reading->problem_line; pair++) {
		if (is_merge(reading, pair))
			merge_from(reading, yaml_document_get_node(reading->document, pair->value),
				   pairs, depth);
	}
}

/* A key that stands twice in one map is written twice: the last one counts, and a reader knows that
 * the first was left out. */
static void add_map(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	struct pairs pairs = {0};
	size_t own = 0;

	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++)
		own += !is_merge(reading, pair);

	merge(reading, node, &pairs, 0);
	struct seen seen = seen_new(reading->arena, pairs.n);
	for (size_t i = 0; i < pairs.n && !reading->problem_line; i++) {
		struct str name = key_of(reading, pairs.v[i]);

		if (!seen_add(&seen, name) && i >= own)
			continue; /* a merged one */
		json_out_name(&reading->out, name);
		reading->key_line = yaml_document_get_node(reading->document, pairs.v[i]->key)
					    ->start_mark.line +
				    1;
		add_node(reading, yaml_document_get_node(reading->document, pairs.v[i]->value),
			 depth + 1);
	}
}

static void add_plainly(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	bool is_map = node->type == YAML_MAPPING_NODE;

	note_line(reading, node);
	if (node->type == YAML_SCALAR_NODE) {
		add_scalar(&reading->out, node);
		return;
	}
	json_out_open(&reading->out, is_map ? '{' : '[');
	if (is_map) {
		add_map(reading, node, depth);
	} else {
		for (const yaml_node_item_t *item = node->data.sequence.items.start;
		     item < node->data.sequence.items.top; item++)
			add_node(reading, yaml_document_get_node(reading->document, *item),
				 depth + 1);
	}
	json_out_close(&reading->out, is_map ? '}' : ']');
}

/* "A.B" of !GetAtt is a list. */
static void add_attribute(struct reading *reading, const yaml_node_t *node)
{
	struct str rest = {(const char *)node->data.scalar.value, node->data.scalar.length},
		   first = str_cut(&rest, '.');

	for (unsigned i = 0; i < 3; i++)
		note_line(reading, node);
	json_out_open(&reading->out, '[');
	json_out_string(&reading->out, first);
	json_out_string(&reading->out, rest);
	json_out_close(&reading->out, ']');
}

/* !!binary, !!set and the like: types that JSON has not. */
static bool is_strange(const yaml_node_t *node)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const char *const plain[] = {"str",  "int", "float", "bool",
					    "null", "seq", "map",   "timestamp"};
	const char *tag = (const char *)node->tag;

	if (!tag || strncmp(tag, prefix, sizeof(prefix) - 1) != 0)
		return tag && tag[0] != '!';
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (strcmp(tag + sizeof(prefix) - 1, plain[i]) == 0)
			return false;
	}
	return true;
}

static void add_node(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	const char *tag = function_tag(node);

	if (depth > DEPTH_MAX || reading->out.buf.n > JSON_MAX || ++reading->nodes > NODES_MAX)
		stop_at(reading, node, "nested too deeply, or an alias that grows too large");
	if (!tag && is_strange(node))
		stop_at(reading, node, "a value of that tag is not read here");
	if (reading->problem_line)
		return;
	if (!tag) {
		add_plainly(reading, node, depth);
		return;
	}
	bool is_bare = strcmp(tag, "Ref") == 0 || strcmp(tag, "Condition") == 0;
	note_line(reading, node);
	json_out_open(&reading->out, '{');
	json_out_name(&reading->out,
		      is_bare ? str_of(tag) : str_printf(reading->arena, "Fn::%s", tag));
	if (strcmp(tag, "GetAtt") == 0 && node->type == YAML_SCALAR_NODE)
		add_attribute(reading, node);
	else
		add_plainly(reading, node, depth);
	json_out_close(&reading->out, '}');
}

static void read_root(struct reading *reading, struct str *json)
{
	const yaml_node_t *root = yaml_document_get_root_node(reading->document);

	if (root)
		add_node(reading, root, 0);
	*json = root ? json_out_str(&reading->out) : STR("null");
}

/* Whether another document follows, or something that is none. */
static bool has_more(yaml_parser_t *parser, size_t *line)
{
	yaml_document_t document;
	bool is_read = yaml_parser_load(parser, &document);
	bool is_there = !is_read || yaml_document_get_root_node(&document);

	*line = (is_read ? document.start_mark.line : parser->problem_mark.line) + 1;
	yaml_document_delete(&document);
	return is_there;
}

static enum code read_stream(struct reading *reading, yaml_parser_t *parser, struct str *json,
			     struct err *err)
{
	yaml_document_t document;
	struct yaml_lines *lines = reading->lines;

	if (!yaml_parser_load(parser, &document)) {
		lines->problem = parser->problem_mark.line + 1;
		return err_set(err, MSG_SEED_YAML, parser->problem ? parser->problem : "no YAML");
	}
	reading->document = &document;
	read_root(reading, json);
	bool is_nothing = !yaml_document_get_root_node(&document);
	lines->problem = reading->problem_line;
	yaml_document_delete(&document);
	if (lines->problem)
		return err_set(err, MSG_SEED_YAML, reading->problem);
	return !is_nothing && has_more(parser, &lines->problem)
		       ? err_set(err, MSG_SEED_YAML, "a second document")
		       : OK;
}

enum code yaml_to_json(struct arena *arena, struct str text, struct str *json,
		       struct yaml_lines *lines, struct err *err)
{
	struct reading reading = {.arena = arena, .out = json_out_in(arena), .lines = lines};
	yaml_parser_t parser;

	*lines = (struct yaml_lines){0};
	if (!yaml_parser_initialize(&parser))
		return err_set(err, MSG_SEED_YAML, "no memory");
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	enum code code = read_stream(&reading, &parser, json, err);
	yaml_parser_delete(&parser);
	return code;
}
