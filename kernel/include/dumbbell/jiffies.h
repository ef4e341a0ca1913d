/* SPDX-License-Identifier: GPL-2.0-only */
/* The length of a jiffy: see bpf/include/dumbbell/jiffies.h. */
#ifndef DUMBBELL_JIFFIES_H
#define DUMBBELL_JIFFIES_H

#include <linux/jiffies.h>
#include <linux/time64.h>

#define db_jiffy_ns (NSEC_PER_SEC / HZ)

#endif
