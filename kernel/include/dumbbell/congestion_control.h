/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a congestion control that is part of the kernel, from the same source that makes one of BPF programs:
 *
 *     CONGESTION_CONTROL(my_cc, (init, my_init), (ssthresh, my_ssthresh), ..., (flags, TCP_CONG_NEEDS_ECN));
 *
 * The signatures are those of bpf/include/dumbbell/congestion_control.h, the same for all kernels.
 */
#ifndef DUMBBELL_CONGESTION_CONTROL_H
#define DUMBBELL_CONGESTION_CONTROL_H

#include <dumbbell/acks.h>
#include <dumbbell/each.h>
#include <dumbbell/state.h>
#include <dumbbell/tcp.h>

/* A constant of a manifest. */
#define PARAMETER(type, name, value) static const type name = value;

/* Whose state the private state in icsk_ca_priv begins with (enum db_state_of); nobody's, unless PUBLISHES says it. */
static const u8 db_publishes;
#define PUBLISHES(of) static const u8 db_publishes = of;

#define CONGESTION_CONTROL(label, ...) CONGESTION_CONTROL_CALLED(label, #label, __VA_ARGS__)

/* For a name that C does not allow. */
#define CONGESTION_CONTROL_CALLED(label, called, ...)                                                                  \
	DB_EACH(DB_CALLBACK, label, __VA_ARGS__)                                                                       \
	static struct tcp_congestion_ops label##_ops = {                                                               \
		DB_EACH(DB_MEMBER, label, __VA_ARGS__).owner = THIS_MODULE, .name = called};                           \
	static int __init label##_register(void)                                                                       \
	{                                                                                                              \
		label##_ops.flags |= DB_FLAGS;                                                                         \
		db_acks_add((struct db_acks_algorithm){                                                                \
			.ops = &label##_ops, .writes_rows = DB_WRITES_ROWS, .publishes = db_publishes});               \
		return tcp_register_congestion_control(&label##_ops);                                                  \
	}                                                                                                              \
	late_initcall(label##_register)

/* Flags that hang on parameters, in addition to the member. */
#ifndef DB_FLAGS
#define DB_FLAGS 0
#endif

/* An algorithm that includes <dumbbell/ack.h> writes its rows itself. */
#ifndef DB_WRITES_ROWS
#define DB_WRITES_ROWS false
#endif

/* For each member: a function of the kernel's signature where ours is another one, and its place in the structure. */
#define DB_CALLBACK(label, member, function) DB_CALLBACK_##member(label, function)
#define DB_MEMBER(label, member, function) DB_MEMBER_##member(label, function)

#define DB_CALLBACK_init(label, function)
#define DB_CALLBACK_release(label, function)
#define DB_CALLBACK_ssthresh(label, function)
#define DB_CALLBACK_undo_cwnd(label, function)
#define DB_CALLBACK_min_tso_segs(label, function)
#define DB_CALLBACK_sndbuf_expand(label, function)
#define DB_CALLBACK_cong_avoid(label, function)
#define DB_CALLBACK_set_state(label, function)
#define DB_CALLBACK_in_ack_event(label, function)
#define DB_CALLBACK_pkts_acked(label, function)
#define DB_CALLBACK_flags(label, value)

#define DB_MEMBER_init(label, function) .init = function,
#define DB_MEMBER_release(label, function) .release = function,
#define DB_MEMBER_ssthresh(label, function) .ssthresh = function,
#define DB_MEMBER_undo_cwnd(label, function) .undo_cwnd = function,
#define DB_MEMBER_min_tso_segs(label, function) .min_tso_segs = function,
#define DB_MEMBER_sndbuf_expand(label, function) .sndbuf_expand = function,
#define DB_MEMBER_cong_avoid(label, function) .cong_avoid = function,
#define DB_MEMBER_set_state(label, function) .set_state = function,
#define DB_MEMBER_in_ack_event(label, function) .in_ack_event = function,
#define DB_MEMBER_flags(label, value) .flags = value,
/* In the kernel's signature the sample can be written to. */
#define DB_MEMBER_pkts_acked(label, function)                                                                          \
	.pkts_acked = (void (*)(struct sock *, const struct ack_sample *))function,

/* Before Linux 6.10, it is told neither the sequence number nor what kind of ACK it is. */
#define DB_CALLBACK_cong_control(label, function)                                                                      \
	static void __maybe_unused label##_cong_control(struct sock *sk, const struct rate_sample *rs)                 \
	{                                                                                                              \
		function(sk, 0, 0, rs);                                                                                \
	}
#define DB_MEMBER_cong_control(label, function)                                                                        \
	.cong_control = _Generic(((struct tcp_congestion_ops *)NULL)->cong_control,                                    \
		void (*)(struct sock *, const struct rate_sample *): label##_cong_control, default: function),

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define DB_CALLBACK_cwnd_event(label, function)                                                                        \
	static void label##_cwnd_event_tx_start(struct sock *sk)                                                       \
	{                                                                                                              \
		function(sk, CA_EVENT_TX_START);                                                                       \
	}
#define DB_MEMBER_cwnd_event(label, function)                                                                          \
	.cwnd_event = function, .cwnd_event_tx_start = label##_cwnd_event_tx_start,
#else
#define DB_CALLBACK_cwnd_event(label, function)
#define DB_MEMBER_cwnd_event(label, function) .cwnd_event = function,
#endif

/* Every source declares its licence; here each has a name of its own. */
#define LICENSE __used __PASTE(db_license_, DB_UNIT)

#endif
