/*
 * replay - runs a fuzz target over the files of its corpus, and over their prefixes: what `make
 * test` does without libFuzzer.
 *
 *     replay_TARGET FOLDER [PREFIXES]     so many prefixes of each file at most, spread over its
 * first bytes
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PREFIX_BYTES 512

static int replay_file(const char *path, size_t prefixes)
{
	FILE *file = fopen(path, "rb");
	static uint8_t data[1 << 20];

	if (!file)
		return 1;
	size_t n = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, n);
	/* every prefix too: malformed input is mostly input that ends early */
	size_t reach = n < PREFIX_BYTES ? n : PREFIX_BYTES;
	for (size_t i = 0; i < prefixes && i < reach; i++)
		LLVMFuzzerTestOneInput(data, reach <= prefixes ? i : i * reach / prefixes);
	return 0;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";
	size_t prefixes = argc > 2 ? strtoul(argv[2], NULL, 10) : PREFIX_BYTES;
	DIR *dir = opendir(folder);
	int passed = 0, failed = 0;
	struct dirent *entry;
	char path[4096];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (replay_file(path, prefixes) == 0)
			passed++;
		else
			failed++;
	}
	if (dir)
		closedir(dir);
	printf("%s: %d passed, %d failed\n", argv[0], passed, passed ? failed : 1);
	return failed || !passed;
}
