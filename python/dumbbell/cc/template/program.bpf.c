// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* NAME: a congestion control. It begins as Reno (RFC 5681); make it your own. */
#include <dumbbell/congestion_control.h>

const volatile __u32 keep = 512; /* 1/1024: what a loss leaves of the window */

/* State of each connection, in 104 bytes that the kernel keeps for the algorithm. */
struct state {
	__u32 acked; /* packets that were acknowledged since the window grew last */
};

/* A connection begins. */
static void NAME_init(struct sock *sk)
{
	struct state *state = inet_csk_ca(sk);

	state->acked = 0;
}

/* An ACK has acknowledged `acked` packets, and no loss is being repaired: the window may grow. */
static void NAME_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct state *state = inet_csk_ca(sk);

	if (!is_cwnd_limited(tp))
		return; /* The application sends less than the window allows. */
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		/* Slow start: a packet more for each that was acknowledged, which doubles the window per round trip. */
		set_cwnd(tp, min(tp->snd_cwnd + acked, tp->snd_ssthresh));
		return;
	}
	/* Congestion avoidance: a packet more per round trip. */
	state->acked += acked;
	if (state->acked >= tp->snd_cwnd) {
		state->acked -= tp->snd_cwnd;
		set_cwnd(tp, tp->snd_cwnd + 1);
	}
}

/* A packet was lost: returns the new window. */
static __u32 NAME_ssthresh(struct sock *sk)
{
	return max((__u32)((__u64)tcp_sk(sk)->snd_cwnd * keep >> 10), 2U);
}

/* The loss was none, only a delay: returns the window from before. */
static __u32 NAME_undo_cwnd(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

CONGESTION_CONTROL(NAME, (init, NAME_init), (cong_avoid, NAME_cong_avoid), (ssthresh, NAME_ssthresh),
		   (undo_cwnd, NAME_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
