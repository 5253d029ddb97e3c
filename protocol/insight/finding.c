#include "protocol/insight/finding.h"

#include <math.h>
#include <stdio.h>

/* From here on a pattern says something: fewer calls are a try. */
#define CALLS_MIN 3
#define ROWS_MIN 100           /* read, before what is thrown away counts */
#define PAGES_MIN 3            /* per traversal */
#define ITEM_LARGE 4096        /* bytes, on average, of items of which a part is wanted */
#define COLUMNS_FEW 2
#define BURST_MIN 10
#define SHARE_HOT 0.5          /* of a table's units */
#define UNITS_HOT 500          /* of a table, before a share says something */
#define REQUESTS_HOT                                                                               \
	10 /* at least one of so many is the partition's: a large item is not traffic */
#define READS_PER_SECOND                                                                           \
	3000 /* AWS: Developer Guide, "Designing partition keys to distribute your workload" */
#define WRITES_PER_SECOND 1000 /* same source */
#define COLLECTION_LARGE 1000  /* items that one partition got */
#define NEAR_LIMIT (350 * 1024) /* of 400 KB. AWS: Quotas, "Item size" */
#define REWRITTEN (8 * 1024)   /* bytes, on average, of items that small updates change */
#define CHANGES_FEW 2
#define CONSISTENT_MIN 10
#define WRITES_MIN 100         /* units of a table, before its indexes are judged */

struct run {
	struct insight *insight;
	struct arena *arena;
	struct json_out *out;
	bool is_one, is_short; /* is_one: the patterns are those of one request: there is no figure
				  that is too small to say something */
	const char *name, *severity, *what, *advice; /* of the finding that is looked for */
	const struct seen_table *seen;               /* that is judged; or NULL */
	void (*judge)(struct run *run, const struct pattern *pattern);
};

struct str finding_pattern_id(struct arena *arena, const struct pattern *pattern)
{
	return str_printf(arena, "%08x", (unsigned)(pattern->hash >> 32));
}

static struct str where_of(struct arena *arena, const struct pattern *pattern)
{
	const struct str *parts = pattern->parts;

	return parts[OUTLINE_INDEX].n > 0
		       ? str_printf(arena, STR_FMT "." STR_FMT, STR_ARG(parts[OUTLINE_TABLE]),
				    STR_ARG(parts[OUTLINE_INDEX]))
		       : parts[OUTLINE_TABLE];
}

/* "Query shop.GSI1: GSI1PK = ?" */
static struct str line_of(struct arena *arena, const struct pattern *pattern)
{
	const struct str *parts = pattern->parts;
	struct buf line = buf_in(arena);

	buf_printf(&line, "%s " STR_FMT, pattern->operation, STR_ARG(where_of(arena, pattern)));
	for (enum outline_part part = OUTLINE_KEY; part < OUTLINE_HOW; part++) {
		static const char *const before[OUTLINE_PARTS] = {
			[OUTLINE_KEY] = ": ",
			[OUTLINE_FILTER] = "; filter ",
			[OUTLINE_PROJECTION] = "; only ",
			[OUTLINE_UPDATE] = "; ",
			[OUTLINE_CONDITION] = "; if ",
		};

		if (parts[part].n > 0)
			buf_printf(&line, "%s" STR_FMT, before[part], STR_ARG(parts[part]));
	}
	return buf_str(&line);
}

/* Of a finding about a table: the pattern that costs most there; NULL where none is of it. */
static const struct pattern *dearest_of(const struct insight *insight, struct str table)
{
	const struct pattern *dearest = NULL;

	for (const struct pattern *p = insight->newest; p; p = p->next) {
		if (str_eq(p->parts[OUTLINE_TABLE], table) &&
		    (!dearest ||
		     p->flow.read + p->flow.write > dearest->flow.read + dearest->flow.write))
			dearest = p;
	}
	return dearest;
}

/* `units`: what it costs, or what could be saved. */
static void tell(struct run *run, const struct pattern *pattern, struct str where, double units,
		 struct str evidence)
{
	struct json_out *out = run->out;

