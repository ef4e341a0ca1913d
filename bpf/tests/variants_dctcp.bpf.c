// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "variants.h"

#include "../algorithms/dctcp/dctcp.bpf.c"
