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

/* TCP's hint at the first packet that is lost and not yet retransmitted, or one before it; NULL: there is none. */
static __always_inline const struct tcp_skb_cb *tcp_first_lost(const struct tcp_sock *tp)
{
	const struct sk_buff *skb = tp->retransmit_skb_hint;

	return skb ? TCP_SKB_CB(skb) : NULL;
}

#endif
