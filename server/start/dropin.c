#include "server/start/dropin.h"

#include <dirent.h>
#include <fnmatch.h>
#include <string.h>

#include "server/log.h"

static const struct dropin rows[] = {
#define DROPIN(flag, ours, is_folder, help) {flag, ours, is_folder, help},
#include "server/start/dropin.def"
#undef DROPIN
};

/* The version of DynamoDB Local that we report: tools compare it to decide which features exist. */
#define DROPIN_VERSION "3.3.1"

#define ROWS (sizeof(rows) / sizeof(rows[0]))

const struct dropin *dropin_find(struct str flag)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (str_eq(str_of(rows[i].flag), flag))
			return &rows[i];
	}
	return NULL;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* How many arguments at `argv` are the Java machine's. */
static int java_arguments(char **argv, int left)
{
	static const char *const with_value[] = {"-jar", "-cp", "-classpath"};

	for (size_t i = 0; i < sizeof(with_value) / sizeof(with_value[0]); i++) {
		if (strcmp(argv[0], with_value[i]) == 0)
			return left > 1 ? 2 : 1;
	}
	return begins_with(argv[0], "-D") || begins_with(argv[0], "-X") ||
	       ends_with(argv[0], ".main.ServerRunner");
}

/* The index of the flag, or 0. */
static int find_given(char **argv, int argc, const char *flag)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], flag) == 0)
			return i;
	}
	return 0;
}

bool dropin_is_given(int argc, char **argv)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (find_given(argv, argc, rows[i].flag))
			return true;
	}
	return false;
}

bool dropin_strip(struct arena *arena, int *argc, char ***argv, bool *is_dropin)
{
	char **kept = ARENA_ARRAY(arena, char *, (size_t)*argc + 1);
	int n = 0, skip = 0,
	    jar = find_given(*argv, *argc,
			     "-jar"); /* everything before it belongs to the Java machine */

	*is_dropin =
		*argc > 0 && (strcmp((*argv)[0], "java") == 0 || ends_with((*argv)[0], "/java"));
	for (int i = 0; i < *argc; i += skip ? skip : 1) {
		skip = i == 0 ? 0 : i < jar ? 1 : java_arguments(*argv + i, *argc - i);
		if (!skip)
			kept[n++] = (*argv)[i];
		*is_dropin = *is_dropin || skip;
	}
	*argc = n;
	*argv = kept;
	*is_dropin = *is_dropin || dropin_is_given(n, kept);
	if (find_given(kept, n, "-inMemory") && find_given(kept, n, "-dbPath")) {
		fprintf(stderr, "dynalith: dbPath and inMemory cannot be set at the same time.\n");
		return false;
	}
	return true;
}

bool dropin_inform(const char *flag)
{
	if (strcmp(flag, "-version") == 0)
		printf(DROPIN_VERSION "\n");
	else if (strcmp(flag, "-help") == 0)
		dropin_help();
	else
		return false;
	return true;
}

void dropin_help(void)
{
	printf("In place of DynamoDB Local, also behind `java "
	       "-Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar`:\n");
	for (size_t i = 0; i < ROWS; i++) {
		printf("  %-30s %s%s%s\n", rows[i].help,
		       rows[i].ours ? "as " : "accepted, without effect",
		       rows[i].ours ? rows[i].ours : "",
		       rows[i].is_folder ? ", the folder of the data file" : "");
	}
	printf("  -help, -version\n");
}

/* Word for word, since test libraries wait for it. */
void dropin_banner(FILE *out, const struct dropin_banner *banner)
{
	static const char *const words[] = {"false", "true"};

	fprintf(out, "Initializing DynamoDB Local with the following configuration:\n");
	fprintf(out, "Port:\t%u\nInMemory:\t%s\nVersion:\t%s\nDbPath:\t%s\n", banner->port,
		words[!banner->db_path], DROPIN_VERSION,
		banner->db_path ? banner->db_path : "null");
	fprintf(out, "SharedDb:\t%s\nshouldDelayTransientStatuses:\t%s\nCorsParams:\t%s\n\n",
		words[banner->shared_db], words[banner->delay_transient_statuses],
		strcmp(banner->cors, "*") == 0 ? "null" : banner->cors);
	fflush(out);
}

/* Its names are of the access key and the region, or one for all. */
static bool is_its_data(const char *name)
{
	return strcmp(name, "shared-local-instance.db") == 0 ||
	       fnmatch("*_[a-z]*-*[0-9].db", name, 0) == 0;
}

void dropin_warn_of_its_data(struct arena *arena, const char *db_path)
{
	const char *slash = strrchr(db_path, '/');
	const char *folder =
		slash ? str_copy(arena, (struct str){db_path, (size_t)(slash - db_path) + 1}).p
		      : "./";
	DIR *directory = opendir(folder);

	for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
		if (is_its_data(entry->d_name))
			log_line(LOG_WARN,
				 "%s in %s is of DynamoDB Local, and is not read; dynalith apply "
				 "%s%s brings its tables here",
				 entry->d_name, folder, folder, entry->d_name);
	}
	if (directory)
		closedir(directory);
}
