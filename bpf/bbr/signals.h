// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Rounds, and what losses, marks and deliveries tell in each of them. */
#ifndef BBR_SIGNALS_H
#define BBR_SIGNALS_H

#include "lower.h"
#include "model.h"

/* Count a whole round from now: a phase begins. */
static inline void bbr_begin_round(const struct tcp_sock *tp, struct bbr *bbr)
{
	bbr->next_round = tp->delivered;
}

static inline void bbr_update_round(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	bbr->is_round_start = ack->interval_us > 0 && !before(ack->prior_delivered, bbr->next_round);
	if (bbr->is_round_start) {
		bbr_begin_round(tp, bbr);
		bbr->round++;
		if (bbr->rounds_since_probe < 255)
			bbr->rounds_since_probe++;
	}
}

/* A new probing cycle. */
static inline void bbr_reset_signals(struct bbr *bbr)
{
	bbr->bw_latest = 0;
	bbr->inflight_latest = 0;
	bbr->loss_in_round = false;
	bbr->ecn_in_round = false;
	bbr->loss_in_cycle = false;
	bbr->ecn_in_cycle = false;
}

static inline bool bbr_is_sample(const struct bbr_ack *ack)
{
	return ack->interval_us > 0 && ack->newly_acked > 0;
}

static inline __u32 bbr_delivered(const struct bbr_ack *ack)
{
	return ack->delivered > 0 ? ack->delivered : 0;
}

static inline void bbr_raise_latest(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	bbr->bw_latest = max(bbr->bw_latest, ack->bw);
	bbr->inflight_latest = max(bbr->inflight_latest, bbr_delivered(ack));
	if (!before(ack->prior_delivered, bbr->loss_round_end)) {
		bbr->loss_round_end = tp->delivered;
		bbr->is_loss_round_start = true;
	}
}

/* The new loss round's signals begin with this ACK. */
static inline void bbr_restart_latest(struct bbr *bbr, const struct bbr_ack *ack)
{
	bbr->bw_latest = ack->bw;
	bbr->inflight_latest = bbr_delivered(ack);
}

/* v3: before all else an ACK does. */
static inline void bbr_update_latest(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	bbr->is_loss_round_start = false;
	if (bbr_is_sample(ack))
		bbr_raise_latest(tp, bbr, ack);
}

/* v3: after all else; but a TLP's ACK tells of the round before it. */
static inline void bbr_advance_latest(struct bbr *bbr, const struct bbr_ack *ack)
{
	if (bbr->is_loss_round_start && !ack->is_of_tlp)
		bbr_restart_latest(bbr, ack);
}

/* v2 also does here what v3 does before and after. */
static inline void bbr_update_congestion_signals(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	if (BBR_VERSION == 2)
		bbr->is_loss_round_start = false;
	if (!bbr_is_sample(ack))
		return;
	if (!ack->is_app_limited || ack->bw >= bbr_max_bw(bbr))
		bbr->bw_win[1] = max(bbr->bw_win[1], ack->bw);
	if (ack->newly_lost > 0)
		bbr->loss_in_round = true;
	if (BBR_VERSION == 2)
		bbr_raise_latest(tp, bbr, ack);
	if (!bbr->is_loss_round_start)
		return;
	bbr_adapt_lower_bounds(tp, bbr);
	if (BBR_VERSION == 2)
		bbr_restart_latest(bbr, ack);
	bbr->loss_in_round = false;
	bbr->ecn_in_round = false;
}

#endif
