/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands behind a source of Linux's: see linux_own.h. */
#ifndef DUMBBELL_LINUX_OWN_END_H
#define DUMBBELL_LINUX_OWN_END_H

#include <dumbbell/ack.h>

/* Tells the probe of the algorithm of this name. Linux has registered it by then. */
#define LINUX_OWN(label, called)                                                                                       \
	static int __init label##_publish(void)                                                                        \
	{                                                                                                              \
		const struct tcp_congestion_ops *ops;                                                                  \
                                                                                                                       \
		rcu_read_lock();                                                                                       \
		ops = tcp_ca_find(called);                                                                             \
		rcu_read_unlock();                                                                                     \
		if (ops)                                                                                               \
			db_acks_add((struct db_acks_algorithm){.ops = ops, .publish = publish_##label});               \
		return 0;                                                                                              \
	}                                                                                                              \
	late_initcall(label##_publish)

#endif
