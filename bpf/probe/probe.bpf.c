// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The probe: rows of the connections whose algorithm writes none itself, taken at the kernel's own tracepoints.
 *
 * tcp_probe fires for every segment that reaches an established connection, before TCP looks at it: at a sender, for every
 * ACK. A row shows what the ACKs before it have made of the connection. In the states after ESTABLISHED it does not fire, so
 * the rows of a connection end when its application closes it; what it was then is the row of inet_sock_set_state.
 */
#include <dumbbell/ack.h>

#include <bpf/bpf_tracing.h>

/* Linux: include/net/tcp_states.h */
enum {
	TCP_ESTABLISHED = 1,
	TCP_CLOSE = 7,
};

/* The name of an algorithm, filled up with zeros. */
struct name {
	__u64 words[2];
};

/* Algorithms that write rows themselves, as the kernel names them. Filled by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct name);
	__type(value, __u8);
} db_emitters SEC(".maps");

static __always_inline struct name algorithm(const struct sock *sk)
{
	const __u64 *words = (const void *)inet_csk(sk)->icsk_ca_ops->name;

	return (struct name){{words[0], words[1]}};
}

static __always_inline bool is_kernel_bbr(const struct name *name)
{
	union {
		char text[16];
		__u64 words[2];
	} bbr = {.text = "bbr"};

	return name->words[0] == bbr.words[0] && name->words[1] == bbr.words[1];
}

/* The state of the kernel's own BBR, version 1, in the socket. Its modes are numbered in the order of our states. */
static __always_inline void add_bbr(struct db_ack *row, const struct sock *sk)
{
	const struct bbr___kernel *bbr = inet_csk_ca(sk);

	/* A kernel whose "bbr" is of a later version has no such field. */
	if (!bpf_core_field_exists(bbr->lt_use_bw))
		return;
	row->bbr_state = DB_BBR_STARTUP + BPF_CORE_READ_BITFIELD(bbr, mode);
	if (row->bbr_state == DB_BBR_PROBE_BW)
		row->bbr_cycle = BPF_CORE_READ_BITFIELD(bbr, cycle_idx);
	else if (row->bbr_state == DB_BBR_PROBE_BW + 1)
		row->bbr_state = DB_BBR_PROBE_RTT;
	row->bbr_bw = BPF_CORE_READ_BITFIELD(bbr, lt_use_bw) ? bbr->lt_bw : bbr->bw.s[0].v;
	row->bbr_min_rtt_us = bbr->min_rtt_us;
	row->bbr_round = bbr->rtt_cnt;
	row->bbr_pacing_gain = BPF_CORE_READ_BITFIELD(bbr, pacing_gain);
	row->bbr_cwnd_gain = BPF_CORE_READ_BITFIELD(bbr, cwnd_gain);
}

static __always_inline void emit(struct sock *sk, __u8 moment, const struct name *name)
{
	struct db_ack *row = db_ack_take(sk, moment);

	if (!row)
		return;
	if (is_kernel_bbr(name))
		add_bbr(row, sk);
	db_ack_submit(row);
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(on_segment, struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct name name;

	/* Receivers are the most frequent, and the cheapest to tell. */
	if (!tp || !tp->data_segs_out || !db_is_sender(sk))
		return 0;
	name = algorithm((struct sock *)tp);
	if (!bpf_map_lookup_elem(&db_emitters, &name))
		emit((struct sock *)tp, DB_ACK_BEFORE, &name);
	return 0;
}

/* Fires in the old state, of connections that fail, too: those never sent data, and get no row. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int old, int new)
{
	struct tcp_sock *tp;
	struct name name;

	if ((old != TCP_ESTABLISHED && new != TCP_CLOSE) || !db_is_sender(sk))
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	name = algorithm((struct sock *)tp);
	emit((struct sock *)tp, DB_ACK_CLOSE, &name);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
