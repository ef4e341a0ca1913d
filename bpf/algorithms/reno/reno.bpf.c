// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Reno, or NewReno with the stack's recovery (RFC 5681, RFC 6582). It has no state of its own. */
#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

CONGESTION_CONTROL(bpf_reno, (ssthresh, reno_ssthresh), (cong_avoid, reno_cong_avoid), (undo_cwnd, reno_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
