// SPDX-License-Identifier: GPL-2.0-only
/* The state that Linux's own H-TCP publishes. */
#include <dumbbell/linux_own.h>
#include <tcp_htcp.c>
#include <dumbbell/linux_own_end.h>

#define htcp___kernel htcp
#define DB_DECLARED_BY_LINUX
#include <algorithms/htcp/kernel.h>

LINUX_OWN(htcp, "htcp");
