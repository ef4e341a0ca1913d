/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A row of the per-ACK table, and how an algorithm or the probe writes one.
 *
 *     struct db_ack *row = db_ack_begin(sk, DB_ACK_AFTER);
 *
 *     if (row) {
 *             struct db_own_state *state = db_ack_state(row, DB_STATE_OWN);
 *
 *             row->rtt_us = rtt_of_this_ack;
 *             state->value_1 = packets_in_the_queue;
 *             db_ack_submit(row);
 *     }
 *
 * Every row goes through one ring buffer to the process that writes `acks.parquet`. It is woken by nobody: it looks at the
 * ring by time, so a row costs no more than its bytes. A row that finds the ring full is lost and counted.
 */
#ifndef DUMBBELL_ACK_H
#define DUMBBELL_ACK_H

#include <dumbbell/state.h>
#include <dumbbell/tcp.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

/* The moment in the life of an ACK at which a row was taken. */
enum db_ack_moment {
	DB_ACK_BEFORE, /* an ACK has arrived and is not processed yet */
	DB_ACK_AFTER,  /* an ACK has been processed, by congestion control, too */
	DB_ACK_CLOSE,  /* the connection begins to close, or is closed */
};

/* Bits of db_ack.flags. */
#define DB_ACK_APP_LIMITED 1 /* the rate sample was limited by the application */

/*
 * One row. Its layout is fixed; a later version may only append. Multiples of 8 bytes, no holes, so that it reads the same
 * in every language; the reader tells versions apart by the size of the ring's record. The reader, crates/probe, is built
 * from this declaration and from the enumerations and constants above.
 */
struct db_ack {
	__u64 time_ns;	      /* CLOCK_MONOTONIC */
	__u64 bytes_acked;    /* acknowledged cumulatively; SYN and FIN count one each */
	__u64 pacing_rate;    /* bytes per second; all ones: not paced */
	__u32 netns;	      /* inode number of the socket's network namespace */
	__u32 remote_address; /* IPv4, network byte order; 0: IPv6 */
	__u16 local_port;     /* host byte order */
	__u16 remote_port;    /* host byte order */
	__u8 moment;	      /* enum db_ack_moment */
	__u8 ca_state;	      /* enum tcp_ca_state */
	__u8 flags;
	__u8 state_of;	       /* enum db_state_of */
	__u32 snd_una;	       /* the first sequence number that is not acknowledged */
	__u32 snd_nxt;	       /* the next sequence number to be sent */
	__u32 cwnd;	       /* packets */
	__u32 ssthresh;	       /* packets; TCP_INFINITE_SSTHRESH and above: infinite */
	__u32 mss;	       /* bytes of payload in a full segment */
	__u32 srtt_us;	       /* 0: no sample yet */
	__u32 rtt_us;	       /* the latest sample; DB_NONE: none */
	__u32 min_rtt_us;      /* of the kernel's own filter; DB_NONE: no sample yet */
	__u32 in_flight;       /* packets */
	__u32 delivered;       /* packets */
	__u32 delivered_ce;    /* the part of them marked Congestion Experienced */
	__u32 lost_out;	       /* packets now deemed lost and not repaired */
	__u32 lost;	       /* packets ever marked lost */
	__u32 total_retrans;   /* segments retransmitted */
	__u32 rate_delivered;  /* packets of the latest delivery rate sample */
	__u32 rate_interval_us; /* its time; 0: no sample yet */

	__u32 state[DB_STATE_SLOTS]; /* what the algorithm publishes: struct db_NAME_state of state_of */

	__u32 remote_ipv6[4]; /* network byte order; 0: IPv4 */
};

_Static_assert(sizeof(struct db_ack) == 120 + 4 * DB_STATE_SLOTS, "the layout of a row is fixed");

/* A sender of the run: its namespace, and whom it sends to. */
struct db_flow_key {
	__u32 netns;	      /* inode number */
	__u32 remote_address; /* IPv4, network byte order; 0: IPv6 */
	__u32 remote_ipv6[4]; /* network byte order; 0: IPv4 */
	__u16 remote_port;    /* host byte order */
	__u16 reserved;
};

/* The run's senders: nobody else has rows. The loader sets size and entries. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct db_flow_key);
	__type(value, __u8);
} db_flows SEC(".maps");

/* The loader sets its size, or replaces the map. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} db_acks SEC(".maps");

/* The loader sets it if somebody reads the ring. It is a macro in a kernel of our own, which needs no loader. */
#ifndef db_emit_acks
const volatile bool db_emit_acks = false;
#endif

