// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The probe: rows of the connections whose algorithm writes none itself, taken at the kernel's own tracepoints.
 *
 * tcp_probe fires for every segment that reaches an established connection, before TCP looks at it: at a sender, for every
 * ACK. A row shows what the ACKs before it have made of the connection. In the states after ESTABLISHED it does not fire, so
 * the rows of a connection end when its application closes it; what it was then is the row of inet_sock_set_state.
 */
#include <algorithms/kernel.h>
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

/*
 * The programs of the run, as the kernel names them, and whose state the first words of icsk_ca_priv are (enum db_state_of).
 * Filled by the loader.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct name);
	__type(value, __u8);
} db_programs SEC(".maps");

/* In place of an enum db_state_of: it writes rows itself. */
#define DB_WRITES_ROWS 255

static __always_inline struct name algorithm(const struct sock *sk)
{
	const __u64 *words = (const void *)inet_csk(sk)->icsk_ca_ops->name;

	return (struct name){{words[0], words[1]}};
}

/* A text of at most 16 bytes as a name. */
#define NAME(text_)                                                                                                    \
	((union {                                                                                                      \
		char text[16];                                                                                         \
		struct name name;                                                                                      \
	}){.text = text_}                                                                                              \
		 .name)

static __always_inline bool is_named(const struct name *name, struct name other)
{
	return name->words[0] == other.words[0] && name->words[1] == other.words[1];
}

/* The state of the algorithm: of a program of the run, what its state begins with; else the kernel's own, if it is known. */
static __always_inline void publish(struct db_ack *row, const struct sock *sk, const struct name *name, __u8 *program)
{
	if (program) {
		const __u32 *published = inet_csk_ca(sk);
		__u32 *state;

		if (*program == DB_STATE_NONE || *program == DB_WRITES_ROWS)
			return;
		state = db_ack_state(row, *program);
		for (int i = 0; i < DB_STATE_SLOTS; i++)
			state[i] = published[i];
		return;
	}
#define PUBLISH(algorithm)                                                                                             \
	if (is_named(name, NAME(#algorithm)))                                                                          \
		return publish_##algorithm(row, sk);
	KERNEL_STATES(PUBLISH)
}

static __always_inline void emit(struct sock *sk, __u8 moment, const struct name *name, __u8 *program)
{
	struct db_ack *row = db_ack_take(sk, moment);

	if (!row)
		return;
	publish(row, sk, name, program);
	db_ack_submit(row);
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(on_segment, struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct name name;
	__u8 *program;

	/* Receivers are the most frequent, and the cheapest to tell. */
	if (!tp || !tp->data_segs_out || !db_is_sender(sk))
		return 0;
	name = algorithm((struct sock *)tp);
	program = bpf_map_lookup_elem(&db_programs, &name);
	if (!program || *program != DB_WRITES_ROWS)
		emit((struct sock *)tp, DB_ACK_BEFORE, &name, program);
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
	emit((struct sock *)tp, DB_ACK_CLOSE, &name, bpf_map_lookup_elem(&db_programs, &name));
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
