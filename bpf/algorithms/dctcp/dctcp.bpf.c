// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * DCTCP (RFC 8257): the window is cut by the share of packets that were marked. It is Reno where ECN was not negotiated.
 * Both ends must run it: the receiver's half echoes each mark.
 */
#include <algorithms/dctcp/parameters.h>
#include <dumbbell/ce_echo.h>
#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

PARAMETERS(PARAMETER)
PUBLISHES(DB_STATE_DCTCP)

#define MAX_ALPHA 1024

struct dctcp {
	struct db_dctcp_state state;
	__u32 next_seq; /* the round ends when this is ACKed */
	__u32 old_delivered; /* tp->delivered and tp->delivered_ce when it began */
	__u32 old_delivered_ce;
	__u32 loss_cwnd;     /* the window before the last reduction */
	struct ce_echo echo; /* what this end echoes to its peer */
};

static __always_inline bool is_ecn_on(const struct tcp_sock *tp)
{
	return tp->ecn_flags & TCP_ECN_OK;
}

static __always_inline void start_round(const struct tcp_sock *tp, struct dctcp *dctcp)
{
	dctcp->next_seq = tp->snd_nxt;
	dctcp->old_delivered = tp->delivered;
	dctcp->old_delivered_ce = tp->delivered_ce;
}

static void dctcp_init(struct sock *sk)
{
	struct dctcp *dctcp = inet_csk_ca(sk);

	dctcp->state.alpha = min(alpha_on_init, (__u32)MAX_ALPHA);
	dctcp->loss_cwnd = 0;
	ce_echo_init(sk, &dctcp->echo);
	start_round(tcp_sk(sk), dctcp);
}

/* cwnd (1 - alpha/2) after a mark (section 3.3, equation 4). */
static __u32 dctcp_ssthresh(struct sock *sk)
{
	struct dctcp *dctcp = inet_csk_ca(sk);
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;

	dctcp->loss_cwnd = cwnd;
	if (!is_ecn_on(tcp_sk(sk)))
		return reno_ssthresh(sk);
	return max(cwnd - (__u32)((__u64)cwnd * dctcp->state.alpha >> 11), 2U);
}

/* Once a round: alpha = alpha (1 - g) + g * share (section 3.3, equation 1). */
static void dctcp_in_ack_event(struct sock *sk, __u32 flags)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dctcp *dctcp = inet_csk_ca(sk);
	__u32 marked, delivered, alpha, step;
	__u32 shift = min(shift_g, 10U);

	if (!is_ecn_on(tp) || before(tp->snd_una, dctcp->next_seq))
		return;
	marked = tp->delivered_ce - dctcp->old_delivered_ce;
	delivered = tp->delivered - dctcp->old_delivered;
	alpha = dctcp->state.alpha;
	/* If the step down would round to nothing, alpha goes to 0 at once. */
	step = alpha >> shift;
	alpha -= step ? step : alpha;
	if (marked)
		alpha += (__u32)(((__u64)marked << (10 - shift)) / max(delivered, 1U));
	dctcp->state.alpha = min(alpha, (__u32)MAX_ALPHA);
	start_round(tp, dctcp);
}

static __always_inline void react_to_loss(struct sock *sk, struct dctcp *dctcp)
{
	dctcp->loss_cwnd = tcp_sk(sk)->snd_cwnd;
	tcp_sk(sk)->snd_ssthresh = reno_ssthresh(sk);
}

/* A loss is answered as Reno does (section 3.5), whatever alpha says. */
static void dctcp_set_state(struct sock *sk, __u8 state)
{
	if (state == TCP_CA_Recovery && ca_state(sk) != TCP_CA_Recovery)
		react_to_loss(sk, inet_csk_ca(sk));
}

static void dctcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct dctcp *dctcp = inet_csk_ca(sk);

	if (event == CA_EVENT_ECN_IS_CE || event == CA_EVENT_ECN_NO_CE)
		ce_echo_receive(sk, &dctcp->echo, event == CA_EVENT_ECN_IS_CE);
	else if (event == CA_EVENT_LOSS)
		react_to_loss(sk, dctcp);
}

static __u32 dctcp_undo_cwnd(struct sock *sk)
{
	const struct dctcp *dctcp = inet_csk_ca(sk);

	return max(tcp_sk(sk)->snd_cwnd, dctcp->loss_cwnd);
}

CONGESTION_CONTROL(bpf_dctcp, (init, dctcp_init), (ssthresh, dctcp_ssthresh), (cong_avoid, reno_cong_avoid),
		   (in_ack_event, dctcp_in_ack_event), (set_state, dctcp_set_state), (cwnd_event, dctcp_cwnd_event),
		   (undo_cwnd, dctcp_undo_cwnd), (flags, TCP_CONG_NEEDS_ECN));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
