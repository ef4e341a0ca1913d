/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An oracle that sees each packet leave, and knows what was in flight then and how much had been lost. It compares what a
 * congestion control believes at the ACK.
 */
#ifndef DUMBBELL_TESTS_ORACLE_H
#define DUMBBELL_TESTS_ORACLE_H

#include <dumbbell/congestion_control.h>

struct packet {
	__u32 flow;
	__u32 end_seq;
};

struct truth {
	__u32 delivered;
	__u32 lost;
	__u32 inflight;
};

/* A flow of which packets are noted. */
struct watched {
	__u32 id;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watched);
} watched_flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 17);
	__type(key, struct packet);
	__type(value, struct truth);
} truths SEC(".maps");

/* Counts of rate samples, which the test reads; packets unless the comment says otherwise. */
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
	struct watched *watched;
	__u32 seq, payload, size, segments;
	struct skb_shared_info *shared;
	struct truth truth;
	struct packet key;

	if (!sk)
		return 0;
	watched = bpf_sk_storage_get(&watched_flows, sk, NULL, 0);
	if (!watched)
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
	key.flow = watched->id;
	for (__u32 i = 0; i < 64 && i < segments; i++) {
		key.end_seq = i + 1 == segments ? seq + payload : seq + (i + 1) * size;
		truth.inflight = tcp_packets_in_flight(tp) + i + 1;
		bpf_map_update_elem(&truths, &key, &truth, BPF_ANY);
	}
	return 0;
}

static __u32 last_id;

/* Note this flow's packets from now on. */
static __always_inline void watch(struct sock *sk)
{
	struct watched *watched = bpf_sk_storage_get(&watched_flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!watched)
		return;
	watched->id = __sync_fetch_and_add(&last_id, 1);
	add(&result.flows, 1);
}

/*
 * The estimate for the packet of a rate sample: what was in flight after it, and tp->lost as it was. `known`: there is one; if not,
 * the history did not reach back so far.
 */
static __always_inline void judge(struct sock *sk, const struct rate_sample *rs, bool known, __u32 inflight, __u32 lost)
{
	struct watched *watched = bpf_sk_storage_get(&watched_flows, sk, NULL, 0);
	const struct truth *truth;
	struct packet key;
	__u32 error;

	if (!watched)
		return;
	key.flow = watched->id;
	key.end_seq = rs->last_end_seq;
	truth = bpf_map_lookup_elem(&truths, &key);
	/* The oracle keeps the last transmission of a packet; so does the stack, unless the two differ by now. */
	if (!truth || truth->delivered != rs->prior_delivered) {
		add(&result.without_truth, 1);
		return;
	}
	if (!known) {
		add(&result.misses, 1);
		return;
	}
	error = inflight > truth->inflight ? inflight - truth->inflight : truth->inflight - inflight;
	add(&result.samples, 1);
	add(&result.exact, error == 0);
	add(&result.error, error);
	add(&result.inflight, truth->inflight);
	add(&result.retransmitted, rs->is_retrans);
	if (error > result.worst)
		result.worst = error;
	if (truth->inflight > result.most_inflight)
		result.most_inflight = truth->inflight;
	error = lost > truth->lost ? lost - truth->lost : truth->lost - lost;
	add(&result.lost_wrong, error != 0);
	add(&result.lost_error, error);
}

#endif
