// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * CUBIC (RFC 9438) as Linux runs it, with HyStart.
 *
 * Its clock counts ticks of 4 ms, as that of a Linux with HZ = 250 does: how often the curve is looked at decides how fast a
 * small window grows. Linux's cube root is a table and one Newton step, within 0.2 % on average; here it is exact.
 */
#include <algorithms/cubic/parameters.h>
#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

PARAMETERS(PARAMETER)
PUBLISHES(DB_STATE_CUBIC)

/* C = 0.4 (section 5), of 1024 and scaled by 10: 41/1024 * 10. */
#define CUBIC_C 410
/* A tick of the clock, us, and the ticks of a second. */
#define TICK_US 4000
#define TICKS_PER_S (1000000 / TICK_US)
/* The curve's own clock ticks 1024 times a second, so that the scalings are shifts. */
#define CLOCK_SHIFT 10
/* C's scale and three times the clock's. */
#define CUBE_SHIFT (10 + 3 * CLOCK_SHIFT)
/* Farther from the plateau than this the curve is as good as vertical; in ticks, 128 s. It keeps the cube within 64 bits. */
#define FARTHEST (1 << 17)
/* While the window stands, the curve is worked out anew when more ticks than these have passed. */
#define UPDATE_EVERY (TICKS_PER_S / 32)
/* Before the first loss the window grows by 5 % in a round at least: a packet for each 20 ACKed. */
#define SLOWEST_WITHOUT_LOSS 20
/* At most half a packet for each ACKed (section 4.4's limit of 1.5 cwnd in a round). */
#define FASTEST 2
/* RTT samples of the first second after a reduction are not trusted: retransmissions and the draining queue are in them. */
#define DISTRUST_AFTER_REDUCTION TICKS_PER_S

/* HyStart: smaller windows are left alone, packets; but rounds are counted from the first. */
#define LOW_WINDOW 16
/* ACKs closer than this belong to one train, us. */
#define ACK_DELTA 2000
/* RTT samples that a round's minimum needs. */
#define MIN_SAMPLES 8
/* The rise of the round's minimum RTT that counts, us: an eighth of the least delay, within these bounds. */
#define DELAY_MIN 4000U
#define DELAY_MAX 16000U

struct cubic {
	/* W_max, the window before the last reduction; and of this epoch, if there is one, the plateau, K and W_est. */
	struct db_cubic_state state;
	__u32 last_cwnd;   /* the window, ... */
	__u32 last_update; /* ... and the time of the last update, ticks */
	__u32 epoch_start; /* when this epoch of congestion avoidance began, ticks */
	__u32 reno_acked;  /* ACKs that have not grown W_est (section 4.3) yet */
	__u32 acks_per_packet; /* the answer: ACKs per packet of growth */
	/* HyStart's round. */
	__u32 round_start; /* when it began, us */
	__u32 last_ack;	   /* when the last ACK of the train came, us */
	__u32 end_seq;	   /* it ends when this is ACKed */
	__u32 curr_rtt;	   /* the least RTT in it, us */
	__u32 samples;	   /* of the RTT in it, at most MIN_SAMPLES */
	/* A pair of clocks, for times that the stack keeps in jiffies. */
	__u32 jiffies;
	__u32 ticks;
	__u8 in_epoch;
};

_Static_assert(sizeof(struct cubic) <= 104, "must fit icsk_ca_priv");

static __always_inline __u32 now_us(const struct tcp_sock *tp)
{
	return (__u32)tp->tcp_mstamp;
}

static __always_inline __u32 now_ticks(const struct tcp_sock *tp)
{
	return (__u32)(tp->tcp_mstamp / TICK_US);
}

/* The largest integer whose cube is at most a, for a < 2^54: bit by bit, from the top, without branches. */
static __always_inline __u32 cube_root(__u64 a)
{
	__u64 root = 0;

	for (__u64 bit = 1 << 17; bit; bit >>= 1) {
		__u64 longer = root | bit;

		root |= bit & (((a - longer * longer * longer) >> 63) - 1);
	}
	return (__u32)root;
}

static __always_inline __u32 scale(__u32 value, __u32 numerator, __u32 denominator)
{
	return (__u32)((__u64)value * numerator / denominator);
}

