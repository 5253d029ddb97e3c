#include "storage/store/postgresql/reason.h"

#include <string.h>

/* What the words have in them; the first that fits counts. libpq gives a failed connection no code.
 * Source: libpq's and PostgreSQL's messages. */
enum store_reason reason_of(const char *state, const char *words)
{
	/* Source: PostgreSQL, Appendix A. Words may be of any language. */
	static const struct {
		const char *state;
		enum store_reason reason;
	} states[] = {
		{"42501", STORE_REASON_RIGHTS},
		{"42P01", STORE_REASON_TABLE},
		{"3F000", STORE_REASON_TABLE},
		{"25006", STORE_REASON_READ_ONLY},
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(state, states[i].state) == 0)
			return states[i].reason;
	}
	static const struct {
		const char *words;
		enum store_reason reason;
	} meanings[] = {
		{"authentication failed", STORE_REASON_AUTHENTICATION},
		{"no password supplied", STORE_REASON_AUTHENTICATION},
		{"pg_hba.conf", STORE_REASON_AUTHENTICATION},
		{"permission denied", STORE_REASON_AUTHENTICATION},
		{"is not permitted to log in", STORE_REASON_AUTHENTICATION},
		{"role \"", STORE_REASON_AUTHENTICATION},
		{"certificate", STORE_REASON_TLS},
		{"SSL", STORE_REASON_TLS},
		{"read-only", STORE_REASON_READ_ONLY},
		{"hot standby mode", STORE_REASON_READ_ONLY},
		{"No space left", STORE_REASON_FULL},
		{"too many", STORE_REASON_RESOURCES},
		{"no more connections", STORE_REASON_RESOURCES}, /* pgbouncer's */
		{"connection slots are reserved", STORE_REASON_RESOURCES},
		{"out of memory", STORE_REASON_RESOURCES},
		{"starting up", STORE_REASON_STARTING},
		{"shutting down", STORE_REASON_STARTING},
		{"not yet accepting", STORE_REASON_STARTING},
		{"in recovery mode", STORE_REASON_STARTING},
		{"database \"", STORE_REASON_DATABASE},
		{"translate host name", STORE_REASON_HOST},
		{"No such file or directory", STORE_REASON_REFUSED},
		{"refused", STORE_REASON_REFUSED},
		{"timeout", STORE_REASON_TIMEOUT},
		{"timed out", STORE_REASON_TIMEOUT},
		{"No route to host", STORE_REASON_HOST},
		{"unreachable", STORE_REASON_HOST},
		{"closed the connection", STORE_REASON_LOST},
		{"reset by peer", STORE_REASON_LOST},
		{"terminating connection", STORE_REASON_LOST},
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (strstr(words, meanings[i].words))
			return meanings[i].reason;
	}
	return STORE_REASON_OTHER;
}
