/*
 * admission - whether the throughput of a table and its indexes admits what a request has consumed.
 *
 * For protocol/work, where the call has a throughput. What is refused is given back.
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_ADMISSION_H
#define DYNALITH_PROTOCOL_THROUGHPUT_ADMISSION_H

#include "protocol/handler.h"
#include "storage/read.h"
#include "storage/write/write.h"

/* Asked before the call's writes are committed. */
const struct write_admission *throughput_admission(struct call *call, enum write_mode mode);

/* One item that was read. */
enum code throughput_admit_read(struct call *call, const struct read_item *read,
				struct err *err) WARN_UNUSED;
/* The items that a transaction has read: all or none. */
enum code throughput_admit_reads(struct call *call, const struct read_item *reads, size_t n,
				 struct err *err) WARN_UNUSED;
/* A page that was read. */
enum code throughput_admit_page(struct call *call, const struct read_page *page,
				struct err *err) WARN_UNUSED;

/* Whether it is an error by which one member of a batch stays undone. */
bool throughput_refuses(enum code code);

#endif
