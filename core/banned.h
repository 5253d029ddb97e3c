/*
 * banned - functions that have no safe use. Included by every C file through the compiler's
 * -include.
 */
#ifndef DYNALITH_CORE_BANNED_H
#define DYNALITH_CORE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* macros in some C libraries */
#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#pragma GCC poison strcpy strcat strncpy strncat atoi atol atoll atof strtok gets
#ifndef sprintf /* a macro of the C library's own with clang and _FORTIFY_SOURCE */
#pragma GCC poison sprintf
#endif
#ifndef vsprintf
#pragma GCC poison vsprintf
#endif

#endif
