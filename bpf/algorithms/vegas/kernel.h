/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state that the probe publishes of the kernel's own Vegas. */
#ifndef DUMBBELL_VEGAS_KERNEL_H
#define DUMBBELL_VEGAS_KERNEL_H

#include <dumbbell/ack.h>

#include <bpf/bpf_core_read.h>

/* us: an RTT of which there is no sample. */
#define DB_VEGAS_NO_RTT 0x7fffffff

#ifndef DB_DECLARED_BY_LINUX /* a kernel of ours is compiled with Linux's own declaration */
/* The layout in icsk_ca_priv. */
struct vegas___kernel {
	u32 minRTT;  /* us */
	u32 baseRTT; /* us */
} __attribute__((preserve_access_index));
#endif

static __always_inline void publish_vegas(struct db_ack *row, const struct sock *sk)
{
	const struct vegas___kernel *vegas = inet_csk_ca(sk);
	struct db_vegas_state *state;

	if (!bpf_core_field_exists(vegas->baseRTT))
		return;
	state = db_ack_state(row, DB_STATE_VEGAS);
	if (vegas->baseRTT != DB_VEGAS_NO_RTT)
		state->base_rtt = vegas->baseRTT;
	if (vegas->minRTT != DB_VEGAS_NO_RTT)
		state->min_rtt = vegas->minRTT;
}

#endif
