// SPDX-License-Identifier: GPL-2.0-only
/* The state that Linux's own DCTCP publishes. Where ECN was not negotiated, Linux runs another algorithm in its place. */
#include <dumbbell/linux_own.h>
#include <tcp_dctcp.c>
#include <dumbbell/linux_own_end.h>

#define dctcp___kernel dctcp
#define DB_DECLARED_BY_LINUX
#include <algorithms/dctcp/kernel.h>

LINUX_OWN(dctcp, "dctcp");
