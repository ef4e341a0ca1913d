// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Loss recovery and its undo. */
#ifndef BBR_RECOVERY_H
#define BBR_RECOVERY_H

#include "phases.h"
#include "probe_rtt.h"

static inline void bbr_save_undo(struct bbr *bbr)
{
	bbr->undo_bw_lo = bbr->bw_lo;
	bbr->undo_inflight_lo = bbr->inflight_lo;
	bbr->undo_inflight_hi = bbr->inflight_hi;
	bbr->undo_state = bbr->state;
}

/* Recovery begins, or the retransmission timer expired. */
static inline void bbr_begin_recovery(const struct tcp_sock *tp, struct bbr *bbr)
{
	bbr_save_cwnd(tp, bbr);
	if (!params.undo_from_first_loss)
		bbr_save_undo(bbr);
}

static inline void bbr_on_timeout(const struct tcp_sock *tp, struct bbr *bbr)
{
	__u32 cwnd = tp->snd_cwnd;

	bbr->prev_ca_state = TCP_CA_Loss;
	if (BBR_VERSION == 2)
		bbr->full_bw = 0;
	else
		bbr_reset_full_bw(bbr, 0);
	if (!bbr_is_probing(bbr) && bbr->inflight_lo == BBR_INF)
		bbr->inflight_lo = max(bbr->prior_cwnd, BBR_VERSION == 2 ? 0U : cwnd);
}

/* Recovery is about to enter this state. */
static inline void bbr_change_ca_state(struct tcp_sock *tp, struct bbr *bbr, __u8 new_state)
{
	if (new_state == TCP_CA_Loss)
		bbr_on_timeout(tp, bbr);
	else if (bbr->prev_ca_state == TCP_CA_Loss)
		/* The stack sent from a window of its own; the model's bounds follow on the same ACK. */
		bbr_restore_cwnd(tp, bbr);
}

/* Draft: back to what the loss threw the flow out of. */
static inline void bbr_restore_state(const struct tcp_sock *tp, struct bbr *bbr)
{
	if (bbr->undo_state == BBR_STARTUP && bbr->state != BBR_STARTUP) {
		bbr->full_bw_reached = false;
		bbr->state = BBR_STARTUP;
	} else if (bbr->undo_state == BBR_PROBE_BW_UP && bbr->state != BBR_PROBE_BW_UP) {
		bbr_start_refill(tp, bbr, 0);
	}
}

/* Nothing was lost after all. Returns the window to go on with. */
static inline __u32 bbr_undo_recovery(const struct tcp_sock *tp, struct bbr *bbr)
{
	__u32 cwnd = tp->snd_cwnd;

	bbr_reset_full_bw(bbr, 0);
	bbr->loss_in_round = false;
	bbr->bw_lo = max(bbr->bw_lo, bbr->undo_bw_lo);
	bbr->inflight_lo = max(bbr->inflight_lo, bbr->undo_inflight_lo);
	bbr->inflight_hi = max(bbr->inflight_hi, bbr->undo_inflight_hi);
	if (params.undo_state && bbr->state != BBR_PROBE_RTT)
		bbr_restore_state(tp, bbr);
	/* A flow that came to BBR in the midst of recovery has saved no window. */
	return bbr->prior_cwnd ? bbr->prior_cwnd : cwnd;
}

#endif
