/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Random numbers. */
#ifndef DUMBBELL_RANDOM_H
#define DUMBBELL_RANDOM_H

#include <dumbbell/kernel.h>

#include <bpf/bpf_helpers.h>

/* Uniform over 0..n-1. */
static inline __u32 random_below(__u32 n)
{
	return ((__u64)bpf_get_prandom_u32() * n) >> 32;
}

#endif
