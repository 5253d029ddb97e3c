/*
 * banned - functions that have no safe use. Included by every C file through the compiler's -include.
 */
#ifndef DYNALITH_CORE_BANNED_H
#define DYNALITH_CORE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf atoi atol atoll atof strtok gets

#endif
