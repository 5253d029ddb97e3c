#include "server/transfer/loading.h"

#include <stdlib.h>

struct loading {
	struct loading *next;
	struct arena *arena;
	struct str id;
	struct loading_options options;
	struct s3_objects objects;
	bool is_listed;
	size_t at;              /* the object at hand, or the next one */
	struct source *source;  /* NULL: none is open */
	int64_t records;        /* of it that were taken */
	struct arena *skipped;  /* for records that are passed over */
	struct arena_budget memory; /* of it */
};

struct loading *loading_new(struct arena *arena, struct str id,
			    const struct loading_options *options)
{
	struct loading *loading = arena_checked(calloc(1, sizeof(*loading)));

	loading->arena = arena;
	loading->id = str_copy(arena, id);
	loading->options = *options;
	loading->options.bucket = s3_bucket_copy(arena, options->bucket);
	loading->options.prefix = str_copy(arena, options->prefix);
	loading->memory.limit = RECORD_MEMORY_MAX;
	loading->skipped = arena_new_within(0, &loading->memory);
	return loading;
}

void loading_free(struct loading *loading)
{
	if (!loading)
		return;
	source_close(loading->source);
	arena_free(loading->skipped);
	arena_free(loading->arena);
	free(loading);
}

struct str loading_id(const struct loading *loading)
{
	return loading->id;
}

struct loading **loading_next(struct loading *loading)
{
	return &loading->next;
}

uint64_t loading_total(const struct loading *loading)
{
	uint64_t total = 0;

	for (size_t i = 0; i < loading->objects.n; i++)
		total += loading->objects.v[i].size;
	return total;
}

static void open_loading_object(struct loading *loading)
{
	const struct s3_object *object = &loading->objects.v[loading->at];
	const struct source_options options = {
		.s3 = loading->options.s3,
		.bucket = loading->options.bucket,
		.object = *object,
		.coding = loading->options.coding,
		.form = &loading->options.form,
	};

	source_close(loading->source);
	loading->source = source_open(&options);
	loading->records = 0;
}

static void close_object(struct loading *loading)
{
	source_close(loading->source);
	loading->source = NULL;
	loading->at++;
	loading->records = 0;
}

static bool is_loading_at(const struct loading *loading, const struct transfer_progress *progress)
{
	if (!str_is_set(progress->object))
		return loading->at == 0 && !loading->source;
	if (progress->records < 0) /* the object is done */
		return !loading->source && loading->at > 0 &&
		       str_eq(loading->objects.v[loading->at - 1].key, progress->object);
	return loading->source && str_eq(loading->objects.v[loading->at].key, progress->object) &&
	       loading->records == progress->records;
}

/* Opens the object of the progress and passes over its records that are done. */
static bool reopen(struct loading *loading, const struct transfer_progress *progress,
		   struct s3_problem *problem)
{
	enum record_kind kind = RECORD_ITEM;
	struct record_put record;

	source_close(loading->source);
	loading->source = NULL;
	loading->records = 0;
	for (loading->at = 0; str_is_set(progress->object) && loading->at < loading->objects.n;
	     loading->at++) {
		if (str_cmp(loading->objects.v[loading->at].key, progress->object) >= 0)
			break;
	}
	if (!str_is_set(progress->object) || loading->at == loading->objects.n ||
	    !str_eq(loading->objects.v[loading->at].key, progress->object))
		return true;
	if (progress->records < 0) {
		loading->at++;
		return true;
	}
	open_loading_object(loading);
	while (loading->records < progress->records && kind != RECORD_END &&
	       kind != RECORD_BROKEN) {
		struct err ignored = err_in(loading->skipped);

		if (!source_next(loading->source, loading->skipped, &kind, &record, &ignored,
				 problem))
			return false;
		loading->records += kind != RECORD_END;
		arena_reset(loading->skipped);
	}
	return true;
}

bool loading_seek(struct loading *loading, struct arena *arena,
		  const struct transfer_progress *progress, struct s3_problem *problem)
{
	(void)arena;
	if (!loading->is_listed) {
		if (!s3_list(loading->options.s3, loading->arena, loading->options.bucket,
			     loading->options.prefix, &loading->objects, problem))
			return false;
		loading->is_listed = true;
	}
	return is_loading_at(loading, progress) || reopen(loading, progress, problem);
}

/* What of the object was read counts in the progress. */
static void count_bytes(const struct loading *loading, struct transfer_progress *progress,
			bool is_done)
{
	int64_t bytes = is_done ? (int64_t)loading->objects.v[loading->at].size
				: (int64_t)source_read(loading->source);

	progress->bytes += bytes - progress->object_bytes;
	progress->object_bytes = bytes;
}

bool loading_take(struct loading *loading, struct arena *arena, struct transfer_progress *progress,
		  struct loading_record *record, struct s3_problem *problem)
{
	for (;;) {
		if (!loading->source && loading->at == loading->objects.n) {
			record->kind = RECORD_END;
			return true;
		}
		if (!loading->source) {
			open_loading_object(loading);
			progress->object = loading->objects.v[loading->at].key;
			progress->records = progress->object_bytes = 0;
		}
		record->err = err_in(arena);
		record->number = loading->records;
		if (!source_next(loading->source, arena, &record->kind, &record->record,
				 &record->err, problem))
			return false;
		bool is_done = record->kind == RECORD_END || record->kind == RECORD_BROKEN;
		count_bytes(loading, progress, is_done);
		loading->records += record->kind != RECORD_END;
		progress->records = is_done ? -1 : loading->records;
		if (is_done)
			close_object(loading);
		if (record->kind != RECORD_END)
			return true;
	}
}
