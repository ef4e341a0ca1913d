// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The length of a jiffy in a kernel with HZ=250. */
#ifndef DUMBBELL_JIFFIES_H
#define DUMBBELL_JIFFIES_H

#define db_jiffy_ns 4000000

#endif
