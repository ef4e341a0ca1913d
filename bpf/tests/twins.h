/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Two implementations of an algorithm on the same connection: their answers, and how often they differ. */
#ifndef DUMBBELL_TESTS_TWINS_H
#define DUMBBELL_TESTS_TWINS_H

#include <dumbbell/congestion_control.h>

/* The kernel's own, callable from BPF. */
extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* Calls of a callback. */
struct compared {
	__u64 calls;
	__u64 different;
	__u64 difference; /* sum of |ours - theirs|, packets */
	__u64 worst;
};

/* Read by the test, in this order. */
struct {
	struct compared cong_avoid;
	struct compared ssthresh;
	struct compared undo_cwnd;
	struct compared slow_start; /* where it ended before there was a loss */
} result SEC(".bss.result");

static __always_inline void compare(struct compared *compared, __u32 ours, __u32 theirs)
{
	__u32 difference = ours > theirs ? ours - theirs : theirs - ours;

	__sync_fetch_and_add(&compared->calls, 1);
	__sync_fetch_and_add(&compared->different, difference != 0);
	__sync_fetch_and_add(&compared->difference, difference);
	if (difference > compared->worst)
		compared->worst = difference;
}

/* The fields that growing the window changes. */
struct window {
	__u32 cwnd;
	__u32 count;
};

static __always_inline struct window window_of(const struct tcp_sock *tp)
{
	return (struct window){tp->snd_cwnd, tp->snd_cwnd_cnt};
}

static __always_inline void set_window(struct tcp_sock *tp, const struct window *window)
{
	tp->snd_cwnd = window->cwnd;
	tp->snd_cwnd_cnt = window->count;
}

/* A packet more, or ACKs that count towards one: either is a difference. */
static __always_inline void compare_windows(const struct window *ours, const struct tcp_sock *tp)
{
	struct window theirs = window_of(tp);

	compare(&result.cong_avoid, ours->cwnd, theirs.cwnd);
	if (ours->cwnd == theirs.cwnd && ours->count != theirs.count)
		__sync_fetch_and_add(&result.cong_avoid.different, 1);
}

#endif
