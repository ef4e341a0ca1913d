// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * H-TCP (D. Leith, R. Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06, whose sections are cited): a window that grows the faster
 * the longer there was no congestion, and a cut that only empties the queue. Slow start, recovery and undo are the stack's.
 */
#include <algorithms/htcp/parameters.h>
#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

PARAMETERS(PARAMETER)
PUBLISHES(DB_STATE_HTCP)

/* 1 in the fixed point of shares and of the growth. */
#define ONE 1024
/* beta's bounds (section 3.2): 0.5 and 0.8. */
#define BETA_MIN (ONE / 2)
#define BETA_MAX (ONE * 8 / 10)
/* The RTT at which RTT scaling changes nothing (section 3.4), us. */
#define REFERENCE_RTT 100000
#define SECOND 1000000
/* ONE of t^2/4 in s^2, t in us: 4 * 10^12 / ONE. */
#define QUARTER_SQUARE 3906250000ULL
/* The growth is as good as vertical after this time, us: its square still fits into 64 bits. */
#define LONGEST (1ULL << 32)

/* The values that last from one congestion event to the next. */
struct epoch {
	__u64 start;	 /* us: the time of the last congestion event */
	__u32 max_rtt;	 /* us: the greatest RTT since; 0: none yet */
	__u32 bandwidth; /* packets/s before that event; 0: there was none, or it is not to be compared */
};

struct htcp {
	struct db_htcp_state state;
	__u32 round_delivered; /* tp->delivered when the round trip that is measured began */
	__u64 round_start;     /* us: that moment */
	struct epoch epoch;
	struct epoch before; /* the epoch that the last congestion event ended: an undo restores it */
};

_Static_assert(sizeof(struct htcp) <= 104, "it fits into icsk_ca_priv");

static __always_inline void start_round(const struct tcp_sock *tp, struct htcp *htcp)
{
	htcp->round_start = tp->tcp_mstamp;
	htcp->round_delivered = tp->delivered;
}

static void htcp_init(struct sock *sk)
{
	struct htcp *htcp = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	*htcp = (struct htcp){.state.beta = BETA_MIN, .epoch.start = tp->tcp_mstamp};
	start_round(tp, htcp);
}

/*
 * The share that a congestion event leaves (section 3.2): a half where the throughput has changed since the one before it, else
 * the share of the window that fills the path without its queue.
 */
static __always_inline __u32 backoff(const struct htcp *htcp)
{
	__u64 now = htcp->state.bandwidth, before = htcp->epoch.bandwidth;
	__u64 change = now > before ? now - before : before - now;
	__u64 share;

	if (!adaptive_backoff || !before || change * ONE > before * bandwidth_change || !htcp->epoch.max_rtt)
		return BETA_MIN;
	share = (__u64)htcp->state.min_rtt * ONE / htcp->epoch.max_rtt;
	return share < BETA_MIN ? BETA_MIN : min(share, (__u64)BETA_MAX);
}

/* A congestion event. */
static __u32 htcp_ssthresh(struct sock *sk)
{
	struct htcp *htcp = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	htcp->state.beta = backoff(htcp);
	htcp->before = htcp->epoch;
	htcp->epoch.start = tp->tcp_mstamp;
	htcp->epoch.max_rtt = 0;
	htcp->epoch.bandwidth = htcp->state.bandwidth;
	htcp->state.max_rtt = 0;
	return max((__u32)((__u64)tp->snd_cwnd * htcp->state.beta / ONE), 2U);
}

/*
 * Packets that the window grows by in a round trip, of ONE (section 3.1): 1 + 10 t + (t/2)^2 with t seconds after the end of
 * delta_low_us; times 2 (1 - beta), which makes it fair to Reno whatever the cut.
 */
static __always_inline __u64 growth(const struct htcp *htcp, __u64 now)
{
	__u64 since = now > htcp->epoch.start ? now - htcp->epoch.start : 0;
	__u64 t = since > delta_low_us ? min(since - delta_low_us, LONGEST - 1) : 0;
	__u64 alpha = ONE + 10 * ONE * t / SECOND + t * t / QUARTER_SQUARE;

	if (rtt_scaling && htcp->state.min_rtt) {
		__u64 ratio = (__u64)htcp->state.min_rtt * ONE / REFERENCE_RTT;

		alpha = alpha * (ratio < ONE / 10 ? ONE / 10 : min(ratio, 2ULL * ONE)) / ONE;
	}
	alpha = alpha * (2 * (ONE - htcp->state.beta)) / ONE;
	return alpha ? alpha : 1;
}

static void htcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!is_window_limiting(tp))
		return;
	if (is_in_slow_start(tp))
		acked = slow_start(tp, acked);
	if (acked) {
		__u64 acks_per_packet = (__u64)tp->snd_cwnd * ONE / growth(inet_csk_ca(sk), tp->tcp_mstamp);

		additive_increase(tp, (__u32)min(acks_per_packet, (__u64)~0U), acked);
	}
}

/* A sample of the throughput for each round trip. */
static __always_inline void measure_bandwidth(const struct tcp_sock *tp, struct htcp *htcp)
{
	__u64 span = tp->tcp_mstamp - htcp->round_start;
	__u64 bandwidth;

	if (!tp->srtt_us || span < max(tp->srtt_us >> 3, 1U))
		return;
	bandwidth = (__u64)(tp->delivered - htcp->round_delivered) * SECOND / span;
	htcp->state.bandwidth = min(bandwidth, (__u64)DB_NONE);
	start_round(tp, htcp);
}

static void htcp_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct htcp *htcp = inet_csk_ca(sk);
	__s32 rtt = sample->rtt_us;

	measure_bandwidth(tcp_sk(sk), htcp);
	if (rtt <= 0)
		return;
	if (!htcp->state.min_rtt || (__u32)rtt < htcp->state.min_rtt)
		htcp->state.min_rtt = rtt;
	htcp->epoch.max_rtt = max(htcp->epoch.max_rtt, (__u32)rtt);
	htcp->state.max_rtt = htcp->epoch.max_rtt;
}

static __u32 htcp_undo_cwnd(struct sock *sk)
{
	struct htcp *htcp = inet_csk_ca(sk);

	htcp->epoch = htcp->before;
	htcp->state.max_rtt = htcp->epoch.max_rtt;
	return reno_undo_cwnd(sk);
}

CONGESTION_CONTROL(bpf_htcp, (init, htcp_init), (ssthresh, htcp_ssthresh), (cong_avoid, htcp_cong_avoid),
		   (pkts_acked, htcp_pkts_acked), (undo_cwnd, htcp_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
