// SPDX-License-Identifier: GPL-2.0-only
/* BBRv2: the program of bpf/, as a part of the kernel. */
#define BBR_RODATA static const
#include <algorithms/bbr2/bbr2.bpf.c>
