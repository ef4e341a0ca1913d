// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* PROBE_BW: how its phases begin, and how inflight_hi grows in UP. */
#ifndef BBR_PHASES_H
#define BBR_PHASES_H

#include <dumbbell/random.h>

#include "plateau.h"
#include "signals.h"

/* Doublings of the slope: 30 keep the shift within 32 bits. */
#define BBR_MAX_UP_ROUNDS 30U

BBR_OUT_OF_LINE void bbr_start_down(const struct tcp_sock *tp, struct bbr *bbr)
{
	bbr_reset_signals(bbr);
	bbr->up_cnt = BBR_INF;
	/* Random, so that flows that share a bottleneck don't probe at the same time. */
	bbr->rounds_since_probe = random_below(2);
	bbr->probe_wait_us = params.probe_wait_us + random_below(params.probe_wait_random_us);
	bbr->cycle_start = tp->tcp_mstamp;
	bbr->ack_phase = BBR_ACKS_PROBE_STOPPING;
	bbr_begin_round(tp, bbr);
	bbr->state = BBR_PROBE_BW_DOWN;
}

static inline void bbr_start_cruise(struct bbr *bbr)
{
	if (bbr->inflight_lo != BBR_INF)
		bbr->inflight_lo = min(bbr->inflight_lo, bbr->inflight_hi);
	bbr->state = BBR_PROBE_BW_CRUISE;
}

BBR_OUT_OF_LINE void bbr_start_refill(const struct tcp_sock *tp, struct bbr *bbr, __u32 up_rounds)
{
	bbr_reset_lower_bounds(bbr);
	bbr->up_rounds = up_rounds;
	bbr->up_acks = 0;
	bbr->was_stopped_as_risky = false;
	bbr->has_ok_sample = false;
	bbr->probes++;
	bbr->ack_phase = BBR_ACKS_REFILLING;
	bbr_begin_round(tp, bbr);
	bbr->state = BBR_PROBE_BW_REFILL;
}

/* ACKed packets per packet of growth, for this round; for the next it is half. So inflight_hi grows by 1, 2, 4, ... */
static inline void bbr_raise_slope(const struct tcp_sock *tp, struct bbr *bbr)
{
	bbr->up_cnt = max(tp->snd_cwnd >> (bbr->up_rounds & 31), 1U);
	bbr->up_rounds = min(bbr->up_rounds + 1, BBR_MAX_UP_ROUNDS);
}

static inline void bbr_start_up(const struct tcp_sock *tp, struct bbr *bbr, __u64 bw)
{
	bbr->ack_phase = BBR_ACKS_PROBE_STARTING;
	bbr_begin_round(tp, bbr);
	bbr->cycle_start = tp->tcp_mstamp;
	if (BBR_VERSION == 3)
		bbr_reset_full_bw(bbr, bw);
	bbr->state = BBR_PROBE_BW_UP;
	bbr_raise_slope(tp, bbr);
}

static inline void bbr_grow_inflight_hi(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	if (!is_cwnd_limited(tp) || tp->snd_cwnd < bbr->inflight_hi) {
		/* The bound does not limit the flow. v2 forgets the credits too. */
		if (BBR_VERSION == 2)
			bbr->up_acks = 0;
		return;
	}
	bbr->up_acks = bbr_add(bbr->up_acks, ack->newly_acked);
	if (bbr->up_cnt && bbr->up_acks >= bbr->up_cnt) {
		__u32 steps = bbr->up_acks / bbr->up_cnt;

		bbr->up_acks -= steps * bbr->up_cnt;
		bbr->inflight_hi = min(bbr_add(bbr->inflight_hi, steps), BBR_INF - 1);
	}
	if (bbr->is_round_start)
		bbr_raise_slope(tp, bbr);
}

#endif
