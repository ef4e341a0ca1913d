// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Packets that are marked lost, by an ACK or by a timer. */
#ifndef BBR_LOSS_H
#define BBR_LOSS_H

#include "recovery.h"
#include "upper.h"

/* The first loss of a round starts a round of its own, so that a whole one is measured. */
static inline void bbr_note_loss(const struct tcp_sock *tp, struct bbr *bbr)
{
	if (!bbr->loss_in_round) {
		bbr->loss_round_end = tp->delivered;
		if (params.undo_from_first_loss)
			bbr_save_undo(bbr);
	}
	bbr->loss_in_round = true;
	bbr->loss_in_cycle = true;
}

/* The packets in flight that fitted before the share of losses crossed the threshold; 0: it did not cross it. */
static inline __u32 bbr_inflight_at_loss(__u32 tx_in_flight, __u32 lost, __u32 segments)
{
	__u32 threshold = min(params.loss_threshold, BBR_UNIT - 1);
	__u32 in_flight = tx_in_flight - segments;
	__u32 lost_before = lost - segments;
	__u64 budget;

	if (lost <= bbr_scale(tx_in_flight, threshold))
		return 0;
	if (segments > tx_in_flight || segments > lost)
		return BBR_INF; /* Counts that make no sense set no bound. */
	budget = ((__u64)in_flight * threshold + BBR_UNIT - 1) >> BBR_GAIN_SHIFT;
	if (lost_before >= budget)
		return in_flight;
	return bbr_add(in_flight, bbr_saturate(((budget - lost_before) << BBR_GAIN_SHIFT) / (BBR_UNIT - threshold)));
}

static inline void bbr_packet_lost(const struct sock *sk, struct bbr *bbr, const struct bbr_lost_packet *packet)
{
	__u32 threshold = params.loss_threshold;

	bbr_note_loss(tcp_sk(sk), bbr);
	if (!bbr->is_sampling || packet->was_sacked || packet->lost <= 0)
		return;
	if ((__u32)packet->lost <= bbr_scale(packet->tx_in_flight, threshold))
		return;
	bbr_on_too_high(sk, bbr, bbr_inflight_at_loss(packet->tx_in_flight, packet->lost, packet->segments),
			packet->is_app_limited);
}

/* A TLP repaired a loss: one packet of what was in flight with it [v3]. */
static inline void bbr_loss_repaired_by_tlp(const struct sock *sk, struct bbr *bbr, bool is_app_limited)
{
	__u32 tx_in_flight = bbr_add(bbr->inflight_latest, 1);

	bbr_note_loss(tcp_sk(sk), bbr);
	if (bbr->is_sampling && bbr_is_loss_too_high(1, tx_in_flight))
		bbr_on_too_high(sk, bbr, tx_in_flight, is_app_limited);
}

#endif
