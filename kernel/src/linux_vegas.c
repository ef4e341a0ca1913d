// SPDX-License-Identifier: GPL-2.0-only
/* The state that Linux's own Vegas publishes. */
#include <dumbbell/linux_own.h>
#include <tcp_vegas.c>
#include <dumbbell/linux_own_end.h>

#define vegas___kernel vegas
#define DB_DECLARED_BY_LINUX
#include <algorithms/vegas/kernel.h>

LINUX_OWN(vegas, "vegas");
