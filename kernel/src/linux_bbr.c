// SPDX-License-Identifier: GPL-2.0-only
/* The state that Linux's own BBR publishes. A tree whose "bbr" is a later version has other members, and does without. */
#include <dumbbell/linux_own.h>
#include <tcp_bbr.c>
#include <dumbbell/linux_own_end.h>

#define bbr___kernel bbr
#define DB_DECLARED_BY_LINUX
#include <algorithms/bbr/kernel.h>

LINUX_OWN(bbr, "bbr");
