/*
 * help - what `dynalith help`, -h, --help, and completions say. All of it comes from options.def
 * and commands.def.
 *
 * Text fits 80 columns. It goes to standard output; a misuse goes to standard error.
 */
#ifndef DYNALITH_SERVER_HELP_H
#define DYNALITH_SERVER_HELP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"

/* dynalith's version and SQLite's. */
void help_print_version(void);

/* One screen: use, the options that most people want, the commands, where to read on. */
void help_print_screen(void);

/* Every option, grouped by subject. */
void help_print_options(void);

/* Prints the words in lines of at most 80 columns, from column `left`; `at` columns of the first
 * are printed already. */
void help_wrap(size_t at, size_t left, const char *text);

/* Says on standard error how the command is used: EXIT_MISUSE. */
int help_misuse(const char *command);

/* Looks, before "--", for an option that neither the command nor the server has. EXIT_MISUSE: the
 * first one was named on standard error. EXIT_DONE: there is none. */
int help_check_options(const char *command, int argc, char **argv);

/* The nearest command to a mistyped word; NULL where none is near. */
const char *help_nearest_command(const char *word);

/* The commands `dynalith help [TOPIC]`, `version`, `completion SHELL`; and `dynalith COMMAND
 * --help`. */
int help_run(struct arena *arena, int argc, char **argv);
int help_run_version(struct arena *arena, int argc, char **argv);
int help_run_completion(struct arena *arena, int argc, char **argv);
int help_run_command(const char *command);

/* Whether -h or --help is among a command's words, before "--". */
bool help_is_wanted(int argc, char **argv);

#endif
