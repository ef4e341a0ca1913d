// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A stand-in for the BPF programs' random numbers. */
#ifndef DUMBBELL_RANDOM_H
#define DUMBBELL_RANDOM_H

#include <dumbbell/kernel.h>

/* From the flow's stream of random numbers: src/ffi.rs. */
extern __u32 bbr_host_random_below(__u32 n);

/* Uniform over 0..n-1. */
static inline __u32 random_below(__u32 n)
{
	return bbr_host_random_below(n);
}

#endif
