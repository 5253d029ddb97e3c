#include "server/seed/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/seen.h"
#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

#define DEPTH_MAX 100
#define JSON_MAX (16u << 20)
#define NODES_MAX 1000000

/* The node's tag without its mark where it is "!Name", else NULL. */
static const char *function_tag(const yaml_node_t *node)
{
	const char *tag = (const char *)node->tag;

	return tag && tag[0] == '!' && tag[1] != '\0' && tag[1] != '!' ? tag + 1 : NULL;
}

/* AWS: the functions that CloudFormation has, and those of its rules. */
static bool is_function(const char *name)
{
	static const char *const names[] = {"And",
					    "Base64",
					    "Cidr",
					    "Condition",
					    "Contains",
					    "Equals",
					    "EachMemberEquals",
					    "EachMemberIn",
					    "FindInMap",
					    "ForEach",
					    "GetAZs",
					    "GetAtt",
					    "GetStackOutput",
					    "If",
					    "ImportValue",
					    "Join",
					    "Length",
					    "Not",
					    "Or",
					    "Ref",
					    "RefAll",
					    "Select",
					    "Split",
					    "Sub",
					    "ToJsonString",
					    "Transform",
					    "ValueOf",
					    "ValueOfAll"};

	return JSON_TEXT_IS_AMONG(str_of(name), names);
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

struct reading {
	struct arena *arena;
	yaml_document_t *document;
	struct json_out out;
	struct yaml_lines *lines;
	size_t nodes;
	size_t *texts; /* where scalars with the tag !!str or ! begin, in order */
	size_t text_count;
	size_t key_line;     /* of the value that follows; 0: it is no member's */
	size_t problem_line; /* 0: none */
	const char *problem;
};

/* Types of YAML that JSON has, too: the end of their tags. */
enum tagged {
	TAGGED_NONE,
	TAGGED_TEXT,
	TAGGED_NULL,
	TAGGED_TRUTH,
	TAGGED_INTEGER,
	TAGGED_REAL,
	TAGGED_LIST,
	TAGGED_MAP
};

static enum tagged tagged_type(const yaml_node_t *node)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const struct {
		const char *tag;
		enum tagged type;
	} types[] = {
		{"str", TAGGED_TEXT},   {"timestamp", TAGGED_TEXT}, {"null", TAGGED_NULL},
		{"bool", TAGGED_TRUTH}, {"int", TAGGED_INTEGER},    {"float", TAGGED_REAL},
		{"seq", TAGGED_LIST},   {"map", TAGGED_MAP},
	};
	const char *tag = (const char *)node->tag;

	for (size_t i = 0; tag && strncmp(tag, prefix, sizeof(prefix) - 1) == 0 &&
			   i < sizeof(types) / sizeof(types[0]);
	     i++) {
		if (strcmp(tag + sizeof(prefix) - 1, types[i].tag) == 0)
			return types[i].type;
	}
	return TAGGED_NONE;
}

static int by_place(const void *a, const void *b)
{
	size_t left = *(const size_t *)a, right = *(const size_t *)b;

	return left < right ? -1 : left > right;
}

/* Whether the scalar itself says that it is a text. libyaml gives the tag of texts to all scalars
 * without a tag. */
static bool is_text(const struct reading *reading, const yaml_node_t *node)
{
	return node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
	       (reading->text_count > 0 &&
		bsearch(&node->start_mark.index, reading->texts, reading->text_count,
			sizeof(*reading->texts), by_place));
}

/* Null, a boolean or a number. False: it is none of that type. */
static bool add_value(struct json_out *out, struct str s, enum tagged type)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"},
				 *const truths[] = {"true", "True", "TRUE"},
				 *const falsehoods[] = {"false", "False", "FALSE"};
	bool is_any = type == TAGGED_NONE, is_true = JSON_TEXT_IS_AMONG(s, truths);

	if ((is_any || type == TAGGED_NULL) && JSON_TEXT_IS_AMONG(s, nulls)) {
		json_out_null(out);
		return true;
	}
	if ((is_any || type == TAGGED_TRUTH) && (is_true || JSON_TEXT_IS_AMONG(s, falsehoods))) {
		json_out_boolean(out, is_true);
		return true;
	}
	bool is_whole = !memchr(s.p, '.', s.n);
	if (!is_number(s) ||
	    (!is_any && type != TAGGED_REAL && (type != TAGGED_INTEGER || !is_whole)))
		return false;
	if (out->needs_comma)
		buf_add_byte(&out->buf, ',');
	buf_add_str(&out->buf, s);
	out->needs_comma = true;
	return true;
}

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

