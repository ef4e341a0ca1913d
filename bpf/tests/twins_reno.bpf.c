// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The kernel's Reno, and ours asked at every callback what it would have done. Both get the same state; the kernel's answer
 * holds, and differences are counted.
 */
#include "twins.h"

#include <dumbbell/window.h>

static void twin_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct window before = window_of(tp);
	struct window ours;

	reno_cong_avoid(sk, ack, acked);
	ours = window_of(tp);
	set_window(tp, &before);
	tcp_reno_cong_avoid(sk, ack, acked);
	compare_windows(&ours, tp);
}

static __u32 twin_ssthresh(struct sock *sk)
{
	__u32 theirs = tcp_reno_ssthresh(sk);

	compare(&result.ssthresh, reno_ssthresh(sk), theirs);
	return theirs;
}

static __u32 twin_undo_cwnd(struct sock *sk)
{
	__u32 theirs = tcp_reno_undo_cwnd(sk);

	compare(&result.undo_cwnd, reno_undo_cwnd(sk), theirs);
	return theirs;
}

CONGESTION_CONTROL(dbt_twin_reno, (ssthresh, twin_ssthresh), (cong_avoid, twin_cong_avoid), (undo_cwnd, twin_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
