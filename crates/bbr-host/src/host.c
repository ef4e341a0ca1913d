// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The core as functions that Rust can call: bbr2_... and bbr3_.... */
#include <string.h>

/* Each flow has its own; they are in force while one of its callbacks runs. */
#define BBR_RODATA static _Thread_local

#include "bbr/transport.h"

#define PASTE(a, b) a##b
#define EXPAND(a, b) PASTE(a, b)
#if BBR_VERSION == 2
#define HOST(name) EXPAND(bbr2_, name)
#else
#define HOST(name) EXPAND(bbr3_, name)
#endif

struct host_flow {
	struct bbr_parameters params;
	struct bbr_flow state;
};

static const struct bbr_parameters defaults = BBR_DEFAULTS;

size_t HOST(flow_size)(void)
{
	return sizeof(struct host_flow);
}

void HOST(use_defaults)(struct host_flow *flow)
{
	flow->params = defaults;
}

/* The parameters by name: where, and of which size. */
#define PARAMETER(type, name, value) {#name, offsetof(struct bbr_parameters, name), sizeof(type)},

static const struct {
	const char *name;
	size_t offset;
	size_t size;
} parameters[] = {PARAMETERS(PARAMETER)};

static void *parameter(struct host_flow *flow, const char *name, size_t *size)
{
	for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++) {
		if (!strcmp(parameters[i].name, name)) {
			*size = parameters[i].size;
			return (char *)&flow->params + parameters[i].offset;
		}
	}
	return NULL;
}

/* False: there is no such parameter. */
bool HOST(set_parameter)(struct host_flow *flow, const char *name, __u32 value)
{
	size_t size;
	void *at = parameter(flow, name, &size);

	if (!at)
		return false;
	if (size == sizeof(bool))
		*(bool *)at = value;
	else
		*(__u32 *)at = value;
	return true;
}

bool HOST(get_parameter)(struct host_flow *flow, const char *name, __u32 *value)
{
	size_t size;
	void *at = parameter(flow, name, &size);

	if (!at)
		return false;
	*value = size == sizeof(bool) ? *(bool *)at : *(__u32 *)at;
	return true;
}

void HOST(begin)(struct host_flow *flow, struct sock *sk)
{
	params = flow->params;
	memset(&flow->state.bbr, 0, sizeof(flow->state.bbr));
	bbr_begin(sk, &flow->state.bbr);
}

void HOST(on_ack)(struct host_flow *flow, struct sock *sk, const struct bbr_ack *ack)
{
	struct bbr_ack sample = *ack;

	params = flow->params;
	sample.bw = bbr_delivery_rate(ack->delivered, ack->interval_us);
	bbr_on_ack(sk, &flow->state.bbr, &sample);
}

void HOST(begin_recovery)(struct host_flow *flow, struct sock *sk)
{
	params = flow->params;
	bbr_begin_recovery(tcp_sk(sk), &flow->state.bbr);
}

void HOST(change_ca_state)(struct host_flow *flow, struct sock *sk, __u8 state)
{
	params = flow->params;
	bbr_change_ca_state(tcp_sk(sk), &flow->state.bbr, state);
}

__u32 HOST(undo_recovery)(struct host_flow *flow, struct sock *sk)
{
	params = flow->params;
	return bbr_undo_recovery(tcp_sk(sk), &flow->state.bbr);
}

void HOST(packet_lost)(struct host_flow *flow, struct sock *sk, const struct bbr_lost_packet *packet)
{
	params = flow->params;
	bbr_packet_lost(sk, &flow->state.bbr, packet);
}

void HOST(repaired_by_tlp)(struct host_flow *flow, struct sock *sk, bool is_app_limited)
{
	params = flow->params;
	bbr_loss_repaired_by_tlp(sk, &flow->state.bbr, is_app_limited);
}

void HOST(restart_from_idle)(struct host_flow *flow, struct sock *sk)
{
	params = flow->params;
	bbr_restart_from_idle(sk, &flow->state.bbr);
}

__u32 HOST(train_floor)(struct sock *sk)
{
	return bbr_train_floor(sk);
}

/* What a kernel that knows less tells: the transport's callbacks. */

void HOST(begin_transport)(struct host_flow *flow, struct sock *sk)
{
	bbr_begin_transport(sk, &flow->state);
}

void HOST(take_ack)(struct host_flow *flow, struct sock *sk, const struct rate_sample *rs, bool is_ece,
		    struct bbr_ack *ack)
{
	params = flow->params;
	bbr_take_ack(sk, &flow->state, rs, is_ece);
	*ack = flow->state.ack;
}

void HOST(take_losses)(struct host_flow *flow, struct sock *sk)
{
	params = flow->params;
	bbr_take_losses(sk, &flow->state);
}

void HOST(take_ca_state)(struct host_flow *flow, struct sock *sk, __u8 state)
{
	params = flow->params;
	bbr_take_ca_state(sk, &flow->state, state);
}

