// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* ACK aggregation: how many packets more than expected are ACKed at a time, so that the window is large enough to keep
 * sending while the next lump of ACKs is awaited. */
#ifndef BBR_AGGREGATION_H
#define BBR_AGGREGATION_H

#include "model.h"

/* An epoch ends here, packets. */
#define BBR_EPOCH_LIMIT (1U << 20)
/* The bonus is at most what the path delivers in this time, us. */
#define BBR_EXTRA_ACKED_MAX_US 100000
/* Rounds that a slot is filled, in general and in STARTUP. */
#define BBR_SLOT_ROUNDS 5
#define BBR_SLOT_ROUNDS_STARTUP 1
/* Rounds of the draft's windowed maximum, in general and in STARTUP. */
#define BBR_WINDOW_ROUNDS 10
#define BBR_WINDOW_ROUNDS_STARTUP 1

/* The maximum over a sliding window in constant memory: the best three samples, each later than the one before it
 * (Kathleen Nichols' estimator). The next best sample that is still in the window replaces one that falls out. */
static inline void bbr_windowed_max(struct bbr_windowed best[3], __u32 window, __u32 round, __u32 value)
{
	const struct bbr_windowed new = {round, value};
	__u32 age = round - best[0].round;

	if (value >= best[0].value || round - best[2].round > window) {
		best[0] = best[1] = best[2] = new;
		return;
	}
	if (value >= best[1].value)
		best[1] = best[2] = new;
	else if (value >= best[2].value)
		best[2] = new;
	if (age > window) {
		best[0] = best[1];
		best[1] = best[2];
		best[2] = new;
		if (round - best[0].round > window) {
			best[0] = best[1];
			best[1] = best[2];
		}
	} else if (best[1].round == best[0].round && age > window / 4) {
		/* A quarter of the window without a second best: take one of now, to have one when it is needed. */
		best[1] = best[2] = new;
	} else if (best[2].round == best[1].round && age > window / 2) {
		best[2] = new;
	}
}

static inline void bbr_restart_aggregation(struct bbr *bbr, __u64 now)
{
	bbr->agg_start = now;
	bbr->agg_acked = 0;
}

static inline __u32 bbr_extra_acked(const struct bbr *bbr)
{
	if (params.windowed_extra_acked)
		return bbr->extra_acked_win[0].value;
	return max(bbr->extra_acked, bbr->extra_acked_before);
}

/* Packets to add to the window. */
static inline __u32 bbr_aggregation_cwnd(const struct bbr *bbr)
{
	return min(bbr_extra_acked(bbr), bbr_packets_in(bbr_bw(bbr), BBR_EXTRA_ACKED_MAX_US));
}

static inline void bbr_age_extra_acked(struct bbr *bbr)
{
	__u8 slot_rounds = bbr->full_bw_reached ? BBR_SLOT_ROUNDS : BBR_SLOT_ROUNDS_STARTUP;

	bbr->extra_acked_round++;
	if (bbr->extra_acked_age < 31)
		bbr->extra_acked_age++;
	if (bbr->extra_acked_age >= slot_rounds) {
		bbr->extra_acked_age = 0;
		bbr->extra_acked_before = bbr->extra_acked;
		bbr->extra_acked = 0;
	}
}

static inline void bbr_note_extra_acked(struct bbr *bbr, __u32 extra)
{
	__u32 window = bbr->full_bw_reached ? BBR_WINDOW_ROUNDS : BBR_WINDOW_ROUNDS_STARTUP;

	if (params.windowed_extra_acked)
		bbr_windowed_max(bbr->extra_acked_win, window, bbr->extra_acked_round, extra);
	else
		bbr->extra_acked = max(bbr->extra_acked, extra);
}

static inline void bbr_update_aggregation(const struct tcp_sock *tp, struct bbr *bbr, const struct bbr_ack *ack)
{
	__u64 now = tp->delivered_mstamp;
	__u32 expected;

	if (!ack->newly_acked || ack->delivered < 0 || ack->interval_us <= 0)
		return;
	if (bbr->is_round_start)
		bbr_age_extra_acked(bbr);
	expected = bbr_packets_in(bbr_bw(bbr), now > bbr->agg_start ? now - bbr->agg_start : 0);
	/* ACKs no faster than the bandwidth: no lump, the next may begin here. */
	if (bbr->agg_acked <= expected || bbr_add(bbr->agg_acked, ack->newly_acked) >= BBR_EPOCH_LIMIT) {
		bbr_restart_aggregation(bbr, now);
		expected = 0;
	}
	bbr->agg_acked = min(bbr_add(bbr->agg_acked, ack->newly_acked), BBR_EPOCH_LIMIT - 1);
	bbr_note_extra_acked(bbr, min(bbr_subtract(bbr->agg_acked, expected), tp->snd_cwnd));
}

#endif
