// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The decisions of the model: gains, pacing rate and window. */
#ifndef BBR_OUTPUTS_H
#define BBR_OUTPUTS_H

#include "aggregation.h"

/* The RTT that the first pacing rate assumes while there is none, us. */
#define BBR_FIRST_RTT_US 1000

static inline void bbr_refresh_gains(struct bbr *bbr)
{
	bbr->pacing_gain = BBR_UNIT;
	bbr->cwnd_gain = params.probe_bw_cwnd_gain;
	switch (bbr->state) {
	case BBR_STARTUP:
		bbr->pacing_gain = params.startup_pacing_gain;
		bbr->cwnd_gain = params.startup_cwnd_gain;
		break;
	case BBR_DRAIN:
		bbr->pacing_gain = params.drain_pacing_gain;
		bbr->cwnd_gain = params.drain_cwnd_gain;
		break;
	case BBR_PROBE_BW_DOWN:
		bbr->pacing_gain = params.down_pacing_gain;
		break;
	case BBR_PROBE_BW_UP:
		bbr->pacing_gain = params.up_pacing_gain;
		bbr->cwnd_gain = params.up_cwnd_gain;
		break;
	case BBR_PROBE_RTT:
		bbr->cwnd_gain = params.probe_rtt_cwnd_gain;
		break;
	}
}

static inline __u64 bbr_capped_rate(const struct sock *sk, __u64 bw, __u32 gain)
{
	__u64 rate = bbr_rate(bw, tcp_sk(sk)->mss_cache, gain);
	__u64 cap = sk->sk_max_pacing_rate;

	return rate < cap ? rate : cap;
}

/* The first rate: the window in an RTT. */
static inline void bbr_init_pacing_rate(struct sock *sk, struct bbr *bbr)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 srtt = tp->srtt_us;
	__u32 rtt = srtt ? max(srtt >> 3, 1U) : BBR_FIRST_RTT_US;

	bbr->has_seen_rtt = srtt > 0;
	sk->sk_pacing_rate =
		bbr_capped_rate(sk, ((__u64)tp->snd_cwnd << BBR_BW_SHIFT) / rtt, params.startup_pacing_gain);
}

static inline void bbr_set_pacing_rate(struct sock *sk, struct bbr *bbr, __u64 bw, __u32 gain)
{
	__u64 rate;

	if (!bbr->has_seen_rtt && tcp_sk(sk)->srtt_us)
		bbr_init_pacing_rate(sk, bbr);
	rate = bbr_capped_rate(sk, bw, gain);
	/* Until the pipe is full, the estimate may just not be there yet. */
	if (bbr->full_bw_reached || rate > sk->sk_pacing_rate)
		sk->sk_pacing_rate = rate;
}

/* Too early for a target? */
static inline bool bbr_is_first_growth(const struct tcp_sock *tp, const struct bbr *bbr, __u32 cwnd)
{
	if (params.grow_until_delivered)
		return tp->delivered < bbr->init_cwnd;
	return cwnd < 2 * bbr->init_cwnd;
}

static inline __u32 bbr_grown_cwnd(const struct sock *sk, const struct bbr *bbr, __u32 cwnd, __u32 newly_acked)
{
	__u32 volume = bbr_add(bbr_bdp(bbr, bbr_bw(bbr), bbr->cwnd_gain), bbr_aggregation_cwnd(bbr));
	__u32 target = bbr_quantize(sk, bbr, volume);
	__u32 grown = bbr_add(cwnd, newly_acked);

	if (bbr->full_bw_reached)
		cwnd = min(grown, target);
	else if (cwnd < target || bbr_is_first_growth(tcp_sk(sk), bbr, cwnd))
		cwnd = grown;
	return max(cwnd, BBR_MIN_CWND);
}

/* The long-term bound on the window, by state. */
static inline __u32 bbr_model_cap(const struct bbr *bbr)
{
	switch (bbr->state) {
	case BBR_PROBE_BW_CRUISE:
	case BBR_PROBE_RTT:
		return bbr_headroomed(bbr);
	case BBR_STARTUP:
		return BBR_INF;
	case BBR_DRAIN:
		return params.drain_obeys_inflight_hi ? bbr->inflight_hi : BBR_INF;
	default:
		return bbr->inflight_hi;
	}
}

static inline void bbr_set_cwnd(struct sock *sk, const struct bbr *bbr, const struct bbr_ack *ack)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 cwnd = tp->snd_cwnd;

	if (ack->newly_acked)
		cwnd = bbr_grown_cwnd(sk, bbr, cwnd, ack->newly_acked);
	cwnd = min(cwnd, tp->snd_cwnd_clamp);
	if (bbr->state == BBR_PROBE_RTT)
		cwnd = min(cwnd, bbr_probe_rtt_cwnd(bbr));
	tp->snd_cwnd = min(cwnd, max(min(bbr_model_cap(bbr), bbr->inflight_lo), BBR_MIN_CWND));
}

#endif
