#include "server/races/race_anomaly.h"

static const struct race_request *request_at(const struct race_trace *trace, size_t place)
{
	return &trace->requests[trace->order[place]];
}

/* Whether both may be about the same item. */
static bool may_share_item(const struct race_request *a, const struct race_request *b)
{
	bool is_close;

	return race_trace_conflict(a, b, &is_close) && is_close;
}

/* The last write of another chain before that place, of what the write there is about. */
static size_t other_write_before(const struct race_trace *trace, size_t place, size_t end)
{
	const struct race_request *write = request_at(trace, place);

	while (end-- > 0) {
		const struct race_request *other = request_at(trace, end);

		if (other->chain != write->chain && other->status == 200 && other->is_write &&
		    may_share_item(other, write))
			return end;
	}
	return RACE_NONE;
}

/* The last read of that chain before a place, of what the write is about. */
static size_t read_of(const struct race_trace *trace, size_t chain, size_t write, size_t before)
{
	while (before-- > 0) {
		const struct race_request *read = request_at(trace, before);

		if (read->chain == chain && !read->is_write &&
		    may_share_item(read, request_at(trace, write)))
			return before;
	}
	return RACE_NONE;
}

/* A write that was done, whatever was there. */
static bool is_blind(const struct race_request *request)
{
	return request->is_write && request->status == 200 &&
	       !str_contains(request->body, STR("Condition"));
}

bool race_anomaly_overwrite(const struct race_trace *trace, size_t from, bool is_whole,
			    size_t places[3])
{
	for (size_t last = from; last < trace->order_n; last++) {
		const struct race_request *write = request_at(trace, last);
		size_t other = last;

		if (!is_blind(write) || (is_whole && !str_eq(write->operation, STR("PutItem"))))
			continue;
		while ((other = other_write_before(trace, last, other)) != RACE_NONE) {
			size_t read = read_of(trace, write->chain, other, last);

			if (read != RACE_NONE && read < other) {
				places[0] = read, places[1] = other, places[2] = last;
				return true;
			}
		}
	}
	return false;
}

static bool is_skewed(const struct race_trace *trace, size_t first, size_t second, size_t places[4])
{
	const struct race_request *a = request_at(trace, first), *b = request_at(trace, second);

	if (!is_blind(a) || !is_blind(b) || a->chain == b->chain || may_share_item(a, b))
		return false;
	places[0] = first;
	places[1] = second;
	places[2] = read_of(trace, a->chain, second, first);
	places[3] = read_of(trace, b->chain, first, first);
	return places[2] != RACE_NONE && places[3] != RACE_NONE;
}

bool race_anomaly_skew(const struct race_trace *trace, size_t places[4])
{
	for (size_t second = 0; second < trace->order_n; second++) {
		for (size_t first = 0; first < second; first++) {
			if (is_skewed(trace, first, second, places))
				return true;
		}
	}
	return false;
}
