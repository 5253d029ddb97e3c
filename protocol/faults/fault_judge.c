#include "core/buf.h"
#include "core/key.h"
#include "protocol/faults/fault_effect.h"
#include "protocol/faults/fault_operation.h"
#include "protocol/faults/fault_page.h"
#include "protocol/faults/fault_state.h"
#include "protocol/faults/faults_internal.h"

#define LATENCY_MAX_MS 300000.0

/* One member of a request: an item that it reads or writes, a page, or what has no items. */
struct fault_subject {
	enum op_id work; /* what is done with it, whichever request does it; OP_COUNT: the request's
			    own */
	const struct table *table; /* NULL: none, or known by its name alone */
	struct str name, index;    /* of the table and the index; absent: none */
	const struct key_attribute *partition;
	const struct value *item;  /* the item that is put, the key, or of a Query the partition key
				      alone; NULL: none */
	struct str row_key;        /* what keys differ by */
};

static bool has_fault_key(const struct fault_match *match, const struct fault_subject *subject)
{
	const struct value *value =
		subject->item ? value_member(subject->item, subject->partition->name) : NULL;

	if (!value || value->type != match->key.type)
		return false;
	return match->is_prefix ? str_starts_with(value_str(value), value_str(&match->key))
				: str_eq(value_str(value), value_str(&match->key));
}

static bool subject_matches(const struct fault_match *match, const struct fault_subject *subject,
			    struct arena *arena)
{
	struct subject evaluated = {.arena = arena, .item = subject->item};

	if (str_is_set(match->table) && !str_eq(match->table, subject->name))
		return false;
	if (str_is_set(match->index) && !str_eq(match->index, subject->index))
		return false;
	if (value_is_set(&match->key) && !has_fault_key(match, subject))
		return false;
	return !match->condition || (subject->item && expr_eval(match->condition, &evaluated));
}

static struct str access_key_of_call(struct call *call)
{
	struct fault_call *own = fault_call_of(call);

	if (!str_is_set(own->access_key))
		own->access_key =
			own->signer && own->signer->access_key
				? own->signer->access_key(own->signer->context, call->arena)
				: STR("");
	return own->access_key;
}

/* Those that the rule is about; NULL where there is none. */
static bool *subjects_under_rule(struct call *call, const struct fault_rule *rule,
				 const struct fault_subject *subjects, size_t n)
{
	const struct fault_effect *effect = &rule->effect;
	const struct fault_operations *operations = &rule->match.operations;
	bool is_of_request = fault_operations_have(operations, fault_call_of(call)->operation);
	bool *members = NULL;

	for (size_t i = 0; i < n; i++) {
		bool is_chosen = effect->member_count == 0;

		if (!is_of_request && !fault_operations_have(operations, subjects[i].work))
			continue;
		for (size_t k = 0; k < effect->member_count; k++)
			is_chosen = is_chosen || effect->members[k] == i;
		if (!is_chosen || !subject_matches(&rule->match, &subjects[i], call->arena))
			continue;
		members = members ? members : ARENA_ARRAY(call->arena, bool, n);
		members[i] = true;
	}
	return members;
}

enum {
	USE_FIRING,
	USE_SPREAD, /* exponential() also uses those above it */
};

/* 64 bits that depend on all four, and on nothing else. */
static uint64_t chance(const struct fault_rule *rule, uint64_t key, uint64_t count, uint64_t use)
{
	const uint64_t words[] = {rule->fire.seed, key, count, use};
	struct str bytes = {(const char *)words, sizeof(words)};

	return str_hash(bytes, 0x6661756c74u);
}

/* From 0, below 1. */
static double fraction(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1p-53;
}

static uint64_t key_of(const struct fault_subject *subject)
{
	return str_hash(subject->row_key,
			str_hash(str_is_set(subject->name) ? subject->name : STR(""), 1));
}

static bool fires(const struct fault_rule *rule, uint64_t key, uint64_t count)
{
	switch (rule->fire.when) {
	case FAULT_ALWAYS:
		return true;
	case FAULT_NTH:
		return count == rule->fire.n;
	case FAULT_EVERY:
		return count % rule->fire.n == 0;
	case FAULT_FIRST:
		return count <= rule->fire.n;
	case FAULT_PROBABILITY:
		return fraction(chance(rule, key, count, USE_FIRING)) < rule->fire.probability;
	}
	return false;
}

/*
 * A draw from the exponential distribution with a mean of 1, after J. von Neumann, Various
 * techniques used in connection with random digits, 1951. A run of descending draws that begins
 * with `first` has an odd length with probability exp(-first). Not log(): without the mathematics
 * library the server starts faster.
 */
