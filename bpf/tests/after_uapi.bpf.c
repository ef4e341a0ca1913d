// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* This is compiled and not loaded: the headers bear an algorithm that has included the kernel's user-space interface first. */
#include <linux/bpf.h>
#include <linux/types.h>

#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

CONGESTION_CONTROL(dbt_after_uapi, (ssthresh, reno_ssthresh), (cong_avoid, reno_cong_avoid),
		   (undo_cwnd, reno_undo_cwnd));

char LICENSE[] SEC("license") = "GPL";
