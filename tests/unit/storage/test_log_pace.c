/* Backpressure on writers: which transactions pause for how long. */
#include "storage/store/sqlite/log_pace.h"

#include "tests/unit/test.h"

#define ROOM 800 /* pauses begin at 500 pages and have their length at 600 */

static struct log_pace paced(uint64_t page_ns)
{
	return (struct log_pace){page_ns};
}

TEST(nothing_pauses_before_a_checkpoint_was_measured)
{
	struct log_pace pace = {0};

	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 700, 10), 0);
}

TEST(pauses_grow_with_the_log_up_to_their_length)
{
	struct log_pace pace = paced(1000);

	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 500, 10), 0);
	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 510, 10), 2000);
	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 550, 10), 10000);
	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 600, 10), 20000);
	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 800, 10), 20000);
	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 600, 1), 2000);
}

TEST(no_pause_behind_a_log_that_started_over_or_is_beyond_its_limit)
{
	struct log_pace pace = paced(1000);

	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 10, -790), 0);
	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 700, 0), 0);
	CHECK_INT(log_pace_pause(&pace, ROOM, ROOM, 801, 100), 0);
	CHECK_INT(log_pace_pause(&pace, 7, 7, 7, 1), 0);
}

TEST(a_log_that_may_grow_for_readers_has_its_pauses_later)
{
	struct log_pace pace = paced(1000);

	CHECK_INT(log_pace_pause(&pace, ROOM, 2 * ROOM, 1300, 10), 0);
	CHECK_INT(log_pace_pause(&pace, ROOM, 2 * ROOM, 1400, 10), 20000);
}

TEST(the_fastest_round_of_the_latest_checkpoint_counts)
{
	struct log_pace pace = {0};

	log_pace_note(&pace, &(struct log_pace_round){true, 1000, 5000, 20000, 50000});
	CHECK_INT(pace.page_ns, 30);
	log_pace_note(&pace, &(struct log_pace_round){false, 2000, 2000, 20000, 30000});
	CHECK_INT(pace.page_ns, 25);
	log_pace_note(&pace, &(struct log_pace_round){false, 500, 500, 20000, 20000});
	CHECK_INT(pace.page_ns, 25);
	log_pace_note(&pace, &(struct log_pace_round){true, 1000, 5000, 40000, 50000});
	CHECK_INT(pace.page_ns, 50);
}

TEST(a_round_of_few_pages_or_none_does_not_count_as_a_slow_one)
{
	struct log_pace pace = {0};

	log_pace_note(&pace, &(struct log_pace_round){true, 1, 0, 12800, 25600});
	CHECK_INT(pace.page_ns, 300);
}

TEST_MAIN(TEST_CASE(nothing_pauses_before_a_checkpoint_was_measured),
	  TEST_CASE(pauses_grow_with_the_log_up_to_their_length),
	  TEST_CASE(no_pause_behind_a_log_that_started_over_or_is_beyond_its_limit),
	  TEST_CASE(a_log_that_may_grow_for_readers_has_its_pauses_later),
	  TEST_CASE(the_fastest_round_of_the_latest_checkpoint_counts),
	  TEST_CASE(a_round_of_few_pages_or_none_does_not_count_as_a_slow_one))
