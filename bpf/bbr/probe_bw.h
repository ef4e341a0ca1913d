// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* PROBE_BW: when its phases end. */
#ifndef BBR_PROBE_BW_H
#define BBR_PROBE_BW_H

#include "upper.h"

/* The volume in flight that fills the pipe in v2's UP: 1.25 BDP. */
#define BBR_UP_QUEUE_GAIN 320

/* Marks but no losses ended the last probe: the next may come at once, and start steeply. */
static inline bool bbr_ecn_reprobe_is_due(const struct sock *sk, const struct bbr *bbr)
{
	return params.ecn_reprobe_gain && bbr->ecn_eligible && bbr->ecn_in_cycle && !bbr->loss_in_cycle &&
	       ca_state(sk) == TCP_CA_Open;
}

/* Time passed, or as many rounds as a Reno flow needs to grow by what is in flight; bounded, so that large windows don't
 * wait for ever. */
static inline bool bbr_probe_is_due(const struct sock *sk, const struct bbr *bbr)
{
	if (tcp_sk(sk)->tcp_mstamp > bbr->cycle_start + bbr->probe_wait_us)
		return true;
	return bbr->rounds_since_probe >= min(bbr_target_inflight(sk, bbr), params.probe_max_rounds);
}

/* Starts REFILL if it is time for the next probe. */
static inline bool bbr_check_time_to_probe(const struct sock *sk, struct bbr *bbr)
{
	__u32 up_rounds = 0;

	if (bbr_ecn_reprobe_is_due(sk, bbr))
		up_rounds = bbr_log2(bbr_scale(bbr->inflight_hi, params.ecn_reprobe_gain));
	else if (!bbr_probe_is_due(sk, bbr))
		return false;
	bbr_start_refill(tcp_sk(sk), bbr, up_rounds);
	return true;
}

/* True if UP fills the pipe. v2: 1.25 BDP are in flight after a min_rtt. v3: the bandwidth has stopped growing. */
static inline bool bbr_is_pipe_full(const struct sock *sk, struct bbr *bbr, const struct bbr_ack *ack, __u32 in_network)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (BBR_VERSION == 2)
		return tp->tcp_mstamp > bbr->cycle_start + bbr->min_rtt_us &&
		       in_network >= bbr_inflight(sk, bbr, bbr_max_bw(bbr), BBR_UP_QUEUE_GAIN);
	if (is_cwnd_limited(tp) && tp->snd_cwnd >= bbr->inflight_hi) {
		/* The bound is what limits the flow: that the bandwidth doesn't grow means nothing. */
		bbr_reset_full_bw(bbr, ack->bw);
		return false;
	}
	return bbr->full_bw_now;
}

static inline void bbr_step_up(const struct sock *sk, struct bbr *bbr, const struct bbr_ack *ack, __u32 in_network)
{
	bool is_risky = bbr->was_too_high && in_network >= bbr->inflight_hi;

	if (is_risky)
		bbr->was_stopped_as_risky = true;
	if (is_risky || bbr_is_pipe_full(sk, bbr, ack, in_network)) {
		bbr->was_too_high = false;
		bbr_start_down(tcp_sk(sk), bbr);
	}
}

static inline void bbr_step_down(const struct sock *sk, struct bbr *bbr, __u32 in_network)
{
	if (bbr_check_time_to_probe(sk, bbr))
		return;
	if (in_network <= bbr_headroomed(bbr) && in_network <= bbr_inflight(sk, bbr, bbr_max_bw(bbr), BBR_UNIT))
		bbr_start_cruise(bbr);
}

static inline void bbr_step_probe_bw(const struct sock *sk, struct bbr *bbr, const struct bbr_ack *ack)
{
	__u32 in_network;

	if (!bbr_in_probe_bw(bbr))
		return;
	in_network = bbr_in_network(sk, bbr, ack->prior_in_flight);
	switch (bbr->state) {
	case BBR_PROBE_BW_CRUISE:
		bbr_check_time_to_probe(sk, bbr);
		break;
	case BBR_PROBE_BW_REFILL:
		if (bbr->is_round_start) {
			bbr->is_sampling = true;
			bbr_start_up(tcp_sk(sk), bbr, ack->bw);
		}
		break;
	case BBR_PROBE_BW_UP:
		bbr_step_up(sk, bbr, ack, in_network);
		break;
	case BBR_PROBE_BW_DOWN:
		bbr_step_down(sk, bbr, in_network);
		break;
	}
}

#endif
