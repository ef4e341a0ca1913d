/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's own BBR (version 1), called through BPF: what it costs per ACK can then be read off the same counters as the
 * cost of ours. Needs a kernel with BBR built in.
 */
#include <dumbbell/congestion_control.h>

extern void bbr_init(struct sock *sk) __ksym;
extern void bbr_main(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs) __ksym;
extern __u32 bbr_sndbuf_expand(struct sock *sk) __ksym;
extern __u32 bbr_undo_cwnd(struct sock *sk) __ksym;
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern __u32 bbr_ssthresh(struct sock *sk) __ksym;
extern __u32 bbr_min_tso_segs(struct sock *sk) __ksym;
extern void bbr_set_state(struct sock *sk, __u8 state) __ksym;

CONGESTION_CONTROL(kernel_bbr, (init, bbr_init), (cong_control, bbr_main), (sndbuf_expand, bbr_sndbuf_expand),
		   (undo_cwnd, bbr_undo_cwnd), (cwnd_event, bbr_cwnd_event), (ssthresh, bbr_ssthresh),
		   (min_tso_segs, bbr_min_tso_segs), (set_state, bbr_set_state));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
