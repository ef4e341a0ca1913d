/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A macro that makes a congestion control which the kernel can register.
 *
 *     static void my_init(struct sock *sk) { ... }
 *     static __u32 my_ssthresh(struct sock *sk) { ... }
 *     static void my_cong_control(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs) { ... }
 *     static __u32 my_undo_cwnd(struct sock *sk) { ... }
 *
 *     CONGESTION_CONTROL(my_cc, (init, my_init), (ssthresh, my_ssthresh), (cong_control, my_cong_control),
 *                        (undo_cwnd, my_undo_cwnd), (flags, TCP_CONG_NEEDS_ECN));
 *
 *     char LICENSE[] SEC("license") = "GPL";
 *
 * The functions are plain; each stands with the member of tcp_congestion_ops that it is for. The kernel demands ssthresh,
 * undo_cwnd, and cong_avoid or cong_control. The signatures are below, the same for all kernels; the macro makes a program of each, and
 * three maps of which the loader takes one:
 *
 *     my_cc_v64    Linux 6.4 to 6.9: the kernel's cong_control has no ack and no flag (both are 0)
 *     my_cc_v610   Linux 6.10 to 7.0
 *     my_cc_v71    Linux 7.1 and later: CA_EVENT_TX_START has a callback of its own (cwnd_event is called for it all the same)
 *
 * The program for a member is called my_cc_op_MEMBER.
 */
#ifndef DUMBBELL_CONGESTION_CONTROL_H
#define DUMBBELL_CONGESTION_CONTROL_H

#include <dumbbell/each.h>
#include <dumbbell/state.h>
#include <dumbbell/tcp.h>

#include <bpf/bpf_tracing.h>

/* A constant that a loader may change before it loads. PARAMETERS(PARAMETER) declares those of a manifest. */
#define PARAMETER(type, name, value) const volatile type name = value;

/*
 * The state that records show: the private state in icsk_ca_priv begins with it, as a struct db_NAME_state of state.h. `of` is
 * its DB_STATE_NAME; DB_STATE_OWN has four numbers for programs that are not part of dumbbell.
 */
#define PUBLISHES(of) const volatile __u8 db_publishes = of;

#define CONGESTION_CONTROL(label, ...)                                                                                 \
	DB_EACH(DB_PROGRAM, label, __VA_ARGS__)                                                                        \
	SEC(".struct_ops.link")                                                                                        \
	struct tcp_congestion_ops___v64 label##_v64 = {DB_EACH(DB_V64, label, __VA_ARGS__).name = #label};             \
	SEC(".struct_ops.link")                                                                                        \
	struct tcp_congestion_ops___v610 label##_v610 = {DB_EACH(DB_V610, label, __VA_ARGS__).name = #label};          \
	SEC(".struct_ops.link")                                                                                        \
	struct tcp_congestion_ops___v71 label##_v71 = {DB_EACH(DB_V71, label, __VA_ARGS__).name = #label}

/* For each member: its program, and its place in each map. */
#define DB_PROGRAM(label, member, function) DB_PROGRAM_##member(label, function)
#define DB_V64(label, member, function) DB_V64_##member(label, function)
#define DB_V610(label, member, function) DB_V610_##member(label, function)
#define DB_V71(label, member, function) DB_V71_##member(label, function)

#define DB_PROGRAM_VOID(program, parameters, call)                                                                     \
	SEC("struct_ops") void BPF_PROG(program, DB_UNWRAP parameters)                                                 \
	{                                                                                                              \
		call;                                                                                                  \
	}
#define DB_PROGRAM_U32(program, function)                                                                              \
	SEC("struct_ops") __u32 BPF_PROG(program, struct sock *sk)                                                     \
	{                                                                                                              \
		return function(sk);                                                                                   \
	}

