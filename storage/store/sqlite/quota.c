#include "storage/store/sqlite/quota.h"

#define RESERVE_SHARE 8                /* of the limit, kept for the log and for what makes room */
#define RESERVE_MAX (4 * QUOTA_LOG_MAX)
#define LOG_SHARE                                                                                  \
	4 /* of the reserve, or of all that is left: when the log is started over; as much goes to \
	     what makes room */
#define SLACK (64 << 10)               /* more than the inner pages that a value needs */

struct quota quota_of(uint64_t limit)
{
	uint64_t reserve =
		limit / RESERVE_SHARE < RESERVE_MAX ? limit / RESERVE_SHARE : RESERVE_MAX;

	return (struct quota){
		.limit = limit,
		.data_max = limit - reserve,
		.data_most = limit - reserve + reserve / LOG_SHARE,
		.log_least = reserve - reserve / LOG_SHARE,
	};
}

uint64_t quota_log_short(const struct quota *quota)
{
	return quota->limit ? (quota->limit - quota->data_max) / LOG_SHARE : QUOTA_LOG_MAX;
}

uint64_t quota_log_usual(const struct quota *quota)
{
	uint64_t left = quota->limit > quota->data_next ? quota->limit - quota->data_next : 0,
		 least = quota_log_short(quota);

	if (left / LOG_SHARE < least)
		return least;
	return left / LOG_SHARE < QUOTA_LOG_MAX ? left / LOG_SHARE : QUOTA_LOG_MAX;
}

void quota_begin(struct quota *quota)
{
	quota->is_growing = quota->is_refused = false;
	quota->data_next = quota->data;
}

void quota_commit(struct quota *quota)
{
	quota->data = quota->data_next;
}

bool quota_admits_data(struct quota *quota, uint64_t bytes)
{
	if (quota->limit && bytes > quota->data &&
	    bytes > (quota->is_growing ? quota->data_max : quota->data_most)) {
		quota->is_refused = true;
		return false;
	}
	quota->data_next = bytes;
	return true;
}

bool quota_admits_log(struct quota *quota, uint64_t bytes)
{
	if (!quota->limit || bytes <= quota->log_least || bytes + quota->data_next <= quota->limit)
		return true;
	quota->is_refused = true;
	return false;
}

bool quota_is_near(const struct quota *quota, uint64_t bytes)
{
	return quota->data + bytes + SLACK > quota->data_max;
}
