// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A congestion control that asks bbr/history.h at every ACK, and the oracle (oracle.h), so that a test can tell how good it is.
 *
 * The control is a small BBR, so that windows grow, probe, and shrink as they do with the real one; it doesn't mind losses.
 */
#include "oracle.h"

#include "../bbr/history.h"

struct flow {
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

static void dbt_init(struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!flow)
		return;
	watch(sk);
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
	struct history_entry sent = {};
	__u32 gain, target;
	__u64 bw;
	bool known;

	if (!flow)
		return;
	if (rs->delivered > 0 && (__u32)rs->delivered > window)
		window = rs->delivered;
	if (rs->acked_sacked)
		history_push(&flow->history, tp->delivered - rs->acked_sacked, tp->lost - rs->losses,
			     rs->prior_in_flight, tp->snd_nxt, window);
	if (rs->delivered <= 0 || rs->interval_us <= 0)
		return;
	known = history_find(&flow->history, rs->prior_delivered, rs->last_end_seq, tp->mss_cache, &sent);
	judge(sk, rs, known, sent.inflight, sent.lost);
	gain = gain_of(flow, ((__u64)rs->delivered << 24) / (__u64)rs->interval_us, tp, rs);
	bw = max(flow->bw[0], flow->bw[1]);
	target = (__u32)(bw * tcp_min_rtt(tp) >> 23) + 4;
	set_cwnd(tp, flow->plateau < 3 ? min(tp->snd_cwnd + rs->acked_sacked, target * 3 / 2 + 10) : target);
	set_pacing_rate(sk, (bw * gain >> 8) * tp->mss_cache * 15625 >> 18);
}

CONGESTION_CONTROL(dbt_oracle, (init, dbt_init), (ssthresh, dbt_ssthresh), (undo_cwnd, dbt_undo_cwnd),
		   (cong_control, dbt_cong_control));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
