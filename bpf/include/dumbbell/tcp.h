/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A connection, as a congestion control sees it: constants, accessors, and arithmetic on counters that wrap. */
#ifndef DUMBBELL_TCP_H
#define DUMBBELL_TCP_H

#include <dumbbell/kernel.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include <dumbbell/connection.h>

#ifndef NULL
#define NULL ((void *)0)
#endif

#define TCP_INFINITE_SSTHRESH 0x7fffffff /* snd_ssthresh: slow start has no end */
#define TCP_INIT_CWND 10                 /* packets (RFC 6928) */

/* A bit of cong_control's flag: the ACK carries ECE. Kernels before 6.10 don't tell it there, but by CA_ACK_ECE. */
#define FLAG_ECE 0x40

/* Flags of a congestion control. */
#define TCP_CONG_NON_RESTRICTED 1 /* everybody may choose it, in every namespace */
#define TCP_CONG_NEEDS_ECN 2      /* ECN is negotiated, ECT is on every packet, and CE events are told */

/* tp->ecn_flags */
#define TCP_ECN_OK 1         /* negotiated (RFC 3168) */
#define TCP_ECN_DEMAND_CWR 4 /* our ACKs carry ECE */

/* Bits of icsk_ack.pending: an ACK is scheduled, the timer of a delayed one runs, an ACK must go at once. */
#define ICSK_ACK_SCHED 1
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16

/* Bits of tcp_skb_cb.sacked. */
#define TCPCB_SACKED_ACKED 0x01
#define TCPCB_SACKED_RETRANS 0x02
#define TCPCB_LOST 0x04

/* The compiler knows nothing of x any more: it can't merge loads from different kinds of memory, which the verifier refuses. */
#define barrier_value(x) asm volatile("" : "+r"(x))

static __always_inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

/* 104 bytes that are the algorithm's own. */
static __always_inline void *inet_csk_ca(const struct sock *sk)
{
	return (void *)inet_csk(sk)->icsk_ca_priv;
}

/* a < b, and a > b, for sequence numbers and other counters that wrap. */
static __always_inline bool before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

static __always_inline bool after(__u32 a, __u32 b)
{
	return before(b, a);
}

/* enum tcp_ca_state */
static __always_inline __u8 ca_state(const struct sock *sk)
{
	return BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
}

/* Packets in the network. */
static __always_inline __u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* us: the connection's minimum RTT over the last minutes; ~0: no sample yet. */
static __always_inline __u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->rtt_min.s[0].v;
}

/* Asks the stack to pace. fq's pacing is left in force where it is. */
static __always_inline void request_pacing(struct sock *sk)
{
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* The inode of the network namespace. */
static __always_inline __u32 netns_inode(const struct sock *sk)
{
	return sk->__sk_common.skc_net.net->ns.inum;
}

/* A pointer of any origin as one to a kernel type of this BTF id, for reading only. */
extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym __weak;

/* TCP's hint at the first packet that is lost and not yet retransmitted, or one before it; NULL: there is none. */
static __always_inline const struct tcp_skb_cb *tcp_first_lost(const struct tcp_sock *tp)
{
	const struct sk_buff *skb = tp->retransmit_skb_hint;

	return skb ? bpf_rdonly_cast(skb->cb, bpf_core_type_id_kernel(struct tcp_skb_cb)) : NULL;
}

#endif