	if (run->is_short) {
		json_out_string(out, str_of(run->name));
		return;
	}
	json_out_open(out, '{');
	json_out_field_string(out, "finding", str_of(run->name));
	json_out_field_string(out, "severity", str_of(run->severity));
	json_out_field_string(out, "what", str_of(run->what));
	json_out_field_string(out, "where", where);
	if (!pattern && run->seen)
		pattern = dearest_of(run->insight, run->seen->table->identity.name);
	if (pattern) {
		json_out_field_string(out, "pattern", finding_pattern_id(run->arena, pattern));
		json_out_field_string(out, "access", line_of(run->arena, pattern));
		if (pattern->example)
			json_out_field_string(out, "example", str_of(pattern->example));
	}
	json_out_field_string(out, "evidence", evidence);
	json_out_name(out, STR("units"));
	json_out_units(out, units);
	json_out_field_string(out, "advice", str_of(run->advice));
	json_out_close(out, '}');
}

#define TELL(run, pattern, units, ...)                                                             \
	tell(run, pattern, where_of((run)->arena, pattern), units,                                 \
	     str_printf((run)->arena, __VA_ARGS__))

static unsigned long long ull(uint64_t value)
{
	return value;
}

static void judge_scan(struct run *run, const struct pattern *pattern)
{
	if (pattern->traits & PATTERN_SCAN)
		TELL(run, pattern, pattern->flow.read, "%llu calls read %llu items, %.1f units",
		     ull(pattern->flow.calls), ull(pattern->flow.scanned), pattern->flow.read);
}

/* The least figure that says something. */
static uint64_t least(const struct run *run, uint64_t figure)
{
	return run->is_one ? 1 : figure;
}

static bool discards(const struct run *run, const struct pattern *pattern, double share)
{
	return (pattern->traits & PATTERN_FILTER) &&
	       pattern->flow.scanned >= least(run, ROWS_MIN) &&
	       (double)pattern->flow.returned < (double)pattern->flow.scanned * (1 - share);
}

static void judge_missing_index(struct run *run, const struct pattern *pattern)
{
	if ((pattern->traits & PATTERN_SCAN) && (pattern->traits & PATTERN_EQUALITY) &&
	    discards(run, pattern, 0.9))
		TELL(run, pattern, pattern->flow.read,
		     "of %llu items the filter " STR_FMT " let %llu pass",
		     ull(pattern->flow.scanned), STR_ARG(pattern->parts[OUTLINE_FILTER]),
		     ull(pattern->flow.returned));
}

static void judge_discard(struct run *run, const struct pattern *pattern)
{
	const struct pattern_flow *flow = &pattern->flow;

	if (discards(run, pattern, 0.5))
		TELL(run, pattern,
		     flow->read * (1 - (double)flow->returned / (double)flow->scanned),
		     "%.0f %% of %llu items were read and thrown away",
		     100.0 * (1 - (double)flow->returned / (double)flow->scanned),
		     ull(flow->scanned));
}

static void judge_pages(struct run *run, const struct pattern *pattern)
{
	const struct pattern_flow *flow = &pattern->flow;
	uint64_t traversals = flow->calls > flow->continued ? flow->calls - flow->continued : 1;

	if ((pattern->traits & PATTERN_QUERY) && flow->calls >= traversals * PAGES_MIN &&
	    flow->scanned >= ROWS_MIN && flow->returned * 4 < flow->scanned)
		TELL(run, pattern, flow->read, "%.1f pages each, for %llu of %llu items",
		     (double)flow->calls / (double)traversals, ull(flow->returned),
		     ull(flow->scanned));
}

static void judge_small_part(struct run *run, const struct pattern *pattern)
{
	const struct pattern_flow *flow = &pattern->flow;

	if (!(pattern->traits &
	      (PATTERN_GET | PATTERN_QUERY |
	       PATTERN_SCAN))) /* a search is billed by vectors that it compares */
		return;
	if (pattern->columns > 0 && pattern->columns <= COLUMNS_FEW &&
	    flow->calls >= least(run, CALLS_MIN) && flow->scanned > 0 &&
	    flow->bytes / flow->scanned >= ITEM_LARGE)
		TELL(run, pattern, flow->read,
		     "items of %llu bytes on average were read for " STR_FMT,
		     ull(flow->bytes / flow->scanned), STR_ARG(pattern->parts[OUTLINE_PROJECTION]));
}

