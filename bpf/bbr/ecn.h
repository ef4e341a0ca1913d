// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The share of packets that are marked: for shallow-threshold marks only, as DCTCP has them. */
#ifndef BBR_ECN_H
#define BBR_ECN_H

#include "startup.h"

static inline void bbr_average_alpha(struct bbr *bbr, __u32 share)
{
	__u32 gain = min(params.ecn_alpha_gain, BBR_UNIT);
	__u32 alpha = bbr_add(bbr_scale(bbr->ecn_alpha, BBR_UNIT - gain), bbr_scale(share, gain));

	bbr->ecn_alpha = min(alpha, BBR_UNIT);
}

static inline void bbr_check_startup_ecn(const struct sock *sk, struct bbr *bbr, __u32 share)
{
	if (!bbr->ecn_eligible || bbr->full_bw_reached)
		return;
	if (share < params.ecn_threshold) {
		bbr->ecn_startup_rounds = 0;
		return;
	}
	bbr->ecn_startup_rounds++;
	if (bbr->ecn_startup_rounds == params.ecn_startup_rounds)
		bbr_queue_too_high(sk, bbr);
}

/* At the start of a round. v2 keeps the average even where marks aren't answered. */
BBR_OUT_OF_LINE void bbr_update_ecn_alpha(const struct sock *sk, struct bbr *bbr)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 delivered = tp->delivered - bbr->alpha_delivered;
	__u32 marked = tp->delivered_ce - bbr->alpha_delivered_ce;
	__u32 share;

	if (params.ecn && params.ecn_factor && bbr->min_rtt_us <= params.ecn_max_rtt_us)
		bbr->ecn_eligible = true;
	if ((BBR_VERSION == 3 && !bbr->ecn_eligible) || !delivered)
		return;
	bbr->alpha_delivered = tp->delivered;
	bbr->alpha_delivered_ce = tp->delivered_ce;
	share = bbr_saturate(((__u64)marked << BBR_GAIN_SHIFT) / delivered);
	bbr_average_alpha(bbr, share);
	bbr_check_startup_ecn(sk, bbr, share);
}

#endif
