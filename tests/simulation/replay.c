#include <inttypes.h>

#include "storage/stream/stream.h"
#include "tests/simulation/judge.h"
#include "tests/simulation/request.h"
#include "tests/unit/storage/fault_vfs.h"

#define PAGES_MAX 4000
#define ITERATOR_LIFE_MS (15 * 60 * 1000)

/* A reading of a whole stream, oldest record first. */
struct replay {
	struct machine *machine;
	struct client *client;
	unsigned table;
	struct str arn;
	uint32_t at, begin;   /* of the machine's log: the next change; the first one that counted
				 when it began */
	uint32_t known;       /* changes that were there when it began */
	unsigned pages;
};

static const struct json *ask(struct replay *replay, const char *op, struct str body)
{
	machine_ask(replay->machine, replay->client, op, body);
	if (replay->machine->is_off || fault_vfs_is_off() ||
	    !judge_status(replay->machine, replay->client))
		return NULL;
	if (++replay->pages > PAGES_MAX)
		machine_fail(replay->machine, replay->client, "a stream has no end");
	return replay->client->status == 200 ? judge_json(replay->machine, replay->client) : NULL;
}

static struct str text(struct replay *replay, const struct json *object, const char *name)
{
	const struct json *member = object ? json_member(object, name) : NULL;

	return member && json_type(member) == JSON_STRING
		       ? json_string(replay->client->arena, member)
		       : STR_ABSENT;
}

static bool is_change(struct replay *replay, const struct json *record, const struct change *change)
{
	const struct json *stream = json_member(record, "dynamodb"),
			  *identity = json_member(record, "userIdentity");
	const struct json *olds = stream ? json_member(stream, "OldImage") : NULL,
			  *news = stream ? json_member(stream, "NewImage") : NULL;
	const char *name = !change->old.is_there  ? "INSERT"
			   : change->new.is_there ? "MODIFY"
						  : "REMOVE";
	const struct json *made =
		stream ? json_member(stream, "ApproximateCreationDateTime") : NULL;
	struct item item;
	unsigned key;
	int64_t made_s = 0;

	/* a transaction that is sent again after its token expired makes the same change as a day
	 * before */
	if (!made || !json_integer(made, &made_s) ||
	    (!change->is_expiry &&
	     (made_s < change->at_ms / 1000 - 3600 || made_s > change->at_ms / 1000 + 3600)))
		return false;
	if (!str_eq(text(replay, record, "eventName"), str_of(name)) ||
	    (olds != NULL) != change->old.is_there || (news != NULL) != change->new.is_there)
		return false;
	if ((identity && json_type(identity) == JSON_OBJECT) != change->is_expiry)
		return false;
	if (olds && (!request_read_item(replay->client->arena, replay->table, olds, &item, &key) ||
		     key != change->key || !model_same(&item, &change->old)))
		return false;
	return !news ||
	       (request_read_item(replay->client->arena, replay->table, news, &item, &key) &&
		key == change->key && model_same(&item, &change->new));
}

static uint32_t log_end(const struct replay *replay)
{
	return machine_head(replay->machine)->tables[replay->table].log_end;
}

/* Changes that are older than the retention may be missing, also in the middle: time goes on while
 * the stream is read. */
static void check_record(struct replay *replay, const struct json *record)
{
	const struct change *log = replay->machine->logs[replay->table];

	while (replay->at != log_end(replay) &&
	       !is_change(replay, record, &log[replay->at % LOG_MAX]) &&
	       log[replay->at % LOG_MAX].at_ms < machine_now_ms() - STREAM_RETENTION_MS)
		replay->at++;
	if (replay->at == log_end(replay))
		machine_fail(replay->machine, replay->client,
			     "a stream of %s has a record more than its %" PRIu32 " changes",
			     request_tables[replay->table], log_end(replay) - replay->begin);
	if (!is_change(replay, record, &log[replay->at % LOG_MAX]))
		machine_fail(replay->machine, replay->client,
			     "record %" PRIu32
			     " of %s, of item %u, is not what was changed: u %" PRId64
			     " to %" PRId64,
			     replay->at - replay->begin, request_tables[replay->table],
			     log[replay->at % LOG_MAX].key, log[replay->at % LOG_MAX].old.u,
			     log[replay->at % LOG_MAX].new.u);
	replay->at++;
}

