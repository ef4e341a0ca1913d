// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* BBR as a congestion control of the kernel: its callbacks, and where it keeps a flow's state. */
#ifndef BBR_CALLBACKS_H
#define BBR_CALLBACKS_H

#include <dumbbell/congestion_control.h>

#include "row.h"
#include "transport.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct bbr_flow);
} flows SEC(".maps");

/* Connections for whose state there was no memory. Read by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} db_stateless SEC(".maps");

static inline void bbr_count_stateless(void)
{
	__u32 first = 0;
	__u64 *count = bpf_map_lookup_elem(&db_stateless, &first);

	if (count)
		__sync_fetch_and_add(count, 1);
}

static inline struct bbr_flow *bbr_flow_of(struct sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, NULL, 0);
}

static void on_init(struct sock *sk)
{
	struct bbr_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	/* No memory for it: the window stays what it is, see on_cong_control. */
	if (!flow) {
		bbr_count_stateless();
		return;
	}
	__builtin_memset(&flow->bbr, 0, sizeof(flow->bbr));
	bbr_begin_transport(sk, flow);
	bbr_begin(sk, &flow->bbr);
}

static void on_release(struct sock *sk)
{
	bpf_sk_storage_delete(&flows, sk);
}

static void on_cong_control(struct sock *sk, __u32 ack_seq, int flag, const struct rate_sample *rs)
{
	struct bbr_flow *flow = bbr_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!flow) {
		/* Nothing is known of this flow. It must not be left with the single packet of a timeout. */
		if (tp->snd_cwnd < TCP_INIT_CWND)
			set_cwnd(tp, TCP_INIT_CWND);
		return;
	}
	bbr_take_ack(sk, flow, rs, flag & FLAG_ECE);
	bbr_on_ack(sk, &flow->bbr, &flow->ack);
	bbr_emit_row(sk, &flow->bbr, &flow->ack);
}

static __u32 on_ssthresh(struct sock *sk)
{
	struct bbr_flow *flow = bbr_flow_of(sk);

	/* The window is not for recovery to set: only what is to be restored is kept. */
	if (flow)
		bbr_begin_recovery(tcp_sk(sk), &flow->bbr);
	return tcp_sk(sk)->snd_ssthresh;
}

static __u32 on_undo_cwnd(struct sock *sk)
{
	struct bbr_flow *flow = bbr_flow_of(sk);

	if (!flow)
		return tcp_sk(sk)->snd_cwnd;
	bbr_take_losses(sk, flow);
	return bbr_undo_recovery(tcp_sk(sk), &flow->bbr);
}

static void on_set_state(struct sock *sk, __u8 new_state)
{
	struct bbr_flow *flow = bbr_flow_of(sk);

	if (!flow)
		return;
	bbr_take_ca_state(sk, flow, new_state);
	bbr_change_ca_state(tcp_sk(sk), &flow->bbr, new_state);
}

static void on_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct bbr_flow *flow;

	if (event == CA_EVENT_CWND_RESTART || event == CA_EVENT_COMPLETE_CWR)
		return;
	flow = bbr_flow_of(sk);
	if (!flow)
		return;
	if (event == CA_EVENT_TX_START)
		bbr_restart_from_idle(sk, &flow->bbr);
	else if (event == CA_EVENT_LOSS)
		bbr_take_losses(sk, flow);
	else
		ce_echo_receive(sk, &flow->echo, event == CA_EVENT_ECN_IS_CE);
}

static __u32 on_sndbuf_expand(struct sock *sk)
{
	return 3;
}

#define BBR_CALLBACKS                                                                                                  \
	(init, on_init), (release, on_release), (cong_control, on_cong_control), (ssthresh, on_ssthresh),              \
		(undo_cwnd, on_undo_cwnd), (set_state, on_set_state), (cwnd_event, on_cwnd_event),                     \
		(sndbuf_expand, on_sndbuf_expand)

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#endif
