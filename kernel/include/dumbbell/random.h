/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers. */
#ifndef DUMBBELL_RANDOM_H
#define DUMBBELL_RANDOM_H

#include <dumbbell/kernel.h>

/* Uniform over 0..n-1. */
static inline u32 random_below(u32 n)
{
	return ((u64)get_random_u32() * n) >> 32;
}

#endif
