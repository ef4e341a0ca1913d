/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's own measure of time in private state: its length depends on the kernel's build. */
#ifndef DUMBBELL_JIFFIES_H
#define DUMBBELL_JIFFIES_H

#include <dumbbell/tcp.h>

/* ns: the length of a jiffy. The loader sets it. */
const volatile __u32 db_jiffy_ns SEC(".rodata.jiffy") = 4000000;

#endif