static double exponential(const struct fault_rule *rule, uint64_t key, uint64_t count)
{
	uint64_t use = USE_SPREAD;

	for (double whole = 0;; whole++) {
		double first = fraction(chance(rule, key, count, use++)), last = first, next;
		unsigned length = 1;

		for (; (next = fraction(chance(rule, key, count, use++))) < last; last = next)
			length++;
		if (length % 2 == 1)
			return whole + first;
	}
}

static uint64_t latency_of(const struct fault_rule *rule, uint64_t key, uint64_t count)
{
	const struct fault_latency *latency = &rule->effect.latency;
	double ms = latency->ms;

	if (latency->spread == FAULT_UNIFORM)
		ms += fraction(chance(rule, key, count, USE_SPREAD)) *
		      (latency->to_ms - latency->ms);
	if (latency->spread == FAULT_EXPONENTIAL)
		ms *= exponential(rule, key, count);
	return (uint64_t)(ms < LATENCY_MAX_MS ? ms : LATENCY_MAX_MS);
}

/* What the fault does to the answer. Of several of one request the longest latency counts. */
static void mark_reply(struct fault_reply *reply, const struct fault_effect *effect,
		       uint64_t delay_ms)
{
	reply->delay_ms = delay_ms > reply->delay_ms ? delay_ms : reply->delay_ms;
	reply->is_dropped = reply->is_dropped || effect->kind == FAULT_CLOSE;
	reply->is_crc_wrong = reply->is_crc_wrong || effect->kind == FAULT_CRC;
	if (effect->kind == FAULT_TRICKLE) {
		reply->piece_bytes = effect->piece_bytes;
		reply->piece_ms = effect->piece_ms;
	}
}

/* Counts a match; whether it fires. */
static bool count_match(struct fault_rule *rule, uint64_t key, uint64_t *key_count)
{
	uint64_t count = atomic_fetch_add(&rule->matched, 1) + 1;

	*key_count = rule->counts ? fault_counts_next(rule->counts, key) : count;
	if (!fires(rule, key, rule->fire.is_per_key ? *key_count : count))
		return false;
	atomic_fetch_add(&rule->fired, 1);
	return true;
}

enum fault_delivery fault_judge_delivery(struct fault_set *set, struct str table)
{
	const struct fault_subject subject = {.work = OP_COUNT, .name = table, .row_key = STR("")};
	uint64_t key_count;

	for (size_t i = 0; i < set->n; i++) {
		struct fault_rule *rule = &set->rules[i];
		bool is_about =
			rule->effect.kind == FAULT_DELIVER &&
			(!str_is_set(rule->match.table) || str_eq(rule->match.table, table));

		if (is_about && count_match(rule, key_of(&subject), &key_count))
			return rule->effect.is_reversed ? FAULT_DELIVER_REVERSED
							: FAULT_DELIVER_TWICE;
	}
	return FAULT_DELIVER_ONCE;
}

enum fault_state fault_judge_state(const struct fault_set *set, struct str table)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct fault_rule *rule = &set->rules[i];

		if (rule->effect.kind == FAULT_STATE && rule->fire.when == FAULT_ALWAYS &&
		    (!str_is_set(rule->match.table) || str_eq(rule->match.table, table)))
			return rule->effect.state;
	}
	return FAULT_STATE_NONE;
}

/* Whether the rule acts on this request; counts it. */
static bool judge_fault_rule(struct call *call, struct fault_rule *rule,
			     const struct fault_subject *subjects, size_t n, bool **members)
{
	size_t first = 0;

	if (!fault_operations_have(&rule->match.requests, fault_call_of(call)->operation))
		return false;
	if (str_is_set(rule->match.access_key) &&
	    !str_eq(rule->match.access_key, access_key_of_call(call)))
		return false;
	*members = subjects_under_rule(call, rule, subjects, n);
	if (!*members)
		return false;
	while (!(*members)[first])
		first++;
	uint64_t key = key_of(&subjects[first]);
	uint64_t key_count;
	if (!count_match(rule, key, &key_count))
		return false;
	struct fault_call *own = fault_call_of(call);
	own->reply.rule = (uint32_t)(rule - own->set->rules) + 1;
	mark_reply(&own->reply, &rule->effect, latency_of(rule, key, key_count));
	own->is_done_first =
		rule->effect.kind == FAULT_CLOSE && rule->effect.is_after;
	return true;
}

/* From now on the request runs to its end, where it is: run from its start again, it would be
 * counted twice. */
