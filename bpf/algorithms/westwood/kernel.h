/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state that the probe publishes of the kernel's own Westwood+. */
#ifndef DUMBBELL_WESTWOOD_KERNEL_H
#define DUMBBELL_WESTWOOD_KERNEL_H

#include <dumbbell/ack.h>
#include <dumbbell/jiffies.h>

#include <bpf/bpf_core_read.h>

/* us: the least RTT before there is a sample. */
#define DB_WESTWOOD_NO_RTT 20000000

#ifndef DB_DECLARED_BY_LINUX /* a kernel of ours is compiled with Linux's own declaration */
/* The layout in icsk_ca_priv. */
struct westwood___kernel {
	u32 bw_est;  /* bytes per jiffy; 0: no sample yet */
	u32 rtt_min; /* jiffies */
} __attribute__((preserve_access_index));
#endif

static __always_inline void publish_westwood(struct db_ack *row, const struct sock *sk)
{
	const struct westwood___kernel *westwood = inet_csk_ca(sk);
	struct db_westwood_state *state;
	u64 min_rtt;

	if (!bpf_core_field_exists(westwood->bw_est))
		return;
	state = db_ack_state(row, DB_STATE_WESTWOOD);
	/* Packets per second of 1024; the factors stand where 64 bits suffice. */
	if (row->mss && db_jiffy_ns)
		state->bandwidth = (u64)westwood->bw_est * 1000000 / row->mss * 1024000 / db_jiffy_ns;
	min_rtt = (u64)westwood->rtt_min * db_jiffy_ns / 1000;
	if (min_rtt < DB_WESTWOOD_NO_RTT)
		state->min_rtt = min_rtt;
}

#endif
