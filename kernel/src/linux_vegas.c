// SPDX-License-Identifier: GPL-2.0-only
/* What Linux's own Vegas publishes. */
#include <dumbbell/linux_own.h>
#include <tcp_vegas.c>
#include <dumbbell/linux_own_end.h>

/* No RTT has been measured. */
#define NO_RTT 0x7fffffff

static u32 known(u32 rtt_us)
{
	return rtt_us == NO_RTT ? DB_NONE : rtt_us;
}

static void publish_vegas(struct db_ack *row, const struct sock *sk)
{
	const struct vegas *vegas = inet_csk_ca(sk);
	struct db_vegas_state *state = db_ack_state(row, DB_STATE_VEGAS);

	state->base_rtt = known(vegas->baseRTT);
	state->min_rtt = known(vegas->minRTT);
}

LINUX_OWN(vegas, "vegas");
