// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * @NAME@: a policy that was trained in dumbbell.gym, in fixed point. A decision is due at the first ACK at or after the end of an
 * interval (@DECIDES@), and holds from the next ACK on.
 */
#include <dumbbell/congestion_control.h>

#define ONE 1024            /* 1 in fixed point */
#define LEAST 2             /* packets */
#define LARGEST (1U << 16)  /* packets */

struct state {
	__u64 start_us;   /* when the interval began */
	__u64 rtt_sum_us; /* of the interval's samples */
	__u32 rtts;       /* samples */
	__u32 rtt_us;     /* the latest */
	__u32 delivered;  /* packets when the interval began; so are the next two */
	__u32 lost;
	__u32 ce;
	__u32 window;     /* packets, 1/1024 */
	__u32 pending;    /* the next window, from the next ACK on; 0: none */
@PACING_STATE@};

static void @NAME@_begin(struct tcp_sock *tp, struct state *state)
{
	state->start_us = tp->tcp_mstamp;
	state->rtt_sum_us = 0;
	state->rtts = 0;
	state->rtt_us = 0;
	state->delivered = tp->delivered;
	state->lost = tp->lost;
	state->ce = tp->delivered_ce;
}

static void @NAME@_init(struct sock *sk)
{
	struct state *state = inet_csk_ca(sk);

	@NAME@_begin(tcp_sk(sk), state);
	state->window = tcp_sk(sk)->snd_cwnd * ONE;
	state->pending = 0;
@PACING_BEGIN@}

/* A sum of products as a number from -1 to 1. */
static __s32 @NAME@_limit(__s64 sum)
{
	sum >>= 10;
	return sum > ONE ? ONE : sum < -ONE ? -ONE : sum;
}

/* The value times 1 + action, or divided by 1 - action if it is negative. */
static __u32 @NAME@_scaled(__u32 value, __s32 action)
{
	if (action >= 0)
		return (__u64)value * (__u32)(ONE + action) / ONE;
	return (__u64)value * ONE / (__u32)(ONE - action);
}

static void @NAME@_decide(struct tcp_sock *tp, struct state *state)
{
	__u32 delivered = tp->delivered - state->delivered, lost = tp->lost - state->lost, ce = tp->delivered_ce - state->ce;
	__u64 least_us = tcp_min_rtt(tp), rtt_us = state->rtts ? state->rtt_sum_us / state->rtts : 0, above_us;
	__s32 queue = 0, trend = 0, loss = 0, marks = 0, waiting = 0;
	__u32 next;

	if (rtt_us && least_us && least_us != ~0U) {
		above_us = rtt_us > least_us ? rtt_us - least_us : 0;
		queue = min(above_us * ONE / least_us, (__u64)@MOST@);
		trend = state->rtt_us >= rtt_us ? (__s32)min((state->rtt_us - rtt_us) * ONE / least_us, (__u64)ONE) :
						  -(__s32)min((rtt_us - state->rtt_us) * ONE / least_us, (__u64)ONE);
		waiting = min(state->window * above_us / rtt_us / @WAITING@, (__u64)@MOST@);
	}
	if (lost)
		loss = (__u64)lost * ONE / ((__u64)delivered + lost);
	if (ce)
		marks = min((__u64)ce * ONE / max(delivered, 1U), (__u64)ONE);
@LAYERS@
	next = @NAME@_scaled(state->window, action_0);
	state->pending = min(max(next, (__u32)(LEAST * ONE)), LARGEST * ONE);
@PACING_NEXT@	@NAME@_begin(tp, state);
	/* A policy may leave some of these aside. */
	(void)queue, (void)trend, (void)loss, (void)marks, (void)waiting;
}

static void @NAME@_control(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct state *state = inet_csk_ca(sk);
	__u64 interval_us, bytes;

	if (state->pending) {
		state->window = state->pending;
		state->pending = 0;
	}
	if (rs->rtt_us > 0) {
		state->rtt_sum_us += rs->rtt_us;
		state->rtts++;
		state->rtt_us = rs->rtt_us;
	}
	set_cwnd(tp, max(state->window / ONE, (__u32)LEAST));
@PACING_ASK@	if (tp->srtt_us) {
		bytes = (__u64)tp->snd_cwnd * tp->mss_cache * (@SHARE@) / ONE;
		sk->sk_pacing_rate = min(bytes * 8000000 / tp->srtt_us, (__u64)sk->sk_max_pacing_rate);
	}
	interval_us = @INTERVAL@;
	if (tp->tcp_mstamp - state->start_us >= interval_us)
		@NAME@_decide(tp, state);
}

/* The policy alone reduces the window. */
static __u32 @NAME@_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static __u32 @NAME@_undo_cwnd(struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

CONGESTION_CONTROL(@NAME@, (init, @NAME@_init), (cong_control, @NAME@_control), (ssthresh, @NAME@_ssthresh),
		   (undo_cwnd, @NAME@_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