/* ACKs and losses tell of a probe, for a test of what they do then. */
void HOST(begin_sampling)(struct host_flow *flow)
{
	flow->state.bbr.is_sampling = true;
}

/* What the cc crate publishes of its twin. */
struct host_view {
	__u64 bw;
	__u64 max_bw;
	__u64 bw_lo;
	__u64 bw_hi;
	__u64 full_bw;
	__u64 cycle_start;
	__u32 min_rtt;
	__u32 pacing_gain;
	__u32 cwnd_gain;
	__u32 inflight_lo;
	__u32 inflight_hi;
	__u32 extra_acked;
	__u32 prior_cwnd;
	__u32 round;
	__u32 probes;
	__u32 rounds_since_probe;
	__u32 probe_wait;
	__u32 ecn_alpha;
	__u8 state;
	__u8 ack_phase;
	bool full_bw_reached;
	bool ecn_eligible;
	bool loss_in_round;
	bool ecn_in_round;
};

void HOST(view)(const struct host_flow *flow, struct host_view *view)
{
	const struct bbr *bbr = &flow->state.bbr;

	params = flow->params;
	*view = (struct host_view){
		.bw = bbr_bw(bbr),
		.max_bw = bbr_max_bw(bbr),
		.bw_lo = bbr->bw_lo,
		.bw_hi = bbr->bw_hi,
		.full_bw = bbr->full_bw,
		.cycle_start = bbr->cycle_start,
		.min_rtt = bbr->min_rtt_us,
		.pacing_gain = bbr->pacing_gain,
		.cwnd_gain = bbr->cwnd_gain,
		.inflight_lo = bbr->inflight_lo,
		.inflight_hi = bbr->inflight_hi,
		.extra_acked = bbr_extra_acked(bbr),
		.prior_cwnd = bbr->prior_cwnd,
		.round = bbr->round,
		.probes = bbr->probes,
		.rounds_since_probe = bbr->rounds_since_probe,
		.probe_wait = bbr->probe_wait_us,
		.ecn_alpha = bbr->ecn_alpha,
		.state = bbr->state,
		.ack_phase = bbr->ack_phase,
		.full_bw_reached = bbr->full_bw_reached,
		.ecn_eligible = bbr->ecn_eligible,
		.loss_in_round = bbr->loss_in_round,
		.ecn_in_round = bbr->ecn_in_round,
	};
}

/* The whole state of the algorithm, to be compared byte by byte. */
const void *HOST(state)(const struct host_flow *flow, size_t *bytes)
{
	*bytes = sizeof(flow->state.bbr);
	return &flow->state.bbr;
}

/* The arithmetic, for the specification's check values. */

__u64 HOST(delivery_rate)(__s32 delivered, __s64 interval_us)
{
	return bbr_delivery_rate(delivered, interval_us);
}

__u32 HOST(volume)(__u64 bw, __u32 min_rtt_us, __u32 gain)
{
	return bbr_volume(bw, min_rtt_us, gain);
}

__u64 HOST(rate)(__u64 bw, __u32 mss, __u32 gain)
{
	return bbr_rate(bw, mss, gain);
}

__u32 HOST(scale)(__u32 volume, __u32 fraction)
{
	return bbr_scale(volume, fraction);
}

__u64 HOST(multiply)(__u64 a, __u32 b)
{
	return bbr_multiply(a, b);
}

__u32 HOST(log2)(__u32 value)
{
	return bbr_log2(value);
}

__u32 HOST(headroomed)(__u32 inflight_hi)
{
	struct bbr bbr = {.inflight_hi = inflight_hi};

	params = defaults;
	return bbr_headroomed(&bbr);
}

__u32 HOST(slope)(__u32 cwnd, __u32 up_rounds)
{
	struct tcp_sock tp = {.snd_cwnd = cwnd};
	struct bbr bbr = {.up_rounds = up_rounds};

	bbr_raise_slope(&tp, &bbr);
	return bbr.up_cnt;
}

__u32 HOST(inflight_at_loss)(__u32 tx_in_flight, __u32 lost, __u32 segments)
{
	params = defaults;
	return bbr_inflight_at_loss(tx_in_flight, lost, segments);
}

__u32 HOST(average_alpha)(__u32 alpha, __u32 share)
{
	struct bbr bbr = {.ecn_alpha = alpha};

	params = defaults;
	bbr_average_alpha(&bbr, share);
	return bbr.ecn_alpha;
}

__u32 HOST(ecn_keep)(__u32 alpha)
{
	struct bbr bbr = {.ecn_alpha = alpha};

	params = defaults;
	return bbr_ecn_keep(&bbr);
}

__u32 HOST(train)(__u64 pacing_rate, __u32 min_rtt_us)
{
	struct tcp_sock tp = {.sk = {.sk_pacing_rate = pacing_rate, .sk_pacing_shift = 10}, .mss_cache = 1448};
	struct bbr bbr = {.min_rtt_us = min_rtt_us};

	return bbr_train(&tp.sk, &bbr);
}
