/*
 * settings - what the API keeps of tables, indexes and streams. Storage carries the settings
 * without knowing them (schema.h, settings_records).
 *
 * settings.def has a row per setting. It expands here into the structs, and in settings.c into the
 * descriptions by which storage copies, writes and reads them.
 */
#ifndef DYNALITH_PROTOCOL_SETTINGS_H
#define DYNALITH_PROTOCOL_SETTINGS_H

#include "protocol/wire/json_out.h"
#include "protocol/wire/shapes.h"
#include "storage/schema/schema.h"

enum billing_mode { BILLING_PROVISIONED, BILLING_PAY_PER_REQUEST };

struct tag {
	struct str key, value;
};

struct tag_set {
	size_t n;
	struct tag *v;
};

#define ON_DEMAND_PENDING (-1)

struct throughput {
	int64_t read, write;        /* units per second; 0 on demand */
	int64_t decreases_today;
	int64_t last_increase_ms, last_decrease_ms; /* 0: never */
};

/* OnDemandThroughput (a member of 0: none) and WarmThroughput. */
struct throughput_pair {
	bool is_set;
	int64_t read, write;
};

/* A resource-based policy, of a table or of its stream. */
struct policy {
	struct str text;            /* as policy_rules makes it; absent: there is none */
	int64_t revision; /* Unix ms of the last change, a deletion too: its RevisionId; 0: never
			     had one */
};

/* Contributor Insights, of a table or a global index. */
struct insights {
	bool is_enabled;
	bool is_throttled_only;     /* mode THROTTLED_KEYS; else ACCESSED_AND_THROTTLED_KEYS */
	int64_t since_ms;           /* when it was enabled: the rules are named by it */
	int64_t changed_ms;         /* 0: never configured */
	int64_t settles_ms;         /* until then shown as ENABLING or DISABLING */
};

enum time_precision { PRECISION_ABSENT, PRECISION_MILLISECOND, PRECISION_MICROSECOND };

/* A Kinesis data stream, the destination of the table's changes. */
struct destination {
	struct str stream_arn;
	bool is_enabled;
	bool is_updated;            /* the last change was one of the precision */
	bool is_failed;             /* its stream was not found: ENABLE_FAILED, not enabled */
	enum time_precision precision;
	int64_t settles_ms;         /* until then ENABLING, UPDATING or DISABLING */
	int64_t first; /* number of the first change that is sent, in the table's log */
	int64_t until; /* disabled: changes before this number are still sent; 0: none is left */
};

/*
 * A change that shows later than it is made, or that limits the next one. protocol/timing keeps it
 * with the table, and only with AWS's timing.
 */
struct moment {
	struct str what;            /* "STREAM" */
	struct str subject;         /* an index's name, a tag's key; empty: the table itself */
	int64_t at_ms;              /* when the change was made */
	size_t before_count;
	struct str *before;         /* the status or value shown until it is over */
};

/*
 * Auto scaling of a dimension of a table or an index: a scalable target of Application Auto Scaling
 * with its policy, if it has one. UpdateTableReplicaAutoScaling makes both.
 */
struct scaling {
	struct str index;           /* absent: the table's */
	bool is_write;
	int64_t least, most; /* units */
	int64_t created_ms, policy_ms;
	bool is_in_suspended, is_out_suspended, is_schedule_suspended;
	struct tag_set tags;
	struct str role, policy;    /* AutoScalingRoleArn, PolicyName */
	struct str target;          /* TargetValue as a decimal text; absent: there is no policy */
	bool has_scale_in, is_scale_in_disabled;
	bool has_in_cooldown, has_out_cooldown;
	int64_t in_cooldown, out_cooldown; /* seconds */
};

#define SETTINGS(of, ...)     \
	struct of##_settings { \
		__VA_ARGS__    \
	};
#define NUMBER(of, type, member, name, scope) type member;
#define FLAG(of, member, name, scope) bool member;
#define TEXT(of, member, name, scope) struct str member;
#define TAGS(of, member, name, scope) struct tag_set member;
#define LIST(of, type, member, count, name, kind, record, scope) \
	size_t count;                                     \
	type *member;
#define THROUGHPUT(of, member, name, scope) struct throughput member;
#define PAIR(of, member, name, scope) struct throughput_pair member;
#define INSIGHTS(of, member, name, scope) struct insights member;
#define POLICY(of, member, name, scope) struct policy member;
#define SHOWN(of, member) bool member;
#include "protocol/tables/settings.def"

/* For table_new and for the catalog. */
extern const struct settings_records settings_records;

/* Which tables besides its own have a setting: the replicas that are made of it, and the tables
 * that are restored from it. */
enum settings_scope { SETTINGS_HERE, SETTINGS_REPLICAS, SETTINGS_EVERYWHERE };

/* Forgets settings of a lesser scope. */
void settings_keep_table(struct table_settings *settings, enum settings_scope least);
void settings_keep_index(struct index_settings *settings, enum settings_scope least);
void settings_keep_stream(struct stream_settings *settings, enum settings_scope least);

/* The switches of settings.def: as CreateTable asks for them, as UpdateTable changes them, what of
 * that concerns replicas, and their members of a table's description. */
void settings_create(struct table_settings *settings, const struct create_table_input *input);
void settings_update(struct table_settings *settings, const struct update_table_input *input);
void settings_narrow(struct update_table_input *input);
void settings_describe(struct json_out *out, const struct table_settings *settings);

/* A deep copy with room for `more` tags. */
struct tag_set settings_copy_tags(struct arena *arena, const struct tag_set *tags, size_t more);

#endif
