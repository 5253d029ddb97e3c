#include "server/seed/yaml.h"

#include <string.h>
#include <yaml.h>

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
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"}, *const truths[] = {"true", "True", "TRUE"},
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
	yaml_document_t *document;
	struct json_out out;
	size_t nodes;
	size_t problem_line; /* 0: none */
};

static void add_node(struct reading *reading, const yaml_node_t *node, unsigned depth);

static void add_children(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	bool is_map = node->type == YAML_MAPPING_NODE;

	json_out_open(&reading->out, is_map ? '{' : '[');
	if (is_map) {
		for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
			const yaml_node_t *key = yaml_document_get_node(reading->document, pair->key);

			json_out_name(&reading->out, key->type == YAML_SCALAR_NODE ?
					(struct str){(const char *)key->data.scalar.value, key->data.scalar.length} : STR("?"));
			add_node(reading, yaml_document_get_node(reading->document, pair->value), depth + 1);
		}
	} else {
		for (const yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
			add_node(reading, yaml_document_get_node(reading->document, *item), depth + 1);
	}
	json_out_close(&reading->out, is_map ? '}' : ']');
}

static void add_plainly(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	if (node->type == YAML_SCALAR_NODE)
		add_scalar(&reading->out, node);
	else
		add_children(reading, node, depth);
}

/* "A.B" of !GetAtt is a list. */
static void add_attribute(struct reading *reading, const yaml_node_t *node)
{
	struct str rest = {(const char *)node->data.scalar.value, node->data.scalar.length}, first = str_cut(&rest, '.');

	json_out_open(&reading->out, '[');
	json_out_string(&reading->out, first);
	json_out_string(&reading->out, rest);
	json_out_close(&reading->out, ']');
}

static void add_node(struct reading *reading, const yaml_node_t *node, unsigned depth)
{
	const char *tag = function_tag(node);

	if (reading->problem_line)
		return;
	if (depth > DEPTH_MAX || reading->out.buf.n > JSON_MAX || ++reading->nodes > NODES_MAX) {
		reading->problem_line = node->start_mark.line + 1;
		return;
	}
	if (!tag) {
		add_plainly(reading, node, depth);
		return;
	}
	bool is_bare = strcmp(tag, "Ref") == 0 || strcmp(tag, "Condition") == 0;
	json_out_open(&reading->out, '{');
	json_out_name(&reading->out, is_bare ? str_of(tag) : str_printf(reading->out.buf.arena, "Fn::%s", tag));
	if (strcmp(tag, "GetAtt") == 0 && node->type == YAML_SCALAR_NODE)
		add_attribute(reading, node);
	else
		add_plainly(reading, node, depth);
	json_out_close(&reading->out, '}');
}

enum code yaml_to_json(struct arena *arena, struct str text, struct str *json, struct err *err)
{
	yaml_parser_t parser;
	yaml_document_t document;
	enum code code = OK;

	if (!yaml_parser_initialize(&parser))
		return err_set(err, MSG_SEED_YAML, (size_t)0, "no memory");
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	if (!yaml_parser_load(&parser, &document)) {
		code = err_set(err, MSG_SEED_YAML, parser.problem_mark.line + 1, parser.problem ? parser.problem : "no YAML");
	} else {
		struct reading reading = {.document = &document, .out = json_out_in(arena)};
		const yaml_node_t *root = yaml_document_get_root_node(&document);

		if (root)
			add_node(&reading, root, 0);
		*json = root ? json_out_str(&reading.out) : STR("null");
		if (reading.problem_line)
			code = err_set(err, MSG_SEED_YAML_DEEP, reading.problem_line);
		yaml_document_delete(&document);
	}
	yaml_parser_delete(&parser);
	return code;
}