/* ACKs per packet so that the window meets W_cubic(t) = C (t - K)^3 + W_max (equation 1); t in ticks. */
static __always_inline __u32 cubic_pace(const struct cubic *cubic, __u32 cwnd, __u32 t)
{
	bool is_before = t < cubic->state.k;
	__u64 offset = min(is_before ? cubic->state.k - t : t - cubic->state.k, (__u32)FARTHEST);
	__u32 delta = (__u32)((CUBIC_C * offset * offset * offset) >> CUBE_SHIFT);
	__u32 target = is_before ? cubic->state.origin - min(delta, cubic->state.origin) : cubic->state.origin + delta;
	/* At or above the target the window all but stands: a packet in 100 rounds. */
	__u32 pace = target > cwnd ? cwnd / (target - cwnd) : 100 * cwnd;

	return cubic->state.w_max ? pace : min(pace, (__u32)SLOWEST_WITHOUT_LOSS);
}

/* ACKs per packet so that the window is not smaller than Reno's (section 4.3). */
static __always_inline __u32 reno_pace(struct cubic *cubic, __u32 cwnd)
{
	__u32 share = min(beta, 1023U);
	/* 8/3 (1 + beta) / (1 - beta) of 8: the inverse of alpha_cubic, ACKs per packet of Reno's growth. */
	__u32 reno_scale = 8 * (1024 + share) / 3 / (1024 - share);
	__u32 acks = max(scale(cwnd, reno_scale, 8), 1U);
	__u32 steps = cubic->reno_acked ? (cubic->reno_acked - 1) / acks : 0;

	cubic->reno_acked -= steps * acks;
	cubic->state.w_est += steps;
	return cubic->state.w_est > cwnd ? cwnd / (cubic->state.w_est - cwnd) : ~0U;
}

static __always_inline void start_epoch(struct cubic *cubic, __u32 cwnd, __u32 acked, __u32 now)
{
	__u32 below = cwnd < cubic->state.w_max ? cubic->state.w_max - cwnd : 0;

	cubic->in_epoch = true;
	cubic->epoch_start = now;
	cubic->reno_acked = acked;
	cubic->state.w_est = cwnd;
	cubic->state.origin = cwnd + below;
	cubic->state.k = cube_root(((__u64)min(below, 1U << 20) << CUBE_SHIFT) / CUBIC_C);
}

static __always_inline void end_epoch(struct cubic *cubic)
{
	cubic->in_epoch = false;
	cubic->state.origin = DB_NONE;
	cubic->state.k = DB_NONE;
	cubic->state.w_est = DB_NONE;
}

/* The number of packets that have to be ACKed for the window to grow by one. */
static __always_inline __u32 update(struct cubic *cubic, __u32 cwnd, __u32 acked, __u32 now)
{
	cubic->reno_acked += acked;
	if (cubic->last_cwnd == cwnd && now - cubic->last_update <= UPDATE_EVERY)
		return max(cubic->acks_per_packet, (__u32)FASTEST);
	/* The curve is a function of ticks: it need not be worked out twice in one. */
	if (!cubic->in_epoch || now != cubic->last_update) {
		__u64 ahead;

		if (!cubic->in_epoch)
			start_epoch(cubic, cwnd, acked, now);
		/* The window is aimed at the time one RTT ahead (section 4.2). */
		ahead = now - cubic->epoch_start + (cubic->state.delay_min + TICK_US - 1) / TICK_US;
		cubic->acks_per_packet = cubic_pace(cubic, cwnd, (__u32)((ahead << CLOCK_SHIFT) / TICKS_PER_S));
		cubic->last_cwnd = cwnd;
		cubic->last_update = now;
	}
	if (reno_friendliness)
		cubic->acks_per_packet = min(reno_pace(cubic, cwnd), cubic->acks_per_packet);
	cubic->acks_per_packet = max(cubic->acks_per_packet, (__u32)FASTEST);
	return cubic->acks_per_packet;
}

static __always_inline void hystart_start_round(const struct tcp_sock *tp, struct cubic *cubic)
{
	cubic->round_start = now_us(tp);
	cubic->last_ack = now_us(tp);
	cubic->end_seq = tp->snd_nxt;
	cubic->curr_rtt = ~0U;
	cubic->samples = 0;
}

static __always_inline void forget(struct sock *sk, struct cubic *cubic)
{
	cubic->state.w_max = 0;
	cubic->last_cwnd = 0;
	cubic->last_update = 0;
	cubic->epoch_start = 0;
	cubic->reno_acked = 0;
	cubic->acks_per_packet = 0;
	cubic->state.delay_min = 0;
	cubic->state.hystart_found = false;
	end_epoch(cubic);
	hystart_start_round(tcp_sk(sk), cubic);
}

static void cubic_init(struct sock *sk)
{
	struct cubic *cubic = inet_csk_ca(sk);

	forget(sk, cubic);
	cubic->jiffies = (__u32)bpf_jiffies64();
	cubic->ticks = now_ticks(tcp_sk(sk));
}

