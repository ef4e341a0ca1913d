/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of the per-ACK table in a kernel: as a BPF program fills them, into the ring of src/acks.c. */
#ifndef DUMBBELL_IN_KERNEL_ACK_H
#define DUMBBELL_IN_KERNEL_ACK_H

#include <dumbbell/acks.h>
#include <dumbbell/tcp.h>

/* See congestion_control.h. */
#undef DB_WRITES_ROWS
#define DB_WRITES_ROWS true

#define db_emit_acks db_acks_wanted
#define bpf_ringbuf_reserve(ring, bytes, flags) db_acks_reserve(bytes)
#define bpf_ringbuf_submit(row, flags) db_acks_submit(row)

struct db_flow_key;

/* One kind of map has the run's senders, the others count. */
#define bpf_map_lookup_elem(map, key)                                                                                  \
	((void)(map), _Generic((key), struct db_flow_key *: db_acks_find_sender, default: db_acks_counter)(key))

static inline void *db_acks_find_sender(const void *key)
{
	return db_acks_is_sender(key) ? &db_acks_wanted : NULL;
}

static inline void *db_acks_counter(const void *first)
{
	return &db_acks_lost_rows;
}

#include_next <dumbbell/ack.h>

#endif
