// SPDX-License-Identifier: GPL-2.0-only
/* The state that Linux's own CUBIC publishes. */
#include <dumbbell/linux_own.h>
#include <tcp_cubic.c>
#include <dumbbell/linux_own_end.h>

#define bictcp___cubic bictcp
#define DB_DECLARED_BY_LINUX
#include <algorithms/cubic/kernel.h>

LINUX_OWN(cubic, "cubic");