static void judge_n_plus_one(struct run *run, const struct pattern *pattern)
{
	if (pattern->flow.burst >= BURST_MIN)
		TELL(run, pattern, pattern->flow.read,
		     "%llu calls came in rows of %u or more, up to %llu one after the other",
		     ull(pattern->flow.in_bursts), BURST_MIN, ull(pattern->flow.burst));
}

static void judge_near_limit(struct run *run, const struct pattern *pattern)
{
	if (pattern->sizes.greatest >= NEAR_LIMIT && (pattern->traits & PATTERN_WRITE))
		TELL(run, pattern, pattern->flow.write, "the largest has %llu bytes",
		     ull(pattern->sizes.greatest));
}

static void judge_large_rewrite(struct run *run, const struct pattern *pattern)
{
	const struct sketch *sizes = &pattern->sizes;

	if ((pattern->traits & PATTERN_UPDATE) && pattern->changes > 0 &&
	    pattern->changes <= CHANGES_FEW && sizes->n >= least(run, CALLS_MIN) &&
	    sizes->sum / sizes->n >= REWRITTEN)
		TELL(run, pattern, pattern->flow.write,
		     STR_FMT " rewrites items of %llu bytes on average",
		     STR_ARG(pattern->parts[OUTLINE_UPDATE]), ull(sizes->sum / sizes->n));
}

static void judge_needless_consistency(struct run *run, const struct pattern *pattern)
{
	const struct pattern_flow *flow = &pattern->flow;

	if (flow->consistent >= CONSISTENT_MIN && flow->needed == 0)
		TELL(run, pattern, flow->read / 2,
		     "none of %llu consistent reads was of something written shortly before",
		     ull(flow->consistent));
}

static void judge_single_transaction(struct run *run, const struct pattern *pattern)
{
	if ((pattern->traits & PATTERN_ONE) && pattern->flow.calls >= least(run, CALLS_MIN))
		TELL(run, pattern, pattern->flow.write / 2, "%llu transactions of one action",
		     ull(pattern->flow.calls));
}

static void judge_lost_update(struct run *run, const struct pattern *pattern)
{
	for (size_t i = 0; i < run->insight->entity_count; i++) {
		const struct entity *entity = &run->insight->entities[i];

		if (entity->blind == pattern && entity->guarded)
			TELL(run, pattern, pattern->flow.write,
			     "puts without a condition: %llu; pattern " STR_FMT
			     " has the condition " STR_FMT,
			     ull(pattern->flow.calls),
			     STR_ARG(finding_pattern_id(run->arena, entity->guarded)),
			     STR_ARG(entity->guarded->parts[OUTLINE_CONDITION]));
	}
}

static void visit(void *context, struct pattern *pattern)
{
	struct run *run = context;

	run->judge(run, pattern);
}

static void each_pattern(struct run *run,
			 void (*judge)(struct run *run, const struct pattern *pattern))
{
	run->judge = judge;
	insight_each(run->insight, visit, run);
}

static void each_table(struct run *run,
		       void (*judge)(struct run *run, const struct seen_table *seen))
{
	for (size_t i = 0; i < run->insight->table_count; i++) {
		run->seen = run->insight->tables[i];
		judge(run, run->seen);
	}
}

static struct str name_of_partition(struct run *run, const struct seen_table *seen,
				    const struct partition *partition)
{
	struct str table = seen->table->identity.name,
		   label = partition_label(run->arena, partition);

	return partition->index
		       ? str_printf(run->arena, STR_FMT "." STR_FMT " " STR_FMT, STR_ARG(table),
				    STR_ARG(partition->index->name), STR_ARG(label))
		       : str_printf(run->arena, STR_FMT " " STR_FMT, STR_ARG(table),
				    STR_ARG(label));
}

