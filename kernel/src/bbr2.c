// SPDX-License-Identifier: GPL-2.0-only
/* BBRv2: the program of bpf/, as a part of the kernel. */
#define BBR_RODATA static const
/* Connections negotiate ECN, and receivers echo each mark, if it answers marks. */
#define DB_FLAGS (params.ecn ? TCP_CONG_NEEDS_ECN : 0)
#include <algorithms/bbr2/bbr2.bpf.c>
