// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The parameters of BBRv2 and BBRv3, in the program's read-only data: a loader may change them before it loads.
 *
 * Gains and fractions are of 256, as the deployed code has them: what rounding does to them is part of how it behaves.
 * Sources: "v2" is google/bbr v2alpha, "v3" is google/bbr v3, "draft" is draft-ietf-ccwg-bbr (BBRv3). The defaults are
 * those of v2 and v3; where the draft says otherwise, its value is given. */
#ifndef BBR_PARAMETERS_H
#define BBR_PARAMETERS_H

#include <dumbbell/tcp.h>

struct bbr_parameters {
	__u32 startup_pacing_gain; /* 1/256: STARTUP, pacing. v2 2.885, v3 and draft 2.77 (= 4 ln 2). */
	__u32 startup_cwnd_gain; /* 1/256: STARTUP, window. v2 2.885, v3 and draft 2. */
	__u32 drain_pacing_gain; /* 1/256: DRAIN, pacing. v2, v3 1/2.885; draft 0.5. */
	__u32 drain_cwnd_gain; /* 1/256: DRAIN, window: that of STARTUP. */
	__u32 up_pacing_gain; /* 1/256: PROBE_BW UP, pacing. 1.25 in all. */
	__u32 down_pacing_gain; /* 1/256: PROBE_BW DOWN, pacing. v2 0.75, v3 0.91, draft 0.90. */
	__u32 probe_bw_cwnd_gain; /* 1/256: PROBE_BW but UP, window. 2 in all. */
	__u32 up_cwnd_gain; /* 1/256: PROBE_BW UP, window. v2 2, v3 and draft 2.25. */
	__u32 probe_rtt_cwnd_gain; /* 1/256: PROBE_RTT, window, besides the cap of probe_rtt_bdp. v2, v3 1; draft 0.5. */

	__u32 full_bw_threshold; /* 1/256: growth of bandwidth that counts. 1.25 in all. */
	__u32 full_bw_rounds; /* rounds without it that make a plateau. 3 in all. */
	bool plateau_at_round_start; /* v3: only samples that start a round are compared. Draft true. */
	__u32 startup_loss_events; /* ACKs of a round that report losses, to end STARTUP by loss. v2 8, v3 and draft 6. */
	__u32 drain_max_rounds; /* DRAIN ends after more rounds than this; 0: when the queue is drained. Draft 3. */
	bool drain_obeys_inflight_hi; /* DRAIN's window is bounded by inflight_hi too. Draft true. */

	__u32 loss_threshold; /* 1/256: share of losses that is too high. 2 % in all, as an integer 5. */
	__u32 beta_keep; /* 1/256: what a loss leaves of the bounds: 1 - beta. 0.7 in all. */
	__u32 headroom; /* 1/256: share of inflight_hi that CRUISE leaves to others. 0.15 in all. */
	bool cut_on_ack; /* a high loss share on an ACK cuts inflight_hi, not only a lost packet. Draft false. */

	__u32 probe_rtt_bdp; /* 1/256 of a BDP: the window of PROBE_RTT. 0.5 in all. */
	__u32 probe_rtt_interval_us; /* us between two PROBE_RTT. 5 s in all. */
	__u32 probe_rtt_hold_us; /* us that PROBE_RTT holds, and a round at least. 200 ms in all. */
	__u32 min_rtt_window_us; /* us: window of the minimum RTT. 10 s in all. */
	bool trust_delayed_acks; /* an expired minimum is replaced even by a delayed ACK's RTT. Draft true. */

	__u32 probe_wait_us; /* us between two probes of bandwidth, at least. 2 s in all. */
	__u32 probe_wait_random_us; /* us: a random time, less than this, on top. 1 s in all. */
	__u32 probe_max_rounds; /* the most rounds between them. 63 in all. */

	bool ecn; /* answer ECN marks: shallow-threshold marks only, never RFC 3168 queues. */
	__u32 ecn_max_rtt_us; /* us: the largest min_rtt at which marks are answered. v2, v3 5 ms. */
	__u32 ecn_alpha_gain; /* 1/256: gain of the average share of marks. v2, v3 1/16. */
	__u32 ecn_factor; /* 1/256: what of that share is cut. v2, v3 1/3; 0: marks are not answered. */
	__u32 ecn_threshold; /* 1/256: share of marks that is too high. v2, v3 50 %. */
	__u32 ecn_startup_rounds; /* rounds of it that end STARTUP; 0: they don't. v2, v3 2. */
	__u32 ecn_reprobe_gain; /* 1/256 of inflight_hi: slope of a probe after marks without losses; 0: off. v3 0.5. */

	bool edt_inflight; /* reckon what is in flight at the earliest departure time, not now. Draft false. */
	bool grow_until_delivered; /* first growth: until init_cwnd is delivered, not up to 2 init_cwnd. Draft true. */
	bool windowed_extra_acked; /* extra_acked: a windowed maximum of 10 rounds, not 2 slots of 5. Draft true. */
	bool undo_state; /* an undo also returns to STARTUP or REFILL, if the loss ended STARTUP or UP. Draft true. */
	bool undo_from_first_loss; /* what an undo restores is of the round's first loss, not of recovery's begin. Draft true. */
};

#if BBR_VERSION == 2
#define BBR_BY_VERSION(v2, v3) (v2)
#elif BBR_VERSION == 3
#define BBR_BY_VERSION(v2, v3) (v3)
#else
#error "BBR_VERSION is 2 or 3"
#endif

#define BBR_DEFAULTS {							\
	.startup_pacing_gain = BBR_BY_VERSION(739, 710),		\
	.startup_cwnd_gain = BBR_BY_VERSION(739, 512),			\
	.drain_pacing_gain = 88,					\
	.drain_cwnd_gain = BBR_BY_VERSION(739, 512),			\
	.up_pacing_gain = 320,						\
	.down_pacing_gain = BBR_BY_VERSION(192, 232),			\
	.probe_bw_cwnd_gain = 512,					\
	.up_cwnd_gain = BBR_BY_VERSION(512, 576),			\
	.probe_rtt_cwnd_gain = 256,					\
	.full_bw_threshold = 320,					\
	.full_bw_rounds = 3,						\
	.startup_loss_events = BBR_BY_VERSION(8, 6),			\
	.loss_threshold = 5,						\
	.beta_keep = 180,						\
	.headroom = 38,							\
	.cut_on_ack = true,						\
	.probe_rtt_bdp = 128,						\
	.probe_rtt_interval_us = 5000000,				\
	.probe_rtt_hold_us = 200000,					\
	.min_rtt_window_us = 10000000,					\
	.probe_wait_us = 2000000,					\
	.probe_wait_random_us = 1000000,				\
	.probe_max_rounds = 63,						\
	.ecn_max_rtt_us = 5000,						\
	.ecn_alpha_gain = 16,						\
	.ecn_factor = 85,						\
	.ecn_threshold = 128,						\
	.ecn_startup_rounds = 2,					\
	.ecn_reprobe_gain = BBR_BY_VERSION(0, 128),			\
	.edt_inflight = true,						\
}

#ifndef BBR_RODATA
#define BBR_RODATA const volatile
#endif

BBR_RODATA struct bbr_parameters params = BBR_DEFAULTS;

#endif
