/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state that the probe publishes of the kernel's own H-TCP. Its greatest RTT fades after a congestion event. */
#ifndef DUMBBELL_HTCP_KERNEL_H
#define DUMBBELL_HTCP_KERNEL_H

#include <dumbbell/ack.h>
#include <dumbbell/jiffies.h>

#include <bpf/bpf_core_read.h>

#ifndef DB_DECLARED_BY_LINUX /* a kernel of ours is compiled with Linux's own declaration */
/* The layout in icsk_ca_priv. */
struct htcp___kernel {
	u8 beta;    /* of 128 */
	u32 minRTT; /* jiffies; 0: none yet */
	u32 maxRTT; /* jiffies; 0: none yet */
	u32 Bi;	    /* packets/s; 0: no sample yet */
} __attribute__((preserve_access_index));
#endif

static __always_inline void publish_htcp(struct db_ack *row, const struct sock *sk)
{
	const struct htcp___kernel *htcp = inet_csk_ca(sk);
	struct db_htcp_state *state;

	if (!bpf_core_field_exists(htcp->Bi))
		return;
	state = db_ack_state(row, DB_STATE_HTCP);
	state->beta = (u32)htcp->beta << 3;
	state->bandwidth = htcp->Bi;
	state->min_rtt = (u64)htcp->minRTT * db_jiffy_ns / 1000;
	state->max_rtt = (u64)htcp->maxRTT * db_jiffy_ns / 1000;
}

#endif
