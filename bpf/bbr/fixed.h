// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Fixed-point arithmetic: bandwidths are packets per us << 24, gains and fractions are of 256.
 * Products that overflow saturate: no path that exists comes near. */
#ifndef BBR_FIXED_H
#define BBR_FIXED_H

#include <dumbbell/tcp.h>

/* Keeps a long function out of its callers, if there are several or they are rare: it halves the program. */
#define BBR_OUT_OF_LINE static __attribute__((__noinline__, __unused__))

#define BBR_BW_SHIFT 24			/* Fraction bits of a bandwidth: a unit is about 715 bit/s at 1500 bytes. */
#define BBR_GAIN_SHIFT 8		/* Fraction bits of a gain. */
#define BBR_UNIT (1U << BBR_GAIN_SHIFT) /* A gain of 1. */
#define BBR_INF 0xffffffffU		/* No bound is set. */
#define BBR_INF_BW 0xffffffffffffffffULL /* No bound of bandwidth is set. */

static inline __u32 bbr_saturate(__u64 value)
{
	return value > BBR_INF ? BBR_INF : (__u32)value;
}

static inline __u32 bbr_add(__u32 a, __u32 b)
{
	return bbr_saturate((__u64)a + b);
}

static inline __u32 bbr_subtract(__u32 a, __u32 b)
{
	return a > b ? a - b : 0;
}

/* a * b, saturating, without the 128-bit product that BPF lacks. */
static inline __u64 bbr_multiply(__u64 a, __u32 b)
{
	__u64 high = (a >> 32) * b;
	__u64 low = (a & BBR_INF) * b;
	__u64 product = (high << 32) + low;

	return (high >> 32) || product < low ? BBR_INF_BW : product;
}

static inline __u64 bbr_divide_up(__u64 a, __u64 b)
{
	__u64 quotient = a / b;

	return quotient * b < a ? quotient + 1 : quotient;
}

/* volume * fraction / 256, rounded down. */
static inline __u32 bbr_scale(__u32 volume, __u32 fraction)
{
	return bbr_saturate(((__u64)volume * fraction) >> BBR_GAIN_SHIFT);
}

/* bw * fraction / 256, rounded down. */
static inline __u64 bbr_scale_bw(__u64 bw, __u32 fraction)
{
	return bbr_multiply(bw, fraction) >> BBR_GAIN_SHIFT;
}

/* Packets that bw delivers in a time, rounded down. Times beyond 71 minutes count as such. */
static inline __u32 bbr_packets_in(__u64 bw, __u64 us)
{
	return bbr_saturate(bbr_multiply(bw, bbr_saturate(us)) >> BBR_BW_SHIFT);
}

/* The delivery rate of a sample, rounded up; 0: there is none. */
static inline __u64 bbr_delivery_rate(__s32 delivered, __s64 interval_us)
{
	if (interval_us <= 0 || delivered < 0)
		return 0;
	return bbr_divide_up((__u64)(__u32)delivered << BBR_BW_SHIFT, interval_us);
}

/* gain * bw * min_rtt, rounded up to whole packets. */
static inline __u32 bbr_volume(__u64 bw, __u32 min_rtt_us, __u32 gain)
{
	__u64 scaled = bbr_scale_bw(bbr_multiply(bw, min_rtt_us), gain);
	__u64 whole = scaled >> BBR_BW_SHIFT;

	return bbr_saturate(whole << BBR_BW_SHIFT < scaled ? whole + 1 : whole);
}

/* gain * bw as a pacing rate with a margin of 1 %, bytes per second, 1 at least. */
static inline __u64 bbr_rate(__u64 bw, __u32 mss, __u32 gain)
{
	const __u32 us_per_s_less_margin = 990000;
	__u64 bytes = bbr_scale_bw(bbr_multiply(bw, mss), gain);
	__u64 rate = bbr_multiply(bytes, us_per_s_less_margin) >> BBR_BW_SHIFT;

	return rate ? rate : 1;
}

/* floor(log2(value)); 0 of 0. */
static inline __u32 bbr_log2(__u32 value)
{
	__u32 log = 0;

	for (__u32 step = 16; step; step >>= 1) {
		if (value >> step) {
			value >>= step;
			log += step;
		}
	}
	return log;
}

#endif
