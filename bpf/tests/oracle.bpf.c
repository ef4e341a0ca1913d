// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * How good is bbr/history.h? A congestion control that asks it at every ACK what was in flight when the packet was sent, and
 * an oracle that saw each packet leave and knows.
 *
 * The control is a small BBR, so that windows grow, probe, and shrink as they do with the real one.
 */
#include <dumbbell/congestion_control.h>

#include "../bbr/history.h"

struct packet {
	__u32 flow;
	__u32 end_seq;
};

struct truth {
	__u32 delivered;
	__u32 lost;
	__u32 inflight;
};

struct flow {
	__u32 id;
	__u32 next_round; /* delivered */
	__u32 rounds;
	__u32 plateau; /* rounds without growth */
	__u64 bw[2];   /* the greatest of the last and of this ten rounds, packets per us << 24 */
	__u64 full_bw;
	struct history history;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 17);
	__type(key, struct packet);
	__type(value, struct truth);
} truths SEC(".maps");

/* Of rate samples. Read by the test; packets unless the comment says otherwise. */
struct {
	__u64 samples;       /* with an estimate and a truth */
	__u64 exact;         /* inflight was right */
	__u64 error;         /* sum of |estimate - truth| */
	__u64 inflight;      /* sum of the truth */
	__u64 worst;         /* the greatest error */
	__u64 lost_wrong;    /* samples in which `lost` was wrong */
	__u64 lost_error;    /* sum of |estimate - truth| of it */
	__u64 misses;        /* samples that the history couldn't answer */
	__u64 without_truth; /* samples whose packet the oracle didn't see */
	__u64 retransmitted; /* samples of packets that were retransmissions */
	__u64 most_inflight; /* the greatest truth */
	__u64 flows;
} result SEC(".bss.result");

static __u32 last_id;

static __always_inline void add(__u64 *counter, __u64 value)
{
	__sync_fetch_and_add(counter, value);
}

/* The headers of a frame that leaves: the sequence number, and bytes of payload. */
static __always_inline __u32 payload_of(const struct sk_buff *skb, __u32 *seq)
{
	unsigned char *head = skb->head;
	unsigned char header[20];
	__u32 offset = skb->transport_header;

	if (bpf_probe_read_kernel(header, sizeof(header), head + offset))
		return 0;
	*seq = (__u32)header[4] << 24 | (__u32)header[5] << 16 | (__u32)header[6] << 8 | header[7];
	offset = offset + (header[12] >> 4) * 4 - (__u32)(skb->data - head);
	return skb->len > offset ? skb->len - offset : 0;
}

/* A frame leaves. TCP has not counted it yet. */
SEC("tp_btf/net_dev_queue")
int BPF_PROG(oracle, struct sk_buff *skb)
{
	struct sock *sk = skb->sk;
	struct tcp_sock *tp;
	struct flow *flow;
	__u32 seq, payload, size, segments;
	struct skb_shared_info *shared;
	struct truth truth;
	struct packet key;

	if (!sk)
		return 0;
	flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	if (!flow)
		return 0;
	tp = bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct tcp_sock));
	payload = payload_of(skb, &seq);
	if (!payload)
		return 0;
	shared = (struct skb_shared_info *)(skb->head + skb->end);
	size = BPF_CORE_READ(shared, gso_size);
	segments = BPF_CORE_READ(shared, gso_segs);
	if (!segments)
		segments = 1;
	truth.delivered = tp->delivered;
	truth.lost = tp->lost;
	key.flow = flow->id;
	for (__u32 i = 0; i < 64 && i < segments; i++) {
		key.end_seq = i + 1 == segments ? seq + payload : seq + (i + 1) * size;
		truth.inflight = tcp_packets_in_flight(tp) + i + 1;
		bpf_map_update_elem(&truths, &key, &truth, BPF_ANY);
	}
	return 0;
}

