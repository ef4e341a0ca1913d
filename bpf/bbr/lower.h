// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The short-term bounds: once a loss round, never below what that round delivered. */
#ifndef BBR_LOWER_H
#define BBR_LOWER_H

#include "model.h"

/* The share that a cut by ECN leaves: 1 - alpha * factor, of 256. */
static inline __u32 bbr_ecn_keep(const struct bbr *bbr)
{
	return BBR_UNIT - min(bbr_scale(bbr->ecn_alpha, params.ecn_factor), BBR_UNIT);
}

static inline void bbr_init_bw_lo(struct bbr *bbr)
{
	if (bbr->bw_lo == BBR_INF_BW)
		bbr->bw_lo = bbr_max_bw(bbr);
}

static inline void bbr_init_inflight_lo(struct bbr *bbr, __u32 cwnd)
{
	if (bbr->inflight_lo == BBR_INF)
		bbr->inflight_lo = cwnd;
}

BBR_OUT_OF_LINE void bbr_adapt_lower_bounds(const struct tcp_sock *tp, struct bbr *bbr)
{
	__u32 cwnd = tp->snd_cwnd;
	__u32 inflight_ecn = BBR_INF;
	__u64 bw_ecn = BBR_INF_BW;

	if (bbr_is_probing(bbr))
		return;
	/* Both cuts by ECN are of the values before the cut by losses. */
	if (bbr->ecn_in_round && bbr->ecn_eligible) {
		__u32 keep = bbr_ecn_keep(bbr);

		bbr_init_inflight_lo(bbr, cwnd);
		inflight_ecn = bbr_scale(bbr->inflight_lo, keep);
		if (BBR_VERSION == 2) {
			bbr_init_bw_lo(bbr);
			bw_ecn = bbr_scale_bw(bbr->bw_lo, keep);
		}
	}
	if (bbr->loss_in_round) {
		bbr_init_bw_lo(bbr);
		bbr_init_inflight_lo(bbr, cwnd);
		bbr->bw_lo = max(bbr_scale_bw(bbr->bw_lo, params.beta_keep), bbr->bw_latest);
		bbr->inflight_lo = max(bbr_scale(bbr->inflight_lo, params.beta_keep), bbr->inflight_latest);
	}
	bbr->inflight_lo = min(bbr->inflight_lo, inflight_ecn);
	if (BBR_VERSION == 2)
		bbr->bw_lo = min(bbr->bw_lo, bw_ecn);
	else
		bbr->bw_lo = max(bbr->bw_lo, 1ULL);
}

#endif
