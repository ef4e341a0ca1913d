/* SPDX-License-Identifier: GPL-2.0-only */
/* The services of the sinks (sink.c) to other files of ours. */
#ifndef DUMBBELL_SINK_H
#define DUMBBELL_SINK_H

#include <linux/types.h>

#include <dumbbell/acks.h>

struct dumbbell_sunk;
struct file;
struct kthread_worker;
struct sink;

/* The thread of all sinks and samplers: what happens at one time happens in one order. */
extern DB_FOR_ALL struct kthread_worker *sink_worker;

/* The sink of an open file; NULL if it is another. */
DB_FOR_ALL struct sink *sink_of(struct file *file);
/* The data that it has taken in, with all that is there by now. Call it on the thread. */
DB_FOR_ALL const struct dumbbell_sunk *sink_settled(struct sink *sink);
/* CLOCK_MONOTONIC. It does not move a user-mode kernel's clock on, as a reading usually does: see timer_read(). */
DB_FOR_ALL s64 sink_now_ns(void);

#endif
