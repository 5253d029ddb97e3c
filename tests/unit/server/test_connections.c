#include "server/http/connections.h"

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/test.h"

static struct connections_stats stats;

static struct connections *begin(const struct connections_options *options)
{
	memset(&stats, 0, sizeof(stats));
	return connections_new(options, &stats);
}

/* As the server does each second. */
static void sweep_for(struct connections *all, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		sleep(1);
		connections_sweep(all);
	}
}

/* A connection of a socket whose other end is *peer. */
static struct connection *add(struct connections *all, int *own, int *peer)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		abort();
	*own = pair[0];
	*peer = pair[1];
	return connections_add(all, pair[0], &(struct sockaddr_storage){.ss_family = AF_UNIX});
}

static void drop(struct connection *connection, int own, int peer)
{
	connections_remove(connection);
	close(own);
	close(peer);
}

TEST(beyond_the_limit_is_over)
{
	const struct connections_options options = {.room.within = 2, .idle_s = 100, .request_s = 100};
	struct connections *all = begin(&options);
	struct connection *v[4];
	int own[4], peer[4];

	for (int i = 0; i < 3; i++)
		v[i] = add(all, &own[i], &peer[i]);
	CHECK(!v[0]->is_over && !v[1]->is_over && v[2]->is_over);
	drop(v[1], own[1], peer[1]);
	v[1] = add(all, &own[1], &peer[1]);
	CHECK(!v[1]->is_over);
	drop(v[2], own[2], peer[2]); /* one that was over leaves no room */
	v[2] = add(all, &own[2], &peer[2]);
	CHECK(v[2]->is_over);
	for (int i = 0; i < 3; i++)
		drop(v[i], own[i], peer[i]);
	connections_free(all);
}

TEST(few_beyond_the_limit_are_admitted)
{
	const struct connections_options options = {.room.within = 1,
						    .room.beyond = CONNECTIONS_OVER,
						    .idle_s = 100,
						    .request_s = 100};
	struct connections *all = begin(&options);
	struct connection *inside, *v[CONNECTIONS_OVER];
	int own[CONNECTIONS_OVER + 1], peer[CONNECTIONS_OVER + 1], admitted = 0;

	inside = add(all, &own[CONNECTIONS_OVER], &peer[CONNECTIONS_OVER]);
	CHECK(connection_admit(inside, CONNECTION_ORDINARY));
	for (int i = 0; i < CONNECTIONS_OVER; i++) {
		v[i] = add(all, &own[i], &peer[i]);
		admitted += connection_admit(v[i], CONNECTION_ORDINARY);
	}
	CHECK_INT(admitted, CONNECTIONS_OVER / 4);
	drop(v[0], own[0], peer[0]);
	v[0] = add(all, &own[0], &peer[0]);
	CHECK(connection_admit(v[0], CONNECTION_ORDINARY)); /* one left */
	drop(v[1], own[1], peer[1]);
	v[1] = add(all, &own[1], &peer[1]);
	CHECK(connection_admit(v[1], CONNECTION_VITAL)); /* the others leave room for these */
	CHECK_INT(atomic_load(&stats.open), CONNECTIONS_OVER + 1);
	for (int i = 0; i < CONNECTIONS_OVER; i++)
		drop(v[i], own[i], peer[i]);
	drop(inside, own[CONNECTIONS_OVER], peer[CONNECTIONS_OVER]);
	CHECK_INT(atomic_load(&stats.open), 0);
	CHECK_INT(atomic_load(&stats.over), CONNECTIONS_OVER + 2);
	connections_free(all);
}

/* A connection from an address in text. */
static struct connection *add_from(struct connections *all, const char *address, int *own,
				   int *peer)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} from = {.any.ss_family = AF_INET6};
	int pair[2];

	if (inet_pton(AF_INET6, address, &from.v6.sin6_addr) != 1)
		from.any.ss_family = AF_INET;
	if ((from.any.ss_family == AF_INET &&
	     inet_pton(AF_INET, address, &from.v4.sin_addr) != 1) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		abort();
	*own = pair[0];
	*peer = pair[1];
	return connections_add(all, pair[0], &from.any);
}

/* Which of the connections are over, as digits. */
static void check_addresses(const struct connections_options *options, const char *const *addresses,
			    int n, const char *over)
{
	struct connections *all = begin(options);
	struct connection *v[8];
	int own[8], peer[8];

	for (int i = 0; i < n; i++) {
		v[i] = add_from(all, addresses[i], &own[i], &peer[i]);
		CHECK_INT(v[i]->is_over, over[i] - '0');
	}
	for (int i = 0; i < n; i++)
		drop(v[i], own[i], peer[i]);
	v[0] = add_from(all, addresses[0], &own[0], &peer[0]); /* nothing is left of them */
	CHECK(!v[0]->is_over);
	drop(v[0], own[0], peer[0]);
	connections_free(all);
}

