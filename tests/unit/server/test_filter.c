/*
 * Event filtering patterns. What is marked AWS is expected as LocalStack's tests
 * (test_lambda_integration_dynamodbstreams) found it there; the rest is the table "Filter rule
 * syntax" of the Lambda Developer Guide.
 */
#include "server/push/filter.h"

#include "core/buf.h"
#include "tests/unit/test.h"

static struct arena *arena;

/* Whether the record passes the one pattern; both are JSON with ' for ". */
static bool passes(const char *pattern, const char *record)
{
	char texts[2][512];
	struct err err = err_in(arena);
	const struct json *json;
	struct filter filter;
	struct str problem;

	snprintf(texts[0], sizeof(texts[0]), "%s", pattern);
	snprintf(texts[1], sizeof(texts[1]), "%s", record);
	for (int i = 0; i < 2; i++) {
		for (char *p = texts[i]; *p; p++)
			*p = *p == '\'' ? '"' : *p;
	}
	struct str criteria = str_printf(arena, "{\"Filters\":[{\"Pattern\":%s}]}", texts[0]);
	bool is_read = filter_read(arena, criteria, STR("t"), &filter, &problem);
	CHECK(is_read);
	if (!is_read || json_parse(arena, str_of(texts[1]), &json, &err) != OK) {
		fprintf(stderr, "%s %s\n", texts[0], texts[1]);
		CHECK(false);
		return false;
	}
	return filter_passes(&filter, arena, json);
}

