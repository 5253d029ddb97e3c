/* Of which SQLite this is. */
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "storage/store/sqlite/sqlite_floor.h"
#include "storage/store/sqlite/sqlite_store.h"

const char *sqlite_store_library_version(void)
{
	return sqlite3_libversion();
}

/* By the library that is linked, which may be another than its header. */
const char *sqlite_store_library_note(void)
{
	bool is_old = sqlite3_libversion_number() < SQLITE_FLOOR_NUMBER;

	return is_old ? "is older than " SQLITE_FLOOR_VERSION
			": a data file whose write-ahead log comes from elsewhere is refused"
		      : NULL;
}