static __always_inline void compare(struct tcp_sock *tp, struct flow *flow, const struct rate_sample *rs)
{
	struct packet key = {.flow = flow->id, .end_seq = rs->last_end_seq};
	const struct truth *truth = bpf_map_lookup_elem(&truths, &key);
	struct history_entry estimate;
	__u32 error;

	/* The oracle keeps the last transmission of a packet; so does the stack, unless the two differ by now. */
	if (!truth || truth->delivered != rs->prior_delivered) {
		add(&result.without_truth, 1);
		return;
	}
	if (!history_find(&flow->history, rs->prior_delivered, rs->last_end_seq, tp->mss_cache, &estimate)) {
		add(&result.misses, 1);
		return;
	}
	error = estimate.inflight > truth->inflight ? estimate.inflight - truth->inflight :
						      truth->inflight - estimate.inflight;
	add(&result.samples, 1);
	add(&result.exact, error == 0);
	add(&result.error, error);
	add(&result.inflight, truth->inflight);
	add(&result.retransmitted, rs->is_retrans);
	if (error > result.worst)
		result.worst = error;
	if (truth->inflight > result.most_inflight)
		result.most_inflight = truth->inflight;
	error = estimate.lost > truth->lost ? estimate.lost - truth->lost : truth->lost - estimate.lost;
	add(&result.lost_wrong, error != 0);
	add(&result.lost_error, error);
}

static void dbt_init(struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!flow)
		return;
	flow->id = __sync_fetch_and_add(&last_id, 1);
	add(&result.flows, 1);
	request_pacing(sk);
}

static __u32 dbt_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static __u32 dbt_undo_cwnd(struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

/* BBR in short: a maximum of ten to twenty rounds, start-up until three rounds bring no quarter more, probes by turns. */
static __always_inline __u32 gain_of(struct flow *flow, __u64 sample, const struct tcp_sock *tp,
				     const struct rate_sample *rs)
{
	if (sample > flow->bw[1])
		flow->bw[1] = sample;
	if (!before(rs->prior_delivered, flow->next_round)) {
		flow->next_round = tp->delivered;
		flow->rounds++;
		if (flow->rounds % 10 == 0) {
			flow->bw[0] = flow->bw[1];
			flow->bw[1] = sample;
		}
		if (flow->plateau < 3) {
			flow->plateau = flow->bw[1] >= flow->full_bw + flow->full_bw / 4 ? 0 : flow->plateau + 1;
			if (!flow->plateau)
				flow->full_bw = flow->bw[1];
		}
	}
	if (flow->plateau < 3)
		return 739;
	return flow->rounds % 8 == 0 ? 320 : flow->rounds % 8 == 1 ? 192 : 256;
}

static void dbt_cong_control(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 window = tp->snd_cwnd;
	__u32 gain, target;
	__u64 bw;

	if (!flow)
		return;
	if (rs->delivered > 0 && (__u32)rs->delivered > window)
		window = rs->delivered;
	if (rs->acked_sacked)
		history_push(&flow->history, tp->delivered - rs->acked_sacked, tp->lost - rs->losses,
			     rs->prior_in_flight, tp->snd_nxt, window);
	if (rs->delivered <= 0 || rs->interval_us <= 0)
		return;
	compare(tp, flow, rs);
	gain = gain_of(flow, ((__u64)rs->delivered << 24) / (__u64)rs->interval_us, tp, rs);
	bw = max(flow->bw[0], flow->bw[1]);
	target = (__u32)(bw * tcp_min_rtt(tp) >> 23) + 4;
	set_cwnd(tp, flow->plateau < 3 ? min(tp->snd_cwnd + rs->acked_sacked, target * 3 / 2 + 10) : target);
	set_pacing_rate(sk, (bw * gain >> 8) * tp->mss_cache * 15625 >> 18);
}

CONGESTION_CONTROL(dbt_oracle, (init, dbt_init), (ssthresh, dbt_ssthresh), (undo_cwnd, dbt_undo_cwnd),
		   (cong_control, dbt_cong_control));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
