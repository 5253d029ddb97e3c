#include "protocol/tables/recovery.h"
#include "protocol/timing/timing.h"
#include "storage/stream/change_log.h"

#define DAY_MS ((int64_t)86400 * 1000)
#define LAG_MS                                                                                     \
	((int64_t)300 * 1000) /* AWS: LatestRestorableDateTime is five minutes ago, but not before \
				 recovery was switched on */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Of a table of an older data file nothing was logged: it is as good as off. */
bool recovery_is_on(const struct table *table)
{
	return table->settings->recovery_days > 0 && (table->log.reasons & LOG_RECOVERY);
}

void recovery_log(struct table *next, int64_t now_ms)
{
	bool is_on = next->settings->recovery_days > 0;

	next->log.keep_ms = is_on ? next->settings->recovery_days * DAY_MS : 0;
	next->log.since_ms = is_on ? next->settings->recovery_since_ms : 0;
	change_log_set(next,
		       (next->log.reasons & ~(unsigned)LOG_RECOVERY) | (is_on ? LOG_RECOVERY : 0),
		       now_ms);
}

void recovery_window(const struct table *table, int64_t now_ms, int64_t *earliest_ms,
		     int64_t *latest_ms)
{
	int64_t since = table->log.since_ms;

	*earliest_ms = later(since, now_ms - table->settings->recovery_days * DAY_MS) / 1000 * 1000;
	*latest_ms = later(since, now_ms - LAG_MS) / 1000 * 1000;
}

static void write_time(struct json_out *out, struct str name, int64_t ms)
{
	json_out_name(out, name);
	json_out_time_ms(out, ms);
}

/* AWS: backups are on from a table's creation; recovery is what can be switched. */
void recovery_describe(struct call *call, const struct table *table)
{
	struct json_out *out = &call->out;
	int64_t earliest_ms, latest_ms;

	json_out_open(out, '{');
	json_out_name(out, STR("ContinuousBackupsDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "ContinuousBackupsStatus",
			      timing_backups_are_shown(call, table) ? STR("ENABLED")
								    : STR("DISABLED"));
	json_out_name(out, STR("PointInTimeRecoveryDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "PointInTimeRecoveryStatus",
			      recovery_is_on(table) ? STR("ENABLED") : STR("DISABLED"));
	if (recovery_is_on(table)) {
		recovery_window(table, call->now_ms, &earliest_ms, &latest_ms);
		json_out_field_integer(out, "RecoveryPeriodInDays", table->settings->recovery_days);
		write_time(out, STR("EarliestRestorableDateTime"), earliest_ms);
		write_time(out, STR("LatestRestorableDateTime"), latest_ms);
	}
	json_out_close(out, '}');
	json_out_close(out, '}');
	json_out_close(out, '}');
}
