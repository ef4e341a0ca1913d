// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* DRAIN: the queue of STARTUP empties. */
#ifndef BBR_DRAIN_H
#define BBR_DRAIN_H

#include "phases.h"

static inline void bbr_check_drain(struct sock *sk, struct bbr *bbr)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 bdp;

	if (bbr->state == BBR_STARTUP && bbr->full_bw_reached) {
		bbr->state = BBR_DRAIN;
		bbr->drain_round = bbr->round;
		tp->snd_ssthresh = bbr_inflight(sk, bbr, bbr_max_bw(bbr), BBR_UNIT); /* For information only. */
		bbr_reset_signals(bbr);
	}
	if (bbr->state != BBR_DRAIN)
		return;
	bdp = bbr_inflight(sk, bbr, bbr_max_bw(bbr), BBR_UNIT);
	if (bbr_in_network(sk, bbr, tcp_packets_in_flight(tp)) <= bdp ||
	    (params.drain_max_rounds && bbr->round - bbr->drain_round > params.drain_max_rounds))
		bbr_start_down(tp, bbr);
}

#endif
