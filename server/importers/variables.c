/* The variables of serverless.yml: ${self:}, ${opt:}, ${param:}, ${env:}, ${sls:}, ${aws:},
 * ${file()}. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/buf.h"
#include "server/importers/intrinsics_internal.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"

/* A file that was read. */
struct loaded {
	struct loaded *next;
	const char *path;
	const struct json *root;
};

/* What a variable stands for: a value of a document, or a text; neither: it is not known. */
struct meaning {
	const struct json *node;
	struct str text;
};

/* Where the inside of a ${ that begins at `from` ends, with others within it; the text's length
 * where it does not. */
static size_t variable_end(struct str text, size_t from)
{
	unsigned depth = 0;

	for (size_t i = from; i < text.n; i++) {
		if (text.p[i] == '{')
			depth++;
		if (text.p[i] == '}' && depth-- == 0)
			return i;
	}
	return text.n;
}

/* A part of a value: "custom.tables.0". Values on the way may be variables. */
static const struct json *part_of(struct intrinsics *in, const struct json *node, struct str path)
{
	while (node && path.n > 0) {
		struct str name = str_cut(&path, '.');
		char *end;

		node = intrinsics_peel(in, node);
		if (node && json_type(node) == JSON_ARRAY) {
			unsigned long i = strtoul(str_copy(in->arena, name).p, &end, 10);

			node = name.n > 0 && *end == '\0' ? intrinsics_element(node, i) : NULL;
		} else {
			node = intrinsics_member(node, name);
		}
	}
	return node;
}

static bool has_end(struct str name, const char *end)
{
	size_t n = strlen(end);

	return name.n >= n && memcmp(name.p + name.n - n, end, n) == 0;
}

/* A file that is no data, or that is broken, is a problem; one that is not there is not known. */
static const struct json *load(struct intrinsics *in, struct str name)
{
	static const char *const forms[] = {".yml", ".yaml", ".json"};
	const char *path = document_beside(in->arena, in->path, name);
	struct loaded *loaded = in->loaded;
	struct err err = err_in(in->arena);
	void *bytes;
	size_t size, i = 0;

	while (loaded && strcmp(loaded->path, path) != 0)
		loaded = loaded->next;
	if (loaded)
		return loaded->root;
	while (i < 3 && !has_end(name, forms[i]))
		i++;
	loaded = ARENA_NEW(in->arena, struct loaded);
	*loaded = (struct loaded){.next = in->loaded, .path = path};
	in->loaded = loaded;
	if (i == 3) {
		intrinsics_fail(in, str_printf(in->arena,
					       "file(" STR_FMT "), which is neither YAML nor JSON",
					       STR_ARG(name)));
		return NULL;
	}
	if (document_map(path, &bytes, &size, &err) != OK)
		return NULL; /* another alternative may be there */
	if (size > 0)
		munmap(bytes, size);
	if (document_load(in->arena, in->source, path, &loaded->root, &err) != OK) {
		loaded->root = NULL;
		intrinsics_fail(in, err.message);
	}
	return loaded->root;
}

/* "file(NAME):PATH" */
static const struct json *of_file(struct intrinsics *in, struct str name)
{
	const char *end = memchr(name.p, ')', name.n);
	struct str file, rest;

	if (!end)
		return NULL;
	file = str_trim((struct str){name.p + 5, (size_t)(end - name.p) - 5});
	rest = str_trim((struct str){end + 1, name.n - (size_t)(end + 1 - name.p)});
	if (rest.n > 0 && rest.p[0] == ':')
		rest = (struct str){rest.p + 1, rest.n - 1};
	const struct json *root = load(in, file);
	return root ? part_of(in, root, rest) : NULL;
}

static struct meaning of_stage(struct intrinsics *in)
{
	struct str given = intrinsics_given(in, STR("stage"));
	const struct json *stage =
		str_is_set(given) ? NULL : part_of(in, in->root, STR("provider.stage"));

	if (!str_is_set(given) && (!stage || intrinsics_is_begun(in, stage)))
		given = STR("dev");
	return (struct meaning){.node = str_is_set(given) ? NULL : stage, .text = given};
}

