/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection, as bpf/include/dumbbell/tcp.h shows it to a BPF program, in the kernel itself. */
#ifndef DUMBBELL_TCP_H
#define DUMBBELL_TCP_H

#include <dumbbell/kernel.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* A bit of cong_control's flag: the ACK carries ECE. Kernels before 6.10 don't tell it there. */
#ifndef FLAG_ECE
#define FLAG_ECE 0x40
#endif

#define barrier_value(x) OPTIMIZER_HIDE_VAR(x)

/* The kernel's own are strict about types that a BPF program mixes. */
#undef min
#undef max
#define min(a, b)                                                                                                      \
	({                                                                                                             \
		__typeof__(a) _a = (a);                                                                                \
		__typeof__(b) _b = (b);                                                                                \
		_a < _b ? _a : _b;                                                                                     \
	})
#define max(a, b)                                                                                                      \
	({                                                                                                             \
		__typeof__(a) _a = (a);                                                                                \
		__typeof__(b) _b = (b);                                                                                \
		_a > _b ? _a : _b;                                                                                     \
	})

#undef tcp_sk
#define tcp_sk(sk) ((struct tcp_sock *)(sk))

/* enum tcp_ca_state */
static __always_inline u8 ca_state(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_state;
}

static __always_inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	return tp->is_cwnd_limited;
}

static __always_inline bool tlp_retrans(const struct tcp_sock *tp)
{
	return tp->tlp_retrans;
}

static __always_inline bool is_sack_reneg(const struct tcp_sock *tp)
{
	return tp->is_sack_reneg;
}

static __always_inline bool rate_app_limited(const struct tcp_sock *tp)
{
	return tp->rate_app_limited;
}

static __always_inline void request_pacing(struct sock *sk)
{
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* bytes/s, at most what the application allows (SO_MAX_PACING_RATE). */
static __always_inline void set_pacing_rate(struct sock *sk, u64 rate)
{
	unsigned long limit = sk->sk_max_pacing_rate;

	sk->sk_pacing_rate = rate < limit ? rate : limit;
}

/* Packets; never 0, which the stack could not leave again, and never more than the socket's limit. */
static __always_inline void set_cwnd(struct tcp_sock *tp, u32 cwnd)
{
	cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
	tp->snd_cwnd = cwnd ? cwnd : 1;
}

/* The inode of the network namespace. */
static __always_inline u32 netns_inode(const struct sock *sk)
{
	return sock_net(sk)->ns.inum;
}

/* TCP's hint at the first packet that is lost and not yet retransmitted; NULL: there is none. */
static __always_inline const struct tcp_skb_cb *tcp_first_lost(const struct tcp_sock *tp)
{
	const struct sk_buff *skb = tp->retransmit_skb_hint;

	return skb ? TCP_SKB_CB(skb) : NULL;
}

#endif
