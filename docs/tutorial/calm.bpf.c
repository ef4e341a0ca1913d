// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* calm: a congestion control that keeps a few packets waiting at the bottleneck, and no more. */
#include <dumbbell/congestion_control.h>

const volatile __u32 target = 4; /* packets of this flow that may wait in the bottleneck's queue */
const volatile __u32 keep = 717; /* 1/1024: what a loss leaves of the window */

/* Of each connection. It lies in 104 bytes that the kernel keeps for the algorithm. */
struct state {
	__u32 round_end; /* sequence number: when it is acknowledged, a round trip has passed */
	__u32 rtt_us;    /* us: the smallest RTT of this round */
};

static void calm_init(struct sock *sk)
{
	struct state *state = inet_csk_ca(sk);

	state->round_end = tcp_sk(sk)->snd_nxt;
	state->rtt_us = ~0;
}

static void calm_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct state *state = inet_csk_ca(sk);

	if (sample->rtt_us > 0)
		state->rtt_us = min(state->rtt_us, (__u32)sample->rtt_us);
}

static void calm_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct state *state = inet_csk_ca(sk);
	bool slow_start = tp->snd_cwnd < tp->snd_ssthresh;
	__u32 rtt = state->rtt_us, base = tcp_min_rtt(tp), queued = 0;

	if (slow_start && is_cwnd_limited(tp))
		set_cwnd(tp, tp->snd_cwnd + acked);
	if (before(ack, state->round_end))
		return;
	/* A round trip has passed. The share of the window that waits in a queue is the share of the RTT above its minimum. */
	if (rtt > base && rtt != ~0)
		queued = (__u64)tp->snd_cwnd * (rtt - base) / rtt;
	if (queued > target) {
		/* By half of the excess: this round's RTT tells of the window of the round before. */
		set_cwnd(tp, tp->snd_cwnd - (queued - target + 1) / 2);
		tp->snd_ssthresh = tp->snd_cwnd; /* the end of slow start */
	} else if (!slow_start && queued < target && is_cwnd_limited(tp)) {
		set_cwnd(tp, tp->snd_cwnd + 1);
	}
	state->round_end = tp->snd_nxt;
	state->rtt_us = ~0;
}

static __u32 calm_ssthresh(struct sock *sk)
{
	return max((__u32)((__u64)tcp_sk(sk)->snd_cwnd * keep >> 10), 2U);
}

static __u32 calm_undo_cwnd(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

CONGESTION_CONTROL(calm, (init, calm_init), (pkts_acked, calm_pkts_acked), (cong_avoid, calm_cong_avoid),
		   (ssthresh, calm_ssthresh), (undo_cwnd, calm_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
