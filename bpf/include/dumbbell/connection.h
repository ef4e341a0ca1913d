/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The accessors of a connection that are the same in a BPF program, in a kernel of our own and in a program of the host. Each of
 * these has its own <dumbbell/tcp.h>, which includes this header.
 */
#ifndef DUMBBELL_CONNECTION_H
#define DUMBBELL_CONNECTION_H

#include <dumbbell/kernel.h>

/* A kernel's own are strict about types that a BPF program mixes. */
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

/* The window was fully used at some time in the last round. */
static __always_inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
}

/* The last tail loss probe was a retransmission. */
static __always_inline bool tlp_retrans(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, tlp_retrans);
}

/* The receiver has thrown away what it had SACKed, and loss recovery goes on. */
static __always_inline bool is_sack_reneg(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, is_sack_reneg);
}

/* The last rate sample was limited by the application. */
static __always_inline bool rate_app_limited(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, rate_app_limited);
}

/* bytes/s, at most what the application allows (SO_MAX_PACING_RATE). */
static __always_inline void set_pacing_rate(struct sock *sk, __u64 rate)
{
	__u64 limit = sk->sk_max_pacing_rate;

	sk->sk_pacing_rate = rate < limit ? rate : limit;
}

/* Packets; never 0, which the stack could not leave again, and never more than the socket's limit. */
static __always_inline void set_cwnd(struct tcp_sock *tp, __u32 cwnd)
{
	__u32 limit = tp->snd_cwnd_clamp;

	cwnd = cwnd < limit ? cwnd : limit;
	tp->snd_cwnd = cwnd ? cwnd : 1;
}

#endif
