#include "protocol/streams.h"

#include <inttypes.h>

#include "core/base64.h"
#include "core/crc32.h"
#include "protocol/tables/arn.h"
#include "protocol/stream_messages.h"
#include "storage/catalog/mark_walk.h"

#define SHARD_PREFIX "shardId-"
#define STAMP_DIGITS 20
#define SHARD_ID_SIZE (sizeof(SHARD_PREFIX) - 1 + STAMP_DIGITS + 9)
#define SEQUENCE_DIGITS 21
#define ITERATOR_MARK "|1|"
#define ITERATOR_SIZE 28 /* bytes behind the mark, before base64: shard, position, time, checksum */

struct str streams_view_name(enum stream_view view)
{
	static const char *const names[] = {
		[STREAM_OFF] = "",
		[STREAM_KEYS_ONLY] = "KEYS_ONLY",
		[STREAM_NEW_IMAGE] = "NEW_IMAGE",
		[STREAM_OLD_IMAGE] = "OLD_IMAGE",
		[STREAM_NEW_AND_OLD_IMAGES] = "NEW_AND_OLD_IMAGES",
	};

	return str_of(names[view]);
}

struct str streams_arn(struct arena *arena, const struct table *table, const struct stream *stream)
{
	return str_printf(arena, STR_FMT "/stream/" STR_FMT, STR_ARG(table_arn(arena, table)),
			  STR_ARG(stream->label));
}

struct str streams_mark_arn(struct arena *arena, const struct mark *mark)
{
	return str_printf(
		arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT "/stream/" STR_FMT,
		STR_ARG(mark->ns.region), STR_ARG(mark->ns.account), STR_ARG(mark->name),
		STR_ARG(mark->label));
}

/* arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME/stream/LABEL */
bool streams_read_arn(struct str arn, struct str *name, struct str *label)
{
	struct arn parts;

	if (!str_starts_with(arn, STR("arn:")))
		return false;
	parts = arn_split(arn);
	if (!str_eq(parts.service, STR("dynamodb")) ||
	    !str_starts_with(parts.resource, STR("table/")))
		return false;
	struct str part = arn_table_part(parts.resource, name), before = STR("stream/");
	if (!call_is_name(*name) || !str_starts_with(part, before) || part.n <= before.n)
		return false;
	*label = (struct str){part.p + before.n, part.n - before.n};
	return true;
}

enum code streams_check_arn(struct str arn, struct err *err)
{
	struct str name, label;

	return streams_read_arn(arn, &name, &label) ? OK : err_set(err, MSG_STREAM_ARN);
}

static const struct stream *stream_of_arn(struct call *call, const struct table *table,
					  struct str arn)
{
	for (size_t i = 0; i < table->streams.n; i++) {
		const struct stream *stream = &table->streams.v[i];

		if (!stream_is_gone(stream, call->now_ms) &&
		    str_eq(streams_arn(call->arena, table, stream), arn))
			return stream;
	}
	return NULL;
}

/* The streams of deleted tables, of which several may have had the name and, where a clock stands
 * still, the label. */
static enum code find_marked(struct call *call, struct str arn, struct marks *marks,
			     struct table **table, const struct stream **stream, struct err *err)
{
	enum code code = OK;

	while (code == OK && marks->is_more && !*stream) {
		code = mark_walk_page(call->service->catalog, call->arena, marks, err);
		for (size_t i = 0; i < marks->n && code == OK && !*stream; i++) {
			code = catalog_marked(call->service->catalog, &marks->v[i], table, err);
			if (code != OK || !*table)
				continue;
			call_hold(call, *table);
			*stream = stream_of_arn(call, *table, arn);
		}
	}
	return code;
}

enum code streams_find(struct call *call, struct str arn, struct table **table,
		       const struct stream **stream, struct err *err)
{
	struct catalog *catalog = call->service->catalog;
	struct marks marks = {.kind = MARK_STREAM, .is_more = true};
	struct str name, label;

	struct table *holder = NULL;
	const struct stream *found = NULL;

	if (!streams_read_arn(arn, &name, &label))
		return err_set(err, MSG_STREAM_ARN);
	enum code code = catalog_get_current(catalog, call->ns, name, call->now_ms, &holder, err);
	if (code == OK) {
		call_hold(call, holder);
		found = holder->state.status != STATUS_DELETING ? stream_of_arn(call, holder, arn)
								: NULL;
	}
	if (code != OK && code != ERR_RESOURCE_NOT_FOUND)
		return code;
	struct buf within = buf_in(call->arena);
	buf_add_str(&within,
		    table_rows_streams(call->arena,
				       catalog_key(call->arena, catalog, call->ns, STR("")), name));
	buf_add_str(&within, label);
	buf_add_byte(&within, 0);
	marks.within = buf_str(&within);
	code = found ? OK : find_marked(call, arn, &marks, &holder, &found, err);
	if (code != OK)
		return code;
	if (!found)
		return err_set(err, MSG_STREAM_ABSENT, STR_ARG(arn));
	*table = holder;
	*stream = found;
	return OK;
}

