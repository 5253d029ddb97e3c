#include "storage/schema/ns_name.h"

struct ns_name ns_name_of(struct ns ns)
{
	struct ns_name name = {{0}, {0}};

	if (ns.account.n > 0)
		memcpy(name.account, ns.account.p, ns.account.n);
	if (ns.region.n > 0)
		memcpy(name.region, ns.region.p, ns.region.n);
	return name;
}

size_t ns_name_search(const void *rows, size_t n, size_t size, struct ns ns, bool *is_there)
{
	size_t low = 0, high = n;

	*is_there = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct ns own = ns_of_name(
			(const struct ns_name *)(const void *)((const char *)rows + middle * size));
		int order = str_cmp(own.account, ns.account);

		order = order ? order : str_cmp(own.region, ns.region);
		*is_there = *is_there || order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
