// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Our BBRv2 that answers ECN marks, for a kernel with Google's patch: see bbr2.c. */
/* With the flag the stack tells it of marks that arrive, so that its receiver echoes each. */
#define DB_FLAGS (params.ecn ? TCP_CONG_NEEDS_ECN : 0)
#include <dumbbell/congestion_control.h>
#undef DB_MEMBER_min_tso_segs
#define DB_MEMBER_min_tso_segs(label, function)
#define BBR_RODATA static
#include <algorithms/bbr2/bbr2.bpf.c>

static int __init answer_marks(void)
{
	params.ecn = true;
	return 0;
}
core_initcall(answer_marks);
