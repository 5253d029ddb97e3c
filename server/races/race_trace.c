#include "server/races/race_trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "protocol/ops.h"
#include "protocol/wire/json.h"

#define DIGITS_MIN 4 /* a number with so many may be made anew in each run */
#define NUMBER_LONG 1000
#define WORDS_MAX 256
#define FACTS_MIN 1024

/* Another one for the two the other way round. */
static uint64_t hash_two(uint64_t first, uint64_t second)
{
	const uint64_t both[] = {first, second};

	return str_hash((struct str){(const char *)both, sizeof(both)}, 0);
}

struct race_trace race_trace_in(struct arena *arena, const struct race_facts *facts)
{
	return (struct race_trace){.arena = arena, .last = RACE_NONE, .facts = facts};
}

static uint64_t fact_of(uint64_t answer, uint64_t request)
{
	return hash_two(answer, request) | 1;
}

/* Where it is, or may be put. */
static size_t slot_of(const struct race_facts *facts, uint64_t hash)
{
	size_t at = (size_t)(hash >> 1) & (facts->size - 1);

	while (facts->slots[at] && facts->slots[at] != hash)
		at = (at + 1) & (facts->size - 1);
	return at;
}

static void grow(struct race_facts *facts)
{
	struct race_facts larger = {.arena = facts->arena,
				    .size = facts->size ? 2 * facts->size : FACTS_MIN,
				    .n = facts->n};

	larger.slots = arena_calloc(facts->arena, larger.size, sizeof(*larger.slots));
	for (size_t i = 0; i < facts->size; i++) {
		if (facts->slots[i])
			larger.slots[slot_of(&larger, facts->slots[i])] = facts->slots[i];
	}
	*facts = larger;
}

static bool has_fact(const struct race_facts *facts, uint64_t hash)
{
	return facts->size > 0 && facts->slots[slot_of(facts, hash)] == hash;
}

bool race_trace_is_free(const struct race_facts *facts, uint64_t answer, uint64_t request)
{
	return has_fact(facts, fact_of(answer, request));
}

/* Of another kind than that the request came before the answer. */
static uint64_t fact_of_following(uint64_t answer, uint64_t request)
{
	return fact_of(~answer, request);
}

static void add_fact(struct race_facts *facts, uint64_t hash)
{
	if (has_fact(facts, hash))
		return;
	if (2 * facts->n >= facts->size)
		grow(facts);
	facts->slots[slot_of(facts, hash)] = hash;
	facts->n++;
}

void race_trace_learn(struct race_facts *facts, const struct race_trace *trace)
{
	for (size_t r = 0; r < trace->n; r++) {
		const struct race_request *request = &trace->requests[r];

		if (request->parent != RACE_NONE)
			add_fact(facts, fact_of_following(trace->requests[request->parent].id,
							  request->id));
		for (size_t q = 0; q < trace->n; q++) {
			if (q != r && trace->requests[q].answered > request->behind)
				add_fact(facts, fact_of(trace->requests[q].id, request->id));
		}
	}
}

/* How many bytes from here on are hexadecimal digits and dashes, as ids and times are, with a
 * decimal digit among them. */
static size_t number_length(const char *p, size_t n)
{
	size_t length = 0, digits = 0;

	while (length < n && (isxdigit((unsigned char)p[length]) || p[length] == '-')) {
		digits += isdigit((unsigned char)p[length]) != 0;
		length++;
	}
	return digits > 0 && length >= DIGITS_MIN ? length : 0;
}

/* Of a text without its long numbers. */
static uint64_t hash_masked(struct arena *arena, struct str text, uint64_t seed)
{
	struct buf masked = buf_in(arena);
	size_t at = 0;

	while (at < text.n) {
		bool is_inside = at > 0 && isalnum((unsigned char)text.p[at - 1]);
		size_t number = is_inside ? 0 : number_length(text.p + at, text.n - at);

		buf_add_byte(&masked, number > 0 ? '#' : text.p[at]);
		at += number > 0 ? number : 1;
	}
	return str_hash(buf_str(&masked), seed);
}

/* Members whose text the server makes, another one in each run. */
static bool is_token(struct str name)
{
	return str_eq(name, STR("ShardIterator")) || str_eq(name, STR("NextToken"));
}