TEST(patterns_and_records)
{
	static const struct {
		const char *pattern, *record;
		bool passes;
	} cases[] = {
		/* AWS */
		{"{'eventName':['INSERT']}", "{'eventName':'INSERT'}", true},
		{"{'eventName':['INSERT']}", "{'eventName':'MODIFY'}", false},
		{"{'eventName':['INSERT','MODIFY']}", "{'eventName':'MODIFY'}", true},
		{"{'eventName':['INSERT'],'eventSource':['aws:dynamodb']}",
		 "{'eventName':'INSERT','eventSource':'aws:dynamodb'}", true},
		{"{'n':{'k':{'S':['v']}}}", "{'n':{'k':{'S':'v'}}}", true},
		{"{'n':{'k':{'S':['v']}}}", "{'n':{}}", false},
		{"{'n':{'k':['v']}}", "{'n':{'k':{'S':'v'}}}", false},
		{"{'n':{'k':{'S':[{'exists':true}]}}}", "{'n':{'k':{'S':'v'}}}", true},
		{"{'n':{'k':{'S':[{'exists':true}]}}}", "{'n':{}}", false},
		{"{'n':{'k':[{'exists':true}]}}", "{'n':{'k':{'S':'v'}}}", false},
		{"{'n':{'k':[{'exists':false}]}}", "{'n':{'k':{'S':'v'}}}", true},
		{"{'n':{'k':[{'exists':false}]}}", "{'n':{}}", true},
		{"{'n':{'k':{'N':[{'numeric':['>',100]},{'anything-but':'101'}]}}}",
		 "{'n':{'k':{'N':'42'}}}", true},
		{"{'n':{'k':{'N':[{'numeric':['>',100]},{'anything-but':'101'}]}}}",
		 "{'n':{'k':{'N':'101'}}}", false},
		{"{'n':{'k':{'S':[{'prefix':'us-1'}]}}}", "{'n':{'k':{'S':'us-1-other-suffix'}}}",
		 true},
		{"{'n':{'k':{'S':[{'prefix':'us-1'}]}}}", "{'n':{'k':{'S':'other-suffix'}}}",
		 false},
		{"{'at':[{'numeric':['>',0]}]}", "{'at':1678831218}", true},
		/* the guide's table */
		{"{'a':[null]}", "{'a':null}", true},
		{"{'a':[null]}", "{'a':''}", false},
		{"{'a':['']}", "{'a':''}", true},
		{"{'a':['Alice']}", "{'a':'alice'}", false},
		{"{'a':[{'equals-ignore-case':'alice'}]}", "{'a':'Alice'}", true},
		{"{'a':[{'equals-ignore-case':'alice'}]}", "{'a':'Alic'}", false},
		{"{'a':['x'],'b':['y']}", "{'a':'x','b':'z'}", false},
		{"{'$or':[{'a':['x']},{'b':['y']}]}", "{'a':'z','b':'y'}", true},
		{"{'$or':[{'a':['x']},{'b':['y']}]}", "{'a':'z','b':'z'}", false},
		{"{'c':['w'],'$or':[{'a':['x']},{'b':['y']}]}", "{'a':'x'}", false},
		{"{'n':{'$or':[{'a':['x']},{'b':['y']}]}}", "{'n':{'b':'y'}}", true},
		{"{'a':[{'anything-but':['Raining']}]}", "{'a':'Sunny'}", true},
		{"{'a':[{'anything-but':['Raining','Snowing']}]}", "{'a':'Snowing'}", false},
		{"{'a':[{'anything-but':['Raining']}]}", "{}", false},
		{"{'a':[{'anything-but':5}]}", "{'a':6}", true},
		{"{'a':[{'anything-but':{'prefix':'x'}}]}", "{'a':'xy'}", false},
		{"{'a':[{'anything-but':{'suffix':'x'}}]}", "{'a':'xy'}", true},
		{"{'a':[{'numeric':['=',100]}]}", "{'a':100}", true},
		{"{'a':[{'numeric':['>',10,'<=',20]}]}", "{'a':20}", true},
		{"{'a':[{'numeric':['>',10,'<=',20]}]}", "{'a':10}", false},
		{"{'a':[{'numeric':['<',10]}]}", "{'a':'5'}", false},
		{"{'a':[{'suffix':'.png'}]}", "{'a':'.png'}", true},
		{"{'a':[{'suffix':'.png'}]}", "{'a':'png'}", false},
		{"{'a':[true,5]}", "{'a':5}", true},
		{"{'a':[true]}", "{'a':false}", false},
		/* lists of the record: any element */
		{"{'SS':['b']}", "{'SS':['a','b']}", true},
		{"{'SS':['c']}", "{'SS':['a','b']}", false},
		{"{'SS':[{'exists':false}]}", "{'SS':[]}", true},
		{"{'SS':[{'exists':false}]}", "{'SS':['a']}", false},
		{"{'L':{'S':['b']}}", "{'L':[{'S':'a'},{'S':'b'}]}", true},
		{"{'L':{'S':['c']}}", "{'L':[{'S':'a'},{'S':'b'}]}", false},
		{"{'a':{'b':{'c':[{'exists':false}]}}}", "{}", true},
		{"{'a':{'b':['x']}}", "{'a':'x'}", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (passes(cases[i].pattern, cases[i].record) != cases[i].passes)
			fprintf(stderr, "%s on %s\n", cases[i].pattern, cases[i].record);
		CHECK_INT(passes(cases[i].pattern, cases[i].record), cases[i].passes);
	}
}

TEST(filters_of_tables)
{
	struct str criteria = STR("{\"a\":{\"Filters\":[{\"Pattern\":\"{\\\"x\\\":[1]}\"},{"
				  "\"Pattern\":\"{\\\"y\\\":[1]}\"}]},\"b\":{\"Filters\":[]}}");
	struct err err = err_in(arena);
	const struct json *json;
	struct filter filter;
	struct str problem;

	CHECK(filter_read(arena, criteria, STR("a"), &filter, &problem));
	CHECK_INT(filter.n, 2);
	CHECK(json_parse(arena, STR("{\"y\":1}"), &json, &err) == OK &&
	      filter_passes(&filter, arena, json));
	CHECK(json_parse(arena, STR("{\"z\":1}"), &json, &err) == OK &&
	      !filter_passes(&filter, arena, json));
	CHECK(filter_read(arena, criteria, STR("b"), &filter, &problem) &&
	      filter_passes(&filter, arena, json));
	CHECK(filter_read(arena, criteria, STR("c"), &filter, &problem) &&
	      filter_passes(&filter, arena, json));
	CHECK(filter_read(arena, STR("{}"), STR("c"), &filter, &problem) &&
	      filter_passes(&filter, arena, json));
}

/* AWS: CreateEventSourceMapping refuses them: "Invalid filter pattern definition." */
TEST(what_is_no_filter_is_named)
{
	static const char *const patterns[] = {
		"single-string",
		"[{\"eventName\": [\"INSERT\"=123}]",
		"{}",
		"[]",
		"{\"a\":\"b\"}",
		"{\"a\":[]}",
		"{\"a\":{}}",
		"{\"a\":[[1]]}",
		"{\"a\":[{}]}",
		"{\"a\":[{\"prefix\":1}]}",
		"{\"a\":[{\"prefix\":\"x\",\"suffix\":\"y\"}]}",
		"{\"a\":[{\"near\":\"x\"}]}",
		"{\"a\":[{\"exists\":\"yes\"}]}",
		"{\"a\":[{\"numeric\":[]}]}",
		"{\"a\":[{\"numeric\":[\">\"]}]}",
		"{\"a\":[{\"numeric\":[\"~\",1]}]}",
		"{\"a\":[{\"numeric\":[\">\",\"1\"]}]}",
		"{\"a\":[{\"anything-but\":[]}]}",
		"{\"a\":[{\"anything-but\":[[]]}]}",
		"{\"a\":[{\"anything-but\":{\"numeric\":[\">\",1]}}]}",
		"{\"$or\":[]}",
		"{\"$or\":[1]}",
		"{\"$or\":{\"a\":\"b\"}}",
	};
	struct filter filter;
	struct str problem;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct buf text = buf_in(arena);

		buf_add_lit(&text, "{\"Filters\":[{\"Pattern\":\"");
		for (const char *p = patterns[i]; *p; p++) {
			if (*p == '"')
				buf_add_byte(&text, '\\');
			buf_add_byte(&text, (unsigned char)*p);
		}
		buf_add_lit(&text, "\"}]}");
		bool is_read = filter_read(arena, buf_str(&text), STR("t"), &filter, &problem);
		if (is_read)
			fprintf(stderr, "%s\n", patterns[i]);
		CHECK(!is_read);
		CHECK_STR(problem, patterns[i]);
	}
	CHECK(!filter_read(arena, STR("{\"Filters\":[{}]}"), STR("t"), &filter, &problem));
	CHECK_STR(problem, "Filters[0]");
	CHECK(!filter_read(arena, STR("{\"other\":5}"), STR("t"), &filter, &problem));
	CHECK_STR(problem, "other");
	CHECK(!filter_read(arena, STR("nothing"), STR("t"), &filter, &problem));
	CHECK_STR(problem, "nothing");
}

int main(void)
{
	static const struct test_case cases[] = {TEST_CASE(patterns_and_records),
						 TEST_CASE(filters_of_tables),
						 TEST_CASE(what_is_no_filter_is_named)};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
