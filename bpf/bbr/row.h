// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* BBR's part of a row of the per-ACK table. */
#ifndef BBR_ROW_H
#define BBR_ROW_H

#include <dumbbell/ack.h>

#include "core.h"

static inline __u32 bbr_row_state(const struct bbr *bbr)
{
	switch (bbr->state) {
	case BBR_STARTUP:
		return DB_BBR_STATE_STARTUP;
	case BBR_DRAIN:
		return DB_BBR_STATE_DRAIN;
	case BBR_PROBE_BW_DOWN:
		return DB_BBR_STATE_PROBE_BW_DOWN;
	case BBR_PROBE_BW_CRUISE:
		return DB_BBR_STATE_PROBE_BW_CRUISE;
	case BBR_PROBE_BW_REFILL:
		return DB_BBR_STATE_PROBE_BW_REFILL;
	case BBR_PROBE_BW_UP:
		return DB_BBR_STATE_PROBE_BW_UP;
	default:
		return DB_BBR_STATE_PROBE_RTT;
	}
}

static inline void bbr_emit_row(struct sock *sk, const struct bbr *bbr, const struct bbr_ack *ack)
{
	struct db_ack *row = db_ack_begin(sk, DB_ACK_AFTER);
	struct db_bbr_state *state;

	if (!row)
		return;
	row->rtt_us = ack->rtt_us < 0 ? DB_NONE : bbr_saturate(ack->rtt_us);
	state = db_ack_state(row, DB_STATE_BBR);
	state->state = bbr_row_state(bbr);
	state->ack_phase = DB_BBR_ACK_PHASE_INIT + bbr->ack_phase;
	/* BBR_INF_BW and BBR_INF become DB_NONE. */
	state->bw = bbr_saturate(bbr_bw(bbr));
	state->bw_lo = bbr_saturate(bbr->bw_lo);
	state->bw_hi = bbr_saturate(min(bbr_max_bw(bbr), bbr->bw_hi));
	state->min_rtt = bbr->min_rtt_us;
	state->inflight_lo = bbr->inflight_lo;
	state->inflight_hi = bbr->inflight_hi;
	state->round = bbr->round;
	state->cycle = bbr->probes;
	state->pacing_gain = bbr->pacing_gain;
	state->cwnd_gain = bbr->cwnd_gain;
	db_ack_submit(row);
}

#endif
