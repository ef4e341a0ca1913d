/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A row of the per-ACK table, and how an algorithm or the probe writes one.
 *
 *     struct db_ack *row = db_ack_begin(sk, DB_ACK_AFTER);
 *
 *     if (row) {
 *             row->rtt_us = rtt_of_this_ack;
 *             row->bbr_state = DB_BBR_STARTUP;
 *             db_ack_submit(row);
 *     }
 *
 * Every row goes through one ring buffer to the process that writes `acks.parquet`. It is woken by nobody: it looks at the
 * ring by time, so a row costs no more than its bytes. A row that finds the ring full is lost and counted.
 */
#ifndef DUMBBELL_ACK_H
#define DUMBBELL_ACK_H

#include <dumbbell/tcp.h>

#include <bpf/bpf_endian.h>

/* When in the life of an ACK a row was taken. */
enum db_ack_moment {
	DB_ACK_BEFORE, /* an ACK has arrived and is not processed yet */
	DB_ACK_AFTER,  /* an ACK has been processed, by congestion control, too */
	DB_ACK_CLOSE,  /* the connection begins to close, or is closed */
};

/* BBR's state. Version 1 has one PROBE_BW with gains in a cycle, later versions have four of them. */
enum db_bbr_state {
	DB_BBR_NONE, /* not BBR: none of the row's bbr_ fields means anything */
	DB_BBR_STARTUP,
	DB_BBR_DRAIN,
	DB_BBR_PROBE_BW,
	DB_BBR_PROBE_BW_DOWN,
	DB_BBR_PROBE_BW_CRUISE,
	DB_BBR_PROBE_BW_REFILL,
	DB_BBR_PROBE_BW_UP,
	DB_BBR_PROBE_RTT,
};

/* How BBRv2 and BBRv3 interpret ACKs while they probe. */
enum db_bbr_ack_phase {
	DB_BBR_ACKS_NONE, /* not BBRv2 or BBRv3 */
	DB_BBR_ACKS_INIT,
	DB_BBR_ACKS_REFILLING,
	DB_BBR_ACKS_PROBE_STARTING,
	DB_BBR_ACKS_PROBE_FEEDBACK,
	DB_BBR_ACKS_PROBE_STOPPING,
};

/* A value that is not known, not used, or infinite. */
#define DB_NONE 0xffffffffU

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
	__u32 remote_address; /* IPv4 or IPv4-mapped, network byte order */
	__u16 local_port;     /* host byte order */
	__u16 remote_port;    /* host byte order */
	__u8 moment;	      /* enum db_ack_moment */
	__u8 ca_state;	      /* enum tcp_ca_state */
	__u8 flags;
	__u8 bbr_state;	       /* enum db_bbr_state */
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
	__u32 delivered_ce;    /* of them, marked Congestion Experienced */
	__u32 lost_out;	       /* packets now deemed lost and not repaired */
	__u32 lost;	       /* packets ever marked lost */
	__u32 total_retrans;   /* segments retransmitted */
	__u32 rate_delivered;  /* packets of the latest delivery rate sample */
	__u32 rate_interval_us; /* its time; 0: no sample yet */

	/* BBR's, in its own fixed point: bandwidths in packets per microsecond << 24, gains << 8. */
	__u32 bbr_bw;
	__u32 bbr_bw_lo;	/* DB_NONE: unbounded */
	__u32 bbr_bw_hi;	/* DB_NONE: there is none */
	__u32 bbr_min_rtt_us;	/* DB_NONE: no sample yet */
	__u32 bbr_inflight_lo;	/* packets; DB_NONE: unbounded */
	__u32 bbr_inflight_hi;	/* packets; DB_NONE: unbounded */
	__u32 bbr_round;	/* packet-timed round trips so far */
	__u32 bbr_cycle;	/* version 1: index in the gain cycle; later ones: bandwidth probes so far. DB_NONE: outside */
	__u16 bbr_pacing_gain;
	__u16 bbr_cwnd_gain;
	__u8 bbr_ack_phase;	/* enum db_bbr_ack_phase */
	__u8 reserved[3];
};

_Static_assert(sizeof(struct db_ack) == 144, "the layout of a row is fixed");

/* A sender of the run: its namespace, and whom it sends to. */
struct db_flow_key {
	__u32 netns;	      /* inode number */
	__u32 remote_address; /* network byte order */
	__u16 remote_port;    /* host byte order */
	__u16 reserved;
};

/* The run's senders: of nobody else there are rows. Size and entries are the loader's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct db_flow_key);
	__type(value, __u8);
} db_flows SEC(".maps");

/* Its size is the loader's to set, or the map the loader's to replace. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} db_acks SEC(".maps");

/* Set by the loader if somebody reads the ring; a macro in a kernel of our own, which needs no loader. */
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

/* Is it a sender of the run? Of all connections of the machine, most are not, and everybody may choose an algorithm of ours. */
static __always_inline bool db_is_sender(const struct sock *sk)
{
	struct db_flow_key key = {
		.netns = netns_inode(sk),
		.remote_address = sk->__sk_common.skc_daddr,
		.remote_port = bpf_ntohs(sk->__sk_common.skc_dport),
	};

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
	row->remote_address = sk->__sk_common.skc_daddr;
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

	row->bbr_state = DB_BBR_NONE;
	row->bbr_bw = 0;
	row->bbr_bw_lo = DB_NONE;
	row->bbr_bw_hi = DB_NONE;
	row->bbr_min_rtt_us = DB_NONE;
	row->bbr_inflight_lo = DB_NONE;
	row->bbr_inflight_hi = DB_NONE;
	row->bbr_round = 0;
	row->bbr_cycle = DB_NONE;
	row->bbr_pacing_gain = 0;
	row->bbr_cwnd_gain = 0;
	row->bbr_ack_phase = DB_BBR_ACKS_NONE;
	row->reserved[0] = row->reserved[1] = row->reserved[2] = 0;
	return row;
}

/*
 * A row of `sk` with all but BBR's fields filled, or NULL: rows are not wanted, the socket is no sender of the run, it never
 * sent data, or the ring is full. Hand every row to db_ack_submit().
 */
static __always_inline struct db_ack *db_ack_begin(struct sock *sk, __u8 moment)
{
	return db_emit_acks && db_is_sender(sk) ? db_ack_take(sk, moment) : NULL;
}

/* Hand a row over. Nobody is woken for it. */
static __always_inline void db_ack_submit(struct db_ack *row)
{
	bpf_ringbuf_submit(row, BPF_RB_NO_WAKEUP);
}

#endif
