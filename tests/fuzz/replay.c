/*
 * replay - runs a fuzz target over the files of its corpus: what `make test` does without libFuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	static uint8_t data[1 << 20];

	if (!file)
		return 1;
	size_t n = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, n);
	/* every prefix too: malformed input is mostly input that ends early */
	for (size_t i = 0; i < n && i < 512; i++)
		LLVMFuzzerTestOneInput(data, i);
	return 0;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";
	DIR *dir = opendir(folder);
	int passed = 0, failed = 0;
	struct dirent *entry;
	char path[4096];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (replay_file(path) == 0)
			passed++;
		else
			failed++;
	}
	if (dir)
		closedir(dir);
	printf("%s: %d passed, %d failed\n", argv[0], passed, passed ? failed : 1);
	return failed || !passed;
}
