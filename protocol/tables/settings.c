#include "protocol/tables/settings.h"

#include "storage/schema/record.h"

static const struct field definition_fields[] = {
	RECORD_FIELD(key_attribute, name, "name", FIELD_STR),
	RECORD_FIELD(key_attribute, type, "type", FIELD_TYPE),
};
static const struct field tag_fields[] = {
	RECORD_FIELD(tag, key, "key", FIELD_STR), RECORD_FIELD(tag, value, "value", FIELD_STR),
};
static const struct record tag_record = RECORD(tag, tag_fields);
static const struct field destination_fields[] = {
	RECORD_FIELD(destination, stream_arn, "stream_arn", FIELD_STR),
	RECORD_FIELD(destination, is_enabled, "is_enabled", FIELD_BOOL),
	RECORD_FIELD(destination, is_updated, "is_updated", FIELD_BOOL),
	RECORD_FIELD(destination, precision, "precision", FIELD_INT),
	RECORD_FIELD(destination, settles_ms, "settles_ms", FIELD_INT),
	RECORD_FIELD(destination, first, "first", FIELD_INT),
	RECORD_FIELD(destination, until, "until", FIELD_INT),
	RECORD_FIELD(destination, is_failed, "is_failed", FIELD_BOOL),
};
static const struct field moment_fields[] = {
	RECORD_FIELD(moment, what, "what", FIELD_STR),
	RECORD_FIELD(moment, subject, "subject", FIELD_STR),
	RECORD_FIELD(moment, at_ms, "at_ms", FIELD_INT),
	RECORD_ARRAY(moment, before, before_count, "before", FIELD_STRINGS, NULL),
};
static const struct field scaling_fields[] = {
	RECORD_FIELD(scaling, index, "index", FIELD_STR),
	RECORD_FIELD(scaling, is_write, "is_write", FIELD_BOOL),
	RECORD_FIELD(scaling, least, "least", FIELD_INT),
	RECORD_FIELD(scaling, most, "most", FIELD_INT),
	RECORD_FIELD(scaling, created_ms, "created", FIELD_INT),
	RECORD_FIELD(scaling, policy_ms, "policy_created", FIELD_INT),
	RECORD_FIELD(scaling, is_in_suspended, "in_suspended", FIELD_BOOL),
	RECORD_FIELD(scaling, is_out_suspended, "out_suspended", FIELD_BOOL),
	RECORD_FIELD(scaling, is_schedule_suspended, "schedule_suspended", FIELD_BOOL),
	RECORD_ARRAY(scaling, tags.v, tags.n, "tags", FIELD_FLAT, &tag_record),
	RECORD_FIELD(scaling, role, "role", FIELD_STR),
	RECORD_FIELD(scaling, policy, "policy", FIELD_STR),
	RECORD_FIELD(scaling, target, "target", FIELD_STR),
	RECORD_FIELD(scaling, has_scale_in, "has_scale_in", FIELD_BOOL),
	RECORD_FIELD(scaling, is_scale_in_disabled, "is_scale_in_disabled", FIELD_BOOL),
	RECORD_FIELD(scaling, has_in_cooldown, "has_in_cooldown", FIELD_BOOL),
	RECORD_FIELD(scaling, has_out_cooldown, "has_out_cooldown", FIELD_BOOL),
	RECORD_FIELD(scaling, in_cooldown, "in_cooldown", FIELD_INT),
	RECORD_FIELD(scaling, out_cooldown, "out_cooldown", FIELD_INT),
};
static const struct record definition_record = RECORD(key_attribute, definition_fields);
static const struct record destination_record = RECORD(destination, destination_fields);
static const struct record scaling_record = RECORD(scaling, scaling_fields);
static const struct record moment_record = RECORD(moment, moment_fields);

#define SETTINGS(of, ...)                                       \
	static const struct field of##_fields[] = {__VA_ARGS__}; \
	static const struct record of##_record = RECORD(of##_settings, of##_fields);
