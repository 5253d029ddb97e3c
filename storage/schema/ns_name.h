/*
 * ns_name - namespaces as the first member of rows in memory that are in their order, and the
 * search for one of them.
 */
#ifndef DYNALITH_STORAGE_NS_NAME_H
#define DYNALITH_STORAGE_NS_NAME_H

#include "storage/schema/schema.h"

#define NS_ACCOUNT_SIZE 12
#define NS_REGION_MAX 63

/* With a zero byte at their ends. */
struct ns_name {
	char account[NS_ACCOUNT_SIZE + 1], region[NS_REGION_MAX + 1];
};

/* The namespace must fit. */
struct ns_name ns_name_of(struct ns ns);
static inline struct ns ns_of_name(const struct ns_name *name)
{
	return (struct ns){str_of(name->account), str_of(name->region)};
}

/* Where the namespace stands among `n` rows of `size` bytes that begin with a struct ns_name, by
 * account and region; or where it would stand. */
size_t ns_name_search(const void *rows, size_t n, size_t size, struct ns ns, bool *is_there);

#endif
