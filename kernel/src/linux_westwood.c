// SPDX-License-Identifier: GPL-2.0-only
/* The state that Linux's own Westwood+ publishes. */
#include <dumbbell/linux_own.h>
#include <tcp_westwood.c>
#include <dumbbell/linux_own_end.h>

#define westwood___kernel westwood
#define DB_DECLARED_BY_LINUX
#include <algorithms/westwood/kernel.h>

LINUX_OWN(westwood, "westwood");
