// SPDX-License-Identifier: GPL-2.0-only
/* H-TCP from its papers, beside the kernel's own: the program of bpf/, as a part of the kernel. */
#include <algorithms/htcp/htcp.bpf.c>
