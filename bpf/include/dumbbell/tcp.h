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

/* What TCP notes of a packet. */
static __always_inline const struct tcp_skb_cb *tcp_cb(const struct sk_buff *skb)
{
	return bpf_rdonly_cast(skb->cb, bpf_core_type_id_kernel(struct tcp_skb_cb));
}

static __always_inline const struct rb_node *tcp_node(unsigned long address)
{
	return bpf_rdonly_cast((const void *)address, bpf_core_type_id_kernel(struct rb_node));
}

static __always_inline const struct sk_buff *tcp_packet_at(const struct rb_node *node)
{
	const char *skb = (const char *)node - bpf_core_field_offset(struct sk_buff, rbnode);

	return bpf_rdonly_cast(skb, bpf_core_type_id_kernel(struct sk_buff));
}

/* A tree of 2^16 packets is not deeper. */
#define TCP_TREE_DEPTH 32

/* The packet before this one of those that are sent and not yet ACKed; NULL: it is the first. */
static __attribute__((__noinline__, __unused__)) const struct sk_buff *tcp_sent_before(const struct sk_buff *skb)
{
	const struct rb_node *node = tcp_node((unsigned long)&skb->rbnode);
	unsigned long next = (unsigned long)node->rb_left;

	if (next) {
		/* The last one of those on the left. */
		for (int i = 0; i < TCP_TREE_DEPTH; i++) {
			node = tcp_node(next);
			next = (unsigned long)node->rb_right;
			if (!next)
				return tcp_packet_at(node);
		}
		return NULL;
	}
	/* The first one upwards on whose right this one is. */
	for (int i = 0; i < TCP_TREE_DEPTH; i++) {
		unsigned long parent = node->__rb_parent_color & ~3UL;

		if (!parent)
			return NULL;
		if (tcp_node(parent)->rb_right == node)
			return tcp_packet_at(tcp_node(parent));
		node = tcp_node(parent);
	}
	return NULL;
}

#include <dumbbell/lost.h>

/* The first of `marked` segments that were just marked lost; NULL: it is not known. */
static __always_inline const struct tcp_skb_cb *tcp_first_lost(const struct tcp_sock *tp, __u32 marked)
{
	return tcp_find_lost(tp, tp->retransmit_skb_hint, tp->highest_sack, marked);
}

#endif
