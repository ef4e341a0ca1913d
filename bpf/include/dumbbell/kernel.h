/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's types, as far as congestion controls need them.
 *
 * They have only the fields that are used, in any order: the BTF of the kernel that runs gives their offsets when the program
 * is loaded (CO-RE). So one object fits all kernels that have these fields, and no vmlinux.h is needed. A source that has one
 * may include it before this header, which then adds nothing that it has.
 */
#ifndef DUMBBELL_KERNEL_H
#define DUMBBELL_KERNEL_H

#ifndef __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;

typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;

#ifndef __cplusplus
typedef _Bool bool;
#define true 1
#define false 0
#endif

/* The map types and flags of the user-space interface, unless <linux/bpf.h> came first. */
#if !defined(__LINUX_BPF_H__) && !defined(_UAPI__LINUX_BPF_H__)
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_F_NO_PREALLOC = 1,
	BPF_SK_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};
#endif

/* The state of loss recovery. */
enum tcp_ca_state {
	TCP_CA_Open = 0,     /* nothing suspicious */
	TCP_CA_Disorder = 1, /* the first duplicate ACKs or SACKs: maybe reordering */
	TCP_CA_CWR = 2,      /* the window is being reduced without a loss: ECN, or a tail loss probe that repaired one */
	TCP_CA_Recovery = 3, /* fast retransmit */
	TCP_CA_Loss = 4,     /* the retransmission timer expired */
};

/* The events of cwnd_event. From Linux 7.1 on, CA_EVENT_TX_START has its own callback (congestion_control.h). */
enum tcp_ca_event {
	CA_EVENT_TX_START = 0,     /* the first transmission with no packet in flight */
	CA_EVENT_CWND_RESTART = 1, /* the window restarts after idleness */
	CA_EVENT_COMPLETE_CWR = 2, /* the end of a window reduction */
	CA_EVENT_LOSS = 3,         /* the retransmission timer expired */
	CA_EVENT_ECN_NO_CE = 4,    /* data came that is ECT but not CE (receiver) */
	CA_EVENT_ECN_IS_CE = 5,    /* data came that is CE (receiver) */
};

#ifndef AF_INET6
#define AF_INET6 10 /* sk_family of IPv6 sockets */
#endif

/* sk->sk_pacing_status */
enum sk_pacing {
	SK_PACING_NONE = 0,
	SK_PACING_NEEDED = 1, /* by TCP's own timer */
	SK_PACING_FQ = 2,     /* by the fq queueing discipline */
};

/* Bits of in_ack_event. */
enum tcp_ca_ack_event_flags {
	CA_ACK_SLOWPATH = 1,   /* not an ACK of the expected kind */
	CA_ACK_WIN_UPDATE = 2, /* it changed the send window */
	CA_ACK_ECE = 4,        /* it carries ECE */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct in6_addr {
	union {
		__u8 u6_addr8[16];
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport; /* network order */
	__u16 skc_num;    /* the local port, host order */
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
	u32 sk_pacing_status;             /* enum sk_pacing */
	unsigned long sk_pacing_rate;     /* bytes/s */
	unsigned long sk_max_pacing_rate; /* bytes/s */
	unsigned int sk_gso_max_size;     /* bytes */
	u16 sk_gso_max_segs;
	u8 sk_pacing_shift; /* a TSO train holds sk_pacing_rate >> sk_pacing_shift bytes */
	u8 sk_shutdown;
	u32 sk_mark;
};

struct inet_sock {
	struct sock sk;
	__be16 inet_sport; /* the local port, network order; stays when skc_num is given back at the close */
};

struct tcp_congestion_ops;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u32 icsk_rto; /* jiffies */
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_ca_state : 5; /* read it by ca_state() */
	__u8 icsk_retransmits;
	__u8 icsk_backoff;
	struct {
		__u8 pending; /* ICSK_ACK_SCHED of tcp.h and others */
	} icsk_ack;
	u64 icsk_ca_priv[13]; /* 104 bytes for the algorithm that runs */
};

struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_rack {
	u32 rtt_us; /* of the segment that was delivered last */
};

struct sk_buff;

/* Packets are segments of mss_cache bytes; counters and sequence numbers wrap. */
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_mstamp;      /* us: now, when the ACK that is processed arrived */
	u64 tcp_clock_cache; /* ns: the same moment */
	u64 tcp_wstamp_ns;   /* ns: the earliest departure of the next paced packet */
	u64 delivered_mstamp; /* us: when delivered grew last */
	u64 first_tx_mstamp;  /* us: when the packet was sent that was ACKed last, of those the one sent last */
	u32 lsndtime;         /* jiffies: the last transmission of data */
	u32 rcv_nxt;
	u32 snd_nxt;
	u32 snd_una;
	u32 write_seq;
	u32 snd_wnd;     /* bytes */
	u32 mss_cache;   /* bytes */
	u32 snd_cwnd;    /* packets */
	u32 snd_cwnd_cnt; /* packets ACKed that have not grown the window yet */
	u32 snd_cwnd_clamp;
	u32 snd_cwnd_stamp; /* jiffies */
	u32 snd_ssthresh;   /* packets; TCP_INFINITE_SSTHRESH of tcp.h */
	u32 prior_cwnd;     /* snd_cwnd just before the last reduction */
	u32 prior_ssthresh;
	u32 max_packets_out; /* the most packets in flight in the last round */
	u32 high_seq;        /* snd_nxt when recovery began */
	u32 undo_marker;
	u32 packets_out; /* sent and not cumulatively ACKed */
	u32 retrans_out; /* the part of them retransmitted and not ACKed */
	u32 lost_out;    /* the part of them marked lost */
	u32 sacked_out;  /* the part of them SACKed */
	u32 delivered;   /* ever ACKed or SACKed */
	u32 delivered_ce; /* the part of them reported as CE */
	u32 lost;          /* ever marked lost */
	u32 app_limited;   /* limited by the application until delivered reaches this; 0: it is not */
	u32 rate_delivered;   /* the last rate sample: packets ... */
	u32 rate_interval_us; /* ... in this time */
	u64 bytes_sent;
	u64 bytes_acked;
	u64 bytes_received;
	u64 bytes_retrans;
	u32 total_retrans;
	u32 data_segs_out;
	u32 srtt_us; /* us << 3; 0: no sample yet */
	u32 mdev_us;
	struct minmax rtt_min; /* read it by tcp_min_rtt() */
	struct tcp_rack rack;
	u32 reordering;
	u32 reord_seen;
	u32 tlp_high_seq; /* snd_nxt at a tail loss probe that is not resolved; 0: there is none */
	struct sk_buff *highest_sack; /* the packet behind the highest one that was SACKed; NULL: there is none behind it */
	struct sk_buff *retransmit_skb_hint; /* the first packet that is lost and not yet retransmitted, or one before it */
	u8 ecn_flags;       /* TCP_ECN_OK of tcp.h and others */
	u8 is_cwnd_limited : 1; /* read these by the functions of tcp.h */
	u8 rate_app_limited : 1;
	u8 tlp_retrans : 1;
	u8 is_sack_reneg : 1;
};

