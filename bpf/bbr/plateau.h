// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The plateau of bandwidth: three rounds without 25 % of growth. */
#ifndef BBR_PLATEAU_H
#define BBR_PLATEAU_H

#include "model.h"

/* Look for a plateau anew, from bw on. */
static inline void bbr_reset_full_bw(struct bbr *bbr, __u64 bw)
{
	bbr->full_bw = bw;
	bbr->full_bw_count = 0;
	bbr->full_bw_now = false;
}

/* v2 compares the maximum once a round, until the pipe was full once. v3 compares each sample and counts rounds; the
 * draft compares only samples that start a round. */
static inline void bbr_check_full_bw(struct bbr *bbr, const struct bbr_ack *ack)
{
	bool is_v2 = BBR_VERSION == 2;
	__u64 bw = is_v2 ? bbr_max_bw(bbr) : ack->bw;

	if (ack->is_app_limited || (is_v2 ? bbr->full_bw_reached : bbr->full_bw_now))
		return;
	if ((is_v2 || params.plateau_at_round_start) && !bbr->is_round_start)
		return;
	if (bw >= bbr_scale_bw(bbr->full_bw, params.full_bw_threshold)) {
		bbr_reset_full_bw(bbr, bw);
	} else if (bbr->is_round_start) {
		bbr->full_bw_count++;
		bbr->full_bw_now = bbr->full_bw_count >= params.full_bw_rounds;
		if (bbr->full_bw_now)
			bbr->full_bw_reached = true;
	}
}

#endif