/* Of a value, whatever the order of its members: maps of Go come in any order. */
static uint64_t hash_value(struct arena *arena, const struct json *value)
{
	enum json_type type = json_type(value);
	uint64_t hash = type;

	int64_t number;

	if (type == JSON_STRING)
		return hash_masked(arena, json_string(arena, value), hash);
	if (type == JSON_BOOLEAN)
		return hash_two(hash, json_boolean(value));
	if (type == JSON_NUMBER && json_integer(value, &number) && number > -NUMBER_LONG &&
	    number < NUMBER_LONG)
		return hash_two(hash, (uint64_t)number);
	for (const struct json *at = json_first(value); at; at = json_next(at)) {
		bool is_opaque = type == JSON_OBJECT && is_token(json_name(arena, at));
		uint64_t member = is_opaque ? 0 : hash_value(arena, at);

		hash = type == JSON_OBJECT
			       ? hash + hash_two(str_hash(json_name(arena, at), 0), member)
			       : hash_two(hash, member);
	}
	return hash;
}

static uint64_t hash_body(struct arena *arena, struct str body)
{
	struct err err = err_in(arena);
	const struct json *root;

	return json_parse(arena, body, &root, &err) == OK ? hash_value(arena, root)
							  : hash_masked(arena, body, 0);
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The next text between quotes; absent at the end. */
static struct str next_text(struct str *rest)
{
	const char *from = memchr(rest->p, '"', rest->n), *end = rest->p + rest->n, *to;

	if (!from)
		return STR_ABSENT;
	for (to = from + 1; to < end && *to != '"'; to++)
		to += *to == '\\' && to + 1 < end;
	if (to >= end)
		return STR_ABSENT;
	*rest = (struct str){to + 1, (size_t)(end - to - 1)};
	return (struct str){from + 1, (size_t)(to - from - 1)};
}

/* Names of members and types are told from values by what follows: a colon. */
static bool is_name(struct str rest)
{
	size_t at = 0;

	while (at < rest.n && isspace((unsigned char)rest.p[at]))
		at++;
	return at < rest.n && rest.p[at] == ':';
}

static void read_trace_words(struct race_trace *trace, struct race_request *request)
{
	struct str rest = request->body, text, name = STR("");

	request->words = ARENA_ARRAY(trace->arena, uint64_t, WORDS_MAX);
	for (text = next_text(&rest); str_is_set(text); text = next_text(&rest)) {
		uint64_t hash = str_hash(text, 0);

		if (is_name(rest)) {
			name = text;
			continue;
		}
		if (str_eq(name, STR("TableName")) &&
		    (request->table == 0 || request->table == hash))
			request->table = hash;
		else if (request->word_count < WORDS_MAX && text.n > 0)
			request->words[request->word_count++] = hash;
	}
	qsort(request->words, request->word_count, sizeof(*request->words), compare_words);
}

static bool writes(struct str operation, struct str body)
{
	enum op_id id;

	if (str_eq(operation, STR("ExecuteStatement")))
		return !str_contains(body, STR("SELECT")) && !str_contains(body, STR("select"));
	return !ops_find(operation, &id) || !ops_is_read(id);
}

/* How many like it have come. They and it are marked. */
static uint64_t number_among_alike(struct race_trace *trace, struct race_request *request)
{
	uint64_t n = 0;

	for (size_t i = 0; i < trace->n; i++) {
		if (trace->requests[i].like != request->like)
			continue;
		trace->requests[i].is_alike = request->is_alike = true;
		n++;
	}
	return n;
}

/* Whether they are of two clients by their names. */
static bool are_strangers(const struct race_request *a, const struct race_request *b)
{
	return str_is_set(a->client) && str_is_set(b->client) && !str_eq(a->client, b->client);
}

/* Whether another run shows that it does not need that answer. */
static bool is_known_free(const struct race_trace *trace, const struct race_request *before,
			  const struct race_request *request)
{
	if ((before->is_alike || request->is_alike) && before->like != request->like)
		return false;
	return race_trace_is_free(trace->facts, before->id, request->id);
}

/* The last one answered before it came, of those without whose answer it never came; the answer of
 * another client is not looked at. */
static size_t parent_of(const struct race_trace *trace, const struct race_request *request)
{
	size_t parent = RACE_NONE, latest = 0;

	for (size_t q = 0; q < trace->n; q++) {
		const struct race_request *before = &trace->requests[q];

		if (before->answered <= latest || before->answered > request->behind ||
		    are_strangers(before, request) || is_known_free(trace, before, request))
			continue;
		latest = before->answered;
		parent = q;
	}
	return parent;
}

/* Of the request behind the `n` first ones. */
static size_t chain_of(struct race_trace *trace, size_t n, size_t parent)
{
	if (parent == RACE_NONE)
		return trace->chains++;
	for (size_t i = 0; i < n; i++) {
		if (trace->requests[i].parent == parent)
			return trace->chains++;
	}
	return trace->requests[parent].chain;
}

/* The consequence of an answer that goes on its chain: one that followed it in another run, too,
 * else the first. What a timer begins may come before it. */
static size_t heir_of(const struct race_trace *trace, size_t parent)
{
	size_t first = RACE_NONE;

	for (size_t i = 0; i < trace->n; i++) {
		if (trace->requests[i].parent != parent)
			continue;
		if (has_fact(trace->facts,
			     fact_of_following(trace->requests[parent].id, trace->requests[i].id)))
			return i;
		first = first == RACE_NONE ? i : first;
	}
	return first;
}

void race_trace_settle(struct race_trace *trace)
{
	trace->chains = 0;
	for (size_t i = 0; i < trace->n; i++)
		trace->requests[i].parent = parent_of(trace, &trace->requests[i]);
	for (size_t i = 0; i < trace->n; i++) {
		struct race_request *request = &trace->requests[i];
		bool goes_on = request->parent != RACE_NONE && heir_of(trace, request->parent) == i;

		request->chain = goes_on ? trace->requests[request->parent].chain : trace->chains++;
	}
}

size_t race_trace_arrive(struct race_trace *trace, struct str operation, struct str body,
			 struct str client, bool is_repeat)
{
	struct race_request request = {
		.behind = trace->answered_n,
		.operation = str_copy(trace->arena, operation),
		.body = str_copy(trace->arena, body),
		.client = str_is_set(client) ? str_copy(trace->arena, client) : STR_ABSENT,
		.is_write = writes(operation, body),
		.is_repeat = is_repeat,
	};

	request.like = hash_two(str_hash(operation, 0), hash_body(trace->arena, body));
	if (str_is_set(client))
		request.like = hash_two(request.like, str_hash(client, 0));
	request.id = hash_two(request.like, number_among_alike(trace, &request));
	request.parent = parent_of(trace, &request);
	request.chain = chain_of(trace, trace->n, request.parent);
	read_trace_words(trace, &request);
	trace->requests =
		arena_room(trace->arena, trace->requests, trace->n, sizeof(*trace->requests));
	trace->order = arena_room(trace->arena, trace->order, trace->n, sizeof(*trace->order));
	trace->requests[trace->n] = request;
	return trace->n++;
}

void race_trace_pick(struct race_trace *trace, size_t request)
{
	trace->requests[request].is_picked = true;
	trace->order[trace->order_n++] = request;
}

void race_trace_answer(struct race_trace *trace, size_t request, int status, struct str answer)
{
	trace->requests[request].status = status;
	trace->requests[request].answer = str_copy(trace->arena, answer);
	trace->last = request;
	trace->requests[request].answered = ++trace->answered_n;
}

bool race_trace_conflict(const struct race_request *a, const struct race_request *b, bool *is_close)
{
	size_t i = 0, k = 0;

	*is_close = false;
	if (!a->is_write && !b->is_write)
		return false;
	if (a->table && b->table && a->table != b->table)
		return false;
	while (i < a->word_count && k < b->word_count && !*is_close) {
		*is_close = a->words[i] == b->words[k];
		if (a->words[i] < b->words[k])
			i++;
		else
			k++;
	}
	return true;
}

uint64_t race_trace_hash(const struct race_trace *trace)
{
	uint64_t sum = 0;
	bool is_close;

	for (size_t k = 0; k < trace->order_n; k++) {
		const struct race_request *after = &trace->requests[trace->order[k]];

		for (size_t i = 0; i < k; i++) {
			const struct race_request *before = &trace->requests[trace->order[i]];

			if (race_trace_conflict(before, after, &is_close))
				sum += hash_two(before->id, after->id);
		}
	}
	return sum;
}

size_t race_trace_find(const struct race_trace *trace, uint64_t id)
{
	for (size_t i = 0; i < trace->n; i++) {
		if (trace->requests[i].id == id)
			return i;
	}
	return RACE_NONE;
}

size_t race_trace_place(const struct race_trace *trace, uint64_t id)
{
	for (size_t k = 0; k < trace->order_n; k++) {
		if (trace->requests[trace->order[k]].id == id)
			return k;
	}
	return RACE_NONE;
}
