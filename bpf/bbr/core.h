// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* BBRv2 and BBRv3: what each callback of a congestion control does, whatever calls it.
 *
 * The includer has set BBR_VERSION to 2 or 3. <dumbbell/tcp.h> and <dumbbell/random.h> are the kernel's types, accessors and
 * random numbers in a BPF program, and stand-ins for them in a test. */
#ifndef BBR_CORE_H
#define BBR_CORE_H

#include <dumbbell/tcp.h>

#include "aggregation.h"
#include "drain.h"
#include "ecn.h"
#include "loss.h"
#include "outputs.h"
#include "probe_bw.h"
#include "probe_rtt.h"
#include "recovery.h"

/* The flow begins; bbr is all zero. */
static inline void bbr_begin(struct sock *sk, struct bbr *bbr)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 now = tp->tcp_mstamp;

	bbr->state = BBR_STARTUP;
	bbr->ack_phase = BBR_ACKS_INIT;
	bbr->undo_state = BBR_NO_STATE;
	bbr_reset_lower_bounds(bbr);
	bbr->bw_hi = BBR_INF_BW;
	bbr->inflight_hi = BBR_INF;
	bbr->up_cnt = BBR_INF;
	bbr->init_cwnd = min(tp->snd_cwnd, 127U);
	bbr->next_round = BBR_VERSION == 2 ? 0 : tp->delivered;
	bbr->loss_round_end = tp->delivered + 1;
	bbr->min_rtt_us = tcp_min_rtt(tp);
	bbr->probe_rtt_min_us = bbr->min_rtt_us;
	bbr->min_rtt_at = now;
	bbr->probe_rtt_at = now;
	bbr->agg_start = now;
	bbr->ecn_alpha = BBR_UNIT;
	bbr_refresh_gains(bbr);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	request_pacing(sk);
	bbr_init_pacing_rate(sk, bbr);
}

/* An ACK was processed. The order matters. */
static inline void bbr_on_ack(struct sock *sk, struct bbr *bbr, const struct bbr_ack *ack)
{
	struct tcp_sock *tp = tcp_sk(sk);

	bbr_update_round(tp, bbr, ack);
	if (bbr->is_round_start)
		bbr_update_ecn_alpha(sk, bbr);
	if (ack->is_ece && (BBR_VERSION == 2 || bbr->ecn_eligible))
		bbr->ecn_in_round = true;
	if (BBR_VERSION == 3)
		bbr_update_latest(tp, bbr, ack);
	bbr_update_congestion_signals(tp, bbr, ack);
	bbr_update_aggregation(tp, bbr, ack);
	bbr_check_startup_loss(sk, bbr, ack);
	bbr_check_full_bw(bbr, ack);
	bbr_check_drain(sk, bbr);
	if (bbr->full_bw_reached && !bbr_adapt_upper_bounds(sk, bbr, ack))
		bbr_step_probe_bw(sk, bbr, ack);
	bbr_update_min_rtt(tp, bbr, ack);
	bbr_refresh_gains(bbr);
	bbr_set_pacing_rate(sk, bbr, bbr_bw(bbr), bbr->pacing_gain);
	bbr_set_cwnd(sk, bbr, ack);
	if (BBR_VERSION == 3)
		bbr_advance_latest(bbr, ack);
	bbr->prev_ca_state = ca_state(sk);
	if (ack->lost > 0)
		bbr->loss_in_cycle = true;
	if (ack->delivered_ce > 0)
		bbr->ecn_in_cycle = true;
}

/* The flow sends again after it was idle. The window is left alone. */
static inline void bbr_restart_from_idle(struct sock *sk, struct bbr *bbr)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->app_limited)
		return;
	/* The queue has drained by itself: no need of PROBE_RTT. */
	bbr->is_idle_restart = true;
	bbr_restart_aggregation(bbr, tp->tcp_mstamp);
	if (bbr_in_probe_bw(bbr))
		bbr_set_pacing_rate(sk, bbr, bbr_bw(bbr), BBR_UNIT);
	else if (bbr->state == BBR_PROBE_RTT)
		bbr_maybe_end_probe_rtt(tp, bbr);
}

#endif
