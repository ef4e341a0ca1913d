/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The history of a flow: what was in flight, and how much had been lost, when a packet was sent.
 *
 * The stack doesn't keep that per packet, but it keeps `delivered` as it was then. All packets that are sent between two ACKs
 * have the same `delivered`, so a ring with an entry per ACK tells them apart well enough; the sequence numbers tell apart
 * the packets of one entry. The ring keeps only each n-th ACK of a round trip that has more ACKs than the ring has entries. The
 * state between two entries follows from counting: packets sent since came into flight, packets delivered since left it.
 *
 * Times don't matter here, and all counters may wrap. Plain C, for the kernel and for tests.
 */
#ifndef DUMBBELL_BBR_HISTORY_H
#define DUMBBELL_BBR_HISTORY_H

#include <dumbbell/tcp.h>

/* A power of two. 16 bytes each: the socket storage of a flow stays small, below every kernel's limit. */
#define HISTORY_ENTRIES 256
#define HISTORY_MASK (HISTORY_ENTRIES - 1)

/* The state after the last packet that was sent at this `delivered`. */
struct history_entry {
	__u32 delivered; /* packets: tp->delivered */
	__u32 lost;      /* packets: tp->lost */
	__u32 inflight;  /* packets */
	__u32 snd_nxt;   /* bytes: tp->snd_nxt */
};

struct history {
	__u32 pushed;                /* entries ever written to the ring */
	struct history_entry latest; /* the last one, in the ring or not */
	struct history_entry ring[HISTORY_ENTRIES];
};

/* Forget everything: a connection begins. A timeout is no reason to: what was sent before it may still be ACKed. */
static __always_inline void history_clear(struct history *h)
{
	h->pushed = 0;
}

/*
 * An ACK moved `delivered`. Packets sent since the ACK before it were sent at `delivered` and `lost`, and left `inflight`
 * packets in flight: all three as they were just before this ACK. window: the most packets that a round trip delivers.
 *
 * If a timer marked packets lost between the two ACKs, `lost` includes them: right for what was sent after the timer expired,
 * too many for what was sent before. Entries are told apart by `delivered`, so that there can't be one for each.
 */
static __always_inline void history_push(struct history *h, __u32 delivered, __u32 lost, __u32 inflight, __u32 snd_nxt,
					 __u32 window)
{
	__u32 step = (window + HISTORY_ENTRIES - 1) / HISTORY_ENTRIES;
	struct history_entry *last = &h->ring[(h->pushed - 1) & HISTORY_MASK];

	h->latest.delivered = delivered;
	h->latest.lost = lost;
	h->latest.inflight = inflight;
	h->latest.snd_nxt = snd_nxt;
	if (h->pushed && delivered - last->delivered < step)
		return;
	h->ring[h->pushed & HISTORY_MASK] = h->latest;
	h->pushed++;
	/* The count must not wrap to "none yet". */
	if (h->pushed == 2 * HISTORY_ENTRIES)
		h->pushed = HISTORY_ENTRIES;
}

/* The oldest entry; before the first push it means nothing. */
static __always_inline const struct history_entry *history_oldest(const struct history *h)
{
	__u32 oldest = h->pushed < HISTORY_ENTRIES ? 0 : h->pushed;

	return &h->ring[oldest & HISTORY_MASK];
}

/* All ones if x is negative, else 0. */
static __always_inline __u32 history_sign(__u32 x)
{
	return -(x >> 31);
}

/* The newest entry that is not after `delivered`: its number, counted from the oldest; -1: there is none. */
static __always_inline int history_search(const struct history *h, __u32 delivered)
{
	__u32 count = h->pushed < HISTORY_ENTRIES ? h->pushed : HISTORY_ENTRIES;
	__u32 oldest = h->pushed - count;
	__u32 found = 0;

	if (!count || before(delivered, h->ring[oldest & HISTORY_MASK].delivered))
		return -1;
	for (__u32 step = HISTORY_ENTRIES / 2; step; step /= 2) {
		__u32 probe = found + step;
		__u32 there = h->ring[(oldest + probe) & HISTORY_MASK].delivered;

		/*
		 * found = probe if probe < count and there <= delivered. Without branches: the verifier follows each of
		 * the ways through the loop, and there are 2^8.
		 */
		found += step & history_sign(probe - count) & history_sign(there - delivered - 1);
	}
	return (int)found;
}

/* x + (y - x) * part / whole */
static __always_inline __u32 history_between(__u32 x, __u32 y, __u32 part, __u32 whole)
{
	__s32 rise = (__s32)(y - x);
	__u64 size = rise < 0 ? -(__u64)rise : (__u64)rise;
	__u32 share = whole ? (__u32)(size * part / whole) : 0;

	return rise < 0 ? x - share : x + share;
}

/* Packets in flight when the byte before end_seq was new and had just been sent, counted from what `e` says. */
static __always_inline __u32 history_count(const struct history_entry *e, __u32 delivered, __u32 end_seq, __u32 mss)
{
	__s32 bytes = (__s32)(end_seq - e->snd_nxt);
	/* A packet that is not full is one all the same. */
	__s32 packets = bytes < 0 ? -(__s32)((__u32)-bytes / mss) : (__s32)(((__u32)bytes + mss - 1) / mss);

	return e->inflight + (__u32)packets - (delivered - e->delivered);
}

/*
 * The state right after the packet was sent that ends at end_seq and has this `delivered` (rs->prior_delivered, or
 * tcp_skb_cb.tx.delivered), with packets of mss bytes. False: it is older than the ring.
 */
static __always_inline bool history_find(const struct history *h, __u32 delivered, __u32 end_seq, __u32 mss,
					 struct history_entry *out)
{
	int at = history_search(h, delivered);
	__u32 count = h->pushed < HISTORY_ENTRIES ? h->pushed : HISTORY_ENTRIES;
	__u32 index = h->pushed - count + (__u32)at;
	struct history_entry below, above;
	__u32 part, whole;

	if (at < 0 || !mss)
		return false;
	below = h->ring[index & HISTORY_MASK];
	if (below.delivered == delivered) {
		*out = below;
		out->snd_nxt = end_seq;
		if (at) {
			/* Sent before this entry began, and again in it: retransmissions go before new data. */
			__u32 begin = h->ring[(index - 1) & HISTORY_MASK].snd_nxt;

			out->inflight = history_count(&below, delivered, after(end_seq, begin) ? end_seq : begin, mss);
		}
		return true;
	}
	above = (__u32)at + 1 < count ? h->ring[(index + 1) & HISTORY_MASK] : h->latest;
	if (before(above.delivered, delivered))
		above = below;
	part = delivered - below.delivered;
	whole = above.delivered - below.delivered;
	out->delivered = delivered;
	out->snd_nxt = end_seq;
	out->lost = history_between(below.lost, above.lost, part, whole);
	if (after(end_seq, below.snd_nxt) && !after(end_seq, above.snd_nxt))
		out->inflight = history_between(history_count(&below, delivered, end_seq, mss),
						history_count(&above, delivered, end_seq, mss), part, whole);
	else
		out->inflight = history_between(below.inflight, above.inflight, part, whole);
	return true;
}

#endif