/* An ACK's sample of the delivery rate. Its packet is the ACKed one that was sent last. */
struct rate_sample {
	u64 prior_mstamp;       /* us: tp->delivered_mstamp when the packet was sent */
	u32 prior_delivered;    /* tp->delivered then */
	u32 prior_delivered_ce; /* tp->delivered_ce then */
	s32 delivered;          /* packets delivered since; < 0: no valid sample */
	s32 delivered_ce;       /* the part of them marked CE */
	long interval_us;       /* in this time; <= 0: no valid sample */
	long rtt_us;            /* the packet's round trip; < 0: none */
	int losses;             /* packets that this ACK marked lost */
	u32 acked_sacked;       /* packets that this ACK ACKed or SACKed for the first time */
	u32 prior_in_flight;    /* packets in flight before this ACK */
	u32 last_end_seq;    /* the sequence number after the packet's last byte */
	bool is_app_limited; /* the packet was sent while the application was the limit */
	bool is_retrans;
	bool is_ack_delayed; /* this may be a delayed ACK */
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us; /* < 0: none */
	u32 in_flight;
};

struct rb_node {
	unsigned long __rb_parent_color; /* the parent's address; the two lowest bits are something else */
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct sk_buff {
	struct rb_node rbnode; /* its place among the packets that TCP has sent, by sequence number */
	struct sock *sk;
	char cb[48]; /* tcp_skb_cb while the packet is in TCP's queues */
	unsigned int len;
	unsigned int data_len;
	__be16 protocol;
	__u16 transport_header;
	__u16 network_header;
	unsigned int end;
	unsigned char *head;
	unsigned char *data;
};

struct skb_shared_info {
	unsigned short gso_size;
	unsigned short gso_segs;
};

struct tcp_skb_cb {
	__u32 seq;
	__u32 end_seq;
	u16 tcp_gso_segs;
	u16 tcp_gso_size;
	__u8 sacked;
	struct {
		__u32 is_app_limited : 1;
		__u32 delivered;      /* tp->delivered when it was sent */
		u64 first_tx_mstamp;  /* us */
		u64 delivered_mstamp; /* us */
	} tx;
};

#pragma clang attribute pop

#endif /* __VMLINUX_H__ */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The callbacks of a congestion control, as kernels of different ages have them: see congestion_control.h. */
#define DUMBBELL_TCP_CONGESTION_OPS(flavour, cong_control_arguments, newer)                                           \
	struct tcp_congestion_ops##flavour {                                                                          \
		__u32 (*ssthresh)(struct sock *);                                                                     \
		void (*cong_avoid)(struct sock *, __u32, __u32);                                                      \
		void (*set_state)(struct sock *, __u8);                                                               \
		void (*cwnd_event)(struct sock *, enum tcp_ca_event);                                                 \
		newer void (*in_ack_event)(struct sock *, __u32);                                                     \
		void (*pkts_acked)(struct sock *, const struct ack_sample *);                                         \
		__u32 (*min_tso_segs)(struct sock *);                                                                 \
		void (*cong_control) cong_control_arguments;                                                          \
		__u32 (*undo_cwnd)(struct sock *);                                                                    \
		__u32 (*sndbuf_expand)(struct sock *);                                                                \
		char name[16];                                                                                        \
		__u32 key;                                                                                            \
		__u32 flags;                                                                                          \
		void (*init)(struct sock *);                                                                          \
		void (*release)(struct sock *);                                                                       \
	}

#ifndef __VMLINUX_H__
DUMBBELL_TCP_CONGESTION_OPS(, (struct sock *, __u32, int, const struct rate_sample *), );
#endif
DUMBBELL_TCP_CONGESTION_OPS(___v64, (struct sock *, const struct rate_sample *), );
DUMBBELL_TCP_CONGESTION_OPS(___v610, (struct sock *, __u32, int, const struct rate_sample *), );
DUMBBELL_TCP_CONGESTION_OPS(___v71, (struct sock *, __u32, int, const struct rate_sample *),
			    void (*cwnd_event_tx_start)(struct sock *););

#pragma clang attribute pop

#endif
