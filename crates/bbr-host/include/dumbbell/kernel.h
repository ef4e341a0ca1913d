// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Stand-ins for the kernel's types: the fields that algorithms use, by their names. The layout is also known to src/ffi.rs. */
#ifndef DUMBBELL_KERNEL_H
#define DUMBBELL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

enum tcp_ca_event { CA_EVENT_TX_START };

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

struct sock {
	__u64 sk_pacing_rate;
	__u64 sk_max_pacing_rate;
	__u32 sk_pacing_shift;
	bool is_pacing_requested;
	__u8 ca_state;
};

struct tcp_skb_cb {
	__u32 end_seq;
	__u16 tcp_gso_segs;
	__u8 sacked;
	struct {
		__u32 delivered;
		bool is_app_limited;
	} tx;
};

struct sk_buff {
	struct tcp_skb_cb cb;
	bool is_first; /* of those that are sent and not yet ACKed */
};

struct tcp_sock {
	struct sock sk;
	__u64 tcp_mstamp;
	__u64 tcp_clock_cache;
	__u64 tcp_wstamp_ns;
	__u64 delivered_mstamp;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 lost_out;
	__u32 sacked_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 app_limited;
	__u32 srtt_us;
	__u32 min_rtt_us;
	__u32 mss_cache;
	__u32 lost;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 tlp_high_seq;
	struct sk_buff sent[9]; /* some of them, in order */
	__u8 retransmit_skb_hint; /* A place in `sent`, from 1 on; 0: none. */
	__u8 highest_sack;	  /* The same. */
	bool is_cwnd_limited;
	bool tlp_retrans;
	bool is_sack_reneg;
	bool rate_app_limited;
	__u32 snd_cwnd_cnt;
	__u32 prior_cwnd;
	__u32 max_packets_out;
	__u64 icsk_ca_priv[13];
};

struct rate_sample {
	__u32 prior_delivered;
	__s32 delivered;
	__s32 delivered_ce;
	long interval_us;
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	__u32 last_end_seq;
	bool is_app_limited;
	bool is_ack_delayed;
};

#endif