#define NUMBER(of, type, member, name, scope) RECORD_FIELD(of##_settings, member, name, FIELD_INT),
#define FLAG(of, member, name, scope) RECORD_FIELD(of##_settings, member, name, FIELD_BOOL),
#define TEXT(of, member, name, scope) RECORD_FIELD(of##_settings, member, name, FIELD_STR),
#define TAGS(of, member, name, scope)                                                              \
	RECORD_ARRAY(of##_settings, member.v, member.n, name, FIELD_FLAT, &tag_record),
#define LIST(of, type, member, count, name, kind, record, scope)                                   \
	RECORD_ARRAY(of##_settings, member, count, name, kind, record),
#define THROUGHPUT(of, member, name, scope)                                            \
	NUMBER(of, int64_t, member.read, name ".read", scope)                          \
	NUMBER(of, int64_t, member.write, name ".write", scope)                        \
	NUMBER(of, int64_t, member.decreases_today, name ".decreases", scope)          \
	NUMBER(of, int64_t, member.last_increase_ms, name ".increased", scope)         \
	NUMBER(of, int64_t, member.last_decrease_ms, name ".decreased", scope)
#define PAIR(of, member, name, scope)                          \
	FLAG(of, member.is_set, name ".set", scope)            \
	NUMBER(of, int64_t, member.read, name ".read", scope)  \
	NUMBER(of, int64_t, member.write, name ".write", scope)
#define INSIGHTS(of, member, name, scope)                              \
	FLAG(of, member.is_enabled, name ".enabled", scope)            \
	FLAG(of, member.is_throttled_only, name ".throttled", scope)   \
	NUMBER(of, int64_t, member.since_ms, name ".since", scope)     \
	NUMBER(of, int64_t, member.changed_ms, name ".changed", scope) \
	NUMBER(of, int64_t, member.settles_ms, name ".settles", scope)
#define POLICY(of, member, name, scope)     \
	TEXT(of, member.text, name, scope)  \
	NUMBER(of, int64_t, member.revision, name ".revision", scope)
#define SHOWN(of, member)
#include "protocol/tables/settings.def"

#define SETTINGS(of, ...)                                                                          \
	void settings_keep_##of(struct of##_settings *settings, enum settings_scope least)         \
	{                                                                                          \
		const struct of##_settings had = *settings;                                        \
                                                                                                   \
		*settings = (struct of##_settings){0};                                             \
		__VA_ARGS__                                                                        \
	}
#define KEEP(member, scope)                                                                        \
	if (SETTINGS_##scope >= least)                                                             \
		settings->member = had.member;
#define NUMBER(of, type, member, name, scope) KEEP(member, scope)
#define FLAG(of, member, name, scope) KEEP(member, scope)
#define TEXT(of, member, name, scope) KEEP(member, scope)
#define TAGS(of, member, name, scope) KEEP(member, scope)
#define LIST(of, type, member, count, name, kind, record, scope)                                   \
	KEEP(count, scope) KEEP(member, scope)
#define THROUGHPUT(of, member, name, scope) KEEP(member, scope)
#define PAIR(of, member, name, scope) KEEP(member, scope)
#define INSIGHTS(of, member, name, scope) KEEP(member, scope)
#define POLICY(of, member, name, scope) KEEP(member, scope)
#include "protocol/tables/settings.def"
#undef KEEP

void settings_create(struct table_settings *settings, const struct create_table_input *input)
{
#define SWITCH(of, member, name, scope, parameter, input_member, concern)                          \
	settings->member = opt_is_true(input->input_member);
#include "protocol/tables/settings.def"
}

void settings_update(struct table_settings *settings, const struct update_table_input *input)
{
#define SWITCH(of, member, name, scope, parameter, input_member, concern)                          \
	if (input->input_member.is_set)                                                            \
		settings->member = input->input_member.value;
#include "protocol/tables/settings.def"
}

void settings_narrow(struct update_table_input *input)
{
#define SWITCH(of, member, name, scope, parameter, input_member, concern)                          \
	input->input_member.is_set &= SETTINGS_##scope != SETTINGS_HERE;
#include "protocol/tables/settings.def"
}

void settings_describe(struct json_out *out, const struct table_settings *settings)
{
#define SWITCH(of, member, name, scope, parameter, input_member, concern)                          \
	json_out_field_boolean(out, parameter, settings->member);
#include "protocol/tables/settings.def"
}

const struct settings_records settings_records = {&table_record, &index_record, &stream_record};

struct tag_set settings_copy_tags(struct arena *arena, const struct tag_set *tags, size_t more)
{
	struct tag_set copy = {tags->n, ARENA_ARRAY(arena, struct tag, tags->n + more)};

	for (size_t i = 0; i < tags->n; i++)
		copy.v[i] = (struct tag){str_copy(arena, tags->v[i].key),
					 str_copy(arena, tags->v[i].value)};
	return copy;
}
