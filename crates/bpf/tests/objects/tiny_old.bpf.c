// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The section that programs used before there were links.
#define TINY_SECTION ".struct_ops"
#include "tiny.bpf.c"
