// SPDX-License-Identifier: MIT OR GPL-2.0-only
// As programs had it before there were links.
#define TINY_SECTION ".struct_ops"
#include "tiny.bpf.c"
