// SPDX-License-Identifier: GPL-2.0-only
/* What Linux's own Westwood+ publishes. It counts time in ticks: its RTT is as coarse. */
#include <dumbbell/linux_own.h>
#include <tcp_westwood.c>
#include <dumbbell/linux_own_end.h>

static void publish_westwood(struct db_ack *row, const struct sock *sk)
{
	const struct westwood *westwood = inet_csk_ca(sk);
	struct db_westwood_state *state = db_ack_state(row, DB_STATE_WESTWOOD);
	u32 mss = tcp_sk(sk)->mss_cache;

	/* Bytes in a tick there; here of 1024 in a packet per second. */
	state->bandwidth = mss ? (u64)westwood->bw_est * HZ * 1024 / mss : 0;
	state->min_rtt = jiffies_to_usecs(westwood->rtt_min);
}

LINUX_OWN(westwood, "westwood");
