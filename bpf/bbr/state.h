// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The state that BBR keeps of a flow, and its view of an ACK. */
#ifndef BBR_STATE_H
#define BBR_STATE_H

#include <dumbbell/tcp.h>

/* The states of the state machine. The values are part of the record format: never renumber. */
enum bbr_state {
	BBR_STARTUP = 0,	 /* Exponential growth until the pipe is full. */
	BBR_DRAIN = 1,		 /* The queue that STARTUP built drains. */
	BBR_PROBE_BW_DOWN = 2,	 /* It sends less than the path delivers, so that the queue drains. */
	BBR_PROBE_BW_CRUISE = 3, /* It sends what the path delivers, with room for others. */
	BBR_PROBE_BW_REFILL = 4, /* The pipe is filled without a queue. */
	BBR_PROBE_BW_UP = 5,	 /* It sends more, to see whether the path delivers more. */
	BBR_PROBE_RTT = 6,	 /* Half a BDP for 200 ms, to see the path without a queue. */
	BBR_NO_STATE = 255,	 /* An undo has nothing saved. */
};

/* The packets that the ACKs report now: a probe is seen a round after it was sent. Never renumber these, either. */
enum bbr_ack_phase {
	BBR_ACKS_INIT = 0,	     /* They report nothing of a probe. */
	BBR_ACKS_REFILLING = 1,	     /* They report how the pipe is filled. */
	BBR_ACKS_PROBE_STARTING = 2, /* They still report packets from before the probe. */
	BBR_ACKS_PROBE_FEEDBACK = 3, /* They report the probe. */
	BBR_ACKS_PROBE_STOPPING = 4, /* They still report the probe, which has ended. */
};

/* A windowed maximum's sample. */
struct bbr_windowed {
	__u32 round;
	__u32 value;
};

/* Times are us of tp->tcp_mstamp, volumes packets, bandwidths packets per us << 24, gains and shares of 256. */
struct bbr {
	/* Bounds that the model learnt (model.h). */
	__u64 bw_win[2];	/* The greatest delivery rate of the previous and of the current probing cycle. */
	__u64 bw_lo;		/* Short-term bound of the rate; BBR_INF_BW: none. */
	__u64 bw_hi;		/* Long-term bound of the rate [v2]; BBR_INF_BW: none. */
	__u32 inflight_lo;	/* Short-term bound of the volume; BBR_INF: none. */
	__u32 inflight_hi;	/* Long-term bound of the volume; BBR_INF: none. */
	__u32 pacing_gain;
	__u32 cwnd_gain;

	/* The round and the loss round (signals.h). */
	__u64 bw_latest;	/* The greatest delivery rate in this loss round. */
	__u32 inflight_latest;	/* The greatest volume delivered in it. */
	__u32 next_round;	/* The round ends when a packet sent at this count of delivered ones, or later, is ACKed. */
	__u32 loss_round_end;	/* The same for the loss round, which begins with a loss. */
	__u32 round;		/* Rounds that began. */
	__u8 state;		/* enum bbr_state */
	__u8 ack_phase;		/* enum bbr_ack_phase */
	bool is_round_start;	/* This ACK starts a round. */
	bool is_loss_round_start; /* This ACK starts a loss round. */
	bool loss_in_round;
	bool ecn_in_round;
	bool loss_in_cycle;
	bool ecn_in_cycle;
	__u8 loss_events_in_round; /* ACKs in this round that reported losses, 15 at most. */

	/* The plateau of bandwidth (plateau.h). */
	bool full_bw_now;	/* It is there [v3]; can be restarted. */
	bool full_bw_reached;	/* It was there once in this connection: STARTUP is over. */
	__u8 prev_ca_state;	/* enum tcp_ca_state at the last ACK. */
	__u64 full_bw;		/* The bandwidth that growth is measured against. */
	__u32 full_bw_count;	/* Rounds without growth. */
	__u32 drain_round;	/* The round in which DRAIN began. */

	/* The probing cycle (phases.h, growth.h). */
	__u64 cycle_start;	/* When the cycle (DOWN) or UP began. */
	__u32 probe_wait_us;	/* The time until the next probe. */
	__u32 probes;		/* Probes of bandwidth so far: times that REFILL began. */
	__u32 up_rounds;	/* Growth of inflight_hi: doublings of the slope, */
	__u32 up_cnt;		/* ACKed packets per packet of growth, BBR_INF: it doesn't grow, */
	__u32 up_acks;		/* and those ACKed so far. */
	__u8 rounds_since_probe; /* Rounds since DOWN began, saturating. */
	bool is_sampling;	/* ACKs and losses tell of packets that were sent in the probe. */
	bool was_too_high;	/* The last probe was too high. */
	bool was_stopped_as_risky; /* It was stopped just because the one before it was too high. */
	bool has_ok_sample;	/* A sample of this probe was good [v2]. */