/* Rows of this object that found the ring full. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} db_acks_lost SEC(".maps");

static __always_inline void db_ack_lose(void)
{
	__u32 first = 0;
	__u64 *lost = bpf_map_lookup_elem(&db_acks_lost, &first);

	if (lost)
		__sync_fetch_and_add(lost, 1);
}

/* True if its packets are IPv6: a socket for both versions may be connected to an address of IPv4. */
static __always_inline bool db_is_ipv6(const struct sock *sk)
{
	const struct sock_common *common = &sk->__sk_common;

	if (common->skc_family != AF_INET6 || !bpf_core_field_exists(common->skc_v6_daddr))
		return false;
	return common->skc_v6_daddr.in6_u.u6_addr32[0] || common->skc_v6_daddr.in6_u.u6_addr32[1] ||
	       common->skc_v6_daddr.in6_u.u6_addr32[2] != bpf_htonl(0xffff);
}

/* The remote end's address in IPv6; zeros in IPv4. */
static __always_inline void db_remote_ipv6(const struct sock *sk, __u32 *address)
{
	bool ipv6 = db_is_ipv6(sk);

	for (int i = 0; i < 4; i++)
		address[i] = ipv6 ? sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i] : 0;
}

/* Its address in IPv4, also of a socket for both versions; 0 in IPv6. */
static __always_inline __u32 db_remote_ipv4(const struct sock *sk)
{
	return db_is_ipv6(sk) ? 0 : sk->__sk_common.skc_daddr;
}

/* True for a sender of the run. Most connections of the machine are none, and everybody may choose an algorithm of ours. */
static __always_inline bool db_is_sender(const struct sock *sk)
{
	struct db_flow_key key = {
		.netns = netns_inode(sk),
		.remote_address = db_remote_ipv4(sk),
		.remote_port = bpf_ntohs(sk->__sk_common.skc_dport),
	};

	db_remote_ipv6(sk, key.remote_ipv6);
	return bpf_map_lookup_elem(&db_flows, &key);
}

/* A row of `sk`, wanted or not: see db_ack_begin(). */
static __always_inline struct db_ack *db_ack_take(struct sock *sk, __u8 moment)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct db_ack *row;
	__u32 rtt_us;

	if (!tp->data_segs_out)
		return NULL;
	row = bpf_ringbuf_reserve(&db_acks, sizeof(*row), 0);
	if (!row) {
		db_ack_lose();
		return NULL;
	}
	row->time_ns = bpf_ktime_get_ns();
	row->bytes_acked = tp->bytes_acked;
	row->pacing_rate = sk->sk_pacing_rate;
	row->netns = netns_inode(sk);
	row->remote_address = db_remote_ipv4(sk);
	db_remote_ipv6(sk, row->remote_ipv6);
	row->local_port = bpf_ntohs(tp->inet_conn.icsk_inet.inet_sport);
	row->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	row->moment = moment;
	row->ca_state = ca_state(sk);
	row->flags = rate_app_limited(tp) ? DB_ACK_APP_LIMITED : 0;
	row->snd_una = tp->snd_una;
	row->snd_nxt = tp->snd_nxt;
	row->cwnd = tp->snd_cwnd;
	row->ssthresh = tp->snd_ssthresh;
	row->mss = tp->mss_cache;
	row->srtt_us = tp->srtt_us >> 3;
	/* The RTT of the segment that was delivered last, from the time it was sent. */
	rtt_us = tp->rack.rtt_us;
	row->rtt_us = rtt_us ? rtt_us : DB_NONE;
	row->min_rtt_us = tcp_min_rtt(tp);
	row->in_flight = tcp_packets_in_flight(tp);
	row->delivered = tp->delivered;
	row->delivered_ce = tp->delivered_ce;
	row->lost_out = tp->lost_out;
	row->lost = tp->lost;
	row->total_retrans = tp->total_retrans;
	row->rate_delivered = tp->rate_delivered;
	row->rate_interval_us = tp->rate_interval_us;

	row->state_of = DB_STATE_NONE;
	for (int i = 0; i < DB_STATE_SLOTS; i++)
		row->state[i] = DB_NONE;
	return row;
}

/*
 * A row of `sk` without its algorithm's state, or NULL: rows are not wanted, the socket is no sender of the run, it never
 * sent data, or the ring is full. Hand every row to db_ack_submit().
 */
static __always_inline struct db_ack *db_ack_begin(struct sock *sk, __u8 moment)
{
	return db_emit_acks && db_is_sender(sk) ? db_ack_take(sk, moment) : NULL;
}

/* The place in a row for the state of the algorithms `of`: a struct db_NAME_state, in which nothing is known yet. */
static __always_inline void *db_ack_state(struct db_ack *row, enum db_state_of of)
{
	row->state_of = of;
	return row->state;
}

/* Hand a row over. Nobody is woken for it. */
static __always_inline void db_ack_submit(struct db_ack *row)
{
	bpf_ringbuf_submit(row, BPF_RB_NO_WAKEUP);
}

#endif