static void add_scalar(struct reading *reading, const yaml_node_t *node)
{
	struct str s = {(const char *)node->data.scalar.value, node->data.scalar.length};
	enum tagged type = tagged_type(node);
	bool is_tagged = type != TAGGED_TEXT && !function_tag(node);

	if (is_tagged && add_value(&reading->out, s, type))
		return;
	if (is_tagged)
		stop_at(reading, node, "a value that is not of the type of its tag");
	else if (function_tag(node) || is_text(reading, node) ||
		 !add_value(&reading->out, s, TAGGED_NONE))
		json_out_string(&reading->out, s);
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

/* A key that stands twice in one map is written twice, for others to judge. */
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
		const yaml_node_t *key = yaml_document_get_node(reading->document, pairs.v[i]->key);
		struct str name = key_of(reading, pairs.v[i]);

		if (!seen_add(&seen, name) && i >= own)
			continue; /* a merged one */
		json_out_name(&reading->out, name);
		reading->key_line = key->start_mark.line + 1;
		add_node(reading, yaml_document_get_node(reading->document, pairs.v[i]->value),
			 depth + 1);
	}
}

static void add_plainly(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	bool is_map = node->type == YAML_MAPPING_NODE;

	note_line(reading, node);
	if (node->type == YAML_SCALAR_NODE) {
		add_scalar(reading, node);
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

/* Why a node's tag cannot be read: !!binary, !!set and the like, or a function that there is not.
 * NULL: it can. */
static const char *problem_of_tag(const yaml_node_t *node)
{
	static const enum tagged of_nodes[] = {
		[YAML_SEQUENCE_NODE] = TAGGED_LIST, [YAML_MAPPING_NODE] = TAGGED_MAP};
	const char *function = function_tag(node);
	bool is_container = node->type != YAML_SCALAR_NODE;

	if (function)
		return is_function(function) ? NULL : "a tag that is no function of CloudFormation";
	if (tagged_type(node) == TAGGED_NONE)
		return "a value of that tag is not read here";
	return is_container != (tagged_type(node) == TAGGED_LIST ||
				tagged_type(node) == TAGGED_MAP) ||
			       (is_container && tagged_type(node) != of_nodes[node->type])
		       ? "a value that is not of the type of its tag"
		       : NULL;
}

static void add_node(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	const char *tag = function_tag(node);

	if (depth > DEPTH_MAX || reading->out.buf.n > JSON_MAX || ++reading->nodes > NODES_MAX)
		stop_at(reading, node, "nested too deeply, or an alias that grows too large");
	if (problem_of_tag(node))
		stop_at(reading, node, problem_of_tag(node));
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

/* Where the scalars are that say by a tag that they are texts. What is no YAML is found later. */
static void find_texts(struct reading *reading, struct str text)
{
	yaml_parser_t parser;
	bool is_more = yaml_parser_initialize(&parser);

	if (!is_more)
		return;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	while (is_more) {
		yaml_event_t event;

		is_more = yaml_parser_parse(&parser, &event);
		if (is_more && event.type == YAML_SCALAR_EVENT && event.data.scalar.tag) {
			reading->texts = arena_room(reading->arena, reading->texts,
						    reading->text_count, sizeof(*reading->texts));
			reading->texts[reading->text_count++] = event.start_mark.index;
		}
		if (is_more) {
			is_more = event.type != YAML_STREAM_END_EVENT;
			yaml_event_delete(&event);
		}
	}
	yaml_parser_delete(&parser);
}

enum code yaml_to_json(struct arena *arena, struct str text, struct str *json,
		       struct yaml_lines *lines, struct err *err)
{
	struct reading reading = {.arena = arena, .out = json_out_in(arena), .lines = lines};
	yaml_parser_t parser;

	*lines = (struct yaml_lines){0};
	find_texts(&reading, text);
	if (!yaml_parser_initialize(&parser))
		return err_set(err, MSG_SEED_YAML, "no memory");
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	enum code code = read_stream(&reading, &parser, json, err);
	yaml_parser_delete(&parser);
	return code;
}
