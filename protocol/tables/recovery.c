#include "protocol/tables/recovery.h"
#include "protocol/timing/timing.h"

#define DAY_MS ((int64_t)86400 * 1000)
#define LAG_MS ((int64_t)300 * 1000) /* AWS: LatestRestorableDateTime is five minutes ago, but not before recovery was switched on */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* AWS gives whole seconds. */
static void write_time(struct json_out *out, struct str name, int64_t ms)
{
	json_out_name(out, name);
	json_out_time_ms(out, ms / 1000 * 1000);
}

/* AWS: backups are on from a table's creation; recovery is what can be switched. */
void recovery_describe(struct call *call, const struct table *table)
{
	struct json_out *out = &call->out;
	int64_t since = table->settings->recovery_since_ms;

	json_out_open(out, '{');
	json_out_name(out, STR("ContinuousBackupsDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "ContinuousBackupsStatus", timing_backups_are_shown(call, table) ? STR("ENABLED") : STR("DISABLED"));
	json_out_name(out, STR("PointInTimeRecoveryDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "PointInTimeRecoveryStatus", table->settings->recovery_days ? STR("ENABLED") : STR("DISABLED"));
	if (table->settings->recovery_days) {
		json_out_field_integer(out, "RecoveryPeriodInDays", table->settings->recovery_days);
		write_time(out, STR("EarliestRestorableDateTime"), later(since, call->now_ms - table->settings->recovery_days * DAY_MS));
		write_time(out, STR("LatestRestorableDateTime"), later(since, call->now_ms - LAG_MS));
	}
	json_out_close(out, '}');
	json_out_close(out, '}');
	json_out_close(out, '}');
}
