/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state that the probe publishes of the kernel's own CUBIC. */
#ifndef DUMBBELL_CUBIC_KERNEL_H
#define DUMBBELL_CUBIC_KERNEL_H

#include <dumbbell/ack.h>

#include <bpf/bpf_core_read.h>

#ifndef DB_DECLARED_BY_LINUX /* a kernel of ours is compiled with Linux's own declaration */
/* The layout in icsk_ca_priv. The kernel's BIC has a structure of this name, too, without bic_K. */
struct bictcp___cubic {
	u32 last_max_cwnd; /* packets; 0: none yet */
	u32 bic_origin_point; /* packets */
	u32 bic_K;	      /* of 1024 in 1 s */
	u32 delay_min;	      /* us; 0: none yet */
	u32 epoch_start;      /* jiffies; 0: the epoch has not begun */
	u32 tcp_cwnd;	      /* packets: W_est */
	u8 found;	      /* HyStart has ended slow start */
} __attribute__((preserve_access_index));
#endif

static __always_inline void publish_cubic(struct db_ack *row, const struct sock *sk)
{
	const struct bictcp___cubic *cubic = inet_csk_ca(sk);
	struct db_cubic_state *state;

	if (!bpf_core_field_exists(cubic->bic_K))
		return;
	state = db_ack_state(row, DB_STATE_CUBIC);
	state->w_max = cubic->last_max_cwnd;
	state->delay_min = cubic->delay_min;
	state->hystart_found = cubic->found != 0;
	if (!cubic->epoch_start)
		return;
	state->origin = cubic->bic_origin_point;
	state->k = cubic->bic_K;
	state->w_est = cubic->tcp_cwnd;
}

#endif