/* "" where the table was busy all the time. */
static struct str busy_time(struct arena *arena, const struct partition_busy *busy)
{
	return busy->ms == busy->of_ms ? STR("")
				       : str_printf(arena, " in its %.0f busiest of %.0f minutes",
						    ceil((double)busy->ms / 60000),
						    ceil((double)busy->of_ms / 60000));
}

/* A share of the time in which the table was busy: an idle night makes nothing hot, and does not
 * hide it. */
static void table_hot_partition(struct run *run, const struct seen_table *seen)
{
	const struct partitions *all = &seen->partitions;
	struct partition_busy busy;

	partition_find_busy(all, &run->insight->timeline, UNITS_HOT, &busy);
	for (size_t i = 0; i < all->n; i++) {
		const struct partition *partition = &all->v[i];
		double units = partition->read + partition->write;
		bool is_known = busy.units > 0; /* reports of older versions do not say when */
		double busy_all = is_known ? busy.units : all->units,
		       own = is_known ? partition_busy_units(partition, &busy) : units;
		bool is_traffic = (double)partition->requests * REQUESTS_HOT >=
				  (double)all->requests * busy_all / all->units;
		bool is_share = all->n > 1 && is_traffic && busy_all >= UNITS_HOT &&
				own > busy_all * SHARE_HOT;

		if (is_share || partition->peak_read >= READS_PER_SECOND ||
		    partition->peak_write >= WRITES_PER_SECOND)
			tell(run, NULL, name_of_partition(run, seen, partition), units,
			     str_printf(run->arena,
					"%.0f %% of the table's units" STR_FMT
					"; at most %.0f read and %.0f write units in a second",
					100 * own / busy_all, STR_ARG(busy_time(run->arena, &busy)),
					partition->peak_read, partition->peak_write));
	}
}

static void table_growing_collection(struct run *run, const struct seen_table *seen)
{
	for (size_t i = 0; i < seen->partitions.n; i++) {
		const struct partition *partition = &seen->partitions.v[i];

		if (partition->items >= COLLECTION_LARGE &&
		    key_schema_count(&seen->table->keys) > 1)
			tell(run, NULL, name_of_partition(run, seen, partition), partition->write,
			     str_printf(run->arena, "it got %lld items more than were deleted",
					(long long)partition->items));
	}
}

static struct str name_of_index(struct run *run, const struct seen_table *seen, size_t i)
{
	return str_printf(run->arena, STR_FMT "." STR_FMT, STR_ARG(seen->table->identity.name),
			  STR_ARG(seen->table->indexes.v[i].name));
}

static void table_unread_index(struct run *run, const struct seen_table *seen)
{
	for (size_t i = 0; i < seen->table->indexes.n; i++) {
		if (seen->indexes[i].reads == 0 && seen->indexes[i].written >= CALLS_MIN)
			tell(run, NULL, name_of_index(run, seen, i), seen->indexes[i].written,
			     str_printf(run->arena,
					"%.0f units were written to it, nothing was read",
					seen->indexes[i].written));
	}
}

static void table_over_projected(struct run *run, const struct seen_table *seen)
{
	for (size_t i = 0; i < seen->table->indexes.n; i++) {
		const struct seen_index *index = &seen->indexes[i];
		struct buf used = buf_in(run->arena);

		if (seen->table->indexes.v[i].projection != PROJECT_ALL ||
		    index->reads < CALLS_MIN || index->whole_reads > 0 || index->is_used_more)
			continue;
		for (size_t u = 0; u < index->used_count; u++)
			buf_printf(&used, "%s" STR_FMT, u > 0 ? ", " : "", STR_ARG(index->used[u]));
		tell(run, NULL, name_of_index(run, seen, i), index->written,
		     str_printf(
			     run->arena, "it projects ALL; its %llu reads asked for " STR_FMT,
			     ull(index->reads),
			     STR_ARG(index->used_count > 0 ? buf_str(&used) : STR("counts only"))));
	}
}