/* All records of a shard; false: a fault or a change of the table came between. */
static bool read_shard(struct replay *replay, struct str shard)
{
	struct arena *arena = replay->client->arena;
	const struct json *answer =
		ask(replay, "GetShardIterator",
		    str_printf(arena,
			       "{\"StreamArn\":\"" STR_FMT "\",\"ShardId\":\"" STR_FMT
			       "\",\"ShardIteratorType\":\"TRIM_HORIZON\"}",
			       STR_ARG(replay->arn), STR_ARG(shard)));
	struct str iterator = text(replay, answer, "ShardIterator");

	while (str_is_set(iterator)) {
		answer = ask(replay, "GetRecords",
			     str_printf(arena, "{\"ShardIterator\":\"" STR_FMT "\"}",
					STR_ARG(iterator)));
		const struct json *records = answer ? json_member(answer, "Records") : NULL;
		if (!records)
			return false;
		for (const struct json *each = json_first(records); each; each = json_next(each))
			check_record(replay, each);
		iterator = text(replay, answer, "NextShardIterator");
		if (!str_is_set(iterator) || json_count(records) == 0)
			return true; /* the end of the shard, or the present */
	}
	return false;
}

static bool read_shards(struct replay *replay)
{
	struct arena *arena = replay->client->arena;
	struct str last = STR_ABSENT;

	do {
		struct str start =
			str_is_set(last)
				? str_printf(arena, ",\"ExclusiveStartShardId\":\"" STR_FMT "\"",
					     STR_ARG(last))
				: STR("");
		const struct json *answer =
			ask(replay, "DescribeStream",
			    str_printf(arena, "{\"StreamArn\":\"" STR_FMT "\"" STR_FMT "}",
				       STR_ARG(replay->arn), STR_ARG(start)));
		const struct json *description =
			answer ? json_member(answer, "StreamDescription") : NULL;
		const struct json *shards = description ? json_member(description, "Shards") : NULL;

		if (!shards)
			return false;
		last = text(replay, description, "LastEvaluatedShardId");
		for (const struct json *each = json_first(shards); each; each = json_next(each)) {
			if (!read_shard(replay, text(replay, each, "ShardId")))
				return false;
		}
	} while (str_is_set(last));
	return true;
}

void judge_replay(struct machine *machine, struct client *client)
{
	unsigned t = client->op.table;
	const struct model_table *model = &machine_head(machine)->tables[t];
	/* a commit of another client may be under way: it is in the head, and need not be seen */
	const struct view *acknowledged = machine_version(machine, machine->acknowledged);
	struct replay replay = {.machine = machine,
				.client = client,
				.table = t,
				.at = model->log_begin,
				.begin = model->log_begin,
				.known = acknowledged->tables[t].log_end};
	uint32_t stream = model->stream_made;

	if (!model->exists || !model->has_stream || machine->is_uncertain || machine->is_broken ||
	    machine->changing[t] > 0)
		return;
	if (model->log_end - model->log_begin > LOG_MAX / 2)
		replay.at = model->log_end - LOG_MAX / 2;
	const struct json *answer =
		ask(&replay, "DescribeTable", request_body(client->arena, &client->op));
	replay.arn = text(&replay, answer ? json_member(answer, "Table") : NULL, "LatestStreamArn");
	bool is_whole = str_is_set(replay.arn) && read_shards(&replay);
	bool is_late = machine_now_ms() - client->op.now_ms >
		       ITERATOR_LIFE_MS; /* the time jumped meanwhile */
	if (!is_whole && !is_late && !machine_may_fail(machine, client) && !machine->is_off &&
	    !fault_vfs_is_off() && machine->changes[t] == client->changes[t] &&
	    machine_head(machine)->tables[t].stream_made == stream)
		machine_fail(machine, client, "the stream of %s cannot be read", request_tables[t]);
	if (!is_whole || machine->changes[t] != client->changes[t] || machine->is_uncertain)
		return;
	const struct change *log = machine->logs[t];
	machine->replays++;
	machine->replayed += replay.at - replay.begin;
	while ((int32_t)(replay.known - replay.at) > 0 &&
	       log[replay.at % LOG_MAX].at_ms < machine_now_ms() - STREAM_RETENTION_MS)
		replay.at++;
	if ((int32_t)(replay.known - replay.at) > 0)
		machine_fail(machine, client,
			     "the stream of %s ends with change %" PRIu32 " of %" PRIu32,
			     request_tables[t], replay.at - replay.begin,
			     replay.known - replay.begin);
}
