// SPDX-License-Identifier: GPL-2.0-only
/* BBRv3, as Google's kernel runs it: the program of bpf/, as a part of the kernel. */
#define BBR_RODATA static const
#include <algorithms/bbr3/bbr3.bpf.c>