/*
 * A loss: the window becomes 0.7 of what it was. If it had not reached the last maximum, others need room: the plateau goes
 * lower still.
 */
static __u32 cubic_ssthresh(struct sock *sk)
{
	struct cubic *cubic = inet_csk_ca(sk);
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;
	__u32 share = min(beta, 1024U);

	end_epoch(cubic);
	cubic->state.w_max = fast_convergence && cwnd < cubic->state.w_max ? scale(cwnd, 1024 + share, 2048) : cwnd;
	return max(scale(cwnd, share, 1024), 2U);
}

static void cubic_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!is_window_limiting(tp))
		return;
	if (is_in_slow_start(tp))
		acked = slow_start(tp, acked);
	if (acked)
		additive_increase(tp, update(inet_csk_ca(sk), tp->snd_cwnd, acked, now_ticks(tp)), acked);
}

/* A time-out says that what was known of the path no longer holds (section 4.8). */
static void cubic_set_state(struct sock *sk, __u8 state)
{
	if (state == TCP_CA_Loss)
		forget(sk, inet_csk_ca(sk));
}

/* Idle time is no time of the epoch (section 5.8): without this the window would jump after it. */
static void cubic_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct cubic *cubic = inet_csk_ca(sk);
	__u32 now = now_ticks(tcp_sk(sk));
	__u32 jiffies = (__u32)bpf_jiffies64();
	__u32 idle;

	if (event != CA_EVENT_TX_START || !cubic->in_epoch || jiffies == cubic->jiffies)
		return;
	/* The length of a jiffy depends on the kernel's build; both clocks since this flow began show it. */
	idle = scale(jiffies - tcp_sk(sk)->lsndtime, now - cubic->ticks, jiffies - cubic->jiffies);
	cubic->epoch_start += min(idle, now - cubic->epoch_start);
}

/* Time that TSO and GRO may hold an ACK back, us: that of four of the largest trains, 1 ms at most. */
static __always_inline __u32 ack_delay(const struct sock *sk)
{
	__u64 rate = sk->sk_pacing_rate;

	return rate ? (__u32)min((__u64)sk->sk_gso_max_size * 4 * 1000000 / rate, 1000ULL) : 0;
}

/* True if the ACKs of a round come without a gap for longer than the path's one-way delay: the path is full. */
static __always_inline bool is_train_long(const struct sock *sk, struct cubic *cubic)
{
	__u32 now = now_us(tcp_sk(sk));
	__u32 threshold = cubic->state.delay_min + ack_delay(sk);

	if ((__s32)(now - cubic->last_ack) > ACK_DELTA)
		return false;
	cubic->last_ack = now;
	/* Paced ACKs are spread over the whole RTT, those of a burst over the half. */
	if (sk->sk_pacing_status == SK_PACING_NONE)
		threshold /= 2;
	return (__s32)(now - cubic->round_start) > (__s32)threshold;
}

/* True if the least RTT of this round is well above the least of all. */
static __always_inline bool is_delay_risen(struct cubic *cubic, __u32 delay)
{
	cubic->curr_rtt = min(cubic->curr_rtt, delay);
	if (cubic->samples < MIN_SAMPLES) {
		cubic->samples++;
		return false;
	}
	return cubic->curr_rtt > cubic->state.delay_min + min(max(cubic->state.delay_min / 8, DELAY_MIN), DELAY_MAX);
}

static void cubic_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *cubic = inet_csk_ca(sk);
	__u32 delay;
	bool is_long;

	if (sample->rtt_us < 0 ||
	    (cubic->in_epoch && now_ticks(tp) - cubic->epoch_start < DISTRUST_AFTER_REDUCTION))
		return;
	delay = max((__u32)sample->rtt_us, 1U);
	if (!cubic->state.delay_min || delay < cubic->state.delay_min)
		cubic->state.delay_min = delay;
	if (!hystart || cubic->state.hystart_found || !is_in_slow_start(tp))
		return;
	if (after(tp->snd_una, cubic->end_seq))
		hystart_start_round(tp, cubic);
	if (tp->snd_cwnd < LOW_WINDOW)
		return;
	is_long = is_train_long(sk, cubic);
	if (is_delay_risen(cubic, delay) || is_long) {
		cubic->state.hystart_found = true;
		tp->snd_ssthresh = tp->snd_cwnd;
	}
}

CONGESTION_CONTROL(bpf_cubic, (init, cubic_init), (ssthresh, cubic_ssthresh), (cong_avoid, cubic_cong_avoid),
		   (set_state, cubic_set_state), (cwnd_event, cubic_cwnd_event), (pkts_acked, cubic_pkts_acked),
		   (undo_cwnd, reno_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
