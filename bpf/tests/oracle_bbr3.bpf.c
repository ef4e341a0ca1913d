// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* BBRv3 itself before the oracle (oracle.h): what it believes of a packet, wherever anything hangs on it. */
#include "oracle.h"

#define BBR_VERSION 3
#include "../bbr/callbacks.h"

static void dbt_init(struct sock *sk)
{
	on_init(sk);
	watch(sk);
}

static void dbt_cong_control(struct sock *sk, __u32 ack_seq, int flag, const struct rate_sample *rs)
{
	const struct bbr_flow *flow = bbr_flow_of(sk);

	on_cong_control(sk, ack_seq, flag, rs);
	/* It doesn't look where nothing was lost and no bound is known. It judges only samples, as the small BBR does. */
	if (flow && flow->was_sent_asked && rs->delivered > 0 && rs->interval_us > 0)
		judge(sk, rs, flow->was_sent_found, flow->ack.tx_in_flight, tcp_sk(sk)->lost - flow->ack.lost);
}

CONGESTION_CONTROL(dbt_bbr3, (init, dbt_init), (release, on_release), (cong_control, dbt_cong_control),
		   (ssthresh, on_ssthresh), (undo_cwnd, on_undo_cwnd), (set_state, on_set_state),
		   (cwnd_event, on_cwnd_event), (sndbuf_expand, on_sndbuf_expand));