/* AWS: serverless' own default for both, where nothing names them. */
static struct str of_nothing(struct intrinsics *in, struct str name)
{
	if (str_eq(name, STR("opt:stage")) || str_eq(name, STR("self:provider.stage")))
		return STR("dev");
	if (str_eq(name, STR("opt:region")) || str_eq(name, STR("self:provider.region")))
		return in->region;
	return STR_ABSENT;
}

/* serverless: params of the stage, else those of "default"; as "params" or as "stages". */
static const struct json *of_params(struct intrinsics *in, struct str name)
{
	struct meaning stage = of_stage(in);
	struct str text = stage.node ? intrinsics_text(in, stage.node, 1) : stage.text;
	struct str paths[] = {
		str_printf(in->arena, "params." STR_FMT "." STR_FMT, STR_ARG(text), STR_ARG(name)),
		str_printf(in->arena, "stages." STR_FMT ".params." STR_FMT, STR_ARG(text),
			   STR_ARG(name)),
		str_printf(in->arena, "params.default." STR_FMT, STR_ARG(name)),
		str_printf(in->arena, "stages.default.params." STR_FMT, STR_ARG(name)),
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct json *found = part_of(in, in->root, paths[i]);

		if (found)
			return found;
	}
	return NULL;
}

static struct meaning of_source(struct intrinsics *in, struct str name)
{
	struct str rest = name, source = str_cut(&rest, ':');

	if (str_eq(source, STR("self")))
		return (struct meaning){.node = part_of(in, in->root, rest)};
	if (str_starts_with(name, STR("file(")))
		return (struct meaning){.node = of_file(in, name)};
	if (str_eq(source, STR("env")))
		return (struct meaning){
			.text = str_has_zero(rest) ? STR_ABSENT
						   : str_of(getenv(str_copy(in->arena, rest).p))};
	if (str_eq(name, STR("aws:accountId")))
		return (struct meaning){.text = in->account};
	if (str_eq(name, STR("aws:region")))
		return (struct meaning){.text = in->region};
	if (str_eq(name, STR("sls:stage")))
		return of_stage(in);
	return str_eq(source, STR("param")) ? (struct meaning){.node = of_params(in, rest)}
					    : (struct meaning){0};
}

/* What --parameter says goes before all: as "ssm:/a/b=x", or for opt and param by the bare name. */
static struct meaning of_variable(struct intrinsics *in, struct str name)
{
	struct str rest = name, source = str_cut(&rest, ':');
	struct str given = intrinsics_given(in, name);

	if (!str_is_set(given) && (str_eq(source, STR("opt")) || str_eq(source, STR("param"))))
		given = intrinsics_given(in, rest);
	return str_is_set(given) ? (struct meaning){.text = given} : of_source(in, name);
}

/* Whether ${...} is one of ours; others, such as ${AWS::Region}, belong to Fn::Sub. */
static bool is_variable(struct str inside)
{
	static const char *const sources[] = {"self:",      "opt:",
					      "param:",     "env:",
					      "sls:",       "aws:",
					      "file(",      "cf:",
					      "cf(",        "cf.",
					      "ssm:",       "ssm(",
					      "ssm.",       "s3:",
					      "s3(",        "output:",
					      "state:",     "git:",
					      "terraform(", "terraform:",
					      "vault:",     "secretsManager:",
					      "construct:", "strToBool("};
	struct str name = str_trim(inside);

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (str_starts_with(name, str_of(sources[i])))
			return true;
	}
	return false;
}

/* The next alternative: up to a comma that no quote or bracket holds. */
static struct str cut_alternative(struct str *rest)
{
	char quote = 0;
	size_t i = 0, brackets = 0;

	for (; i < rest->n; i++) {
		char c = rest->p[i];

		if (quote ? c == quote : c == '\'' || c == '"')
			quote = quote ? 0 : c;
		else if (!quote && c == '(')
			brackets++;
		else if (!quote && c == ')' && brackets > 0)
			brackets--;
		else if (!quote && c == ',' && brackets == 0)
			break;
	}
	struct str one = {rest->p, i};
	size_t past = i < rest->n ? i + 1 : i;
	*rest = (struct str){rest->p + past, rest->n - past};
	return str_trim(one);
}

static struct meaning of_alternative(struct intrinsics *in, struct str one)
{
	bool is_quoted =
		one.n >= 2 && (one.p[0] == '\'' || one.p[0] == '"') && one.p[one.n - 1] == one.p[0];

