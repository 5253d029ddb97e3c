/*
 * mutation - which mutant runs. The mutated files include it; mutants.py writes them.
 *
 * MUTANT=N in the environment chooses one, none being 0. MUTANTS_REACHED=FILE names a file with a
 * byte per mutant, in which those are marked whose place was reached.
 */
#ifndef DYNALITH_MUTATION_H
#define DYNALITH_MUTATION_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Weak, since each mutated file has them. */
__attribute__((weak)) int mutation_chosen;
__attribute__((weak)) unsigned char *mutation_reached;

__attribute__((constructor, weak)) void mutation_start(void)
{
	const char *chosen = getenv("MUTANT"), *name = getenv("MUTANTS_REACHED");
	struct stat stat;

	if (chosen)
		mutation_chosen = (int)strtol(chosen, NULL, 10);
	if (!name || mutation_reached)
		return;
	int file = open(name, O_RDWR);
	if (file < 0 || fstat(file, &stat) != 0)
		abort();
	mutation_reached =
		mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (mutation_reached == MAP_FAILED)
		abort();
	close(file);
}

static inline int mutation_is(int number)
{
	if (mutation_reached)
		mutation_reached[number] = 1;
	return mutation_chosen == number;
}

#define MUTANT(number) mutation_is(number)

#endif
