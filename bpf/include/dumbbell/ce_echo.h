/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The receiver's half of ECN with marks that count (RFC 8257 section 3.2): each mark is echoed, not one per round trip.
 *
 * It takes a congestion control with TCP_CONG_NEEDS_ECN: the stack tells no other of marks that arrive.
 */
#ifndef DUMBBELL_CE_ECHO_H
#define DUMBBELL_CE_ECHO_H

#include <dumbbell/tcp.h>

struct ce_echo {
	__u32 is_ce;	     /* the last data that came was marked */
	__u32 prior_rcv_nxt; /* what was expected next before it came */
};

static __always_inline void ce_echo_init(const struct sock *sk, struct ce_echo *echo)
{
	echo->is_ce = 0;
	echo->prior_rcv_nxt = tcp_sk(sk)->rcv_nxt;
}

/*
 * Data came, marked or not. A change has the data before it acknowledged at once with the old echo, so that the sender can
 * count marked packets in spite of delayed ACKs.
 */
static __always_inline void ce_echo_receive(struct sock *sk, struct ce_echo *echo, __u32 is_ce)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (echo->is_ce != is_ce) {
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			tp->ecn_flags = echo->is_ce ? tp->ecn_flags | TCP_ECN_DEMAND_CWR :
						      tp->ecn_flags & ~TCP_ECN_DEMAND_CWR;
			bpf_tcp_send_ack(tp, echo->prior_rcv_nxt);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	echo->prior_rcv_nxt = tp->rcv_nxt;
	echo->is_ce = is_ce;
	tp->ecn_flags = is_ce ? tp->ecn_flags | TCP_ECN_DEMAND_CWR : tp->ecn_flags & ~TCP_ECN_DEMAND_CWR;
}

#endif
