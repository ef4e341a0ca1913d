// SPDX-License-Identifier: GPL-2.0-only
/* Reno from its specification, beside the kernel's own: the program of bpf/, as a part of the kernel. */
#include <algorithms/reno/reno.bpf.c>