static void stay(struct call *call)
{
	arena_limit_time(call->arena, call->service->cpu_ns, call->service->cpu_limit_ns);
	fault_call_of(call)->has_counted = true;
}

/* What the next hook decides, or decided when the handler ran before. */
static const struct fault_decision *decide_fault(struct call *call,
						 const struct fault_subject *subjects, size_t n)
{
	struct fault_call *own = fault_call_of(call);

	if (own->at < own->decided)
		return &own->decisions[own->at++];
	struct fault_decision decision = {NULL, NULL};
	for (size_t i = 0; i < own->set->n && !decision.rule; i++) {
		struct fault_rule *rule = &own->set->rules[i];

		if (judge_fault_rule(call, rule, subjects, n, &decision.members))
			decision.rule = rule;
		if (decision.members)
			stay(call);
	}
	own->decisions =
		arena_room(call->arena, own->decisions, own->decided, sizeof(*own->decisions));
	own->decisions[own->decided++] = decision;
	return &own->decisions[own->at++];
}

static enum code cancel_by_fault(struct call *call, const struct fault_effect *effect,
				 const struct fault_decision *decision,
				 const struct fault_about *about, size_t n, struct err *err)
{
	struct err *reasons = ARENA_ARRAY(call->arena, struct err, n);

	for (size_t i = 0; i < n; i++) {
		reasons[i] = err_in(call->arena);
		if (decision->members[i])
			(void)(fault_effect_error(effect, about, &reasons[i]) == OK);
	}
	return write_canceled(reasons, n, err);
}

static void leave_out_by_fault(struct call *call, const struct fault_effect *effect,
			       const struct fault_decision *decision, size_t n)
{
	bool *left = ARENA_ARRAY(call->arena, bool, n);
	uint64_t room = effect->n ? effect->n : n;

	for (size_t i = 0; i < n && room > 0; i++) {
		left[i] = decision->members[i];
		room -= left[i];
	}
	fault_call_of(call)->left_out = left;
}

/* The error in place of the work, or OK. *rule is what acts, or NULL. */
static enum code act(struct call *call, const struct fault_subject *subjects, size_t n,
		     bool is_write, const struct fault_rule **rule, struct err *err)
{
	const struct fault_decision *decision = decide_fault(call, subjects, n);
	size_t first = 0;

	*rule = decision->rule;
	if (!decision->rule)
		return OK;
	while (!decision->members[first])
		first++;
	const struct fault_effect *effect = &decision->rule->effect;
	const struct fault_subject *subject = &subjects[first];
	const struct fault_about about = {
		.table = subject->name,
		.index = subject->index,
		.ns = subject->table ? (struct ns){subject->table->identity.account,
						   subject->table->identity.region}
				     : call->ns,
		.is_write = is_write,
		.is_of_items = ops_is_of_items(fault_call_of(call)->operation),
	};

	if (effect->kind == FAULT_ERROR)
		return fault_effect_error(effect, &about, err);
	if (effect->kind == FAULT_STATE) {
		fault_call_of(call)->state = effect->state;
		return fault_state_error(effect->state, fault_call_of(call)->operation, about.table,
					 err);
	}
	if (effect->kind == FAULT_CANCEL)
		return cancel_by_fault(call, effect, decision, &about, n, err);
	if (effect->kind == FAULT_CLOSE && !effect->is_after)
		return err_default(err, ERR_THROTTLING); /* nobody reads it */
	if (effect->kind == FAULT_HOLD) {
		fault_call_of(call)->hold_ms = effect->n;
		return err_default(err, ERR_SERVICE_UNAVAILABLE); /* nobody reads it */
	}
	if (effect->kind == FAULT_UNPROCESSED)
		leave_out_by_fault(call, effect, decision, n);
	return OK;
}

/* A check of a condition is no work but the transaction's. */
static const enum op_id works_of_writes[] = {
	[WRITE_PUT] = OP_PutItem,
	[WRITE_UPDATE] = OP_UpdateItem,
	[WRITE_DELETE] = OP_DeleteItem,
	[WRITE_CHECK] = OP_COUNT,
};

static struct fault_subject subject_of_write(const struct write *write)
{
	return (struct fault_subject){
		.work = works_of_writes[write->kind],
		.table = write->table,
		.name = write->table->identity.name,
		.partition = &write->table->keys.attributes[0],
		.item = write->kind == WRITE_PUT ? write->item : write->key,
		.row_key = write->row_key,
	};
}

