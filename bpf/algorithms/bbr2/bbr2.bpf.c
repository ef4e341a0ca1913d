// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* BBRv2, as google/bbr v2alpha deploys it: written from a specification of what it does. */
#define BBR_VERSION 2
#include "../../bbr/callbacks.h"

/* Below 1.2 Mbit/s a train of two segments would be a burst. v3 leaves this to the sysctl tcp_min_tso_segs. */
static __u32 on_min_tso_segs(struct sock *sk)
{
	return bbr_train_floor(sk);
}

CONGESTION_CONTROL(bbr2, BBR_CALLBACKS, (min_tso_segs, on_min_tso_segs));
