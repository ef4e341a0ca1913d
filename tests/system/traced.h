/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes down what a congestion control in a kernel is told and what it makes of it, call by call, for a test that replays
 * it elsewhere: crates/bbr-host/examples/replay.rs, which knows the layout, too.
 *
 *     #include "traced.h"
 *     #include <algorithms/bbr3/bbr3.bpf.c>
 *     TRACED(bbr3, state of a socket, its bytes)
 *
 * /proc/traced has the calls of all connections that use it, from the beginning on.
 */
#include <dumbbell/congestion_control.h>
#include <dumbbell/random.h>

#include <linux/proc_fs.h>
#include <linux/vmalloc.h>

#define TRACED_STATE 512
#define TRACED_CALLS 40000

/* Packets before the one behind the highest that was SACKed, and first the one at TCP's hint. */
#define TRACED_SENT (1 + LOST_SEARCHED)
/* A bit of tcp_skb_cb.sacked that TCP doesn't use: the packet has been seen to wait for its retransmission. */
#define SEEN_WAITING 0x40

enum { INIT, SSTHRESH, CONG_AVOID, CONG_CONTROL, SET_STATE, CWND_EVENT, IN_ACK_EVENT, PKTS_ACKED, UNDO_CWND };

/* Bits of traced_call.flags. */
enum {
	CWND_LIMITED = 1,
	PACING_NEEDED = 2,
	TLP_RETRANS = 4,
	SACK_RENEG = 8,
	HAS_HINT = 16,
	HAS_NEWLY_LOST = 32,
	SAMPLE_APP_LIMITED = 64,
	SAMPLE_ACK_DELAYED = 128,
	ECN_NEGOTIATED = 256,
};

struct traced_call {
	/* The connection before the call. */
	__u64 tcp_mstamp, tcp_clock_cache, tcp_wstamp_ns, delivered_mstamp, pacing_rate, max_pacing_rate;
	/* The sample. */
	__s64 interval_us, rtt_us;
	/* The state of the random numbers before the call. */
	__u64 random;
	__u64 after_pacing_rate;
	__u32 callback, argument, acked, result, jiffies, lsndtime, flags, ca_state;
	__u32 snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_ssthresh, prior_cwnd, max_packets_out, snd_una, snd_nxt;
	__u32 packets_out, retrans_out, lost_out, sacked_out, delivered, delivered_ce, lost, app_limited;
	__u32 srtt_us, min_rtt_us, mss_cache, pacing_shift, gso_max_size, tlp_high_seq;
	__u32 sent_count, newly_lost_end_seq, found_lost_end_seq;
	__u32 sample_prior_delivered, sample_delivered, sample_delivered_ce, sample_losses, sample_acked_sacked;
	__u32 sample_prior_in_flight, sample_last_end_seq;
	/* After it. */
	__u32 after_cwnd, after_cwnd_cnt, after_ssthresh, after_app_limited, state_bytes, socket;
	struct traced_packet {
		__u32 end_seq, delivered;
		__u16 segments;
		__u8 sacked, app_limited;
	} sent[TRACED_SENT];
	__u32 unused;
	__u8 state[TRACED_STATE];
};

/* SplitMix64: the numbers that the replay draws, too. */
static u64 traced_random_state;

static inline u32 traced_random(void)
{
	u64 z = traced_random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) >> 32;
}

#undef random_below
#define random_below(n) ((u32)(((u64)traced_random() * (n)) >> 32))

static struct traced_call *traced_calls;
static u32 traced_count;
static struct sock *traced_sockets[8];
static struct tcp_congestion_ops traced_ops;

static const void *traced_state(struct sock *sk, u32 *bytes);

static u32 traced_socket(struct sock *sk)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(traced_sockets) - 1; i++) {
		if (!traced_sockets[i])
			traced_sockets[i] = sk;
		if (traced_sockets[i] == sk)
			break;
	}
	return i;
}

static void traced_packet(struct traced_packet *packet, const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

	packet->end_seq = cb->end_seq;
	packet->delivered = cb->tx.delivered;
	packet->segments = cb->tcp_gso_segs;
	packet->sacked = cb->sacked & ~SEEN_WAITING;
	packet->app_limited = cb->tx.is_app_limited;
}

/* The packets among which one that was lost is looked for, the oldest first. */
static void traced_sent(const struct tcp_sock *tp, struct traced_call *call)
{
	const struct sk_buff *skb = tp->highest_sack;
	u32 i;

	if (!tp->retransmit_skb_hint)
		return;
	call->flags |= HAS_HINT;
	for (i = TRACED_SENT; skb && i > 1; skb = tcp_sent_before(skb))
		traced_packet(&call->sent[--i], skb);
	traced_packet(&call->sent[i - 1], tp->retransmit_skb_hint);
	call->sent_count = TRACED_SENT - (i - 1);
	memmove(call->sent, call->sent + i - 1, call->sent_count * sizeof(*call->sent));
}