#define DB_PROGRAM_init(label, function) DB_PROGRAM_VOID(label##_op_init, (struct sock *sk), function(sk))
#define DB_PROGRAM_release(label, function) DB_PROGRAM_VOID(label##_op_release, (struct sock *sk), function(sk))
#define DB_PROGRAM_ssthresh(label, function) DB_PROGRAM_U32(label##_op_ssthresh, function)
#define DB_PROGRAM_undo_cwnd(label, function) DB_PROGRAM_U32(label##_op_undo_cwnd, function)
#define DB_PROGRAM_min_tso_segs(label, function) DB_PROGRAM_U32(label##_op_min_tso_segs, function)
#define DB_PROGRAM_sndbuf_expand(label, function) DB_PROGRAM_U32(label##_op_sndbuf_expand, function)
#define DB_PROGRAM_cong_avoid(label, function)                                                                         \
	DB_PROGRAM_VOID(label##_op_cong_avoid, (struct sock * sk, __u32 ack, __u32 acked), function(sk, ack, acked))
#define DB_PROGRAM_set_state(label, function)                                                                          \
	DB_PROGRAM_VOID(label##_op_set_state, (struct sock * sk, __u8 state), function(sk, state))
#define DB_PROGRAM_in_ack_event(label, function)                                                                       \
	DB_PROGRAM_VOID(label##_op_in_ack_event, (struct sock * sk, __u32 flags), function(sk, flags))
#define DB_PROGRAM_pkts_acked(label, function)                                                                         \
	DB_PROGRAM_VOID(label##_op_pkts_acked, (struct sock * sk, const struct ack_sample *sample),                    \
			function(sk, sample))
#define DB_PROGRAM_cwnd_event(label, function)                                                                         \
	DB_PROGRAM_VOID(label##_op_cwnd_event, (struct sock * sk, enum tcp_ca_event event), function(sk, event))       \
	DB_PROGRAM_VOID(label##_op_cwnd_event_tx_start, (struct sock * sk), function(sk, CA_EVENT_TX_START))
#define DB_PROGRAM_cong_control(label, function)                                                                       \
	DB_PROGRAM_VOID(label##_op_cong_control_v64, (struct sock * sk, const struct rate_sample *rs),                 \
			function(sk, 0, 0, rs))                                                                        \
	DB_PROGRAM_VOID(label##_op_cong_control,                                                                       \
			(struct sock * sk, __u32 ack, int flag, const struct rate_sample *rs),                         \
			function(sk, ack, flag, rs))
#define DB_PROGRAM_flags(label, value)

#define DB_MEMBER(member, program) .member = (void *)program,

#define DB_V64_init(label, function) DB_MEMBER(init, label##_op_init)
#define DB_V64_release(label, function) DB_MEMBER(release, label##_op_release)
#define DB_V64_ssthresh(label, function) DB_MEMBER(ssthresh, label##_op_ssthresh)
#define DB_V64_undo_cwnd(label, function) DB_MEMBER(undo_cwnd, label##_op_undo_cwnd)
#define DB_V64_min_tso_segs(label, function) DB_MEMBER(min_tso_segs, label##_op_min_tso_segs)
#define DB_V64_sndbuf_expand(label, function) DB_MEMBER(sndbuf_expand, label##_op_sndbuf_expand)
#define DB_V64_cong_avoid(label, function) DB_MEMBER(cong_avoid, label##_op_cong_avoid)
#define DB_V64_set_state(label, function) DB_MEMBER(set_state, label##_op_set_state)
#define DB_V64_in_ack_event(label, function) DB_MEMBER(in_ack_event, label##_op_in_ack_event)
#define DB_V64_pkts_acked(label, function) DB_MEMBER(pkts_acked, label##_op_pkts_acked)
#define DB_V64_cwnd_event(label, function) DB_MEMBER(cwnd_event, label##_op_cwnd_event)
#define DB_V64_cong_control(label, function) DB_MEMBER(cong_control, label##_op_cong_control_v64)
#define DB_V64_flags(label, value) .flags = (value),

#define DB_V610_init DB_V64_init
#define DB_V610_release DB_V64_release
#define DB_V610_ssthresh DB_V64_ssthresh
#define DB_V610_undo_cwnd DB_V64_undo_cwnd
#define DB_V610_min_tso_segs DB_V64_min_tso_segs
#define DB_V610_sndbuf_expand DB_V64_sndbuf_expand
#define DB_V610_cong_avoid DB_V64_cong_avoid
#define DB_V610_set_state DB_V64_set_state
#define DB_V610_in_ack_event DB_V64_in_ack_event
#define DB_V610_pkts_acked DB_V64_pkts_acked
#define DB_V610_cwnd_event DB_V64_cwnd_event
#define DB_V610_cong_control(label, function) DB_MEMBER(cong_control, label##_op_cong_control)
#define DB_V610_flags DB_V64_flags

#define DB_V71_init DB_V64_init
#define DB_V71_release DB_V64_release
#define DB_V71_ssthresh DB_V64_ssthresh
#define DB_V71_undo_cwnd DB_V64_undo_cwnd
#define DB_V71_min_tso_segs DB_V64_min_tso_segs
#define DB_V71_sndbuf_expand DB_V64_sndbuf_expand
#define DB_V71_cong_avoid DB_V64_cong_avoid
#define DB_V71_set_state DB_V64_set_state
#define DB_V71_in_ack_event DB_V64_in_ack_event
#define DB_V71_pkts_acked DB_V64_pkts_acked
#define DB_V71_cwnd_event(label, function)                                                                             \
	DB_MEMBER(cwnd_event, label##_op_cwnd_event)                                                                   \
	DB_MEMBER(cwnd_event_tx_start, label##_op_cwnd_event_tx_start)
#define DB_V71_cong_control DB_V610_cong_control
#define DB_V71_flags DB_V64_flags

#endif
