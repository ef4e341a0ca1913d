// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The facts about the transport that BBR needs and mainline Linux does not report, rebuilt from those that it reports: the
 * volumes in flight and lost when a packet was sent, losses that a timer marks, and losses that a tail loss probe repaired. */
#ifndef BBR_TRANSPORT_H
#define BBR_TRANSPORT_H

#include <dumbbell/ce_echo.h>

#include "core.h"
#include "history.h"

/* The whole state of a flow. */
struct bbr_flow {
	struct bbr bbr;
	struct bbr_ack ack;	/* The ACK that is processed. Here and not on the stack, where the verifier would tell apart
				 * all the values that it can have. */
	__u32 delivered_ce;	/* tp->delivered_ce after the last ACK, */
	__u32 lost;		/* and tp->lost when it was looked at last. */
	__u32 loss_delivered;	/* tp->delivered when tp->lost had last grown. */
	bool has_lost;		/* It has. */
	bool was_sent_asked;	/* The history was asked for the state when the last ACK's newest packet was sent, */
	bool was_sent_found;	/* and knew it. */
	__u32 cwr_snd_una;	/* tp->snd_una when state CWR was entered, */
	bool is_cwr_new;	/* which was since the last ACK was processed. */
	struct ce_echo echo;	/* The marks that this end echoes as a receiver. */
	struct history history;
};

_Static_assert(sizeof(struct bbr_flow) < 16384, "kernels before 6.9 allow 20 KB a socket by default");

static inline void bbr_begin_transport(const struct sock *sk, struct bbr_flow *flow)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	flow->delivered_ce = tp->delivered_ce;
	flow->lost = tp->lost;
	flow->has_lost = false;
	flow->is_cwr_new = false;
	ce_echo_init(sk, &flow->echo);
	history_clear(&flow->history);
}

/* The first of the packets that were just marked lost, and in which state it was sent. One that isn't known, as after a
 * timeout, is taken for one that was sent when the last ACK came. */
static inline bool bbr_find_lost(const struct tcp_sock *tp, const struct history *history, __u32 marked,
				 struct history_entry *sent, struct bbr_lost_packet *packet)
{
	const struct tcp_skb_cb *cb = tcp_first_lost(tp, marked);

	if (cb && history_find(history, cb->tx.delivered, cb->end_seq, tp->mss_cache, sent)) {
		packet->segments = cb->tcp_gso_segs;
		packet->is_app_limited = BPF_CORE_READ_BITFIELD(cb, tx.is_app_limited);
		return true;
	}
	*sent = history->latest;
	packet->segments = 1;
	packet->is_app_limited = tp->app_limited;
	return history->pushed;
}

/* Each packet is judged as it is marked, with what had been lost by then. Only the first of those that are
 * marked at once is known; the others were sent with it. So the first is judged, a train of segments; if that was not too many,
 * then the segment that is, if there is one. */
static inline bool bbr_judge_lost(const struct tcp_sock *tp, const struct bbr_flow *flow, __u32 marked,
				  struct bbr_lost_packet *packet)
{
	struct history_entry sent;
	__u32 threshold, lost;

	if (!bbr_find_lost(tp, &flow->history, marked, &sent, packet))
		return false;
	packet->segments = max(min(packet->segments, marked), 1U);
	packet->tx_in_flight = sent.inflight;
	packet->was_sacked = is_sack_reneg(tp);
	lost = flow->lost - sent.lost;
	threshold = bbr_scale(sent.inflight, params.loss_threshold);
	packet->lost = lost - (marked - packet->segments);
	if (packet->lost <= (__s32)threshold && (__s32)lost > (__s32)threshold) {
		packet->segments = 1;
		packet->lost = threshold + 1;
	}
	return true;
}

/* Takes note of packets that were marked lost since the last look, by an ACK or by a timer. Call it before the state of
 * recovery changes and whenever an ACK has been processed. */
BBR_OUT_OF_LINE void bbr_take_losses(const struct sock *sk, struct bbr_flow *flow)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr_lost_packet packet;
	__u32 lost = tp->lost;
	__u32 marked = lost - flow->lost;

	if (!marked)
		return;
	flow->lost = lost;
	flow->loss_delivered = tp->delivered;
	flow->has_lost = true;
	if (flow->bbr.is_sampling && bbr_judge_lost(tp, flow, marked, &packet))
		bbr_packet_lost(sk, &flow->bbr, &packet);
	else
		bbr_note_loss(tp, &flow->bbr);
}

