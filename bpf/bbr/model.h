// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Values derived from the model: bandwidth and volumes within bounds. */
#ifndef BBR_MODEL_H
#define BBR_MODEL_H

#include "fixed.h"
#include "parameters.h"
#include "state.h"

#define BBR_MIN_CWND 4U /* packets */

/* The largest train of segments reckoned with, bytes: 64 KB less one and the headers (MAX_TCP_HEADER = 320). */
#define BBR_MAX_TRAIN (65536 - 1 - 320)
/* Each 512 us of min_rtt halve the 64 KB that are allowed on top. */
#define BBR_TRAIN_RTT_SHIFT 9
/* Below 1.2 Mbit/s, a train of v2 may be a single segment; bytes per second. */
#define BBR_LOW_RATE 150000

/* The long-term bandwidth: the maximum of the last two cycles. */
static inline __u64 bbr_max_bw(const struct bbr *bbr)
{
	return max(bbr->bw_win[0], bbr->bw_win[1]);
}

/* Bandwidth within bounds. */
static inline __u64 bbr_bw(const struct bbr *bbr)
{
	__u64 bw = min(bbr_max_bw(bbr), bbr->bw_lo);

	return BBR_VERSION == 2 ? min(bw, bbr->bw_hi) : bw;
}

static inline void bbr_reset_lower_bounds(struct bbr *bbr)
{
	bbr->bw_lo = BBR_INF_BW;
	bbr->inflight_lo = BBR_INF;
}

/* inflight_hi less the room for others, a packet at least. */
static inline __u32 bbr_headroomed(const struct bbr *bbr)
{
	__u32 room = max(bbr_scale(bbr->inflight_hi, params.headroom), 1U);

	if (bbr->inflight_hi == BBR_INF)
		return BBR_INF;
	return max(bbr_subtract(bbr->inflight_hi, room), BBR_MIN_CWND);
}

/* gain * bw * min_rtt; before there is an RTT, the initial window. */
static inline __u32 bbr_bdp(const struct bbr *bbr, __u64 bw, __u32 gain)
{
	return bbr->min_rtt_us == BBR_INF ? bbr->init_cwnd : bbr_volume(bw, bbr->min_rtt_us, gain);
}

/* The fewest segments of a train: 1 where 2 would be a burst. v3 leaves it to the sysctl tcp_min_tso_segs. */
static inline __u32 bbr_train_floor(const struct sock *sk)
{
	return BBR_VERSION == 2 && sk->sk_pacing_rate < BBR_LOW_RATE ? 1 : 2;
}

/* Segments in a train as the stack will send it: about 1 ms of data, and on short paths up to 64 KB. */
static inline __u32 bbr_train(const struct sock *sk, const struct bbr *bbr)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 rtt_shift = bbr->min_rtt_us >> BBR_TRAIN_RTT_SHIFT;
	__u64 bytes = (__u64)sk->sk_pacing_rate >> (sk->sk_pacing_shift & 63);
	__u32 mss = tp->mss_cache;

	if (rtt_shift < 32)
		bytes = bytes < BBR_MAX_TRAIN ? bytes + (65536U >> rtt_shift) : BBR_MAX_TRAIN;
	if (bytes > BBR_MAX_TRAIN)
		bytes = BBR_MAX_TRAIN;
	return max((__u32)bytes / (mss ? mss : 1), bbr_train_floor(sk));
}

/* Room for three trains: one being sent, one in the network, one being acknowledged. */
static inline __u32 bbr_quantize(const struct sock *sk, const struct bbr *bbr, __u32 volume)
{
	volume = max(volume, 3 * bbr_train(sk, bbr));
	volume = max(volume, BBR_MIN_CWND);
	return bbr->state == BBR_PROBE_BW_UP ? bbr_add(volume, 2) : volume;
}

BBR_OUT_OF_LINE __u32 bbr_inflight(const struct sock *sk, const struct bbr *bbr, __u64 bw, __u32 gain)
{
	return bbr_quantize(sk, bbr, bbr_bdp(bbr, bw, gain));
}

static inline __u32 bbr_target_inflight(const struct sock *sk, const struct bbr *bbr)
{
	return min(bbr_inflight(sk, bbr, bbr_bw(bbr), BBR_UNIT), tcp_sk(sk)->snd_cwnd);
}

static inline __u32 bbr_probe_rtt_cwnd(const struct bbr *bbr)
{
	return max(bbr_bdp(bbr, bbr_bw(bbr), params.probe_rtt_bdp), BBR_MIN_CWND);
}

/* The number of n packets in flight that will still be in the network when the next paced train leaves. */
BBR_OUT_OF_LINE __u32 bbr_in_network(const struct sock *sk, const struct bbr *bbr, __u32 n)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u64 departure = tp->tcp_wstamp_ns;
	__u64 now = tp->tcp_clock_cache;

	if (!params.edt_inflight)
		return n;
	if (bbr->pacing_gain > BBR_UNIT)
		n = bbr_add(n, bbr_train(sk, bbr));
	if (departure <= now)
		return n;
	return bbr_subtract(n, bbr_packets_in(bbr_bw(bbr), (departure - now) / 1000));
}

#endif
