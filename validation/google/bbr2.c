// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Our BBRv2 for a kernel with Google's patch, which has another callback in place of min_tso_segs: it is left out, and so a
 * train has two segments at least, where below 1.2 Mbit/s it would be one. */
#include <dumbbell/congestion_control.h>
#undef DB_MEMBER_min_tso_segs
#define DB_MEMBER_min_tso_segs(label, function)
#define BBR_RODATA static const
#include <algorithms/bbr2/bbr2.bpf.c>
