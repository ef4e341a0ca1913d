// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The long-term bounds: what a probe of bandwidth taught. */
#ifndef BBR_UPPER_H
#define BBR_UPPER_H

#include "phases.h"

static inline bool bbr_is_loss_too_high(__s32 lost, __u32 tx_in_flight)
{
	return lost > 0 && tx_in_flight && (__u32)lost > bbr_scale(tx_in_flight, params.loss_threshold);
}

static inline bool bbr_is_ecn_too_high(const struct bbr *bbr, const struct bbr_ack *ack)
{
	__u32 threshold;

	if (!bbr->ecn_eligible || ack->delivered_ce <= 0 || ack->delivered <= 0)
		return false;
	threshold = bbr_scale(ack->delivered, params.ecn_threshold);
	if (BBR_VERSION == 2)
		return (__u32)ack->delivered_ce >= threshold;
	return (__u32)ack->delivered_ce > threshold;
}

/* More losses or marks than the thresholds allow, among what was sent with the newest packet that was ACKed? */
static inline bool bbr_is_too_high(const struct bbr *bbr, const struct bbr_ack *ack)
{
	return bbr_is_loss_too_high(ack->lost, ack->tx_in_flight) || bbr_is_ecn_too_high(bbr, ack);
}

/* No sample of the probe was good: the rate itself is too high [v2]. */
static inline void bbr_cut_bw_hi(struct bbr *bbr)
{
	if (bbr->bw_hi == BBR_INF_BW)
		bbr->bw_hi = bbr_max_bw(bbr);
	bbr->bw_hi = bbr_scale_bw(bbr->bw_hi, bbr_ecn_keep(bbr));
}

/* With tx_in_flight packets in flight too much was lost or marked: once a probe, the bound is lowered. */
BBR_OUT_OF_LINE void bbr_on_too_high(const struct sock *sk, struct bbr *bbr, __u32 tx_in_flight, bool is_app_limited)
{
	bbr->was_too_high = true;
	bbr->is_sampling = false;
	if (!is_app_limited) {
		__u32 floor = bbr_scale(bbr_target_inflight(sk, bbr), params.beta_keep);

		bbr->inflight_hi = max(tx_in_flight, floor);
		if (BBR_VERSION == 2 && bbr->ecn_eligible && !bbr->has_ok_sample)
			bbr_cut_bw_hi(bbr);
	}
	if (bbr->state == BBR_PROBE_BW_UP)
		bbr_start_down(tcp_sk(sk), bbr);
}

/* The packets of the probe have been ACKed, so the bandwidth filter advances. Returns whether the probe goes on: one that was
 * stopped only because it was risky, and proved safe, does. */
static inline bool bbr_end_feedback(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	bbr->is_sampling = false;
	bbr->ack_phase = BBR_ACKS_INIT;
	if (!bbr_in_probe_bw(bbr))
		return false;
	if (!ack->is_app_limited && bbr->bw_win[1]) {
		bbr->bw_win[0] = bbr->bw_win[1];
		bbr->bw_win[1] = 0;
	}
	if (!bbr->was_stopped_as_risky || bbr->was_too_high)
		return false;
	bbr_start_refill(tp, bbr, 0);
	return true;
}

static inline void bbr_raise_upper_bounds(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	if (bbr->is_sampling)
		bbr->has_ok_sample = true;
	if (bbr->inflight_hi == BBR_INF && bbr->bw_hi == BBR_INF_BW)
		return;
	/* In any phase: a higher level proved safe. */
	bbr->inflight_hi = max(bbr->inflight_hi, ack->tx_in_flight);
	if (BBR_VERSION == 2 && bbr->bw_hi != BBR_INF_BW)
		bbr->bw_hi = max(bbr->bw_hi, ack->bw);
	if (bbr->state == BBR_PROBE_BW_UP)
		bbr_grow_inflight_hi(tp, bbr, ack);
}

/* Take note of how the probe goes. Did that change the phase? */
static inline bool bbr_adapt_upper_bounds(const struct sock *sk, struct bbr *bbr, const struct bbr_ack *ack)
{
	if (bbr->ack_phase == BBR_ACKS_PROBE_STARTING && bbr->is_round_start)
		bbr->ack_phase = BBR_ACKS_PROBE_FEEDBACK;
	if (bbr->ack_phase == BBR_ACKS_PROBE_STOPPING && bbr->is_round_start && bbr_end_feedback(tcp_sk(sk), bbr, ack))
		return true;
	if (!bbr_is_too_high(bbr, ack))
		bbr_raise_upper_bounds(tcp_sk(sk), bbr, ack);
	else if (bbr->is_sampling && params.cut_on_ack)
		bbr_on_too_high(sk, bbr, ack->tx_in_flight, ack->is_app_limited);
	return false;
}

#endif