static void table_amplification(struct run *run, const struct seen_table *seen)
{
	double written = 0;

	for (size_t i = 0; i < seen->table->indexes.n; i++)
		written += seen->indexes[i].written;
	if (seen->base >= (double)least(run, WRITES_MIN) && written > 2 * seen->base)
		tell(run, NULL, seen->table->identity.name, written,
		     str_printf(run->arena, "%.0f units in indexes for %.0f in the table", written,
				seen->base));
}

static void table_ttl_type(struct run *run, const struct seen_table *seen)
{
	if (seen->ttl_wrong + seen->ttl_milliseconds > 0)
		tell(run, NULL, seen->table->identity.name, 0,
		     str_printf(
			     run->arena,
			     "attribute " STR_FMT
			     ": %llu items with another type than number, %llu with milliseconds",
			     STR_ARG(seen->table->ttl.attribute), ull(seen->ttl_wrong),
			     ull(seen->ttl_milliseconds)));
}

static void find_scan(struct run *run) { each_pattern(run, judge_scan); }
static void find_missing_index(struct run *run) { each_pattern(run, judge_missing_index); }
static void find_discard(struct run *run) { each_pattern(run, judge_discard); }
static void find_pages(struct run *run) { each_pattern(run, judge_pages); }
static void find_small_part(struct run *run) { each_pattern(run, judge_small_part); }
static void find_n_plus_one(struct run *run) { each_pattern(run, judge_n_plus_one); }
static void find_near_limit(struct run *run) { each_pattern(run, judge_near_limit); }
static void find_large_rewrite(struct run *run) { each_pattern(run, judge_large_rewrite); }
static void find_needless_consistency(struct run *run)
{
	each_pattern(run, judge_needless_consistency);
}
static void find_single_transaction(struct run *run)
{
	each_pattern(run, judge_single_transaction);
}
static void find_lost_update(struct run *run) { each_pattern(run, judge_lost_update); }
static void find_hot_partition(struct run *run) { each_table(run, table_hot_partition); }
static void find_growing_collection(struct run *run) { each_table(run, table_growing_collection); }
static void find_unread_index(struct run *run) { each_table(run, table_unread_index); }
static void find_over_projected(struct run *run) { each_table(run, table_over_projected); }
static void find_amplification(struct run *run) { each_table(run, table_amplification); }
static void find_ttl_type(struct run *run) { each_table(run, table_ttl_type); }

static void find_unprocessed(struct run *run)
{
	uint64_t n = 0;

	for (size_t i = 0; i < RECENT; i++)
		n += run->insight->left[i] != 0;
	if (n > 0)
		tell(run, NULL, STR("BatchWriteItem"), 0,
		     str_printf(run->arena, "%llu members were not written since", ull(n)));
}

static void find_in(struct insight *insight, struct arena *arena, bool is_one, bool is_short,
		    struct json_out *out)
{
	static const struct {
		bool is_of_request;
		const char *name, *severity, *what, *advice;
		void (*find)(struct run *run);
	} findings[] = {
#define REQUEST true
#define TRAFFIC false
#define FINDING(id, name, scope, severity, what, advice)                                           \
	{scope, name, severity, what, advice, find_##id},
#include "protocol/insight/finding.def"
#undef FINDING
#undef REQUEST
#undef TRAFFIC
	};

	json_out_open(out, '[');
	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
		struct run run = {
			insight,
			arena,
			out,
			is_one,
			is_short,
			findings[i].name,
			findings[i].severity,
			findings[i].what,
			findings[i].advice,
			NULL,
			NULL,
		};

		if (findings[i].is_of_request || !is_one)
			findings[i].find(&run);
	}
	json_out_close(out, ']');
}

void finding_all(struct insight *insight, struct arena *arena, struct json_out *out)
{
	find_in(insight, arena, false, false, out);
}

void finding_of_request(struct insight *insight, struct arena *arena, bool is_short,
			struct json_out *out)
{
	find_in(insight, arena, true, is_short, out);
}
