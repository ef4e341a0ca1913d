// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The minimum RTT, and PROBE_RTT, which refreshes it. It costs about 0.5 * 0.2 s / 5 s = 2 % of the rate. */
#ifndef BBR_PROBE_RTT_H
#define BBR_PROBE_RTT_H

#include "phases.h"

/* Keep the window for the time after recovery or PROBE_RTT: while in either, the greatest that was. */
static inline void bbr_save_cwnd(const struct tcp_sock *tp, struct bbr *bbr)
{
	__u32 cwnd = tp->snd_cwnd;

	if (bbr->prev_ca_state >= TCP_CA_Recovery || bbr->state == BBR_PROBE_RTT)
		cwnd = max(cwnd, bbr->prior_cwnd);
	bbr->prior_cwnd = cwnd;
}

static inline void bbr_restore_cwnd(struct tcp_sock *tp, const struct bbr *bbr)
{
	tp->snd_cwnd = max(tp->snd_cwnd, bbr->prior_cwnd);
}

static inline void bbr_filter_rtt(struct bbr *bbr, const struct bbr_ack *ack, __u64 now, bool has_expired)
{
	__u32 rtt = bbr_saturate(ack->rtt_us);

	if (ack->rtt_us >= 0 && ack->rtt_us <= BBR_INF) {
		/* v2 refreshes the filter by an equal RTT too. */
		bool is_lower = rtt < bbr->probe_rtt_min_us || (BBR_VERSION == 2 && rtt == bbr->probe_rtt_min_us);

		if (is_lower || (has_expired && (params.trust_delayed_acks || !ack->is_ack_delayed))) {
			bbr->probe_rtt_min_us = rtt;
			bbr->probe_rtt_at = now;
		}
	}
	if (bbr->probe_rtt_min_us <= bbr->min_rtt_us || now > bbr->min_rtt_at + params.min_rtt_window_us) {
		bbr->min_rtt_us = bbr->probe_rtt_min_us;
		bbr->min_rtt_at = bbr->probe_rtt_at;
	}
}

static inline void bbr_start_probe_rtt(const struct tcp_sock *tp, struct bbr *bbr)
{
	bbr_save_cwnd(tp, bbr);
	bbr->state = BBR_PROBE_RTT;
	bbr->probe_rtt_done_at = 0;
	bbr->ack_phase = BBR_ACKS_PROBE_STOPPING;
	bbr_begin_round(tp, bbr);
}

/* Back to where it came from, once the hold is over. */
static inline void bbr_maybe_end_probe_rtt(struct tcp_sock *tp, struct bbr *bbr)
{
	__u64 now = tp->tcp_mstamp;

	if (!bbr->probe_rtt_done_at || now <= bbr->probe_rtt_done_at)
		return;
	bbr->probe_rtt_at = now;
	bbr_restore_cwnd(tp, bbr);
	bbr_reset_lower_bounds(bbr);
	if (bbr->full_bw_reached) {
		bbr_start_down(tp, bbr);
		bbr_start_cruise(bbr);
	} else {
		bbr->state = BBR_STARTUP;
	}
}

static inline void bbr_step_probe_rtt(struct tcp_sock *tp, struct bbr *bbr)
{
	__u32 in_flight = tcp_packets_in_flight(tp);

	/* So little is sent that its delivery rate says nothing of the path. */
	tp->app_limited = max(tp->delivered + in_flight, 1U);
	if (!bbr->probe_rtt_done_at) {
		if (in_flight <= bbr_probe_rtt_cwnd(bbr)) {
			bbr->probe_rtt_done_at = tp->tcp_mstamp + params.probe_rtt_hold_us;
			bbr->is_probe_rtt_round_done = false;
			bbr_begin_round(tp, bbr);
		}
		return;
	}
	if (bbr->is_round_start)
		bbr->is_probe_rtt_round_done = true;
	if (bbr->is_probe_rtt_round_done)
		bbr_maybe_end_probe_rtt(tp, bbr);
}

static inline void bbr_update_min_rtt(struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	__u64 now = tp->tcp_mstamp;
	bool has_expired = now > bbr->probe_rtt_at + params.probe_rtt_interval_us;

	bbr_filter_rtt(bbr, ack, now, has_expired);
	if (has_expired && !bbr->is_idle_restart && bbr->state != BBR_PROBE_RTT)
		bbr_start_probe_rtt(tp, bbr);
	if (bbr->state == BBR_PROBE_RTT)
		bbr_step_probe_rtt(tp, bbr);
	if (ack->delivered > 0)
		bbr->is_idle_restart = false;
}

#endif