/* The first packet that has been marked lost since the last call, by a walk through all that are sent. Where one was lost again,
 * the first by sequence number is not that by time, and nothing is written down. */
static void traced_newly_lost(struct sock *sk, struct traced_call *call)
{
	const struct tcp_skb_cb *found;
	struct sk_buff *skb;
	bool is_again = false;
	u32 marked = 0;

	for (skb = tcp_rtx_queue_head(sk); skb; skb = skb_rb_next(skb)) {
		struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

		if (!tcp_is_waiting(cb)) {
			cb->sacked &= ~SEEN_WAITING;
		} else if (!(cb->sacked & SEEN_WAITING)) {
			cb->sacked |= SEEN_WAITING;
			if (!marked)
				call->newly_lost_end_seq = cb->end_seq;
			marked += tcp_skb_pcount(skb);
			is_again |= cb->sacked & TCPCB_EVER_RETRANS;
		}
	}
	found = marked ? tcp_first_lost(tcp_sk(sk), marked) : NULL;
	call->found_lost_end_seq = found ? found->end_seq : 0;
	call->flags |= marked && !is_again ? HAS_NEWLY_LOST : 0;
}

static struct traced_call *traced_begin(struct sock *sk, u32 callback, u32 argument)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct traced_call *call;

	if (!traced_calls || traced_count == TRACED_CALLS)
		return NULL;
	call = &traced_calls[traced_count];
	memset(call, 0, sizeof(*call));
	call->callback = callback;
	call->argument = argument;
	call->socket = traced_socket(sk);
	call->random = traced_random_state;
	call->tcp_mstamp = tp->tcp_mstamp;
	call->tcp_clock_cache = tp->tcp_clock_cache;
	call->tcp_wstamp_ns = tp->tcp_wstamp_ns;
	call->delivered_mstamp = tp->delivered_mstamp;
	call->pacing_rate = sk->sk_pacing_rate;
	call->max_pacing_rate = sk->sk_max_pacing_rate;
	call->jiffies = (u32)bpf_jiffies64();
	call->lsndtime = tp->lsndtime;
	call->ca_state = ca_state(sk);
	call->snd_cwnd = tp->snd_cwnd;
	call->snd_cwnd_cnt = tp->snd_cwnd_cnt;
	call->snd_cwnd_clamp = tp->snd_cwnd_clamp;
	call->snd_ssthresh = tp->snd_ssthresh;
	call->prior_cwnd = tp->prior_cwnd;
	call->max_packets_out = tp->max_packets_out;
	call->snd_una = tp->snd_una;
	call->snd_nxt = tp->snd_nxt;
	call->packets_out = tp->packets_out;
	call->retrans_out = tp->retrans_out;
	call->lost_out = tp->lost_out;
	call->sacked_out = tp->sacked_out;
	call->delivered = tp->delivered;
	call->delivered_ce = tp->delivered_ce;
	call->lost = tp->lost;
	call->app_limited = tp->app_limited;
	call->srtt_us = tp->srtt_us;
	call->min_rtt_us = tcp_min_rtt(tp);
	call->mss_cache = tp->mss_cache;
	call->pacing_shift = sk->sk_pacing_shift;
	call->gso_max_size = sk->sk_gso_max_size;
	call->tlp_high_seq = tp->tlp_high_seq;
	call->flags = (is_cwnd_limited(tp) ? CWND_LIMITED : 0) | (tlp_retrans(tp) ? TLP_RETRANS : 0) |
		      (sk->sk_pacing_status != SK_PACING_NONE ? PACING_NEEDED : 0) |
		      (is_sack_reneg(tp) ? SACK_RENEG : 0) | (tp->ecn_flags & TCP_ECN_OK ? ECN_NEGOTIATED : 0);
	traced_sent(tp, call);
	traced_newly_lost(sk, call);
	return call;
}

static void traced_end(struct sock *sk, struct traced_call *call, u32 result)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const void *state;

	if (!call)
		return;
	call->result = result;
	call->after_pacing_rate = sk->sk_pacing_rate;
	call->after_cwnd = tp->snd_cwnd;
	call->after_cwnd_cnt = tp->snd_cwnd_cnt;
	call->after_ssthresh = tp->snd_ssthresh;
	call->after_app_limited = tp->app_limited;
	state = traced_state(sk, &call->state_bytes);
	if (state && !WARN_ON(call->state_bytes > TRACED_STATE))
		memcpy(call->state, state, call->state_bytes);
	traced_count++;
}

