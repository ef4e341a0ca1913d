// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Stand-ins for the accessors of the BPF programs' <dumbbell/tcp.h>. */
#ifndef DUMBBELL_TCP_H
#define DUMBBELL_TCP_H

#include <dumbbell/kernel.h>

/* As the cc crate has it; the kernel's is 0x7fffffff. */
#define TCP_INFINITE_SSTHRESH 0xffffffffU

#define TCPCB_SACKED_ACKED 0x01
#define TCPCB_SACKED_RETRANS 0x02
#define TCPCB_LOST 0x04

#include <bpf/bpf_core_read.h>

#include <dumbbell/connection.h>

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline void *inet_csk_ca(const struct sock *sk)
{
	return tcp_sk(sk)->icsk_ca_priv;
}

static inline bool before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

static inline bool after(__u32 a, __u32 b)
{
	return before(b, a);
}

static inline __u8 ca_state(const struct sock *sk)
{
	return sk->ca_state;
}

static inline const struct tcp_skb_cb *tcp_cb(const struct sk_buff *skb)
{
	return &skb->cb;
}

static inline const struct sk_buff *tcp_sent_before(const struct sk_buff *skb)
{
	return skb->is_first ? NULL : skb - 1;
}

#include <dumbbell/lost.h>

static inline const struct sk_buff *tcp_sent_at(const struct tcp_sock *tp, __u8 place)
{
	return place ? &tp->sent[place - 1] : NULL;
}

static inline const struct tcp_skb_cb *tcp_first_lost(const struct tcp_sock *tp, __u32 marked)
{
	return tcp_find_lost(tp, tcp_sent_at(tp, tp->retransmit_skb_hint), tcp_sent_at(tp, tp->highest_sack), marked);
}

static inline __u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

static inline __u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->min_rtt_us;
}

static inline void request_pacing(struct sock *sk)
{
	sk->is_pacing_requested = true;
}

#endif
