/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection, as bpf/include/dumbbell/tcp.h shows it to a BPF program, in the kernel itself. */
#ifndef DUMBBELL_TCP_H
#define DUMBBELL_TCP_H

#include <dumbbell/kernel.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include <dumbbell/connection.h>

/* A bit of cong_control's flag: the ACK carries ECE. Kernels before 6.10 don't tell it there. */
#ifndef FLAG_ECE
#define FLAG_ECE 0x40
#endif

#define barrier_value(x) OPTIMIZER_HIDE_VAR(x)

#undef tcp_sk
#define tcp_sk(sk) ((struct tcp_sock *)(sk))

/* enum tcp_ca_state */
static __always_inline u8 ca_state(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_state;
}

static __always_inline void request_pacing(struct sock *sk)
{
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* The inode of the network namespace. */
static __always_inline u32 netns_inode(const struct sock *sk)
{
	return sock_net(sk)->ns.inum;
}

/* What TCP notes of a packet. */
static __always_inline const struct tcp_skb_cb *tcp_cb(const struct sk_buff *skb)
{
	return TCP_SKB_CB(skb);
}

/* The packet before this one of those that are sent and not yet ACKed; NULL: it is the first. */
static __always_inline const struct sk_buff *tcp_sent_before(const struct sk_buff *skb)
{
	return skb_rb_prev(skb);
}

#include <dumbbell/lost.h>

/* The first of `marked` segments that were just marked lost; NULL: it is not known. */
static __always_inline const struct tcp_skb_cb *tcp_first_lost(const struct tcp_sock *tp, u32 marked)
{
	return tcp_find_lost(tp, tp->retransmit_skb_hint, tp->highest_sack, marked);
}

#endif
