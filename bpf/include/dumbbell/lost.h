/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which packet was lost. A mainline kernel tells only how many were; the packet itself is in the queue of those that are sent and
 * not yet ACKed. The queue may hold thousands, so only the two places are looked at where a loss is seen.
 *
 * Of the program that includes it: tcp_cb(), what TCP notes of a packet, and tcp_sent_before(), the packet before it in the
 * queue.
 */
#ifndef DUMBBELL_LOST_H
#define DUMBBELL_LOST_H

/* The most packets that are looked at. */
#define LOST_SEARCHED 8

/* It was marked lost and waits to be sent again. */
static __always_inline bool tcp_is_waiting(const struct tcp_skb_cb *cb)
{
	return (cb->sacked & (TCPCB_LOST | TCPCB_SACKED_RETRANS)) == TCPCB_LOST;
}

/*
 * The first of `marked` segments of those that wait to be sent again, just below the highest packet that was SACKed; or behind it,
 * where what was sent again later has arrived before a newer SACK came. skb: the packet behind the one that was SACKed.
 */
static __always_inline const struct tcp_skb_cb *tcp_find_waiting(const struct sk_buff *skb, __u32 marked)
{
	const struct tcp_skb_cb *found = NULL;
	__u32 segments = 0;

	for (int i = 0; skb && i < LOST_SEARCHED; i++) {
		const struct tcp_skb_cb *cb = tcp_cb(skb);

		if (tcp_is_waiting(cb)) {
			segments += cb->tcp_gso_segs;
			if (found && segments > marked)
				break;
			found = cb;
		} else if (found) {
			break;
		}
		skb = tcp_sent_before(skb);
	}
	return found;
}

/*
 * The first of `marked` segments that were just marked lost; NULL: it is not known. hint: where TCP begins to look for packets to
 * send again, and NULL after a timeout. It is the one if no others wait. If others do, it is one of these; and where pacing lets no
 * more out, it stays at a packet that was sent again, and a loss behind that doesn't move it.
 */
static __always_inline const struct tcp_skb_cb *tcp_find_lost(const struct tcp_sock *tp, const struct sk_buff *hint,
							      const struct sk_buff *above_sacked, __u32 marked)
{
	bool are_others = after(tp->lost_out - tp->retrans_out, marked);
	const struct tcp_skb_cb *found, *first;

	if (!hint)
		return NULL;
	found = tcp_find_waiting(above_sacked, marked);
	first = tcp_cb(hint);
	return tcp_is_waiting(first) && !(found && are_others) ? first : found;
}

#endif
