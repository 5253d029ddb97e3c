/* Of which SQLite this is. */
#include <sqlite3.h>
#include <stddef.h>

#include "storage/store/sqlite/sqlite_store.h"

const char *sqlite_store_library_version(void)
{
	return sqlite3_libversion();
}

/* SQLite: "Write-Ahead Logging", The WAL-Reset Bug: mended in 3.51.3, and in 3.50.7 and 3.44.6 of older lines. */
const char *sqlite_store_library_note(void)
{
	int version = sqlite3_libversion_number();
	bool is_mended = version >= 3051003 || (version >= 3050007 && version < 3051000) || (version >= 3044006 && version < 3045000);

	return is_mended ? NULL : "has the WAL-reset bug, which this server's order of checkpoints avoids; SQLite 3.51.3 and later are free of it";
}