/* The state of recovery is about to change. A tail loss probe that repaired a loss makes the stack enter CWR and leave it
 * again at once, while it processes one ACK; ECN and local congestion, which lead to CWR too, make it stay for a round, so
 * that snd_una has moved when it leaves. (That a probe repeated data says little: the stack never takes it back.) */
static inline void bbr_take_ca_state(const struct sock *sk, struct bbr_flow *flow, __u8 new_state)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	bool is_cwr = ca_state(sk) == TCP_CA_CWR;

	bbr_take_losses(sk, flow);
	if (new_state == TCP_CA_CWR) {
		flow->cwr_snd_una = tp->snd_una;
		flow->is_cwr_new = true;
	} else if (is_cwr && flow->is_cwr_new && new_state < TCP_CA_CWR) {
		flow->is_cwr_new = false;
		if (tp->snd_una != flow->cwr_snd_una || !tlp_retrans(tp))
			return;
		if (BBR_VERSION == 3)
			bbr_loss_repaired_by_tlp(sk, &flow->bbr, tp->app_limited);
	}
}

/* True if this ACK acknowledges the sequence of a tail loss probe's retransmission. It leaves open whether the probe or the
 * original arrived. The ACK that settles that, later, is like any other. */
static inline bool bbr_is_of_tlp(const struct tcp_sock *tp)
{
	__u32 high_seq = tp->tlp_high_seq;

	return high_seq && tlp_retrans(tp) && !before(tp->snd_una, high_seq);
}

/* True if the volume in flight when the newest ACKed packet was sent matters: packets were lost or marked since then, or a
 * bound of the volume in flight is known. */
static inline bool bbr_needs_sent(const struct bbr_flow *flow, const struct bbr_ack *ack)
{
	bool may_have_lost = flow->has_lost && !after(ack->prior_delivered, flow->loss_delivered);
	bool may_be_marked = params.ecn && ack->delivered_ce > 0;

	return ack->delivered >= 0 && (may_have_lost || may_be_marked || flow->bbr.inflight_hi != BBR_INF);
}

/* The state when the newest packet that was ACKed was sent. */
static inline void bbr_find_sent(const struct tcp_sock *tp, struct bbr_flow *flow, const struct rate_sample *rs,
				 struct bbr_ack *ack)
{
	struct history_entry sent;

	ack->tx_in_flight = 0;
	ack->lost = 0;
	flow->was_sent_found = false;
	flow->was_sent_asked = bbr_needs_sent(flow, ack);
	if (!flow->was_sent_asked)
		return;
	if (history_find(&flow->history, ack->prior_delivered, rs->last_end_seq, tp->mss_cache, &sent)) {
		flow->was_sent_found = true;
		ack->tx_in_flight = sent.inflight;
		ack->lost = tp->lost - sent.lost;
	} else if (flow->history.pushed) {
		/* It was sent before the history began: what was in flight then has been delivered since, or was
		 * lost. Only the losses since the history began are known. */
		ack->lost = tp->lost - history_oldest(&flow->history)->lost;
		ack->tx_in_flight = ack->delivered + ack->lost;
	}
}

/* An ACK was processed: what it tells. */
static inline void bbr_take_ack(const struct sock *sk, struct bbr_flow *flow, const struct rate_sample *rs, bool is_ece)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr_ack *ack = &flow->ack;
	__u32 window = tp->snd_cwnd;
	__u32 delivered_ce = tp->delivered_ce;

	ack->interval_us = rs->interval_us;
	ack->rtt_us = rs->rtt_us;
	ack->prior_delivered = rs->prior_delivered;
	ack->delivered = rs->delivered;
	ack->delivered_ce = rs->delivered_ce;
	ack->newly_lost = rs->losses;
	ack->newly_acked = rs->acked_sacked;
	ack->prior_in_flight = rs->prior_in_flight;
	ack->is_app_limited = rs->is_app_limited;
	ack->is_ack_delayed = rs->is_ack_delayed;
	ack->bw = bbr_delivery_rate(ack->delivered, ack->interval_us);
	if (ack->newly_acked) {
		window = max(window, bbr_delivered(ack));
		history_push(&flow->history, tp->delivered - ack->newly_acked, tp->lost - ack->newly_lost,
			     ack->prior_in_flight, tp->snd_nxt, window);
	}
	bbr_take_losses(sk, flow);
	bbr_find_sent(tp, flow, rs, ack);
	ack->is_of_tlp = bbr_is_of_tlp(tp);
	flow->is_cwr_new = false;
	/* Kernels before 6.10 don't tell of ECE here, but count it. */
	ack->is_ece = is_ece || delivered_ce != flow->delivered_ce;
	flow->delivered_ce = delivered_ce;
}

#endif