enum code fault_judge_put(struct fault_set *set, struct arena *arena, const struct write *write,
			  struct err *err)
{
	const struct fault_subject subject = subject_of_write(write);
	const struct fault_about about = {
		.table = subject.name, .index = STR_ABSENT, .is_write = true, .is_of_items = true,
		.ns = {write->table->identity.account, write->table->identity.region},
	};
	uint64_t key = key_of(&subject), key_count;

	for (size_t i = 0; i < set->n; i++) {
		struct fault_rule *rule = &set->rules[i];
		bool is_about = rule->effect.kind == FAULT_ERROR &&
				!str_is_set(rule->match.access_key) &&
				fault_operations_have(&rule->match.operations, OP_PutItem) &&
				subject_matches(&rule->match, &subject, arena);

		if (is_about && count_match(rule, key, &key_count))
			return fault_effect_error(&rule->effect, &about, err);
	}
	return OK;
}

enum code fault_at_writes(struct call *call, const struct write *writes, size_t n, struct err *err)
{
	struct fault_subject *subjects = ARENA_ARRAY(call->arena, struct fault_subject, n);
	const struct fault_rule *rule;

	for (size_t i = 0; i < n; i++)
		subjects[i] = subject_of_write(&writes[i]);
	return act(call, subjects, n, true, &rule, err);
}

enum code fault_at_reads(struct call *call, const struct read_item *reads, size_t n,
			 struct err *err)
{
	struct fault_subject *subjects = ARENA_ARRAY(call->arena, struct fault_subject, n);
	const struct fault_rule *rule;

	for (size_t i = 0; i < n; i++) {
		const struct table *table = reads[i].table;

		subjects[i] = (struct fault_subject){
			.work = OP_GetItem,
			.table = table,
			.name = table->identity.name,
			.partition = &table->keys.attributes[0],
			.item = reads[i].key,
			.row_key = reads[i].row_key,
		};
	}
	return act(call, subjects, n, false, &rule, err);
}

/* The partition key that a Query names, as an item of that one attribute; NULL of a Scan. */
static const struct value *partition_item(struct arena *arena, const struct read_page *page,
					  const struct key_attribute *attribute)
{
	struct value *item = ARENA_NEW(arena, struct value);
	struct member *member = ARENA_NEW(arena, struct member);

	if (!page->keys || !str_is_set(page->keys->partition))
		return NULL;
	struct str rest = {page->keys->partition.p + KEY_HASH_SIZE,
			   page->keys->partition.n - KEY_HASH_SIZE};
	member->name = attribute->name;
	member->value = key_read(arena, attribute->type, &rest);
	*item = (struct value){.type = TYPE_M, .n = 1, .members = member};
	return item;
}

enum code fault_at_page(struct call *call, struct read_page *page, bool *is_filled, struct err *err)
{
	const struct key_attribute *partition =
		page->index ? &page->index->keys.attributes[0] : &page->table->keys.attributes[0];
	const struct value *item = partition_item(call->arena, page, partition);
	const struct fault_subject subject = {
		.work = page->keys ? OP_Query : OP_Scan,
		.table = page->table,
		.name = page->table->identity.name,
		.index = page->index ? page->index->name : STR_ABSENT,
		.partition = partition,
		.item = item,
		.row_key = item ? page->keys->partition : STR(""),
	};
	const struct fault_rule *rule;
	enum code code = act(call, &subject, 1, false, &rule, err);

	*is_filled = false;
	if (code != OK)
		return code;
	if (rule && rule->effect.kind == FAULT_PAGE &&
	    (page->limit == 0 || rule->effect.n < page->limit)) {
		page->limit = rule->effect.n ? rule->effect.n : 1;
		if (rule->effect.n == 0)
			code = fault_page_empty(call, page, is_filled, err);
	}
	return code;
}

enum code fault_at_table(struct call *call, struct str table, struct str index, struct err *err)
{
	const struct fault_subject subject = {
		.work = OP_COUNT, .name = table, .index = index, .row_key = STR("")};
	const struct fault_rule *rule;

	return act(call, &subject, 1, false, &rule, err);
}

struct str fault_shown_state(const struct call *call)
{
	const struct fault_call *own = fault_call_of(call);

	return own && own->state && own->operation == OP_DescribeTable
		       ? fault_state_name(own->state)
		       : STR_ABSENT;
}

bool fault_drops(const struct call *call)
{
	const struct fault_call *own = fault_call_of(call);

	return own && own->reply.is_dropped && !own->is_done_first;
}

bool fault_leaves_out(const struct call *call, size_t i)
{
	const struct fault_call *own = fault_call_of(call);

	return own && own->left_out && own->left_out[i];
}