TEST(the_oldest_silent_one_makes_room_beyond_the_limit)
{
	const struct connections_options options = {
		.room.within = 1, .room.beyond = 4, .idle_s = 100, .request_s = 100};
	struct connections *all = begin(&options);
	struct connection *v[5];
	int own[5], peer[5];
	char byte;

	for (int i = 0; i < 4; i++) {
		CHECK(!connections_crowded_out(all));
		v[i] = add(all, &own[i], &peer[i]);
	}
	CHECK(connections_find(all, own[2]) == v[2] && !connections_find(all, -1));
	CHECK(connections_crowded_out(all) == v[1]); /* two may wait */
	CHECK(connection_admit(v[1], CONNECTION_ORDINARY) && !connections_crowded_out(all));
	v[4] = add(all, &own[4], &peer[4]);
	CHECK(connections_crowded_out(all) == v[2]);
	drop(v[2], own[2], peer[2]);
	CHECK(!connections_crowded_out(all));
	drop(v[1], own[1], peer[1]);
	connections_free(all);
	CHECK_INT(recv(peer[3], &byte, 1, 0), 0); /* silent ones are closed */
	for (int i = 0; i < 5; i++)
		close(i == 1 || i == 2 ? -1 : peer[i]);
}

TEST(an_address_has_its_share)
{
	struct connections_options options = {
		.room.within = 100, .idle_s = 100, .request_s = 100, .remote = {2, 0}};
	static const char *const v4[] = {"10.0.0.1",       "10.0.0.2",        "10.0.0.1",
					 "10.0.0.1",       "::ffff:10.0.0.1", "10.0.0.2",
					 "::ffff:10.0.0.2"};
	static const char *const v6[] = {"2001:db8::1",    "2001:db8::2",     "2001:db8:0:1::1",
					 "2001:db8::ffff", "2001:db8:0:1::1", "2001:db8:0:1::"};
	static const char *const loopback[] = {"127.0.0.1", "127.0.0.1", "127.0.0.1",       "::1",
					       "::1",       "::1",       "::ffff:127.0.0.1"};

	check_addresses(&options, v4, 7, "0001101");
	CHECK_INT(atomic_load(&stats.address_over), 3);
	check_addresses(&options, v6, 6, "000101");
	check_addresses(&options, loopback, 7, "0000000");
	options.loopback = options.remote;
	check_addresses(&options, loopback, 7, "0010011");
}

TEST(an_address_has_its_share_of_requests)
{
	const struct connections_options options = {
		.room.within = 100, .idle_s = 100, .request_s = 100, .remote = {0, 1}};
	struct connections *all = begin(&options);
	int own[3], peer[3];
	struct connection *a = add_from(all, "10.0.0.1", &own[0], &peer[0]),
			  *b = add_from(all, "10.0.0.1", &own[1], &peer[1]);
	struct connection *other = add_from(all, "10.0.0.2", &own[2], &peer[2]);

	CHECK(connection_begin_request(a) && !connection_begin_request(b) &&
	      connection_begin_request(other));
	connection_end_request(b);
	connection_end_request(a);
	CHECK(connection_begin_request(b));
	connection_end_request(b);
	connection_end_request(other);
	CHECK_INT(atomic_load(&stats.address_requests_over), 1);
	drop(a, own[0], peer[0]);
	drop(b, own[1], peer[1]);
	drop(other, own[2], peer[2]);
	connections_free(all);
}