	/* The minimum RTT and PROBE_RTT (probe_rtt.h). */
	bool is_probe_rtt_round_done; /* A whole round passed with PROBE_RTT's window. */
	bool has_seen_rtt;
	bool is_idle_restart;	/* The flow was idle and nothing has been delivered since. */
	__u64 min_rtt_at;
	__u64 probe_rtt_at;	/* When probe_rtt_min was seen. */
	__u64 probe_rtt_done_at; /* When PROBE_RTT may end; 0: its window is not down yet. */
	__u32 min_rtt_us;	/* Over 10 s; BBR_INF: none yet. */
	__u32 probe_rtt_min_us;	/* Over 5 s, which schedules PROBE_RTT. */

	/* ACK aggregation (aggregation.h). */
	__u64 agg_start;	/* When the epoch began, */
	__u32 agg_acked;	/* and packets ACKed in it. */
	__u32 extra_acked;	/* The most in excess of what was expected, in this slot */
	__u32 extra_acked_before; /* and in the one before it. */
	__u32 extra_acked_round;
	struct bbr_windowed extra_acked_win[3]; /* The draft's form of it. */
	__u8 extra_acked_age;	/* Rounds of this slot. */

	/* ECN (ecn.h). */
	bool ecn_eligible;	/* Marks are answered; stays so. */
	__u8 undo_state;	/* enum bbr_state */
	__u32 ecn_startup_rounds; /* Rounds of STARTUP in a row with too many marks. */
	__u32 ecn_alpha;	/* The average share of marks; begins at 1. */
	__u32 alpha_delivered;	/* tp->delivered and delivered_ce at the last round's start. */
	__u32 alpha_delivered_ce;

	/* Recovery (recovery.h). */
	__u32 undo_inflight_lo;	/* The values that an undo restores. */
	__u32 undo_inflight_hi;
	__u64 undo_bw_lo;
	__u32 prior_cwnd;	/* The window before recovery or PROBE_RTT. */
	__u32 init_cwnd;	/* The initial window, 127 at most. */
};

/* BBR's view of an ACK: the kernel's rate sample, and values that mainline's lacks. */
struct bbr_ack {
	__u64 bw;		/* The delivery rate; 0: no sample. */
	__s64 interval_us;	/* The longer of the send phase and the ACK phase; 0 or less: no sample. */
	__s64 rtt_us;		/* The RTT of the newest packet ACKed; negative: none. */
	__u32 prior_delivered;	/* tp->delivered when that packet was sent. */
	__s32 delivered;	/* Packets delivered over the interval; negative: no sample. */
	__s32 delivered_ce;	/* The part of them reported as CE-marked. */
	__s32 newly_lost;	/* Packets newly marked lost. */
	__s32 lost;		/* Packets marked lost since that packet was sent. Not mainline's. */
	__u32 newly_acked;	/* Packets newly ACKed or SACKed. */
	__u32 prior_in_flight;	/* Packets in flight before this ACK was processed. */
	__u32 tx_in_flight;	/* Packets in flight right after that packet was sent, with it; 0: unknown. Not mainline's. */
	bool is_app_limited;	/* The application limited the flow when that packet was sent. */
	bool is_ack_delayed;	/* The receiver probably delayed this ACK. */
	bool is_ece;		/* This ACK carries ECE. */
	bool is_of_tlp;		/* This ACK acknowledges the sequence of a TLP's retransmission. Not mainline's. */
};

/* A packet as it is marked lost. */
struct bbr_lost_packet {
	__u32 tx_in_flight;	/* Packets in flight right after it was sent, with it. */
	__s32 lost;		/* Packets marked lost since it was sent, with it. */
	__u32 segments;		/* Segments in it. */
	bool is_app_limited;	/* It was sent while the application limited the flow. */
	bool was_sacked;	/* The receiver had SACKed it and reneged. */
};

static inline bool bbr_in_probe_bw(const struct bbr *bbr)
{
	return bbr->state >= BBR_PROBE_BW_DOWN && bbr->state <= BBR_PROBE_BW_UP;
}

/* True if more is sent than was known to fit: losses don't lower the short-term bounds then. */
static inline bool bbr_is_probing(const struct bbr *bbr)
{
	return bbr->state == BBR_STARTUP || bbr->state == BBR_PROBE_BW_REFILL || bbr->state == BBR_PROBE_BW_UP;
}

#endif
