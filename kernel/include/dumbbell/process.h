/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of processes to /proc/dumbbell. The crates `emu` (links), `traffic` (sink, sampler) and `probe` (acks) are the
 * other side.
 */
#ifndef DUMBBELL_PROCESS_H
#define DUMBBELL_PROCESS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* A request to /proc/dumbbell/links: attach the interface of this index as the next port. */
#define DUMBBELL_ATTACH _IO('d', 1)

/* The same: an order to the library of links. */
struct dumbbell_order {
	__u64 order;
	__u64 bytes;
	__u64 answer;
	__u64 room;
	/* Out. */
	__u64 answered;
	__u64 failed;
};
#define DUMBBELL_ORDER _IOWR('d', 2, struct dumbbell_order)

/* A request to /proc/dumbbell/sink: take in and discard what this TCP socket receives. */
#define DUMBBELL_SINK _IO('d', 3)

/* Read from /proc/dumbbell/sink. */
struct dumbbell_sunk {
	__u64 bytes;
	/* CLOCK_MONOTONIC of the first and of the last byte. */
	__s64 first_ns;
	__s64 last_ns;
	/* An errno, and whether everything has arrived. */
	__u32 error;
	__u32 ended;
};

/*
 * A request to /proc/dumbbell/sampler: sample a TCP socket under a key, and the sink at the other end, if there is one (else
 * -1). They replace what had the key before.
 */
struct dumbbell_sampled {
	__s32 socket;
	__s32 sink;
	__u32 key;
};
#define DUMBBELL_SAMPLE _IOW('d', 4, struct dumbbell_sampled)

/* The same: no more of the socket with this key. */
#define DUMBBELL_SAMPLE_NO_MORE _IO('d', 5)

/* The same: when to sample, in CLOCK_MONOTONIC; not at the end. */
struct dumbbell_grid {
	__s64 first_ns;
	__s64 interval_ns;
	__s64 end_ns;
};
#define DUMBBELL_SAMPLE_GRID _IOW('d', 6, struct dumbbell_grid)

/* The key of a sampling without sockets. */
#define DUMBBELL_NO_SOCKET 0xffffffffu

/* Read from /proc/dumbbell/sampler. */
struct dumbbell_sample {
	__s64 time_ns;
	/* The bytes that the sink has taken in. */
	__u64 received;
	__u32 key;
	/* The size of struct tcp_info and of union tcp_cc_info in this kernel. */
	__u32 info_bytes;
	__u32 cc_bytes;
	__u32 unused;
	__u8 info[320];
	__u8 cc[32];
};

/*
 * Rows that /proc/dumbbell/acks has room for, each a struct db_ack: a second of a sender at 1 Gbit/s whose receiver
 * acknowledges each segment.
 */
#define DUMBBELL_ACK_ROWS (1 << 17)

#endif
