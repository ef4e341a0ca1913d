// SPDX-License-Identifier: GPL-2.0-only
/* What Linux's own H-TCP publishes. It counts time in ticks: its RTTs are as coarse. */
#include <dumbbell/linux_own.h>
#include <tcp_htcp.c>
#include <dumbbell/linux_own_end.h>

static void publish_htcp(struct db_ack *row, const struct sock *sk)
{
	const struct htcp *htcp = inet_csk_ca(sk);
	struct db_htcp_state *state = db_ack_state(row, DB_STATE_HTCP);

	/* Of 128 there. */
	state->beta = htcp->beta << 3;
	/* Packets per second, in both. */
	state->bandwidth = htcp->Bi;
	state->min_rtt = jiffies_to_usecs(htcp->minRTT);
	state->max_rtt = jiffies_to_usecs(htcp->maxRTT);
}

LINUX_OWN(htcp, "htcp");
