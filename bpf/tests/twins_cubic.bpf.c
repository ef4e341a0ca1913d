// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The kernel's CUBIC, and ours asked at every callback what it would have done. Both see the same connection; the kernel's
 * answer holds, and differences are counted. Ours keeps its private state in the socket's storage, and gets it into the place
 * where it expects it for the time of a call.
 */
#include "twins.h"

#pragma push_macro("CONGESTION_CONTROL")
#undef CONGESTION_CONTROL
#define CONGESTION_CONTROL(...)
#include "../algorithms/cubic/cubic.bpf.c"
#pragma pop_macro("CONGESTION_CONTROL")

extern void cubictcp_init(struct sock *sk) __ksym;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, __u8 state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;

#define WORDS 13

struct private {
	__u64 words[WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct private);
} ours SEC(".maps");

/* Exchange the two private states. */
static __always_inline void swap(struct sock *sk)
{
	struct private *other = bpf_sk_storage_get(&ours, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (!other)
		return;
	for (int i = 0; i < WORDS; i++) {
		__u64 word = icsk->icsk_ca_priv[i];

		icsk->icsk_ca_priv[i] = other->words[i];
		other->words[i] = word;
	}
}

static void twin_init(struct sock *sk)
{
	swap(sk);
	cubic_init(sk);
	swap(sk);
	cubictcp_init(sk);
}

static __u32 twin_ssthresh(struct sock *sk)
{
	__u32 theirs = cubictcp_recalc_ssthresh(sk);

	swap(sk);
	compare(&result.ssthresh, cubic_ssthresh(sk), theirs);
	swap(sk);
	return theirs;
}

static void twin_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct window before = window_of(tp);
	struct window grown;

	swap(sk);
	cubic_cong_avoid(sk, ack, acked);
	swap(sk);
	grown = window_of(tp);
	set_window(tp, &before);
	cubictcp_cong_avoid(sk, ack, acked);
	compare_windows(&grown, tp);
}

static void twin_set_state(struct sock *sk, __u8 state)
{
	swap(sk);
	cubic_set_state(sk, state);
	swap(sk);
	cubictcp_state(sk, state);
}

static void twin_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	swap(sk);
	cubic_cwnd_event(sk, event);
	swap(sk);
	cubictcp_cwnd_event(sk, event);
}

/* HyStart sets the threshold. */
static void twin_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 before = tp->snd_ssthresh;
	__u32 threshold;

	swap(sk);
	cubic_pkts_acked(sk, sample);
	swap(sk);
	threshold = tp->snd_ssthresh;
	tp->snd_ssthresh = before;
	cubictcp_acked(sk, sample);
	if (threshold != before || tp->snd_ssthresh != before)
		compare(&result.slow_start, threshold, tp->snd_ssthresh);
}

static __u32 twin_undo_cwnd(struct sock *sk)
{
	__u32 theirs = tcp_reno_undo_cwnd(sk);

	compare(&result.undo_cwnd, reno_undo_cwnd(sk), theirs);
	return theirs;
}

CONGESTION_CONTROL(dbt_twin_cubic, (init, twin_init), (ssthresh, twin_ssthresh), (cong_avoid, twin_cong_avoid),
		   (set_state, twin_set_state), (cwnd_event, twin_cwnd_event), (pkts_acked, twin_pkts_acked),
		   (undo_cwnd, twin_undo_cwnd));
