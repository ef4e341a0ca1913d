/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by all window-based algorithms: RFC 5681 as Linux runs it, counted in packets. */
#ifndef DUMBBELL_WINDOW_H
#define DUMBBELL_WINDOW_H

#include <dumbbell/tcp.h>

/* True if the window is under the slow-start threshold (RFC 5681 section 3.1). */
static __always_inline bool is_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/*
 * True if the window limits the flow. If not it must not grow (RFC 7661 section 4.1). It may grow to twice the data in flight
 * in slow start, so that pacing and TSO trains don't hold it back.
 */
static __always_inline bool is_window_limiting(const struct tcp_sock *tp)
{
	return is_cwnd_limited(tp) || (is_in_slow_start(tp) && tp->snd_cwnd < 2 * (__u64)tp->max_packets_out);
}

/*
 * Slow start (RFC 5681 section 3.1, RFC 3465 without a limit): a packet more for each packet ACKed, up to the threshold.
 * Returns the packets that are left for congestion avoidance.
 */
static __always_inline __u32 slow_start(struct tcp_sock *tp, __u32 acked)
{
	__u32 old = tp->snd_cwnd;
	__u32 cwnd = min(old + acked, tp->snd_ssthresh);

	set_cwnd(tp, cwnd);
	return acked - (cwnd - old);
}

/* Congestion avoidance: a packet more for each w packets ACKed (RFC 5681 section 3.1 has w = cwnd). */
static __always_inline void additive_increase(struct tcp_sock *tp, __u32 w, __u32 acked)
{
	__u32 cwnd = tp->snd_cwnd;
	__u32 count = tp->snd_cwnd_cnt;

	if (!w)
		w = 1;
	/* Credits that were saved up for a larger w are worth one packet at most. */
	if (count >= w) {
		count = 0;
		cwnd++;
	}
	count += acked;
	set_cwnd(tp, cwnd + count / w);
	tp->snd_cwnd_cnt = count % w;
}

/* Reno's growth: slow start, then a packet per window. */
static __always_inline void reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!is_window_limiting(tp))
		return;
	if (is_in_slow_start(tp))
		acked = slow_start(tp, acked);
	if (acked)
		additive_increase(tp, tp->snd_cwnd, acked);
}

/* Reno's half of the window, 2 packets at least (RFC 5681 equation 4, with cwnd for FlightSize as Linux has it). */
static __always_inline __u32 reno_ssthresh(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

/* The window from before a reduction that proved wrong (RFC 4015 section 4). */
static __always_inline __u32 reno_undo_cwnd(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

#endif
