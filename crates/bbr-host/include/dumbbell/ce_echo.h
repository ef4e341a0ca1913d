// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The receiver's half of ECN is the stack's here. */
#ifndef DUMBBELL_CE_ECHO_H
#define DUMBBELL_CE_ECHO_H

#include <dumbbell/tcp.h>

struct ce_echo {
	__u32 is_ce;
};

static inline void ce_echo_init(const struct sock *sk, struct ce_echo *echo)
{
	(void)sk;
	echo->is_ce = 0;
}

#endif
