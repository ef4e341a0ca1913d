// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Westwood+ (L. A. Grieco, S. Mascolo, ACM CCR 34(2), 2004, whose sections are cited): Reno whose cut leaves what fills the path,
 * by an estimate of the bandwidth that the ACKs tell.
 */
#include <algorithms/westwood/parameters.h>
#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

PARAMETERS(PARAMETER)
PUBLISHES(DB_STATE_WESTWOOD)

/* 1 in the fixed point of shares and of the bandwidth. */
#define ONE 1024
#define SECOND 1000000

struct westwood {
	struct db_westwood_state state;
	__u32 round_delivered; /* tp->delivered when the sample's round trip began */
	__u64 round_start;     /* us: that moment */
	__u64 bandwidth;       /* packets/s of ONE; 0: no estimate yet */
};

static __always_inline void start_round(const struct tcp_sock *tp, struct westwood *westwood)
{
	westwood->round_start = tp->tcp_mstamp;
	westwood->round_delivered = tp->delivered;
}

static void westwood_init(struct sock *sk)
{
	struct westwood *westwood = inet_csk_ca(sk);

	*westwood = (struct westwood){};
	start_round(tcp_sk(sk), westwood);
}

/* Packets that fill the path without a queue: bandwidth * min_rtt, split so that it fits into 64 bits; 0: not known. */
static __always_inline __u64 path_volume(const struct westwood *westwood)
{
	__u64 whole = westwood->bandwidth / ((__u64)ONE * SECOND);
	__u64 rest = westwood->bandwidth % ((__u64)ONE * SECOND);

	return whole * westwood->state.min_rtt + rest * westwood->state.min_rtt / ((__u64)ONE * SECOND);
}

/* The cut leaves what fills the path, never more than the window (section 2.1); Reno's half as long as nothing is known. */
static __u32 westwood_ssthresh(struct sock *sk)
{
	__u64 packets = path_volume(inet_csk_ca(sk));

	if (!packets)
		return reno_ssthresh(sk);
	return max((__u32)min(packets, (__u64)tcp_sk(sk)->snd_cwnd), 2U);
}

/*
 * A sample for each round trip: the packets delivered in it, by a filter of first order (section 2.2). The delivery before the
 * first sample is not averaged with it.
 */
static __always_inline void measure_bandwidth(const struct tcp_sock *tp, struct westwood *westwood)
{
	__u64 span = tp->tcp_mstamp - westwood->round_start;
	__u32 round = max(max(tp->srtt_us >> 3, least_round_us), 1U);
	__u32 keep = min(filter_keep, (__u32)ONE);
	__u64 sample;

	if (!tp->srtt_us || span < round)
		return;
	sample = (__u64)(tp->delivered - westwood->round_delivered) * ONE * SECOND / span;
	if (westwood->bandwidth)
		westwood->bandwidth = (westwood->bandwidth * keep + sample * (ONE - keep)) / ONE;
	else
		westwood->bandwidth = sample;
	westwood->state.bandwidth = min(westwood->bandwidth, (__u64)DB_NONE);
	start_round(tp, westwood);
}

static void westwood_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct westwood *westwood = inet_csk_ca(sk);
	__s32 rtt = sample->rtt_us;

	if (rtt > 0 && (!westwood->state.min_rtt || (__u32)rtt < westwood->state.min_rtt))
		westwood->state.min_rtt = rtt;
	measure_bandwidth(tcp_sk(sk), westwood);
}

CONGESTION_CONTROL(bpf_westwood, (init, westwood_init), (ssthresh, westwood_ssthresh), (cong_avoid, reno_cong_avoid),
		   (pkts_acked, westwood_pkts_acked), (undo_cwnd, reno_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
