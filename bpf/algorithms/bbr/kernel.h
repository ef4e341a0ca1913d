/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state that the probe publishes of the kernel's own BBR, version 1. */
#ifndef DUMBBELL_BBR_KERNEL_H
#define DUMBBELL_BBR_KERNEL_H

#include <dumbbell/ack.h>

#include <bpf/bpf_core_read.h>

#ifndef DB_DECLARED_BY_LINUX /* a kernel of ours is compiled with Linux's own declaration */
/* The layout in icsk_ca_priv. */
struct bbr___kernel {
	u32 min_rtt_us;
	u32 min_rtt_stamp;        /* jiffies */
	u32 probe_rtt_done_stamp; /* jiffies */
	struct minmax bw;         /* packets per us << 24 */
	u32 rtt_cnt;              /* rounds so far */
	u32 mode : 3;             /* STARTUP, DRAIN, PROBE_BW, PROBE_RTT */
	u32 packet_conservation : 1;
	u32 idle_restart : 1;
	u32 lt_use_bw : 1; /* a policer was found: lt_bw is in force */
	u32 lt_bw;
	u32 pacing_gain : 10; /* of 256 */
	u32 cwnd_gain : 10;   /* of 256 */
	u32 full_bw_reached : 1;
	u32 cycle_idx : 3; /* of the eight phases of PROBE_BW */
	u32 full_bw;
} __attribute__((preserve_access_index));
#endif

/* Its modes are numbered in the order of our states, but there is one PROBE_BW for all of ours. */
static __always_inline void publish_bbr(struct db_ack *row, const struct sock *sk)
{
	const struct bbr___kernel *bbr = inet_csk_ca(sk);
	struct db_bbr_state *state;

	/* A kernel whose "bbr" is of a later version has no such field. */
	if (!bpf_core_field_exists(bbr->lt_use_bw))
		return;
	state = db_ack_state(row, DB_STATE_BBR);
	state->state = BPF_CORE_READ_BITFIELD(bbr, mode);
	if (state->state == DB_BBR_STATE_PROBE_BW)
		state->cycle = BPF_CORE_READ_BITFIELD(bbr, cycle_idx);
	else if (state->state == DB_BBR_STATE_PROBE_BW + 1)
		state->state = DB_BBR_STATE_PROBE_RTT;
	state->bw = BPF_CORE_READ_BITFIELD(bbr, lt_use_bw) ? bbr->lt_bw : bbr->bw.s[0].v;
	state->min_rtt = bbr->min_rtt_us;
	state->round = bbr->rtt_cnt;
	state->pacing_gain = BPF_CORE_READ_BITFIELD(bbr, pacing_gain);
	state->cwnd_gain = BPF_CORE_READ_BITFIELD(bbr, cwnd_gain);
}

#endif