static void traced_init(struct sock *sk)
{
	struct traced_call *call = traced_begin(sk, INIT, 0);

	traced_ops.init(sk);
	traced_end(sk, call, 0);
}

static u32 traced_ssthresh(struct sock *sk)
{
	struct traced_call *call = traced_begin(sk, SSTHRESH, 0);
	u32 result = traced_ops.ssthresh(sk);

	traced_end(sk, call, result);
	return result;
}

static void traced_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct traced_call *call = traced_begin(sk, CONG_AVOID, ack);

	if (call)
		call->acked = acked;
	traced_ops.cong_avoid(sk, ack, acked);
	traced_end(sk, call, 0);
}

static void traced_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct traced_call *call = traced_begin(sk, CONG_CONTROL, ack);

	if (call) {
		call->interval_us = rs->interval_us;
		call->rtt_us = rs->rtt_us;
		call->sample_prior_delivered = rs->prior_delivered;
		call->sample_delivered = rs->delivered;
		call->sample_delivered_ce = rs->delivered_ce;
		call->sample_losses = rs->losses;
		call->sample_acked_sacked = rs->acked_sacked;
		call->sample_prior_in_flight = rs->prior_in_flight;
		call->sample_last_end_seq = rs->last_end_seq;
		call->flags |= (rs->is_app_limited ? SAMPLE_APP_LIMITED : 0) |
			       (rs->is_ack_delayed ? SAMPLE_ACK_DELAYED : 0);
	}
	traced_ops.cong_control(sk, ack, flag, rs);
	traced_end(sk, call, 0);
}

static void traced_set_state(struct sock *sk, u8 state)
{
	struct traced_call *call = traced_begin(sk, SET_STATE, state);

	traced_ops.set_state(sk, state);
	traced_end(sk, call, 0);
}

static void traced_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct traced_call *call = traced_begin(sk, CWND_EVENT, event);

	traced_ops.cwnd_event(sk, event);
	traced_end(sk, call, 0);
}

static void traced_in_ack_event(struct sock *sk, u32 flags)
{
	struct traced_call *call = traced_begin(sk, IN_ACK_EVENT, flags);

	traced_ops.in_ack_event(sk, flags);
	traced_end(sk, call, 0);
}

static void traced_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct traced_call *call = traced_begin(sk, PKTS_ACKED, sample->in_flight);

	if (call) {
		call->acked = sample->pkts_acked;
		call->rtt_us = sample->rtt_us;
	}
	traced_ops.pkts_acked(sk, sample);
	traced_end(sk, call, 0);
}

static u32 traced_undo_cwnd(struct sock *sk)
{
	struct traced_call *call = traced_begin(sk, UNDO_CWND, 0);
	u32 result = traced_ops.undo_cwnd(sk);

	traced_end(sk, call, result);
	return result;
}

static ssize_t traced_read(struct file *file, char __user *to, size_t bytes, loff_t *offset)
{
	return simple_read_from_buffer(to, bytes, offset, traced_calls, traced_count * sizeof(*traced_calls));
}

static const struct proc_ops traced_proc = {.proc_read = traced_read};

/* Before the algorithm is registered. */
static void __init traced_take(struct tcp_congestion_ops *ops)
{
	traced_ops = *ops;
#define TAKE(member)                                                                                                   \
	if (ops->member)                                                                                               \
		ops->member = traced_##member
	TAKE(init);
	TAKE(ssthresh);
	TAKE(cong_avoid);
	TAKE(cong_control);
	TAKE(set_state);
	TAKE(cwnd_event);
	TAKE(in_ack_event);
	TAKE(pkts_acked);
	TAKE(undo_cwnd);
#undef TAKE
	traced_calls = vzalloc(array_size(TRACED_CALLS, sizeof(*traced_calls)));
	proc_create("traced", 0400, NULL, &traced_proc);
}

#define TRACED(label, begin, size)                                                                                     \
	static const void *traced_state(struct sock *sk, u32 *bytes)                                                   \
	{                                                                                                              \
		*bytes = (size);                                                                                       \
		return (begin);                                                                                        \
	}                                                                                                              \
	static int __init label##_traced(void)                                                                         \
	{                                                                                                              \
		traced_take(&label##_ops);                                                                             \
		return 0;                                                                                              \
	}                                                                                                              \
	fs_initcall(label##_traced)