/* Spreads every bit over all: the finaliser of splitmix64. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xBF58476D1CE4E5B9u;
	x ^= x >> 27;
	x *= 0x94D049BB133111EBu;
	return x ^ x >> 31;
}

/* A number for the table's UUID and something within the table. */
static uint64_t identity(const struct table *table, uint64_t seed, uint64_t number)
{
	uint64_t hash = seed;

	for (size_t i = 0; i < table->identity.id.n; i++)
		hash = mix(hash ^ (unsigned char)table->identity.id.p[i]);
	return mix(hash ^ mix(number));
}

struct str streams_shard_id(struct arena *arena, const struct table *table, uint64_t stamp)
{
	return str_printf(arena, SHARD_PREFIX "%020" PRIu64 "-%08x", stamp,
			  (unsigned)(identity(table, 1, stamp) & 0xFFFFFFFF));
}

/* A decimal number of exactly these digits; false when it is not one or too large. */
static bool read_digits(struct str text, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || *number > (INT64_MAX - 9) / 10)
			return false;
		*number = *number * 10 + (uint64_t)(text.p[i] - '0');
	}
	return true;
}

uint64_t streams_shard_stamp(struct str id)
{
	struct str prefix = STR(SHARD_PREFIX);
	uint64_t stamp;

	if (id.n != SHARD_ID_SIZE || !str_starts_with(id, prefix) ||
	    id.p[prefix.n + STAMP_DIGITS] != '-')
		return 0;
	return read_digits((struct str){id.p + prefix.n, STAMP_DIGITS}, &stamp) ? stamp : 0;
}