/* Shut, recv() gives 0; else there is nothing, or what was sent. */
static bool is_shut(int peer)
{
	char byte;

	return recv(peer, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

/* Sweeps until the socket is shut down, for ten seconds at most. */
static bool ends(struct connections *all, int peer)
{
	for (int i = 0; i < 1000 && !is_shut(peer); i++) {
		usleep(10000);
		connections_sweep(all);
	}
	return is_shut(peer);
}

TEST(a_phase_ends)
{
	const struct connections_options options = {.room.within = 1, .idle_s = 100, .request_s = 1};
	struct connections *all = begin(&options);
	int own[3], peer[3];
	struct connection *receiving = add(all, &own[0], &peer[0]),
			  *over = add(all, &own[1], &peer[1]);
	char byte;

	connection_enter(receiving, CONNECTION_RECEIVING);
	CHECK(ends(all, peer[0]));
	connection_enter(over, CONNECTION_WORKING); /* has the time it had */
	CHECK(ends(all, peer[1]));
	drop(over, own[1], peer[1]);
	drop(receiving, own[0], peer[0]);
	struct connection *working = add(all, &own[2], &peer[2]);
	connection_enter(working, CONNECTION_SENDING);
	connection_enter(working, CONNECTION_WORKING);
	sweep_for(all, 3);
	CHECK_INT(recv(peer[2], &byte, 1, MSG_DONTWAIT), -1);
	drop(working, own[2], peer[2]);
	connections_free(all);
}

TEST(a_request_that_waits_for_us_is_not_late)
{
	const struct connections_options options = {.room.within = 1, .idle_s = 1, .request_s = 1};
	struct connections *all = begin(&options);
	int own, peer;
	struct connection *waiting = add(all, &own, &peer);
	char byte = 'P';

	CHECK_INT(send(peer, &byte, 1, 0), 1);
	sweep_for(all, 3);
	CHECK_INT(recv(peer, &byte, 1, MSG_DONTWAIT), -1);
	CHECK_INT(recv(own, &byte, 1, 0), 1);
	CHECK(ends(all, peer));
	drop(waiting, own, peer);
	connections_free(all);
}

TEST(a_body_that_waits_for_us_is_not_late_and_one_without_end_is)
{
	const struct connections_options options = {.room.within = 2, .idle_s = 100, .request_s = 1};
	struct connections *all = begin(&options);
	int own[2], peer[2];
	struct connection *unread = add(all, &own[0], &peer[0]),
			  *endless = add(all, &own[1], &peer[1]);

	connection_enter(unread, CONNECTION_RECEIVING);
	connection_enter(endless, CONNECTION_RECEIVING);
	CHECK_INT(send(peer[0], "x", 1, 0), 1);
	CHECK_INT(send(peer[1], "x", 1, 0), 1);
	for (int i = 0; i < 10000 && !is_shut(peer[1]); i++) {
		connection_touch(endless);
		usleep(1000);
		connections_sweep(all);
	}
	CHECK(is_shut(peer[1]));
	CHECK(!is_shut(peer[0]));
	drop(unread, own[0], peer[0]);
	drop(endless, own[1], peer[1]);
	connections_free(all);
}

TEST(an_answer_that_waits_for_us_is_not_late_and_one_that_nobody_takes_is)
{
	const struct connections_options options = {.room.within = 2, .idle_s = 100, .request_s = 1};
	struct connections *all = begin(&options);
	static char bytes[1 << 16];
	int own[2], peer[2];
	struct connection *ours = add(all, &own[0], &peer[0]), *deaf = add(all, &own[1], &peer[1]);

	while (send(own[1], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	connection_enter(ours, CONNECTION_SENDING);
	connection_enter(deaf, CONNECTION_SENDING);
	sweep_for(all, 4);
	CHECK(!is_shut(peer[0]));
	while (recv(peer[1], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	CHECK(is_shut(peer[1]));
	drop(ours, own[0], peer[0]);
	drop(deaf, own[1], peer[1]);
	connections_free(all);
}

TEST(open_files_are_raised)
{
	struct rlimit before, after;

	getrlimit(RLIMIT_NOFILE, &before);
	struct rlimit low = {64, before.rlim_max < 2000 ? before.rlim_max : 2000};
	if (setrlimit(RLIMIT_NOFILE, &low) != 0 || low.rlim_max < 2000)
		return;
	CHECK_INT(connections_make_room(100, 1).within, 100);
	getrlimit(RLIMIT_NOFILE, &after);
	CHECK(after.rlim_cur > 100 && after.rlim_cur < 2000);
	unsigned room = connections_make_room(100000, 1).within;
	CHECK(room > 1000 && room < 2000);
	CHECK_INT(connections_make_room(100000, 3).within, (2000 - 384) / 3 - CONNECTIONS_OVER);
	getrlimit(RLIMIT_NOFILE, &after);
	CHECK_INT(after.rlim_cur, 2000);
}

TEST(few_open_files_leave_room_for_all_connections_that_are_let_in)
{
	static const rlim_t limits[] = {700, 200, 64, 48};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]);
	     i++) { /* the hard limit goes down only */
		const struct rlimit low = {limits[i], limits[i]};

		if (setrlimit(RLIMIT_NOFILE, &low) != 0)
			return;
		struct connections_room room = connections_make_room(4096, 1);
		CHECK_INT(room.files, limits[i]);
		CHECK(room.within >= CONNECTIONS_OVER_MIN && room.beyond >= CONNECTIONS_OVER_MIN &&
		      room.beyond <= CONNECTIONS_OVER);
		CHECK(room.within + room.beyond + 20 <= limits[i] &&
		      (room.within + room.beyond) * 3 >= limits[i]);
	}
}

TEST_MAIN(TEST_CASE(beyond_the_limit_is_over), TEST_CASE(few_beyond_the_limit_are_admitted),
	  TEST_CASE(the_oldest_silent_one_makes_room_beyond_the_limit),
	  TEST_CASE(an_address_has_its_share), TEST_CASE(an_address_has_its_share_of_requests),
	  TEST_CASE(a_phase_ends),
	  TEST_CASE(a_request_that_waits_for_us_is_not_late),
	  TEST_CASE(a_body_that_waits_for_us_is_not_late_and_one_without_end_is),
	  TEST_CASE(an_answer_that_waits_for_us_is_not_late_and_one_that_nobody_takes_is),
	  TEST_CASE(open_files_are_raised),
	  TEST_CASE(few_open_files_leave_room_for_all_connections_that_are_let_in))