	if (is_quoted)
		return (struct meaning){.text = {one.p + 1, one.n - 2}};
	if (str_starts_with(one, STR("strToBool(")) && has_end(one, ")"))
		return (struct meaning){.text = {one.p + 10, one.n - 11}};
	if (is_variable(one))
		return of_variable(in, one);
	return one.n > 0 ? (struct meaning){.text = one} : (struct meaning){0};
}

/* The first of the alternatives that is known: "opt:stage, self:custom.stage, 'dev'". */
static struct meaning mean(struct intrinsics *in, struct str all)
{
	struct meaning meaning = {0};

	for (struct str rest = all; rest.n > 0 && !str_is_set(in->problem);) {
		meaning = of_alternative(in, cut_alternative(&rest));
		if (meaning.node && json_type(meaning.node) == JSON_NULL)
			meaning.node = NULL;
		if (meaning.node || str_is_set(meaning.text))
			return meaning;
	}
	for (struct str rest = all; rest.n > 0 && !str_is_set(meaning.text);)
		meaning.text = of_nothing(in, cut_alternative(&rest));
	if (!str_is_set(meaning.text))
		intrinsics_fail(in, str_printf(in->arena, "${" STR_FMT "}", STR_ARG(all)));
	return meaning;
}

static struct str expand(struct intrinsics *in, struct str text, unsigned depth);

static struct str value_of(struct intrinsics *in, struct str inside, unsigned depth)
{
	struct meaning meaning = mean(in, inside);

	if (!meaning.node)
		return str_is_set(meaning.text) ? meaning.text : STR("");
	return intrinsics_text_named(in, str_trim(inside), meaning.node, depth + 1);
}

/* With the variables replaced, and those within them before. */
static struct str expand(struct intrinsics *in, struct str text, unsigned depth)
{
	struct buf buf = buf_in(in->arena);

	if (depth > DEPTH_MAX)
		return intrinsics_fail(in, STR("variables nested too deeply"));
	for (size_t i = 0; i < text.n; i++) {
		bool is_begin = text.p[i] == '$' && i + 1 < text.n && text.p[i + 1] == '{';
		size_t end = is_begin ? variable_end(text, i + 2) : text.n;

		if (is_begin && !intrinsics_goes_past(in, end - i))
			return STR("");
		if (!is_begin || end == text.n) {
			buf_add_byte(&buf, text.p[i]);
			continue;
		}
		struct str inside =
			expand(in, (struct str){text.p + i + 2, end - i - 2}, depth + 1);
		if (is_variable(inside))
			buf_add_str(&buf, value_of(in, inside, depth));
		else
			buf_printf(&buf, "${" STR_FMT "}", STR_ARG(inside));
		i = end;
	}
	return buf_str(&buf);
}

/* The inside of a text that is one variable; else absent. */
static struct str only_variable(struct intrinsics *in, struct str text, unsigned depth)
{
	struct str trimmed = str_trim(text);

	if (!str_starts_with(trimmed, STR("${")) || variable_end(trimmed, 2) != trimmed.n - 1)
		return STR_ABSENT;
	struct str inside = expand(in, (struct str){trimmed.p + 2, trimmed.n - 3}, depth + 1);
	return is_variable(inside) ? inside : STR_ABSENT;
}

const struct json *variables_node(struct intrinsics *in, struct str text, unsigned depth)
{
	struct str inside = only_variable(in, text, depth);

	return str_is_set(inside) ? mean(in, inside).node : NULL;
}

void variables_write(struct intrinsics *in, struct written *to, struct str text, unsigned depth)
{
	struct str inside = only_variable(in, text, depth);
	struct meaning meaning = str_is_set(inside) ? mean(in, inside) : (struct meaning){0};
	const struct json *tree = NULL;

	if (meaning.node)
		tree = intrinsics_named(in, str_trim(inside), meaning.node, depth + 1);
	if (tree)
		intrinsics_write_tree(in, to, tree);
	else if (str_is_set(inside))
		intrinsics_write_text(in, to, str_is_set(meaning.text) ? meaning.text : STR(""));
	else
		intrinsics_write_text(in, to, expand(in, text, depth));
}