uint64_t streams_shard_after(struct arena *arena, const struct table *table, struct str text)
{
	uint64_t low = 0, high = INT64_MAX;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (str_cmp(streams_shard_id(arena, table, middle), text) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct str streams_sequence(struct arena *arena, uint64_t sequence)
{
	return str_printf(arena, "1%020" PRIu64, sequence);
}

bool streams_read_sequence(struct str text, uint64_t *sequence)
{
	if (text.n > 0 && text.p[0] == '+') /* AWS reads a number of Java's */
		text = (struct str){text.p + 1, text.n - 1};
	return text.n == SEQUENCE_DIGITS && text.p[0] == '1' &&
	       read_digits((struct str){text.p + 1, text.n - 1}, sequence);
}

/* 32 hexadecimal digits, the same whenever a record is read. */
static struct str streams_event_id(struct arena *arena, const struct table *table,
				   uint64_t sequence)
{
	return str_printf(arena, "%016" PRIx64 "%016" PRIx64, identity(table, 2, sequence),
			  identity(table, 3, sequence));
}

static uint32_t checksum(struct arena *arena, struct str arn, struct str fields)
{
	struct buf all = buf_in(arena);

	buf_add_str(&all, arn);
	buf_add_str(&all, fields);
	return crc32_of(all.p, all.n);
}

struct str streams_iterator_text(struct arena *arena, const struct streams_iterator *iterator)
{
	struct buf fields = buf_in(arena), text = buf_in(arena);

	buf_add_be64(&fields, iterator->shard);
	buf_add_be64(&fields, iterator->position);
	buf_add_be64(&fields, (uint64_t)iterator->issued_ms);
	buf_add_be32(&fields, checksum(arena, iterator->arn, buf_str(&fields)));
	buf_add_str(&text, iterator->arn);
	buf_add_lit(&text, ITERATOR_MARK);
	base64_encode(buf_str(&fields), &text);
	return buf_str(&text);
}

bool streams_read_iterator(struct arena *arena, struct str text, struct streams_iterator *iterator)
{
	struct str mark = STR(ITERATOR_MARK), fields;
	const char *bar = text.n ? memchr(text.p, '|', text.n) : NULL;
	size_t at = bar ? (size_t)(bar - text.p) : text.n;

	if (!str_starts_with((struct str){text.p + at, text.n - at}, mark) ||
	    !base64_decode(arena, (struct str){text.p + at + mark.n, text.n - at - mark.n},
			   &fields) ||
	    fields.n != ITERATOR_SIZE)
		return false;
	*iterator = (struct streams_iterator){
		.arn = {text.p, at},
		.shard = str_be(fields.p, 8),
		.position = str_be(fields.p + 8, 8),
		.issued_ms = (int64_t)str_be(fields.p + 16, 8),
	};
	/* an iterator with a time before 1970 is not ours */
	return iterator->issued_ms >= 0 &&
	       checksum(arena, iterator->arn, (struct str){fields.p, ITERATOR_SIZE - 4}) ==
		       (uint32_t)str_be(fields.p + 24, 4);
}

static const char *const events[] = {
	[STREAM_INSERT] = "INSERT", [STREAM_MODIFY] = "MODIFY", [STREAM_REMOVE] = "REMOVE"};

/* AWS: the two forms order and spell the members differently. */
static void write_identity(struct json_out *out, enum streams_form form)
{
	struct str id = STR("dynamodb.amazonaws.com"), type = STR("Service");

	json_out_name(out, STR("userIdentity"));
	json_out_open(out, '{');
	if (form == STREAMS_RECORD) {
		json_out_field_string(out, "PrincipalId", id);
		json_out_field_string(out, "Type", type);
	} else {
		json_out_field_string(out, "type", type);
		json_out_field_string(out, "principalId", id);
	}
	json_out_close(out, '}');
}

static void write_image(struct json_out *out, struct str name, struct str image)
{
	if (!str_is_set(image))
		return;
	json_out_name(out, name);
	json_out_image(out, image);
}

static void write_change(struct json_out *out, struct arena *arena,
			 const struct streams_change *change)
{
	const struct stream_record *record = change->record;

	json_out_name(out, STR("dynamodb"));
	json_out_open(out, '{');
	json_out_field_integer(out, "ApproximateCreationDateTime", record->created_ms / 1000);
	json_out_name(out, STR("Keys"));
	json_out_item(out, change->keys);
	write_image(out, STR("NewImage"), record->new_image);
	write_image(out, STR("OldImage"), record->old_image);
	json_out_field_string(out, "SequenceNumber", streams_sequence(arena, record->sequence));
	json_out_field_integer(out, "SizeBytes", (int64_t)change->size);
	json_out_field_string(out, "StreamViewType", streams_view_name(change->stream->view));
	json_out_close(out, '}');
}

void streams_write_record(struct json_out *out, struct arena *arena,
			  const struct streams_change *change, enum streams_form form)
{
	const struct stream_record *record = change->record;

	json_out_open(out, '{');
	if (form == STREAMS_EVENT)
		json_out_field_string(out, "eventSourceARN",
				      streams_arn(arena, change->table, change->stream));
	json_out_field_string(out, "eventID",
			      streams_event_id(arena, change->table, record->sequence));
	json_out_field_string(out, "eventName", str_of(events[record->event]));
	json_out_field_string(out, "eventVersion", STR("1.1"));
	json_out_field_string(out, "eventSource", STR("aws:dynamodb"));
	json_out_field_string(out, "awsRegion", change->table->identity.region);
	write_change(out, arena, change);
	if (record->is_service_delete)
		write_identity(out, form);
	json_out_close(out, '}');
}

/* AWS: a UUID; here always the same one for a change, so that readers can find the second of two
 * equal records. */
static struct str kinesis_event_id(struct arena *arena, const struct table *table,
				   uint64_t sequence)
{
	uint64_t high = identity(table, 4, sequence), low = identity(table, 5, sequence);

	return str_printf(arena, "%08x-%04x-4%03x-a%03x-%012" PRIx64, (unsigned)(high >> 32),
			  (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0xFFF),
			  (unsigned)(low >> 48 & 0xFFF), low & 0xFFFFFFFFFFFF);
}

void streams_write_kinesis(struct json_out *out, struct arena *arena,
			   const struct streams_change *change, bool in_microseconds)
{
	const struct stream_record *record = change->record;

	json_out_open(out, '{');
	json_out_field_string(out, "awsRegion", change->table->identity.region);
	json_out_field_string(out, "eventID",
			      kinesis_event_id(arena, change->table, record->sequence));
	json_out_field_string(out, "eventName", str_of(events[record->event]));
	if (record->is_service_delete) {
		write_identity(out, STREAMS_EVENT);
	} else {
		json_out_name(out, STR("userIdentity"));
		json_out_null(out);
	}
	json_out_field_string(out, "recordFormat", STR("application/json"));
	json_out_field_string(out, "tableName", change->table->identity.name);
	json_out_name(out, STR("dynamodb"));
	json_out_open(out, '{');
	json_out_field_integer(out, "ApproximateCreationDateTime",
			       record->created_ms * (in_microseconds ? 1000 : 1));
	json_out_name(out, STR("Keys"));
	json_out_item(out, change->keys);
	write_image(out, STR("NewImage"), record->new_image);
	write_image(out, STR("OldImage"), record->old_image);
	json_out_field_integer(out, "SizeBytes", (int64_t)change->size);
	json_out_field_string(out, "ApproximateCreationDateTimePrecision",
			      in_microseconds ? STR("MICROSECOND") : STR("MILLISECOND"));
	json_out_close(out, '}');
	json_out_field_string(out, "eventSource", STR("aws:dynamodb"));
	json_out_close(out, '}');
}
