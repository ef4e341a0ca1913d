// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* STARTUP ends by losses (here), by marks (ecn.h), or at a plateau (plateau.h). */
#ifndef BBR_STARTUP_H
#define BBR_STARTUP_H

#include "upper.h"

/* The pipe is full, and what it holds is known. */
static inline void bbr_queue_too_high(const struct sock *sk, struct bbr *bbr)
{
	__u32 bdp = bbr_inflight(sk, bbr, bbr_max_bw(bbr), BBR_UNIT);

	bbr->full_bw_reached = true;
	bbr->inflight_hi = BBR_VERSION == 2 ? bdp : max(bdp, bbr->inflight_latest);
}

/* Many holes in one round, and a share of losses that is too high: the queue is full. */
static inline void bbr_check_startup_loss(const struct sock *sk, struct bbr *bbr, const struct bbr_ack *ack)
{
	bool are_many;

	if (bbr->full_bw_reached)
		return;
	/* One event per ACK with losses is about one hole. */
	if (ack->newly_lost > 0 && bbr->loss_events_in_round < 15)
		bbr->loss_events_in_round++;
	if (!bbr->is_loss_round_start)
		return;
	are_many = bbr->loss_events_in_round >= params.startup_loss_events;
	if (are_many && ca_state(sk) == TCP_CA_Recovery && bbr_is_too_high(bbr, ack))
		bbr_queue_too_high(sk, bbr);
	else
		bbr->loss_events_in_round = 0;
}

#endif
